package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A profile is the set of functions that a running engine has called. In a file
// it is text: the functions of a package follow its path, which ends with a
// colon, in lines that begin with a tab.
//
//	k8s.io/apimachinery/pkg/runtime:
//		(*Scheme).New
//		(*Scheme).New.func1
type profile map[string]map[string]bool // package path -> names of functions within it

// splitSymbol takes a function's symbol apart: "a/b.(*T[c/d.E]).F" is the
// function (*T).F of a/b. Type arguments are left out, because they are long and
// what is called with some will be called with others.
func splitSymbol(symbol string) (pkg, function string) {
	plain := withoutTypeArguments(symbol)
	end := strings.IndexByte(plain, '(')
	if end < 0 {
		end = len(plain)
	}
	last := strings.LastIndexByte(plain[:end], '/') + 1
	dot := strings.IndexByte(plain[last:], '.')
	if dot < 0 {
		return "", plain
	}
	return plain[:last+dot], plain[last+dot+1:]
}

func withoutTypeArguments(symbol string) string {
	if !strings.Contains(symbol, "[") {
		return symbol
	}
	var plain strings.Builder
	depth := 0
	for _, c := range []byte(symbol) {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			plain.WriteByte(c)
		}
	}
	return plain.String()
}

func (p profile) has(symbol string) bool {
	pkg, function := splitSymbol(symbol)
	return p[pkg][function]
}

func (p profile) add(symbol string) {
	pkg, function := splitSymbol(symbol)
	if p[pkg] == nil {
		p[pkg] = map[string]bool{}
	}
	p[pkg][function] = true
}

func readProfile(from io.Reader) (profile, error) {
	p := profile{}
	var functions map[string]bool
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if function, ok := strings.CutPrefix(line, "\t"); ok && functions != nil {
			functions[function] = true
		} else if pkg, ok := strings.CutSuffix(line, ":"); ok && p[pkg] == nil {
			functions = map[string]bool{}
			p[pkg] = functions
		} else {
			return nil, fmt.Errorf("not a profile: %q", line)
		}
	}
	return p, lines.Err()
}

func (p profile) writeTo(to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, pkg := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(w, "%s:\n", pkg)
		for _, function := range slices.Sorted(maps.Keys(p[pkg])) {
			fmt.Fprintf(w, "\t%s\n", function)
		}
	}
	return w.Flush()
}
