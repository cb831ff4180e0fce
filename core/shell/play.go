package shell

import (
	"context"
	"io"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Session is a shell without a terminal that lasts from one command line to the next, with its variables, its folder
// and its jobs, like the shell of a terminal. Its methods must not be called concurrently.
type Session struct {
	session *session
	cancel  context.CancelFunc
}

// NewSession begins a session in the home folder; what its commands print goes to out. Errors: the files that it starts
// with cannot be made.
func (s *Shell) NewSession(out io.Writer) (*Session, error) {
	k, err := s.newSession("", nil, nil, strings.NewReader(""), out, out, nil, nil)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(s.ctx)
	k.life = life
	return &Session{k, cancel}, nil
}

// Run runs a command line, or several, and returns the exit code of the last one.
func (s *Session) Run(ctx context.Context, line string) int {
	code, _ := s.session.run(ctx, line) // one that was left goes on
	return code
}

// Close ends the jobs of the session.
func (s *Session) Close() {
	s.cancel()
	s.session.endJobs()
}

// SetNamespace makes a namespace the default of every context of the kubeconfig that leads to this cluster. The error is
// that of the file.
func (s *Shell) SetNamespace(namespace string) error {
	return s.changeKubeconfig(func(config *clientcmdapi.Config) *clientcmdapi.Config {
		changed := false
		for _, c := range config.Contexts {
			if c.Cluster == clusterName && c.Namespace != namespace {
				c.Namespace, changed = namespace, true
			}
		}
		if !changed {
			return nil
		}
		return config
	})
}
