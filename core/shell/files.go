package shell

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

// files are those of the process, as coreutils wants them.
type files struct {
	// writing is held while the page's editor compares a file and writes it, and shared
	// by each write of a command: one that came in between would be lost. What kubectl
	// itself writes does not take it. Not nil.
	writing *sync.RWMutex
}

func (f files) Open(name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	if writes { // and may cut the file
		f.writing.RLock()
		defer f.writing.RUnlock()
	}
	file, err := os.OpenFile(name, flag, perm)
	switch {
	case err != nil:
		return nil, err // not a nil *os.File
	case writes:
		return written{file, f.writing}, nil
	}
	return file, nil
}

// written is a file whose writes share writing.
type written struct {
	io.ReadWriteCloser
	writing *sync.RWMutex
}

func (w written) Write(b []byte) (int, error) {
	w.writing.RLock()
	defer w.writing.RUnlock()
	return w.ReadWriteCloser.Write(b)
}

// linked is a symbolic link with where it leads.
type linked struct {
	fs.FileInfo
	target string
}

func (l linked) Target() string { return l.target }

func (files) Stat(name string, follow bool) (fs.FileInfo, error) {
	if follow {
		return os.Stat(name)
	}
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return info, err
	}
	target, err := os.Readlink(name)
	return linked{info, target}, err
}

func (files) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (files) ReadFile(name string) ([]byte, error)       { return os.ReadFile(name) }
func (f files) WriteFile(name string, data []byte, perm fs.FileMode) error {
	f.writing.RLock()
	defer f.writing.RUnlock()
	return os.WriteFile(name, data, perm)
}
func (files) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (files) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (files) Symlink(target, name string) error            { return os.Symlink(target, name) }
func (f files) Rename(from, to string) error {
	f.writing.RLock()
	defer f.writing.RUnlock()
	return os.Rename(from, to)
}
func (files) Chmod(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }

// Chown fails: the terminal's files are of one user, who is nobody else.
func (files) Chown(name string, _, _ int64) error {
	return &fs.PathError{Op: "chown", Path: name, Err: syscall.EPERM}
}

func (files) Remove(name string, all bool) error {
	if _, err := os.Lstat(name); err != nil {
		return err
	}
	if all {
		return os.RemoveAll(name)
	}
	return os.Remove(name)
}

func (files) Touch(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	now := time.Now()
	return os.Chtimes(name, now, now)
}

var realClock clock.WithTickerAndDelayedExecution = clock.RealClock{}
