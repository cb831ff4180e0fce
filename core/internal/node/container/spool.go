package container

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sync/atomic"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// spooled counts the files that have stood for <(command) in any container.
var spooled atomic.Uint64

// spool is bash.Spool. The file is there until the shell ends.
func (s *session) spool(k *call) int {
	name := fmt.Sprintf("/tmp/fd-%d", spooled.Add(1))
	s.mu.Lock()
	s.spools = append(s.spools, name)
	s.mu.Unlock()
	err := k.Files.MkdirAll(path.Dir(name), 0o1777)
	if err == nil {
		var f io.ReadWriteCloser
		if f, err = k.Files.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_, err = io.Copy(f, k.Stdin)
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return k.Fail("%s", coreutils.Reason(err))
	}
	fmt.Fprintln(k.Stdout, name)
	return 0
}

func (s *session) removeSpools() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.spools {
		_ = files{s.c.tree()}.Remove(name, false) // the script may have done so
	}
}
