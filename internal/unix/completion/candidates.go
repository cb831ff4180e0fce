package completion

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// builtins of the interpreter that are worth completing.
var builtins = []string{"alias", "cd", "declare", "echo", "eval", "exit", "export", "for", "if", "printf", "pwd", "read", "set", "source", "test", "time", "type", "unalias", "unset", "while"}

// Shell is one at whose prompt words are completed.
type Shell struct {
	Dir, Home string // absolute
	ReadDir   func(name string) ([]fs.DirEntry, error)
	// Programs are what it has besides those of package coreutils and the interpreter's builtins, in any order.
	Programs []string
}

// IsCommand reports whether the last word of a line, behind words, is the name of a command.
func IsCommand(words []string, last Word) bool {
	return len(words) == 0 && !last.Redirect && !strings.Contains(last.Text, "/")
}

// Commands returns the commands that the word before the cursor begins.
func (s Shell) Commands(last Word) (all []terminal.Candidate, replaces int) {
	names := slices.Concat(slices.Collect(coreutils.Names()), builtins, s.Programs)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if strings.HasPrefix(name, last.Text) {
			all = append(all, terminal.Candidate{Text: name})
		}
	}
	return all, last.Raw
}

// Files returns the files that the word before the cursor begins. Hidden ones want a dot.
func (s Shell) Files(last Word) (all []terminal.Candidate, replaces int) {
	dir, base := path.Split(last.Text)
	from := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		from = s.Home + "/" + rest
	}
	entries, err := s.ReadDir(coreutils.Absolute(s.Dir, from))
	if err != nil {
		return nil, 0
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "" || terminal.Plain(name) != name {
			continue
		}
		c := terminal.Candidate{Text: dir + name, Show: name}
		if last.Quote == 0 {
			c.Text = dir + Escape(name)
		}
		if e.IsDir() {
			c.Text, c.Show, c.Open = c.Text+"/", c.Show+"/", true
		} else if last.Quote != 0 {
			c.Text += string(last.Quote)
		}
		if last.Quote != 0 {
			c.Text = string(last.Quote) + c.Text
		}
		all = append(all, c)
	}
	return all, last.Raw
}
