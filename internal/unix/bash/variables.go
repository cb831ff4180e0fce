package bash

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// version is the bash that a shell says it is: that of Debian 12.
var version = []string{"5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"}

// Version writes what bash --version prints.
func Version(w io.Writer) {
	fmt.Fprintf(w, "GNU bash, version %s (%s)\nCopyright (C) 2022 Free Software Foundation, Inc.\n"+
		"License GPLv3+: GNU GPL version 3 or later <http://gnu.org/licenses/gpl.html>\n\n"+
		"This is free software; you are free to change and redistribute it.\nThere is NO WARRANTY, to the extent permitted by law.\n",
		versionText(), version[5])
}

func versionText() string {
	return strings.Join(version[:3], ".") + "(" + version[3] + ")-" + version[4]
}

// Nested returns the variables of a shell that is begun with env: SHLVL is one more. Debian's sh leaves it as it is.
func Nested(env []string, d Dialect) []string {
	if d == Dash {
		return env
	}
	n := 0
	for _, variable := range env {
		if value, ok := strings.CutPrefix(variable, "SHLVL="); ok {
			n, _ = strconv.Atoi(value) // what is no number counts as 0
		}
	}
	return append(slices.Clone(env), "SHLVL="+strconv.Itoa(max(n, -1)+1))
}

// own are the variables that a shell has of itself, and that programs do not get.
type own struct {
	expand.Environ
	number  func() int // for ownNumber
	dialect Dialect
}

func (o own) Get(name string) expand.Variable {
	switch {
	case name == ownNumber:
		return expand.Variable{Set: true, Kind: expand.String, Str: strconv.Itoa(o.number())}
	case o.dialect != Bash:
	case name == "BASH_VERSION":
		return expand.Variable{Set: true, Kind: expand.String, Str: versionText()}
	case name == "BASH_VERSINFO":
		return expand.Variable{Set: true, ReadOnly: true, Kind: expand.Indexed, List: version}
	}
	return o.Environ.Get(name)
}

// Each is what a subshell in the background takes its variables from.
func (o own) Each(yield func(string, expand.Variable) bool) {
	for _, name := range []string{ownNumber, "BASH_VERSION", "BASH_VERSINFO"} {
		if vr := o.Get(name); vr.IsSet() && !yield(name, vr) {
			return
		}
	}
	o.Environ.Each(yield)
}

// lists is a program that takes the place of export -p and the like: the interpreter's list nothing.
const lists = "__variables"

// listing makes a declaration without names a call of lists.
func (m *mender) listing(stmt *syntax.Stmt) {
	decl, ok := stmt.Cmd.(*syntax.DeclClause)
	if !ok {
		return
	}
	letters := map[string]string{"export": "x", "readonly": "r"}[decl.Variant.Value]
	prints := letters != ""
	for _, arg := range decl.Args {
		flag := ""
		switch {
		case arg.Name == nil && arg.Value != nil:
			flag = arg.Value.Lit()
		case arg.Name != nil && arg.Naked:
			flag = arg.Name.Value
		}
		if len(flag) < 2 || flag[0] != '-' || strings.Trim(flag[1:], "pxraA") != "" {
			return
		}
		letters += strings.ReplaceAll(flag[1:], "p", "")
		prints = true
	}
	if !prints {
		return
	}
	words := []*syntax.Word{literal(lists), literal(decl.Variant.Value)}
	if letters != "" {
		words = append(words, literal(letters))
	}
	stmt.Cmd, m.changed = &syntax.CallExpr{Args: words}, true
}

// list is the program lists: its arguments are the builtin, and the letters of the attributes that a variable has to have.
func (c *Config) list(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return interp.ExitStatus(1) // somebody else has typed the name
	}
	hc, letters := HandlerCtx(ctx), strings.Join(args[2:], "")
	found := map[string]expand.Variable{}
	for name, vr := range hc.Env.Each {
		found[name] = vr // the last one is the one that counts
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		vr := found[name]
		vr.Exported = vr.Exported || name == "PWD" // programs get it, whatever the interpreter says
		flags := vr.Flags()
		if !vr.Declared() || strings.HasPrefix(name, "__") || name == "IFS" || strings.Trim(letters, flags) != "" {
			continue
		}
		if c.Dialect == Bash {
			fmt.Fprintln(hc.Stdout, declaration(name, vr))
			continue
		}
		text := args[1] + " " + name
		if vr.IsSet() {
			text += "='" + strings.ReplaceAll(vr.String(), "'", `'"'"'`) + "'"
		}
		fmt.Fprintln(hc.Stdout, text)
	}
	return nil
}

// declaration is a variable as declare -p prints it.
func declaration(name string, vr expand.Variable) string {
	text := "declare -" + cmp.Or(vr.Flags(), "-") + " " + name
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace
	switch {
	case !vr.IsSet():
		return text
	case vr.Kind == expand.Indexed:
		var all []string
		for i, value := range vr.List {
			all = append(all, fmt.Sprintf(`[%d]="%s"`, i, quote(value)))
		}
		return text + "=(" + strings.Join(all, " ") + ")"
	case vr.Kind == expand.Associative:
		all := ""
		for _, key := range slices.Sorted(maps.Keys(vr.Map)) {
			all += fmt.Sprintf(`[%s]="%s" `, key, quote(vr.Map[key]))
		}
		return text + "=(" + all + ")"
	}
	return text + `="` + quote(vr.Str) + `"`
}
