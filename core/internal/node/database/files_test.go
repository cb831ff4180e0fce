package database

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// osFiles are those of a folder, below which absolute names are. Where room is not 0, no file may be larger.
type osFiles struct {
	dir  string
	room int64
}

func newFiles(t *testing.T) *osFiles {
	t.Helper()
	return &osFiles{dir: t.TempDir()}
}

func (f *osFiles) at(name string) string { return filepath.Join(f.dir, name) }

func (f *osFiles) OpenFile(name string, create bool) (File, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	file, err := os.OpenFile(f.at(name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{file, f}, nil
}
func (f *osFiles) ReadFile(name string) ([]byte, error)         { return os.ReadFile(f.at(name)) }
func (f *osFiles) ReadDir(name string) ([]fs.DirEntry, error)   { return os.ReadDir(f.at(name)) }
func (f *osFiles) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(f.at(name), perm) }
func (f *osFiles) Remove(name string, all bool) error {
	if all {
		return os.RemoveAll(f.at(name))
	}
	return os.Remove(f.at(name))
}

func (f *osFiles) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(f.at(name), data, perm)
}

type osFile struct {
	*os.File
	of *osFiles
}

func (f osFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = io.EOF
	}
	return n, err
}

func (f osFile) WriteAt(b []byte, at int64) (int, error) {
	if f.of.room > 0 && at+int64(len(b)) > f.of.room {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(b, at)
}

func (f osFile) Size() int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
