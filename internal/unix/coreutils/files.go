package coreutils

import (
	"cmp"
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
	"chmod": chmod, "chown": chown, "chgrp": chgrp, "sync": nothing, "install": install, "truncate": truncate, "fallocate": fallocate, "stat": stat, "find": find, "du": du, "df": df,
	"tar": tarCommand, "basename": baseName, "dirname": dirName, "readlink": readlink, "realpath": realpath, "mktemp": mktemp, "mount": nothing, "tree": tree,
}

func nothing(*Call) int { return 0 }

func mkdir(k *Call) int {
	f := k.Flags("m")
	mode, isGiven := f.Value['m']
	if long, ok := f.Long["mode"]; ok {
		mode, isGiven = long, true
	}
	if len(f.Rest) == 0 {
		return k.Fail("missing operand")
	}
	make := k.Files.Mkdir
	if f.On['p'] || f.Has("parents") {
		make = k.Files.MkdirAll
	}
	code := 0
	for _, name := range f.Rest {
		err := make(k.Path(name), 0o755)
		if err != nil {
			code = k.Fail("can't create directory '%s': %s", name, Reason(err))
			continue
		}
		if isGiven {
			if code = k.giveMode(name, mode, 0o777); code != 0 {
				return code
			}
		}
		if f.On['v'] || f.Has("verbose") {
			fmt.Fprintf(k.Stdout, "%s: created directory '%s'\n", k.Name, name)
		}
	}
	return code
}

// giveMode gives a file the mode that is said, of which what is relative changes bits.
func (k *Call) giveMode(name, mode string, bits uint32) int {
	n, err := ParseMode(mode, bits)
	if err != nil {
		return k.Fail("invalid mode '%s'", mode)
	}
	if err := k.Files.Chmod(k.Path(name), fs.FileMode(n)); err != nil {
		return k.Fail("cannot change permissions of '%s': %s", name, Reason(err))
	}
	return 0
}

// install copies files and gives the copies a mode, or makes folders with -d.
func install(k *Call) int {
	f := k.Flags("mogtS")
	mode := cmp.Or(f.Long["mode"], f.Value['m'], "755")
	names := f.Rest
	if f.On['d'] || f.Has("directory") {
		if len(names) == 0 {
			return k.Fail("missing file operand")
		}
		for _, name := range names {
			if err := k.Files.MkdirAll(k.Path(name), 0o755); err != nil {
				return k.Fail("cannot create directory '%s': %s", name, Reason(err))
			}
			if code := k.giveMode(name, mode, 0); code != 0 {
				return code
			}
		}
		return 0
	}
	to, isFolder := f.Value['t'], f.On['t']
	if !isFolder {
		if len(names) < 2 {
			return k.Fail("missing destination file operand")
		}
		to, names = names[len(names)-1], names[:len(names)-1]
	}
	if f.On['D'] {
		folder := to
		if !isFolder {
			folder = path.Dir(k.Path(to))
		}
		if err := k.Files.MkdirAll(k.Path(folder), 0o755); err != nil {
			return k.Fail("cannot create directory '%s': %s", folder, Reason(err))
		}
	}
	if i, err := k.Files.Stat(k.Path(to), true); (isFolder || len(names) > 1) && (err != nil || !i.IsDir()) {
		return k.Fail("target '%s' is not a directory", to)
	}
	code := 0
	for _, from := range names {
		at := k.into(from, to)
		if err := k.copy(k.Path(from), at, false); err != nil {
			code = k.Fail("cannot install '%s': %s", from, Reason(err))
		} else if changed := k.giveMode(at, mode, 0); changed != 0 {
			return changed
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
