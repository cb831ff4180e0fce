package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writePrivate puts data into the file path, as writePrivately does.
func writePrivate(path string, data []byte) error {
	return writePrivately(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writePrivately puts what write writes into the file path with mode 0600, whole or not at all: the bytes are synced to a new file
// beside it, which then takes the name. A file that was there with a wider mode is replaced, not reused, because
// whoever has it open could read what is written next. A symbolic link is followed, so that a kubeconfig kept
// elsewhere stays where it is. What is no regular file, such as /dev/null or /dev/stdout, is written to and not replaced.
//
// Errors are those of write, and those of package os, with the path in them.
func writePrivately(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+name+".*") // CreateTemp opens with mode 0600
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	// The name is durable only once the directory is.
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer d.Close()
	return d.Sync()
}

// cause returns what went wrong without the name of a temporary file, which would tell a user nothing.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
