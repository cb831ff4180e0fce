package container

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// fileCommands work on files by name.
var fileCommands = map[string]func(*call) int{
	"ls": ls, "mkdir": mkdir, "rm": rm, "rmdir": rm, "cp": cp, "mv": mv, "touch": touch, "ln": ln,
	"chmod": chmod, "chown": nothing, "chgrp": nothing, "sync": nothing, "stat": stat, "find": find, "du": du, "df": df,
	"tar": tarCommand, "basename": baseName, "dirname": dirName, "readlink": readlink, "realpath": realpath, "mktemp": mktemp, "mount": nothing,
}

func nothing(*call) int { return 0 }

func ls(k *call) int {
	f := k.flags("")
	if len(f.rest) == 0 {
		f.rest = []string{"."}
	}
	code := 0
	show := func(i fs.FileInfo, name string) {
		if !f.on['l'] {
			fmt.Fprintln(k.stdout, name)
			return
		}
		mode := i.Mode().String()
		switch {
		case i.Mode()&fs.ModeSymlink != 0:
			mode = "l" + mode[1:]
			if x, ok := i.(info); ok {
				name += " -> " + x.target
			}
		case i.Mode()&fs.ModeDevice != 0:
			mode = "c" + mode[len(mode)-9:]
		case i.Mode()&fs.ModeSticky != 0:
			mode = "d" + mode[len(mode)-9:len(mode)-1] + "t"
		}
		fmt.Fprintf(k.stdout, "%s    1 root     root     %9d %s %s\n", mode, i.Size(), i.ModTime().UTC().Format("Jan _2 15:04"), name)
	}
	for _, name := range f.rest {
		i, err := k.tree.Stat(k.path(name), !f.on['l'] && !f.on['d'] || strings.HasSuffix(name, "/"))
		if err != nil {
			code = k.fail("%s: %s", name, reason(err))
			continue
		}
		if !i.IsDir() || f.on['d'] {
			show(i, name)
			continue
		}
		if len(f.rest) > 1 {
			fmt.Fprintf(k.stdout, "%s:\n", name)
		}
		entries, _ := k.tree.ReadDir(k.path(name))
		if f.on['l'] {
			fmt.Fprintf(k.stdout, "total %d\n", len(entries)*4)
		}
		if f.on['a'] {
			show(i, ".")
			show(i, "..")
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") && !f.on['a'] && !f.on['A'] {
				continue
			}
			i, _ := e.Info()
			show(i, e.Name())
		}
	}
	return code
}

func mkdir(k *call) int {
	f := k.flags("m")
	code := 0
	for _, name := range f.rest {
		make := k.tree.Mkdir
		if f.on['p'] {
			make = k.tree.MkdirAll
		}
		if err := make(k.path(name), 0o755); err != nil {
			code = k.fail("can't create directory '%s': %s", name, reason(err))
		}
	}
	return code
}

func rm(k *call) int {
	f := k.flags("")
	code := 0
	for _, name := range f.rest {
		p := k.path(name)
		i, err := k.tree.Stat(p, false)
		all := f.on['r'] || f.on['R']
		switch {
		case err != nil && f.on['f']:
			continue
		case err == nil && k.name == "rm" && i.IsDir() && !all:
			code = k.fail("'%s' is a directory", name)
			continue
		case err == nil:
			err = k.tree.Remove(p, all)
		}
		if err != nil {
			code = k.fail("can't remove '%s': %s", name, reason(err))
		}
	}
	return code
}

// into returns where name goes: to itself, or below it if it is a directory.
func (k *call) into(from, to string) string {
	p := k.path(to)
	if i, err := k.tree.Stat(p, true); err == nil && i.IsDir() {
		return path.Join(p, path.Base(from))
	}
	return p
}

func (k *call) copy(from, to string, all bool) error {
	i, err := k.tree.Stat(from, true)
	if err != nil {
		return err
	}
	if !i.IsDir() {
		data, err := k.tree.ReadFile(from)
		if err != nil {
			return err
		}
		return k.tree.WriteFile(to, data, i.Mode())
	}
	if !all {
		return errors.New("omitting directory")
	}
	if err := k.tree.MkdirAll(to, i.Mode()); err != nil {
		return err
	}
	entries, err := k.tree.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := k.copy(path.Join(from, e.Name()), path.Join(to, e.Name()), true); err != nil {
			return err
		}
	}
	return nil
}

func cp(k *call) int {
	f := k.flags("")
	if len(f.rest) < 2 {
		return k.fail("missing file operand")
	}
	to := f.rest[len(f.rest)-1]
	code := 0
	for _, from := range f.rest[:len(f.rest)-1] {
		if err := k.copy(k.path(from), k.into(from, to), f.on['r'] || f.on['R'] || f.on['a']); err != nil {
			code = k.fail("can't copy '%s': %s", from, reason(err))
		}
	}
	return code
}

func mv(k *call) int {
	f := k.flags("")
	if len(f.rest) < 2 {
		return k.fail("missing file operand")
	}
	to := f.rest[len(f.rest)-1]
	code := 0
	for _, from := range f.rest[:len(f.rest)-1] {
		if err := k.tree.Rename(k.path(from), k.into(from, to)); err != nil {
			code = k.fail("can't rename '%s': %s", from, reason(err))
		}
	}
	return code
}

func touch(k *call) int {
	code := 0
	for _, name := range k.flags("dt").rest {
		if err := k.tree.Touch(k.path(name)); err != nil {
			code = k.fail("%s: %s", name, reason(err))
		}
	}
	return code
}

func ln(k *call) int {
	f := k.flags("")
	if len(f.rest) != 2 {
		return k.fail("missing file operand")
	}
	to := k.into(f.rest[0], f.rest[1])
	if f.on['f'] {
		_ = k.tree.Remove(to, false) // what is not there need not go
	}
	if err := k.tree.Symlink(f.rest[0], to); err != nil {
		return k.fail("%s: %s", f.rest[1], reason(err))
	}
	return 0
}

func chmod(k *call) int {
	f := k.flags("")
	if len(f.rest) < 2 {
		return k.fail("missing operand")
	}
	code := 0
	for _, name := range f.rest[1:] {
		i, err := k.tree.Stat(k.path(name), true)
		if err == nil {
			perm := i.Mode().Perm()
			if n, parseErr := strconv.ParseUint(f.rest[0], 8, 32); parseErr == nil {
				perm = fs.FileMode(n)
			} else if strings.Contains(f.rest[0], "+x") {
				perm |= 0o111
			} else if strings.Contains(f.rest[0], "-x") {
				perm &^= 0o111
			}
			err = k.tree.Chmod(k.path(name), perm)
		}
		if err != nil {
			code = k.fail("%s: %s", name, reason(err))
		}
	}
	return code
}

func stat(k *call) int {
	code := 0
	for _, name := range k.flags("cf").rest {
		i, err := k.tree.Stat(k.path(name), false)
		if err != nil {
			code = k.fail("can't stat '%s': %s", name, reason(err))
			continue
		}
		fmt.Fprintf(k.stdout, "  File: %s\n  Size: %d\nAccess: (%04o/%s)\nModify: %s\n", name, i.Size(), i.Mode().Perm(), i.Mode(), i.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 +0000"))
	}
	return code
}

// walk visits p and what is below it.
func (k *call) walk(p string, visit func(p string, i fs.FileInfo) error) error {
	i, err := k.tree.Stat(p, false)
	if err != nil {
		return err
	}
	if err := visit(p, i); err != nil || !i.IsDir() {
		return err
	}
	entries, err := k.tree.ReadDir(p)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := k.walk(path.Join(p, e.Name()), visit); err != nil {
			return err
		}
	}
	return nil
}

func find(k *call) int {
	roots, pattern, kind := []string{}, "", ""
	for i := 0; i < len(k.args); i++ {
		switch {
		case k.args[i] == "-name" && i+1 < len(k.args):
			i++
			pattern = k.args[i]
		case k.args[i] == "-type" && i+1 < len(k.args):
			i++
			kind = k.args[i]
		case !strings.HasPrefix(k.args[i], "-"):
			roots = append(roots, k.args[i])
		}
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	code := 0
	for _, root := range roots {
		base := k.path(root)
		err := k.walk(base, func(p string, i fs.FileInfo) error {
			if match, err := path.Match(pattern, path.Base(p)); pattern != "" && (err != nil || !match) {
				return nil
			}
			if kind == "f" && !i.Mode().IsRegular() || kind == "d" && !i.IsDir() || kind == "l" && i.Mode()&fs.ModeSymlink == 0 {
				return nil
			}
			fmt.Fprintln(k.stdout, strings.TrimSuffix(root, "/")+strings.TrimPrefix(p, strings.TrimSuffix(base, "/")))
			return nil
		})
		if err != nil {
			code = k.fail("%s: %s", root, reason(err))
		}
	}
	return code
}

func du(k *call) int {
	f := k.flags("d")
	if len(f.rest) == 0 {
		f.rest = []string{"."}
	}
	for _, name := range f.rest {
		total := int64(0)
		if err := k.walk(k.path(name), func(_ string, i fs.FileInfo) error { total += i.Size(); return nil }); err != nil {
			return k.fail("%s: %s", name, reason(err))
		}
		fmt.Fprintf(k.stdout, "%d\t%s\n", (total+1023)/1024, name)
	}
	return 0
}

func df(k *call) int {
	fmt.Fprintln(k.stdout, "Filesystem           1K-blocks      Used Available Use% Mounted on")
	fmt.Fprintln(k.stdout, "overlay               98831908  12353988  86461536  13% /")
	return 0
}

func baseName(k *call) int {
	if len(k.args) == 0 {
		return k.fail("missing operand")
	}
	name := path.Base(k.args[0])
	if len(k.args) > 1 && name != k.args[1] {
		name = strings.TrimSuffix(name, k.args[1])
	}
	fmt.Fprintln(k.stdout, name)
	return 0
}

func dirName(k *call) int {
	if len(k.args) == 0 {
		return k.fail("missing operand")
	}
	fmt.Fprintln(k.stdout, path.Dir(k.args[0]))
	return 0
}

func readlink(k *call) int {
	f := k.flags("")
	if f.on['f'] {
		return realpath(k)
	}
	for _, name := range f.rest {
		i, err := k.tree.Stat(k.path(name), false)
		x, ok := i.(info)
		if err != nil || !ok || x.target == "" {
			return 1
		}
		fmt.Fprintln(k.stdout, x.target)
	}
	return 0
}

func realpath(k *call) int {
	for _, name := range k.flags("").rest {
		fmt.Fprintln(k.stdout, k.path(name))
	}
	return 0
}

func mktemp(k *call) int {
	f := k.flags("p")
	for i := 0; ; i++ {
		name := fmt.Sprintf("/tmp/tmp.%06d", i)
		if _, err := k.tree.Stat(name, false); err == nil {
			continue
		}
		var err error
		if f.on['d'] {
			err = k.tree.Mkdir(name, 0o700)
		} else {
			err = k.tree.WriteFile(name, nil, 0o600)
		}
		if err != nil {
			return k.fail("%s", reason(err))
		}
		fmt.Fprintln(k.stdout, name)
		return 0
	}
}

// tarCommand creates and extracts archives, which is what kubectl cp runs.
func tarCommand(k *call) int {
	args := k.args
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		args = append([]string{"-" + args[0]}, args[1:]...)
	}
	f := (&call{args: args}).flags("fC")
	dir := k.dir
	if f.on['C'] {
		dir = k.path(f.value['C'])
	}
	file := f.value['f']
	switch {
	case f.on['c']:
		var archive bytes.Buffer
		var w io.Writer = &archive
		var zipped *gzip.Writer
		if f.on['z'] {
			zipped = gzip.NewWriter(&archive)
			w = zipped
		}
		t := tar.NewWriter(w)
		code := 0
		for _, name := range f.rest {
			base := absolute(dir, name)
			err := k.walk(base, func(p string, i fs.FileInfo) error {
				return k.archive(t, strings.TrimPrefix(strings.TrimPrefix(name, "/")+strings.TrimPrefix(p, base), "/"), p, i)
			})
			if err != nil {
				code = k.fail("%s: %s", name, reason(err))
			}
		}
		if err := t.Close(); err != nil {
			return k.fail("%v", err)
		}
		if zipped != nil {
			if err := zipped.Close(); err != nil {
				return k.fail("%v", err)
			}
		}
		if file != "" && file != "-" {
			if err := k.tree.WriteFile(k.path(file), archive.Bytes(), 0o644); err != nil {
				return k.fail("%s: %s", file, reason(err))
			}
		} else if _, err := k.stdout.Write(archive.Bytes()); err != nil {
			return 1
		}
		return code
	case f.on['x'], f.on['t']:
		r := k.stdin
		if file != "" && file != "-" {
			h, err := k.tree.Open(k.path(file), 0, 0)
			if err != nil {
				return k.fail("can't open '%s': %s", file, reason(err))
			}
			r = h
		}
		if f.on['z'] {
			z, err := gzip.NewReader(r)
			if err != nil {
				return k.fail("%v", err)
			}
			r = z
		}
		return k.unpack(tar.NewReader(r), dir, f.on['t'], f.on['v'])
	}
	return k.fail("must specify one of -c, -x, -t")
}

func (k *call) archive(t *tar.Writer, name, p string, i fs.FileInfo) error {
	header := &tar.Header{Name: name, Mode: int64(i.Mode().Perm()), ModTime: i.ModTime().UTC(), Typeflag: tar.TypeReg}
	var data []byte
	switch {
	case i.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
	case i.Mode()&fs.ModeSymlink != 0:
		header.Typeflag, header.Linkname = tar.TypeSymlink, i.(info).target
	case !i.Mode().IsRegular():
		return nil
	default:
		var err error
		if data, err = k.tree.ReadFile(p); err != nil {
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

func (k *call) unpack(t *tar.Reader, dir string, list, verbose bool) int {
	for {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			return k.fail("%v", err)
		}
		if list || verbose {
			fmt.Fprintln(k.stdout, header.Name)
		}
		if list {
			continue
		}
		to := path.Join(dir, path.Clean("/"+header.Name))
		err = k.tree.MkdirAll(path.Dir(to), 0o755)
		switch {
		case err != nil:
		case header.Typeflag == tar.TypeDir:
			err = k.tree.MkdirAll(to, fs.FileMode(header.Mode))
		case header.Typeflag == tar.TypeSymlink:
			_ = k.tree.Remove(to, false)
			err = k.tree.Symlink(header.Linkname, to)
		default:
			var data []byte
			if data, err = io.ReadAll(t); err == nil {
				err = k.tree.WriteFile(to, data, fs.FileMode(header.Mode))
			}
		}
		if err != nil {
			return k.fail("%s: Cannot open: %s", header.Name, reason(err))
		}
	}
}
