package shell

import (
	"bytes"
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/completion"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// complete returns the candidates for the word before the cursor: kubectl's own
// where kubectl is the command, else commands and files.
func (k *session) complete(ctx context.Context, before string) (all []tty.Candidate, replaces int) {
	words, last := completion.Split(before)
	here := completion.Shell{Dir: k.runner.Dir, Home: k.shell.config.Home, ReadDir: os.ReadDir}
	if completion.IsCommand(words, last) {
		here.Programs = slices.Concat(slices.Collect(maps.Keys(programs)), slices.Collect(maps.Keys(k.runner.Funcs)), bash.AliasNames(k.runner))
		return here.Commands(last)
	}
	if words = k.resolve(words); len(words) > 0 && words[0] == "kubectl" && !last.Redirect {
		if all, replaces, ok := k.completeKubectl(ctx, here, words[1:], last); ok {
			return all, replaces
		}
	}
	return here.Files(last)
}

// resolve puts the words of an alias in its place, if the first of words is one.
func (k *session) resolve(words []string) []string {
	seen := map[string]bool{}
	for len(words) > 0 && !seen[words[0]] {
		alias, ok := bash.Alias(k.runner, words[0])
		if !ok {
			break
		}
		seen[words[0]] = true
		words = slices.Concat(alias, words[1:])
	}
	return words
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
func (k *session) completeKubectl(ctx context.Context, here completion.Shell, words []string, last completion.Word) (all []tty.Candidate, replaces int, ok bool) {
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
	args := slices.Concat([]string{"__completeNoDesc"}, words, []string{last.Text})
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
		if text = tty.Plain(text); text == "" || strings.HasPrefix(text, "_activeHelp_ ") || !strings.HasPrefix(text, last.Text) {
			continue
		}
		all = append(all, tty.Candidate{Text: text, Open: directive&directiveNoSpace != 0 || strings.HasSuffix(text, "=")})
	}
	if len(all) == 0 && directive&directiveNoFiles == 0 {
		// --filename=dep: the file is what follows the flag.
		if _, value, cut := strings.Cut(last.Text, "="); cut && strings.HasPrefix(last.Text, "-") {
			last.Raw, last.Text = len(value), value
			all, replaces = here.Files(last)
			return all, replaces, true
		}
		return nil, 0, false
	}
	slices.SortFunc(all, func(a, b tty.Candidate) int { return strings.Compare(a.Text, b.Text) })
	return all, last.Raw, true
}
