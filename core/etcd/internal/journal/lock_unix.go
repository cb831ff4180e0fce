//go:build unix

package journal

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// fileLock keeps other journals away from a file. It is a lock on a file beside
// it, because the file itself is replaced by Rewrite. The kernel lets go of it
// when the process dies, however it dies. The lock file stays: removing it would
// let two processes lock two different files of that name.
//
// Its twin for js has nothing to do: the file system of a tab belongs to the tab.
type fileLock struct{ f *os.File }

func acquire(path string) (*fileLock, error) {
	name := path + ".lock"
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if err == syscall.EWOULDBLOCK {
			return nil, fmt.Errorf("%s is %w%s", path, ErrLocked, owner(f))
		}
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	// For the message above, nothing else.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &fileLock{f}, nil
}

func owner(f *os.File) string {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	if pid := strings.TrimSpace(string(b[:n])); pid != "" {
		return " (" + pid + ")"
	}
	return ""
}

func (l *fileLock) release() { _ = l.f.Close() }

// syncDir brings the name of path to the disk.
func syncDir(path string) error {
	dir, err := os.Open(dirOf(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
