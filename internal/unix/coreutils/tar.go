package coreutils

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// tarCommand creates and extracts archives, which is what kubectl cp runs.
func tarCommand(k *Call) int {
	args := k.Args
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		args = append([]string{"-" + args[0]}, args[1:]...)
	}
	f := (&Call{Args: args}).Flags("fC")
	dir := k.Dir
	if f.On['C'] {
		dir = k.Path(f.Value['C'])
	}
	file := f.Value['f']
	switch {
	case f.On['c']:
		return k.collect(f, dir)
	case f.On['x'], f.On['t']:
		if i, err := k.Files.Stat(dir, true); err != nil || !i.IsDir() {
			return k.noFolder(f.Value['C'], err)
		}
		r := k.Stdin
		if file != "" && file != "-" {
			h, err := k.Files.Open(k.Path(file), 0, 0)
			if err != nil {
				if k.Userland == GNU {
					k.Fail("%s: Cannot open: %s", file, Reason(err))
					return k.trouble("Error is not recoverable: exiting now", "")
				}
				return k.Fail("can't open '%s': %s", file, Reason(err))
			}
			defer h.Close()
			r = h
		}
		if f.On['z'] {
			z, err := gzip.NewReader(r)
			if err != nil {
				return k.Fail("%v", err)
			}
			r = z
		}
		return k.unpack(tar.NewReader(r), dir, f.On['t'], f.On['v'])
	}
	return k.Fail("must specify one of -c, -x, -t")
}

// collect makes an archive of the files that f names, in a folder.
func (k *Call) collect(f Flags, dir string) int {
	file := f.Value['f']
	var archive bytes.Buffer
	var w io.Writer = &archive
	var zipped *gzip.Writer
	if f.On['z'] {
		zipped = gzip.NewWriter(&archive)
		w = zipped
	}
	t := tar.NewWriter(w)
	failed, removed := false, false
	for _, name := range f.Rest {
		if !removed && strings.HasPrefix(name, "/") {
			removed = true
			k.refuse("Removing leading `/' from member names", "removing leading '/' from member names")
		}
		base := Absolute(dir, name)
		err := k.walk(base, func(p string, i fs.FileInfo) error {
			return k.archive(t, strings.TrimPrefix(strings.TrimPrefix(name, "/")+strings.TrimPrefix(p, base), "/"), p, i)
		})
		if err != nil {
			failed = true
			k.refuse("%s: Cannot stat: %s", "%s: %s", name, Reason(err))
		}
	}
	if err := t.Close(); err != nil {
		return k.Fail("%v", err)
	}
	if zipped != nil {
		if err := zipped.Close(); err != nil {
			return k.Fail("%v", err)
		}
	}
	if file != "" && file != "-" {
		if err := k.Files.WriteFile(k.Path(file), archive.Bytes(), 0o644); err != nil {
			return k.Fail("%s: %s", file, Reason(err))
		}
	} else if _, err := k.Stdout.Write(archive.Bytes()); err != nil {
		return 1
	}
	if failed {
		return k.trouble("Exiting with failure status due to previous errors", "error exit delayed from previous errors")
	}
	return 0
}

// trouble says that tar has failed, and returns its exit code: GNU's is 2.
func (k *Call) trouble(gnu, busybox string) int {
	code := k.refuse(gnu, busybox)
	if k.Userland == GNU {
		code++
	}
	return code
}

// noFolder says that the folder to unpack in cannot be entered. err is nil for what is no folder.
func (k *Call) noFolder(name string, err error) int {
	if err == nil {
		err = syscall.ENOTDIR
	}
	code := k.refuse("%s: Cannot open: %s", "can't change directory to '%s': %s", name, Reason(err))
	if k.Userland == GNU {
		return k.trouble("Error is not recoverable: exiting now", "")
	}
	return code
}

func (k *Call) archive(t *tar.Writer, name, p string, i fs.FileInfo) error {
	header := &tar.Header{Name: name, Mode: int64(i.Mode().Perm()), ModTime: i.ModTime().UTC(), Typeflag: tar.TypeReg}
	var data []byte
	switch {
	case i.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
	case i.Mode()&fs.ModeSymlink != 0:
		header.Typeflag, header.Linkname = tar.TypeSymlink, target(i)
	case !i.Mode().IsRegular():
		return nil
	default:
		var err error
		if data, err = k.Files.ReadFile(p); err != nil {
			return err
		}
		header.Size = int64(len(data))
	}
	if err := t.WriteHeader(header); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}

func (k *Call) unpack(t *tar.Reader, dir string, list, verbose bool) int {
	for {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			return k.Fail("%v", err)
		}
		if list || verbose {
			fmt.Fprintln(k.Stdout, header.Name)
		}
		if list {
			continue
		}
		to := path.Join(dir, path.Clean("/"+header.Name))
		err = k.Files.MkdirAll(path.Dir(to), 0o755)
		switch {
		case err != nil:
		case header.Typeflag == tar.TypeDir:
			err = k.Files.MkdirAll(to, fs.FileMode(header.Mode))
		case header.Typeflag == tar.TypeSymlink:
			_ = k.Files.Remove(to, false)
			err = k.Files.Symlink(header.Linkname, to)
		default:
			var data []byte
			if data, err = ReadAll(t); err == nil {
				err = k.Files.WriteFile(to, data, fs.FileMode(header.Mode))
			}
		}
		if err != nil {
			return k.Fail("%s: Cannot open: %s", header.Name, Reason(err))
		}
	}
}
