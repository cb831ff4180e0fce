package shell

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// systemPath are the folders of programs.
const systemPath = "/usr/local/bin:/usr/bin:/bin"

// searchPath is the PATH of a new shell: as Debian's .profile has it, with the user's own folder first if there is one.
func (s *Shell) searchPath() string {
	own := filepath.Join(s.config.Home, "bin")
	if info, err := os.Stat(own); err != nil || !info.IsDir() {
		return systemPath
	}
	return own + ":" + systemPath
}

// onPath returns the first executable file of a name in the folders of PATH, "" if there is none. Only folders of the shell's
// own files are looked at: natively others have the machine's programs, which the shell does not run.
func (k *session) onPath(env expand.Environ, dir, name string) string {
	if name == "" || strings.Contains(name, "/") {
		return ""
	}
	for folder := range strings.SplitSeq(env.Get("PATH").String(), ":") {
		folder = coreutils.Absolute(dir, folder)
		if !k.shell.owns(folder) {
			continue
		}
		file := path.Join(folder, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// owns reports whether a folder has files of the shell's alone.
func (s *Shell) owns(folder string) bool {
	return s.config.OwnsFiles || slices.ContainsFunc([]string{s.config.Home, s.config.Temp}, func(root string) bool {
		return folder == root || strings.HasPrefix(folder, root+"/")
	})
}

// commands runs a file of commands.
func (k *session) commands(c *coreutils.Call, name, asked string, args []string) int {
	text, err := os.ReadFile(name)
	if err != nil {
		fmt.Fprintf(c.Stderr, "bash: %s: %s\n", asked, coreutils.Reason(err))
		return 127
	}
	return k.sub(c, string(text), asked, c.Environ(), args)
}

// script runs a file as a kernel does: with the program that its first line names after #!, or else as commands of bash. It
// need not be executable.
func (k *session) script(c *coreutils.Call, name, asked string, args []string) int {
	text, _ := os.ReadFile(name) // commands tells of an error
	words := interpreter(string(text))
	if len(words) == 0 {
		return k.commands(c, name, asked, args)
	}
	program := path.Base(words[0])
	switch {
	case program == "bash" || program == "sh" || program == "dash":
		return k.commands(c, name, asked, args)
	case programs[program] == nil && coreutils.Lookup(program) == nil:
		fmt.Fprintf(c.Stderr, "bash: %s: %s: bad interpreter: No such file or directory\n", asked, words[0])
		return 126
	}
	run := *c
	run.Name, run.Args = program, slices.Concat(words[1:], []string{name}, args)
	return k.command(&run, program)
}

// interpreter returns the words after #! in the first line of a text, without env; none if there are none.
func interpreter(text string) []string {
	line, _, _ := strings.Cut(text, "\n")
	rest, found := strings.CutPrefix(line, "#!")
	if !found {
		return nil
	}
	words := strings.Fields(rest)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
	}
	return words
}
