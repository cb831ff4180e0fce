package coreutils

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// fileCommands work on files by name.
var fileCommands = map[string]func(*Call) int{
	"ls": ls, "mkdir": mkdir, "rm": rm, "rmdir": rm, "cp": cp, "mv": mv, "touch": touch, "ln": ln,
	"chmod": chmod, "chown": chown, "chgrp": chgrp, "sync": nothing, "truncate": truncate, "fallocate": fallocate, "stat": stat, "find": find, "du": du, "df": df,
	"tar": tarCommand, "basename": baseName, "dirname": dirName, "readlink": readlink, "realpath": realpath, "mktemp": mktemp, "mount": nothing, "tree": tree,
}

func nothing(*Call) int { return 0 }

func mkdir(k *Call) int {
	f := k.Flags("m")
	code := 0
	for _, name := range f.Rest {
		make := k.Files.Mkdir
		if f.On['p'] {
			make = k.Files.MkdirAll
		}
		if err := make(k.Path(name), 0o755); err != nil {
			code = k.Fail("can't create directory '%s': %s", name, Reason(err))
		}
	}
	return code
}

func rm(k *Call) int {
	f := k.Flags("")
	code := 0
	for _, name := range f.Rest {
		p := k.Path(name)
		i, err := k.Files.Stat(p, false)
		all := f.On['r'] || f.On['R']
		switch {
		case err != nil && f.On['f']:
			continue
		case err == nil && k.Name == "rm" && i.IsDir() && !all:
			code = k.Fail("'%s' is a directory", name)
			continue
		case err == nil:
			err = k.Files.Remove(p, all)
		}
		if err != nil {
			code = k.Fail("can't remove '%s': %s", name, Reason(err))
		}
	}
	return code
}

// into returns where name goes: to itself, or below it if it is a directory.
func (k *Call) into(from, to string) string {
	p := k.Path(to)
	if i, err := k.Files.Stat(p, true); err == nil && i.IsDir() {
		return path.Join(p, path.Base(from))
	}
	return p
}

func (k *Call) copy(from, to string, all bool) error {
	i, err := k.Files.Stat(from, true)
	if err != nil {
		return err
	}
	if !i.IsDir() {
		if from == to {
			return fmt.Errorf("'%s' and '%s' are the same file", from, to)
		}
		in, err := k.Files.Open(from, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := k.Files.Open(to, writeFlags, i.Mode().Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	}
	switch {
	case !all:
		return errors.New("omitting directory")
	case strings.HasPrefix(to+"/", strings.TrimSuffix(from, "/")+"/"):
		return errors.New("cannot copy a directory into itself")
	case k.Err() != nil:
		return k.Err()
	}
	if err := k.Files.MkdirAll(to, i.Mode()); err != nil {
		return err
	}
	entries, err := k.Files.ReadDir(from)
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

func cp(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) < 2 {
		return k.Fail("missing file operand")
	}
	to := f.Rest[len(f.Rest)-1]
	code := 0
	for _, from := range f.Rest[:len(f.Rest)-1] {
		if k.spares(f, k.into(from, to)) {
			continue
		}
		if err := k.copy(k.Path(from), k.into(from, to), f.On['r'] || f.On['R'] || f.On['a']); err != nil {
			code = k.Fail("can't copy '%s': %s", from, Reason(err))
		}
	}
	return code
}

func mv(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) < 2 {
		return k.Fail("missing file operand")
	}
	to := f.Rest[len(f.Rest)-1]
	code := 0
	for _, from := range f.Rest[:len(f.Rest)-1] {
		if k.spares(f, k.into(from, to)) {
			continue
		}
		if err := k.Files.Rename(k.Path(from), k.into(from, to)); err != nil {
			code = k.Fail("can't rename '%s': %s", from, Reason(err))
		}
	}
	return code
}

// spares reports whether cp and mv leave a file alone because it is there: with -n.
func (k *Call) spares(f Flags, to string) bool {
	if _, long := f.Long["no-clobber"]; !long && !f.On['n'] {
		return false
	}
	_, err := k.Files.Stat(to, false)
	return err == nil
}

func touch(k *Call) int {
	code := 0
	for _, name := range k.Flags("dt").Rest {
		if err := k.Files.Touch(k.Path(name)); err != nil {
			code = k.Fail("%s: %s", name, Reason(err))
		}
	}
	return code
}

func ln(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) != 2 {
		return k.Fail("missing file operand")
	}
	to := k.into(f.Rest[0], f.Rest[1])
	if f.On['f'] {
		_ = k.Files.Remove(to, false) // what is not there need not go
	}
	if err := k.Files.Symlink(f.Rest[0], to); err != nil {
		return k.Fail("%s: %s", f.Rest[1], Reason(err))
	}
	return 0
}

// walk visits p and what is below it.
func (k *Call) walk(p string, visit func(p string, i fs.FileInfo) error) error {
	i, err := k.Files.Stat(p, false)
	if err != nil {
		return err
	}
	if err := visit(p, i); err != nil || !i.IsDir() {
		return err
	}
	entries, err := k.Files.ReadDir(p)
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

func find(k *Call) int {
	roots, pattern, kind := []string{}, "", ""
	for i := 0; i < len(k.Args); i++ {
		switch {
		case k.Args[i] == "-name" && i+1 < len(k.Args):
			i++
			pattern = k.Args[i]
		case k.Args[i] == "-type" && i+1 < len(k.Args):
			i++
			kind = k.Args[i]
		case !strings.HasPrefix(k.Args[i], "-"):
			roots = append(roots, k.Args[i])
		}
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	code := 0
	for _, root := range roots {
		base := k.Path(root)
		err := k.walk(base, func(p string, i fs.FileInfo) error {
			if match, err := path.Match(pattern, path.Base(p)); pattern != "" && (err != nil || !match) {
				return nil
			}
			if kind == "f" && !i.Mode().IsRegular() || kind == "d" && !i.IsDir() || kind == "l" && i.Mode()&fs.ModeSymlink == 0 {
				return nil
			}
			fmt.Fprintln(k.Stdout, strings.TrimSuffix(root, "/")+strings.TrimPrefix(p, strings.TrimSuffix(base, "/")))
			return nil
		})
		if err != nil {
			code = k.Fail("%s: %s", root, Reason(err))
		}
	}
	return code
}

func baseName(k *Call) int {
	if len(k.Args) == 0 {
		return k.Fail("missing operand")
	}
	name := path.Base(k.Args[0])
	if len(k.Args) > 1 && name != k.Args[1] {
		name = strings.TrimSuffix(name, k.Args[1])
	}
	fmt.Fprintln(k.Stdout, name)
	return 0
}

func dirName(k *Call) int {
	if len(k.Args) == 0 {
		return k.Fail("missing operand")
	}
	fmt.Fprintln(k.Stdout, path.Dir(k.Args[0]))
	return 0
}

func readlink(k *Call) int {
	f := k.Flags("")
	if f.On['f'] {
		return realpath(k)
	}
	for _, name := range f.Rest {
		i, err := k.Files.Stat(k.Path(name), false)
		if err != nil || target(i) == "" {
			return 1
		}
		fmt.Fprintln(k.Stdout, target(i))
	}
	return 0
}

func realpath(k *Call) int {
	for _, name := range k.Flags("").Rest {
		fmt.Fprintln(k.Stdout, k.Path(name))
	}
	return 0
}

func mktemp(k *Call) int {
	f := k.Flags("p")
	for i := 0; ; i++ {
		name := fmt.Sprintf("/tmp/tmp.%06d", i)
		if _, err := k.Files.Stat(name, false); err == nil {
			continue
		}
		var err error
		if f.On['d'] {
			err = k.Files.Mkdir(name, 0o700)
		} else {
			err = k.Files.WriteFile(name, nil, 0o600)
		}
		if err != nil {
			return k.Fail("%s", Reason(err))
		}
		fmt.Fprintln(k.Stdout, name)
		return 0
	}
}
