package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"mvdan.cc/sh/v3/expand"
)

// call is one run of a command.
type call struct {
	context.Context
	session        *session
	tree           *Tree
	name           string
	args           []string // without the name
	dir            string
	env            expand.Environ
	stdin          io.Reader
	stdout, stderr io.Writer
}

// commands are the programs that images with a shell have, by name. Each does
// what people use in Pods, not everything that the real one does.
var commands map[string]func(*call) int

// builtins are what the interpreter itself runs and what exists as a program,
// too, so that it can be a container's command.
var builtins = map[string]bool{"echo": true, "printf": true, "true": true, "false": true, "test": true, "[": true, "pwd": true, "kill": true, "exit": true}

func init() {
	// Assigned here because commands run commands.
	commands = map[string]func(*call) int{}
	for _, some := range []map[string]func(*call) int{fileCommands, textCommands, systemCommands, netCommands} {
		for name, f := range some {
			commands[name] = f
		}
	}
}

func isTool(name string) bool { return builtins[name] || commands[name] != nil }

// path returns an argument as an absolute path.
func (k *call) path(p string) string { return absolute(k.dir, p) }

// environ returns the exported variables as NAME=value.
func (k *call) environ() []string {
	var env []string
	for name, v := range k.env.Each {
		if v.Exported && v.IsSet() {
			env = append(env, name+"="+v.String())
		}
	}
	return env
}

// fail prints a message as the command's own and returns 1.
func (k *call) fail(format string, args ...any) int {
	fmt.Fprintf(k.stderr, k.name+": "+format+"\n", args...)
	return 1
}

// reason is an error's text as C programs print it.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, fs.ErrExist):
		return "File exists"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	case errors.Is(err, syscall.EROFS):
		return "Read-only file system"
	case errors.Is(err, syscall.EISDIR):
		return "Is a directory"
	case errors.Is(err, syscall.ENOTDIR):
		return "Not a directory"
	case errors.Is(err, syscall.ENOTEMPTY):
		return "Directory not empty"
	case errors.Is(err, syscall.EBUSY):
		return "Resource busy"
	}
	return err.Error()
}

// flags takes one-letter flags off the front of the arguments, each with its
// value where values names the letter, and the number in "-5" under '#'.
// Long flags are kept by their name under long.
type flags struct {
	on    map[byte]bool
	value map[byte]string
	long  map[string]string
	rest  []string
}

func (k *call) flags(values string) flags {
	f := flags{on: map[byte]bool{}, value: map[byte]string{}, long: map[string]string{}}
	args := k.args
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			args = args[1:]
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			f.rest = append(f.rest, arg)
			args = args[1:]
			continue
		}
		args = args[1:]
		if arg[1] == '-' {
			name, value, _ := cut(arg[2:], '=')
			f.long[name] = value
			continue
		}
		if arg[1] >= '0' && arg[1] <= '9' {
			f.value['#'] = arg[1:]
			continue
		}
		for i := 1; i < len(arg); i++ {
			letter := arg[i]
			f.on[letter] = true
			if !contains(values, letter) {
				continue
			}
			if i+1 < len(arg) {
				f.value[letter] = arg[i+1:]
			} else if len(args) > 0 {
				f.value[letter], args = args[0], args[1:]
			}
			break
		}
	}
	f.rest = append(f.rest, args...)
	return f
}

func contains(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}

func cut(s string, sep byte) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == sep {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// each runs f on every file named, or on standard input if there is none.
func (k *call) each(names []string, f func(name string, r io.Reader) error) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	code := 0
	for _, name := range names {
		var r io.Reader = k.stdin
		if name != "-" {
			h, err := k.tree.Open(k.path(name), 0, 0)
			if err == nil && h.file.entries != nil {
				err = syscall.EISDIR
			}
			if err != nil {
				code = k.fail("can't open '%s': %s", name, reason(err))
				continue
			}
			r = h
		}
		if err := f(name, r); err != nil {
			code = k.fail("%s: %s", name, reason(err))
		}
	}
	return code
}
