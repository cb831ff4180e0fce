package bash

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// looks is a program that takes the place of the builtins type and command -v: the interpreter's look for programs on the machine that
// it runs on.
const looks = "__look"

// lookup returns what runs in the place of type, and of command with -v or -V; nil for another builtin.
func lookup(name string, args []string) []string {
	if name == "command" && (len(args) == 0 || args[0] != "-v" && args[0] != "-V") || name != "command" && name != "type" {
		return nil
	}
	return slices.Concat([]string{looks, name}, args)
}

// look tells what names are: args are looks, the builtin, its options and the names.
func (c *Config) look(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	builtin, names := args[1], args[2:]
	option := "-V" // in sentences
	for len(names) > 0 && strings.HasPrefix(names[0], "-") && names[0] != "-" {
		given := names[0]
		names = names[1:]
		if given == "--" {
			break
		}
		for _, letter := range given[1:] {
			switch {
			case strings.ContainsRune("vV", letter) && builtin == "command", strings.ContainsRune("tpP", letter) && builtin == "type":
				option = "-" + string(letter)
			case strings.ContainsRune("af", letter) && builtin == "type": // there is one of a name
			default:
				fmt.Fprintf(hc.Stderr, "bash: %s: -%c: invalid option\n", builtin, letter)
				return interp.ExitStatus(2)
			}
		}
	}
	found := 0
	for _, name := range names {
		is, err := c.tell(ctx, hc, option, name)
		if err != nil {
			return err
		}
		if is {
			found++
		} else if option == "-V" {
			fmt.Fprintf(hc.Stderr, "bash: %s: %s: not found\n", builtin, name)
		}
	}
	if found == len(names) || builtin == "command" && found > 0 {
		return nil
	}
	return interp.ExitStatus(1)
}

// tell says what a name is, as bash does for -t, -p and -P of type, and -v and -V of command. It reports whether it is anything.
func (c *Config) tell(ctx context.Context, hc interp.HandlerContext, option, name string) (is bool, err error) {
	shell := shellOf(ctx)
	say := func(kind, sentence, plain string) (bool, error) {
		switch option {
		case "-t":
			fmt.Fprintln(hc.Stdout, kind)
		case "-V":
			fmt.Fprintf(hc.Stdout, "%s is %s\n", name, sentence)
		case "-v":
			fmt.Fprintln(hc.Stdout, plain)
		}
		return true, nil
	}
	_, isAlias := Alias(shell, name)
	switch function := shell.Funcs[name]; {
	case option == "-P":
	case c.Interactive && isAlias:
		text, _ := aliasText(shell, name)
		return say("alias", "aliased to `"+text+"'", "alias "+name+"='"+strings.ReplaceAll(text, "'", `'\''`)+"'")
	case syntax.IsKeyword(name):
		return say("keyword", "a shell keyword", name)
	case function != nil:
		if option != "-V" {
			return say("function", "", name)
		}
		fmt.Fprintf(hc.Stdout, "%s is a function\n%s () \n", name, name)
		err := syntax.NewPrinter().Print(hc.Stdout, function)
		fmt.Fprintln(hc.Stdout)
		return true, err
	case interp.IsBuiltin(name):
		return say("builtin", "a shell builtin", name)
	}
	path := c.find(hc.Env, hc.Dir, name)
	if path == "" {
		return false, nil
	}
	if option == "-p" || option == "-P" {
		fmt.Fprintln(hc.Stdout, path)
	}
	return say("file", path, path)
}

// find returns the file of a program, "" if there is none.
func (c *Config) find(env expand.Environ, dir, name string) string {
	if !strings.Contains(name, "/") {
		return c.Find(env, dir, name)
	}
	info, err := c.Files.Stat(coreutils.Absolute(dir, name), true)
	if err != nil || info.IsDir() || !c.executable(info) {
		return ""
	}
	return name
}

func (c *Config) executable(info fs.FileInfo) bool {
	if c.Executable != nil {
		return c.Executable(info)
	}
	return info.Mode().Perm()&0o111 != 0
}

// Programs are the builtins that are programs, too, in /bin: a container's command, and
// what a path such as /bin/echo names.
var Programs = map[string]bool{"echo": true, "printf": true, "true": true, "false": true, "test": true, "[": true, "pwd": true, "kill": true}
