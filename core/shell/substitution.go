package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// spools are the files that stand for <(command) in a line or a job.
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
	of, ok := c.Value(spoolsKey{}).(*spools)
	if !ok {
		return c.Fail("is not for commands")
	}
	f, err := os.CreateTemp(k.shell.config.Temp, "fd-*")
	if err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	defer f.Close()
	of.mu.Lock()
	of.names = append(of.names, f.Name())
	of.mu.Unlock()
	if _, err := io.Copy(f, c.Stdin); err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	fmt.Fprintln(c.Stdout, f.Name())
	return 0
}
