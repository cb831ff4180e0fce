package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// spools are the files that stand for <(command) and >(command) in a line or a job.
type spools struct {
	mu    sync.Mutex
	names []string
}

type spoolsKey struct{}

// withSpools returns the context of a line or of a job, and what removes its files.
func withSpools(ctx context.Context) (of context.Context, remove func()) {
	s := &spools{}
	return context.WithValue(ctx, spoolsKey{}, s), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, name := range s.names {
			_ = os.Remove(name) // the line may have done so
		}
	}
}

// spool is bash.Spool.
func (k *session) spool(c *coreutils.Call) int {
	f, err := k.newSpool(c)
	if err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	defer f.Close()
	if _, err := io.Copy(f, c.Stdin); err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	fmt.Fprintln(c.Stdout, f.Name())
	return 0
}

// emptySpool is bash.Config.Spool.
func (k *session) emptySpool(ctx context.Context) (string, error) {
	f, err := k.newSpool(ctx)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// newSpool makes a file of the line or job of ctx.
func (k *session) newSpool(ctx context.Context) (*os.File, error) {
	of, ok := ctx.Value(spoolsKey{}).(*spools)
	if !ok {
		return nil, errors.New("is not for commands")
	}
	f, err := os.CreateTemp(k.shell.config.Temp, "fd-*")
	if err != nil {
		return nil, err
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.names = append(of.names, f.Name())
	return f, nil
}
