package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync/atomic"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// spooled counts the files that have stood for <(command) and >(command) in any container.
var spooled atomic.Uint64

// spool is bash.Spool. The file is there until the shell ends.
func (s *session) spool(k *call) int {
	name, err := s.keep(k.Stdin)
	if err != nil {
		return k.Fail("%s", coreutils.Reason(err))
	}
	fmt.Fprintln(k.Stdout, name)
	return 0
}

// emptySpool is bash.Config.Spool.
func (s *session) emptySpool(context.Context) (string, error) { return s.keep(strings.NewReader("")) }

// keep makes a file of what r has, and returns its name.
func (s *session) keep(r io.Reader) (string, error) {
	name := fmt.Sprintf("/tmp/fd-%d", spooled.Add(1))
	s.mu.Lock()
	s.spools = append(s.spools, name)
	s.mu.Unlock()
	all := files{Tree: s.c.tree()}
	if err := all.MkdirAll(path.Dir(name), 0o1777); err != nil {
		return "", err
	}
	f, err := all.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, r)
	return name, errors.Join(err, f.Close())
}

func (s *session) removeSpools() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.spools {
		_ = files{Tree: s.c.tree()}.Remove(name, false) // the script may have done so
	}
}
