package share

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Directory is a Storage in a folder: a file for each record, named by its key. Other files of the folder are left alone.
// Each file is written beside its name and renamed, so that nobody reads a half. One process at a time may use it.
type Directory struct {
	root *os.Root
	dir  string
	most int64

	mu    sync.Mutex
	bytes int64 // of all records
}

const (
	extension = ".share"
	temporary = ".share.tmp"
)

// OpenDirectory opens the folder dir, which it makes if there is none. All records together have at most most bytes. What
// an earlier process has left half written is removed, and so is what was not written for longer than Unused. Errors are
// those of package os.
func OpenDirectory(dir string, most int64) (*Directory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &Directory{root: root, dir: dir, most: most}
	if err := d.Sweep(time.Now()); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return d, nil
}

// Close gives back what the directory holds open.
func (d *Directory) Close() error { return d.root.Close() }

// Sweep removes records that nobody has used for longer than Unused, and counts what is left. Records of what was taken
// down stay.
func (d *Directory) Sweep(now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return err
	}
	d.bytes = 0
	for _, entry := range entries {
		name := entry.Name()
		key := name[:len(name)-len(filepath.Ext(name))]
		switch {
		case filepath.Ext(name) == ".tmp" && filepath.Ext(key) == extension && entry.Type().IsRegular():
			err = d.root.Remove(name)
		case filepath.Ext(name) == extension && isID(key) && entry.Type().IsRegular():
			err = d.sweep(name, now)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sweep removes a record that is too old, or counts it.
func (d *Directory) sweep(name string, now time.Time) error {
	info, err := d.root.Stat(name)
	if err != nil {
		return err
	}
	if now.Sub(info.ModTime()) > Unused { // each renewal is written
		text, err := d.root.ReadFile(name)
		if err != nil {
			return err
		}
		if r, err := decode(text); err != nil || r.kind != goneKind {
			return d.root.Remove(name)
		}
	}
	d.bytes += info.Size()
	return nil
}

// Get implements Storage.
func (d *Directory) Get(_ context.Context, key string) ([]byte, error) {
	if !isID(key) {
		return nil, ErrMissing
	}
	info, err := d.root.Lstat(key + extension)
	if err != nil || !info.Mode().IsRegular() {
		return nil, missing(err)
	}
	text, err := d.root.ReadFile(key + extension)
	if err != nil {
		return nil, missing(err)
	}
	return text, nil
}

func missing(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	return err
}

// Put implements Storage. The time of the file says when it was put: what ttl is, Sweep knows.
func (d *Directory) Put(_ context.Context, key string, record []byte, _ time.Duration) error {
	if !isID(key) {
		return fmt.Errorf("%q is no key of a record", key)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var before int64
	if info, err := d.root.Lstat(key + extension); err == nil {
		before = info.Size()
	}
	grown := int64(len(record)) - before
	if grown > 0 && d.bytes+grown > d.most {
		return ErrFull
	}
	f, err := d.root.OpenFile(key+temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(record)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.root.Rename(key+temporary, key+extension)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(key+temporary))
	}
	d.bytes += grown
	// The name is durable only once the folder is.
	folder, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
