package coreutils

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"path"
	"syscall"
	"time"

	"k8s.io/utils/clock"
	"mvdan.cc/sh/v3/expand"
)

// Call is one run of a command.
type Call struct {
	context.Context
	System         System
	Userland       Userland
	Files          Files
	Name           string
	Args           []string // without the name
	Dir            string
	Env            expand.Environ
	Stdin          io.Reader // never nil
	Stdout, Stderr io.Writer
}

// System is the machine that commands run on.
type System interface {
	Clock() clock.WithTickerAndDelayedExecution
	// Pause waits for d on the clock. It returns what sleep exits with: 0, or
	// something else when the command has been told to end.
	Pause(k *Call, d time.Duration) int
	// Run runs a command line in the folder and with the streams of k, with the
	// variables env, each NAME=value, and returns its exit code.
	Run(k *Call, env, argv []string) int
	// Find returns where the program is, "" if there is none of the name. env has the PATH to search, and dir is the
	// folder that relative ones in it start from.
	Find(env expand.Environ, dir, name string) string
	// Go runs f in a goroutine that somebody waits for.
	Go(f func())
	// RoundTrip sends a request of curl or wget.
	RoundTrip(*http.Request) (*http.Response, error)
}

// Files are those that commands see. Names are absolute, and errors are those of
// package os. What Stat and ReadDir return may have the methods Target() string,
// which says where a symbolic link leads, and Owner() (uid, gid int64).
type Files interface {
	Open(name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error)
	Stat(name string, follow bool) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Symlink(target, name string) error
	Remove(name string, all bool) error
	Rename(from, to string) error
	Touch(name string) error
	Chmod(name string, mode fs.FileMode) error
	// Chown gives a file to a user and a group; -1 leaves what is there.
	Chown(name string, uid, gid int64) error
}

// target is where the symbolic link leads, "" for what is none.
func target(i fs.FileInfo) string {
	if link, ok := i.(interface{ Target() string }); ok {
		return link.Target()
	}
	return ""
}

// commands are the programs by name.
var commands map[string]func(*Call) int

func init() {
	// Assigned here because commands run commands.
	commands = map[string]func(*Call) int{}
	for _, some := range []map[string]func(*Call) int{fileCommands, textCommands, systemCommands, httpCommands} {
		for name, f := range some {
			if _, known := usages[name]; known {
				f = helping(name, f)
			}
			commands[name] = f
		}
	}
}

// Lookup returns the command of the name, or nil.
func Lookup(name string) func(*Call) int { return commands[name] }

// Names returns those of all commands, in no order.
func Names() iter.Seq[string] { return maps.Keys(commands) }

// Path returns an argument as an absolute path.
func (k *Call) Path(p string) string { return Absolute(k.Dir, p) }

// Absolute returns p, or what p is from dir if it is relative.
func Absolute(dir, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// Environ returns the exported variables as NAME=value.
func (k *Call) Environ() []string {
	var env []string
	for name, v := range k.Env.Each {
		if v.Exported && v.IsSet() {
			env = append(env, name+"="+v.String())
		}
	}
	return env
}

// mostArgument is how many bytes an argument of a program may have, as Linux has it (MAX_ARG_STRLEN). What a program is
// told to interpret - awk, jq, a template of kubectl - is thereby bounded, and with it how deeply that can be nested.
const mostArgument = 128 << 10

// TooLong is what a shell says of a command line that is not [Arguable]. The status is 126 then.
const TooLong = "Argument list too long"

// Arguable reports whether a program can be given the arguments.
func Arguable(argv []string) bool {
	for _, arg := range argv {
		if len(arg) >= mostArgument {
			return false
		}
	}
	return true
}

// Fail prints a message as the command's own and returns 1.
func (k *Call) Fail(format string, args ...any) int {
	fmt.Fprintf(k.Stderr, k.Name+": "+format+"\n", args...)
	return 1
}

// Reason is an error's text as C programs print it.
func Reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, syscall.ENOTEMPTY): // which is an fs.ErrExist, too
		return "Directory not empty"
	case errors.Is(err, fs.ErrExist):
		return "File exists"
	case errors.Is(err, syscall.EPERM):
		return "Operation not permitted"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	case errors.Is(err, syscall.EROFS):
		return "Read-only file system"
	case errors.Is(err, syscall.EISDIR):
		return "Is a directory"
	case errors.Is(err, syscall.ENOTDIR):
		return "Not a directory"
	case errors.Is(err, syscall.EBUSY):
		return "Resource busy"
	case errors.Is(err, syscall.ENOSPC):
		return "No space left on device"
	case errors.Is(err, syscall.ELOOP):
		return "Too many levels of symbolic links"
	case errors.Is(err, ErrMemory):
		return ErrMemory.Error()
	}
	return err.Error()
}

// Flags are what [Call.Flags] returns.
type Flags struct {
	On    map[byte]bool
	Value map[byte]string
	Long  map[string]string
	Rest  []string
}

// Has reports whether a long option is given.
func (f Flags) Has(name string) bool {
	_, ok := f.Long[name]
	return ok
}

// Flags takes one-letter flags off the front of the arguments, each with its
// value where values names the letter, and the number in "-5" under '#'.
// Long flags are kept by their name under Long. Of several values the last
// counts; those of -e are lines, as grep and sed take them.
func (k *Call) Flags(values string) Flags {
	f := Flags{On: map[byte]bool{}, Value: map[byte]string{}, Long: map[string]string{}}
	args := k.Args
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			args = args[1:]
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			f.Rest = append(f.Rest, arg)
			args = args[1:]
			continue
		}
		args = args[1:]
		if arg[1] == '-' {
			name, value, _ := cut(arg[2:], '=')
			f.Long[name] = value
			continue
		}
		if arg[1] >= '0' && arg[1] <= '9' {
			f.Value['#'] = arg[1:]
			continue
		}
		for i := 1; i < len(arg); i++ {
			letter := arg[i]
			f.On[letter] = true
			if !contains(values, letter) {
				continue
			}
			value := arg[i+1:]
			if value == "" && len(args) > 0 {
				value, args = args[0], args[1:]
			}
			if earlier, ok := f.Value[letter]; ok && letter == 'e' {
				value = earlier + "\n" + value
			}
			f.Value[letter] = value
			break
		}
	}
	f.Rest = append(f.Rest, args...)
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
func (k *Call) each(names []string, f func(name string, r io.Reader) error) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	code := 0
	for _, name := range names {
		var r io.Reader = k.Stdin
		if name != "-" {
			h, err := k.open(name)
			if err != nil {
				code = k.unreadable(name, err)
				continue
			}
			r = h
		}
		switch err := f(name, r); {
		case errors.Is(err, ErrMemory):
			code = k.Fail("%v", err)
		case err != nil:
			code = k.unreadable(name, err)
		}
		if h, ok := r.(io.Closer); ok && name != "-" {
			h.Close()
		}
	}
	return code
}

// open opens a file to be read.
func (k *Call) open(name string) (io.ReadCloser, error) {
	if i, err := k.Files.Stat(k.Path(name), true); err == nil && i.IsDir() {
		return nil, syscall.EISDIR
	}
	return k.Files.Open(k.Path(name), 0, 0)
}
