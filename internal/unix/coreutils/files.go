package coreutils

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// fileCommands work on files by name.
var fileCommands = map[string]func(*Call) int{
	"ls": ls, "mkdir": mkdir, "rm": rm, "rmdir": rmdir, "cp": cp, "mv": mv, "touch": touch, "ln": ln,
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
		return k.misuse("missing operand")
	}
	make := k.Files.Mkdir
	if f.On['p'] || f.Has("parents") {
		make = k.Files.MkdirAll
	}
	code := 0
	for _, name := range f.Rest {
		err := make(k.Path(name), 0o755)
		if err != nil {
			code = k.refuse("cannot create directory ‘%s’: %s", "can't create directory '%s': %s", name, Reason(err))
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
		if err := k.copy(from, at, false); err != nil {
			code = k.report(err, func() int { return k.Fail("cannot install '%s': %s", from, Reason(err)) })
		} else if changed := k.giveMode(at, mode, 0); changed != 0 {
			return changed
		}
	}
	return code
}

func rm(k *Call) int {
	f := k.Flags("")
	forced := f.On['f'] || f.Has("force")
	if len(f.Rest) == 0 && !forced {
		return k.misuse("missing operand")
	}
	code := 0
	for _, name := range f.Rest {
		p := k.Path(name)
		i, err := k.Files.Stat(p, false)
		all := f.On['r'] || f.On['R'] || f.Has("recursive")
		switch {
		case err != nil && forced:
			continue
		case err == nil && i.IsDir() && !all:
			code = k.refuse("cannot remove '%s': Is a directory", "'%s' is a directory", name)
			continue
		case err == nil:
			err = k.Files.Remove(p, all)
		}
		if err != nil {
			code = k.refuse("cannot remove '%s': %s", "can't remove '%s': %s", name, Reason(err))
		}
	}
	return code
}

func rmdir(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) == 0 {
		return k.misuse("missing operand")
	}
	code := 0
	for _, name := range f.Rest {
		i, err := k.Files.Stat(k.Path(name), false)
		if err == nil && !i.IsDir() {
			err = syscall.ENOTDIR
		} else if err == nil {
			err = k.Files.Remove(k.Path(name), false)
		}
		if err != nil {
			code = k.refuse("failed to remove '%s': %s", "'%s': %s", name, Reason(err))
		}
	}
	return code
}

func touch(k *Call) int {
	f := k.Flags("dt")
	if len(f.Rest) == 0 {
		return k.misuse("missing file operand")
	}
	code := 0
	for _, name := range f.Rest {
		if err := k.Files.Touch(k.Path(name)); err != nil {
			code = k.refuse("cannot touch '%s': %s", "%s: %s", name, Reason(err))
		}
	}
	return code
}

func ln(k *Call) int {
	f := k.Flags("")
	switch len(f.Rest) {
	case 0:
		return k.misuse("missing file operand")
	case 1:
		f.Rest = append(f.Rest, ".")
	}
	last := len(f.Rest) - 1
	if i, err := k.Files.Stat(k.Path(f.Rest[last]), true); last > 1 && (err != nil || !i.IsDir()) {
		return k.refuse("target '%s' is not a directory", "target '%s' is not a directory", f.Rest[last])
	}
	code := 0
	for _, from := range f.Rest[:last] {
		to := k.into(from, f.Rest[last])
		if f.On['f'] {
			_ = k.Files.Remove(k.Path(to), false) // what is not there need not go
		}
		if err := k.Files.Symlink(from, k.Path(to)); err != nil {
			code = k.refuse("failed to create symbolic link '%s': %s", "%s: %s", to, Reason(err))
		}
	}
	return code
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
			code = k.refuse("‘%s’: %s", "%s: %s", root, Reason(err))
		}
	}
	return code
}

func baseName(k *Call) int {
	if len(k.Args) == 0 {
		return k.misuse("missing operand")
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
		return k.misuse("missing operand")
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
