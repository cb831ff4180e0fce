package coreutils

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"
)

// into returns where name goes: to itself, or below it if it is a directory.
func (k *Call) into(from, to string) string {
	if i, err := k.Files.Stat(k.Path(to), true); err == nil && i.IsDir() {
		return strings.TrimSuffix(to, "/") + "/" + path.Base(from)
	}
	return to
}

// copy copies a file, or with all a folder. The errors have words, but for those of reading and writing.
func (k *Call) copy(from, to string, all bool) error {
	source, at := k.Path(from), k.Path(to)
	i, err := k.Files.Stat(source, true)
	if err != nil {
		return wording{"cannot stat '%s': %s", "can't stat '%s': %s", []any{from, Reason(err)}}
	}
	if !i.IsDir() {
		if source == at {
			return wording{"'%s' and '%s' are the same file", "'%s' and '%s' are the same file", []any{from, to}}
		}
		in, err := k.Files.Open(source, os.O_RDONLY, 0)
		if err != nil {
			return wording{"cannot open '%s' for reading: %s", "can't open '%s': %s", []any{from, Reason(err)}}
		}
		defer in.Close()
		out, err := k.Files.Open(at, writeFlags, i.Mode().Perm())
		if err != nil {
			return wording{"cannot create regular file '%s': %s", "can't create '%s': %s", []any{to, Reason(err)}}
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	}
	switch {
	case !all:
		return wording{"-r not specified; omitting directory '%s'", "omitting directory '%s'", []any{from}}
	case strings.HasPrefix(at+"/", strings.TrimSuffix(source, "/")+"/"):
		return wording{"cannot copy a directory, '%s', into itself, '%s'", "recursion detected, omitting directory '%[2]s'", []any{from, to}}
	case k.Err() != nil:
		return k.Err()
	}
	if err := k.Files.MkdirAll(at, i.Mode()); err != nil {
		return wording{"cannot create directory '%s': %s", "can't create directory '%s': %s", []any{to, Reason(err)}}
	}
	entries, err := k.Files.ReadDir(source)
	if err != nil {
		return wording{"cannot access '%s': %s", "can't open '%s': %s", []any{from, Reason(err)}}
	}
	for _, e := range entries {
		if err := k.copy(path.Join(from, e.Name()), path.Join(to, e.Name()), true); err != nil {
			return err
		}
	}
	return nil
}

// targets returns what is copied or moved, and where to. code is 1 where the arguments are wrong, which is said then.
func (k *Call) targets(f Flags) (from []string, to string, code int) {
	switch len(f.Rest) {
	case 0:
		return nil, "", k.misuse("missing file operand")
	case 1:
		return nil, "", k.misuse("missing destination file operand after '%s'", f.Rest[0])
	}
	from, to = f.Rest[:len(f.Rest)-1], f.Rest[len(f.Rest)-1]
	if len(from) == 1 || k.Userland == Busybox {
		return from, to, 0
	}
	switch i, err := k.Files.Stat(k.Path(to), true); {
	case err != nil:
		return nil, "", k.Fail("target '%s': %s", to, Reason(err))
	case !i.IsDir():
		return nil, "", k.Fail("target '%s': Not a directory", to)
	}
	return from, to, 0
}

// eachTo calls f for everything that is to be copied or moved, with where to, and returns the last code that is not 0.
func (k *Call) eachTo(flags Flags, f func(from, at string) int) int {
	names, to, code := k.targets(flags)
	for _, from := range names {
		at := k.into(from, to)
		if k.spares(flags, at) {
			continue
		}
		if failed := f(from, at); failed != 0 {
			code = failed
		}
	}
	return code
}

func cp(k *Call) int {
	f := k.Flags("")
	all := f.On['r'] || f.On['R'] || f.On['a'] || f.Has("recursive") || f.Has("archive")
	return k.eachTo(f, func(from, at string) int {
		err := k.copy(from, at, all)
		if err == nil {
			return 0
		}
		return k.report(err, func() int {
			return k.refuse("error copying '%s' to '%s': %s", "can't copy '%s' to '%s': %s", from, at, Reason(err))
		})
	})
}

func mv(k *Call) int {
	return k.eachTo(k.Flags(""), func(from, at string) int {
		if _, err := k.Files.Stat(k.Path(from), false); err != nil {
			return k.refuse("cannot stat '%s': %s", "can't rename '%s': %s", from, Reason(err))
		}
		if k.Path(from) == k.Path(at) && k.Userland == GNU {
			return k.Fail("'%s' and '%s' are the same file", from, at)
		}
		if err := k.Files.Rename(k.Path(from), k.Path(at)); err != nil {
			return k.refuse("cannot move '%s' to '%s': %s", "can't rename '%[1]s': %[3]s", from, at, Reason(err))
		}
		return 0
	})
}

// spares reports whether cp and mv leave a file alone because it is there: with -n.
func (k *Call) spares(f Flags, to string) bool {
	if _, long := f.Long["no-clobber"]; !long && !f.On['n'] {
		return false
	}
	_, err := k.Files.Stat(k.Path(to), false)
	return err == nil
}
