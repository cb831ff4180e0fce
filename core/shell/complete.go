package shell

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// builtins of the interpreter that are worth completing.
var builtins = []string{"alias", "cd", "declare", "echo", "eval", "exit", "export", "for", "if", "printf", "pwd", "read", "set", "source", "test", "time", "type", "unalias", "unset", "while"}

// complete returns the candidates for the word before the cursor: kubectl's own
// where kubectl is the command, else commands and files.
func (k *session) complete(ctx context.Context, before string) ([]tty.Candidate, int) {
	words, last := splitCommand(before)
	switch {
	case last.redirect:
		return k.completeFile(last)
	case len(words) == 0 && !strings.Contains(last.text, "/"):
		return k.completeCommand(last)
	case len(words) > 0 && k.isKubectl(words[0]):
		if all, replaces, ok := k.completeKubectl(ctx, words[1:], last); ok {
			return all, replaces
		}
	}
	return k.completeFile(last)
}

// word is one as it stands in the line.
type word struct {
	text     string // without quotes
	raw      int    // how many bytes of the line it takes
	quote    byte   // that is open at its end, or 0
	redirect bool   // a redirect is before it
}

// splitCommand returns the words of the simple command that the line ends in,
// and the last of them, at which the cursor is, apart. Variable assignments
// before the command are left out.
func splitCommand(line string) (words []string, last word) {
	var text strings.Builder
	start, quoted := -1, byte(0)
	redirect := false
	end := func() {
		if start >= 0 {
			if !redirect {
				words = append(words, text.String())
			}
			redirect = false
		}
		start = -1
		text.Reset()
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted != 0:
			switch {
			case c == quoted:
				quoted = 0
			case c == '\\' && quoted == '"' && i+1 < len(line):
				i++
				text.WriteByte(line[i])
			default:
				text.WriteByte(c)
			}
		case c == '\'' || c == '"':
			if start < 0 {
				start = i
			}
			quoted = c
		case c == '\\' && i+1 < len(line):
			if start < 0 {
				start = i
			}
			i++
			text.WriteByte(line[i])
		case c == ' ' || c == '\t':
			end()
		case c == '|' || c == ';' || c == '&' || c == '(' || c == '`' || c == '\n' || c == '{' && start < 0:
			end()
			words, redirect = nil, false
		case c == '>' || c == '<':
			end()
			redirect = true
		default:
			if start < 0 {
				start = i
			}
			text.WriteByte(c)
		}
	}
	for len(words) > 0 && (assignment(words[0]) || slices.Contains([]string{"do", "then", "else", "time", "!", "if", "while"}, words[0])) {
		words = words[1:]
	}
	last = word{quote: quoted, redirect: redirect}
	if start >= 0 {
		last.text, last.raw = text.String(), len(line)-start
	}
	return words, last
}

func assignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

func (k *session) isKubectl(name string) bool { return name == "kubectl" || name == "k" }

func (k *session) completeCommand(last word) ([]tty.Candidate, int) {
	names := slices.Concat(slices.Collect(coreutils.Names()), slices.Collect(maps.Keys(programs)), builtins, []string{"k", "ll"})
	slices.Sort(names)
	var all []tty.Candidate
	for _, name := range slices.Compact(names) {
		if strings.HasPrefix(name, last.text) {
			all = append(all, tty.Candidate{Text: name})
		}
	}
	return all, last.raw
}

// Bits of cobra.ShellCompDirective.
const (
	directiveError   = 1
	directiveNoSpace = 2
	directiveNoFiles = 4
	directiveByName  = 8 // files with the extensions that are listed
	directiveFolders = 16
)

// completeKubectl asks kubectl's __complete. ok is false where it wants files.
func (k *session) completeKubectl(ctx context.Context, words []string, last word) (all []tty.Candidate, replaces int, ok bool) {
	var out bytes.Buffer
	env := map[string]string{}
	for name, v := range k.runner.Vars {
		if v.Kind == expand.String {
			env[name] = v.Str
		}
	}
	for name, v := range k.environment().Each {
		if _, set := env[name]; !set && v.Exported {
			env[name] = v.String()
		}
	}
	args := slices.Concat([]string{"__completeNoDesc"}, words, []string{last.text})
	if code := k.shell.cluster.Run(ctx, kubectl.Command{Args: args, Dir: k.runner.Dir, Env: env, Out: &out, Err: &bytes.Buffer{}}); code != 0 {
		return nil, 0, true
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	directive, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], ":"))
	if err != nil || directive&directiveError != 0 {
		return nil, 0, true
	}
	if directive&(directiveByName|directiveFolders) != 0 {
		lines = lines[len(lines)-1:] // what is listed is no candidate
	}
	for _, text := range lines[:len(lines)-1] {
		if text = plain(text); text == "" || strings.HasPrefix(text, "_activeHelp_ ") || !strings.HasPrefix(text, last.text) {
			continue
		}
		all = append(all, tty.Candidate{Text: text, Open: directive&directiveNoSpace != 0 || strings.HasSuffix(text, "=")})
	}
	if len(all) == 0 && directive&directiveNoFiles == 0 {
		// --filename=dep: the file is what follows the flag.
		if _, value, cut := strings.Cut(last.text, "="); cut && strings.HasPrefix(last.text, "-") {
			last.raw, last.text = len(value), value
			all, replaces = k.completeFile(last)
			return all, replaces, true
		}
		return nil, 0, false
	}
	slices.SortFunc(all, func(a, b tty.Candidate) int { return strings.Compare(a.Text, b.Text) })
	return all, last.raw, true
}

func (k *session) completeFile(last word) ([]tty.Candidate, int) {
	dir, base := path.Split(last.text)
	from := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		from = k.shell.config.Home + "/" + rest
	}
	entries, err := os.ReadDir(coreutils.Absolute(k.runner.Dir, from))
	if err != nil {
		return nil, 0
	}
	var all []tty.Candidate
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "" || plain(name) != name {
			continue
		}
		c := tty.Candidate{Text: dir + escaped(name, last.quote), Show: name}
		if e.IsDir() {
			c.Text, c.Show, c.Open = c.Text+"/", c.Show+"/", true
		} else if last.quote != 0 {
			c.Text += string(last.quote)
		}
		if last.quote != 0 {
			c.Text = string(last.quote) + c.Text
		}
		all = append(all, c)
	}
	return all, last.raw
}

// escaped puts backslashes before what the shell would take for its own.
func escaped(name string, quote byte) string {
	if quote != 0 {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(" \t'\"\\$`&|;<>()*?[]{}!#~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
