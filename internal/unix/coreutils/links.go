package coreutils

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// mostLinks is how many symbolic links a path may lead through, as on Linux.
const mostLinks = 40

// existing says how much of a path must exist.
type existing int

const (
	allButLastExist existing = iota
	allExist
	noneNeedExist
)

// resolve returns where a path leads when each symbolic link in it is followed.
func (k *Call) resolve(name string, must existing) (string, error) {
	rest := strings.Split(strings.Trim(Absolute(k.Dir, name), "/"), "/")
	at, links := "/", 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := k.Files.Stat(next, false)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) || must == allExist || must == allButLastExist && len(rest) > 0 {
				return "", err
			}
			at = next
			continue
		}
		to := target(info)
		if to == "" {
			at = next
			continue
		}
		if links++; links > mostLinks {
			return "", syscall.ELOOP
		}
		if path.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(strings.Trim(to, "/"), "/"), rest...)
	}
	return at, nil
}

// must is what the options say has to exist, allButLastExist without one.
func (f Flags) must() existing {
	switch {
	case f.On['e'] || f.Has("canonicalize-existing"):
		return allExist
	case f.On['m'] || f.Has("canonicalize-missing"):
		return noneNeedExist
	}
	return allButLastExist
}

// readlink prints what symbolic links say or, with -f, -e and -m, where they lead.
func readlink(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) == 0 {
		return k.misuse("missing operand")
	}
	leads := f.On['f'] || f.On['e'] || f.On['m'] || f.Has("canonicalize") || f.Has("canonicalize-existing") || f.Has("canonicalize-missing")
	code := 0
	for i, name := range f.Rest {
		var to string
		if leads {
			var err error
			if to, err = k.resolve(name, f.must()); err != nil {
				code = 1
				continue
			}
		} else if info, err := k.Files.Stat(k.Path(name), false); err == nil {
			to = target(info)
		}
		if to == "" {
			code = 1
			continue
		}
		fmt.Fprint(k.Stdout, to)
		if i < len(f.Rest)-1 || !f.On['n'] && !f.Has("no-newline") {
			fmt.Fprintln(k.Stdout)
		}
	}
	return code
}

// realpath prints where paths lead.
func realpath(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) == 0 {
		return k.misuse("missing operand")
	}
	code := 0
	for _, name := range f.Rest {
		to := k.Path(name)
		if !f.On['s'] && !f.Has("strip") && !f.Has("no-symlinks") {
			var err error
			if to, err = k.resolve(name, f.must()); err != nil {
				if !f.On['q'] && !f.Has("quiet") {
					k.Fail("%s: %s", name, Reason(err))
				}
				code = 1
				continue
			}
		}
		if from, ok := f.Long["relative-to"]; ok {
			to = relative(k.Path(from), to)
		}
		fmt.Fprintln(k.Stdout, to)
	}
	return code
}

// relative is the way from a folder to a file.
func relative(from, to string) string {
	a, b := strings.Split(strings.Trim(from, "/"), "/"), strings.Split(strings.Trim(to, "/"), "/")
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	way := path.Join(strings.Repeat("../", len(a)-same), path.Join(b[same:]...))
	if way == "" {
		return "."
	}
	return way
}
