package awk

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// What is nested is parsed and run by calls within each other: too much of it is refused.
func TestDeepPrograms(t *testing.T) {
	deep := func(part string) string { return strings.Repeat(part, 100_000) }
	for name, source := range map[string]string{
		"parentheses":   "BEGIN { x = " + deep("(") + "1 }",
		"signs":         "BEGIN { x = " + deep("- ") + "1 }",
		"negations":     "BEGIN { x = " + deep("!") + "1 }",
		"fields":        "{ print " + deep("$") + "1 }",
		"powers":        "BEGIN { x = " + deep("1^") + "1 }",
		"sums":          "BEGIN { x = " + deep("1+") + "1 }",
		"concatenation": "BEGIN { x = " + deep("a ") + "}",
		"assignments":   "BEGIN { " + deep("x=") + "1 }",
		"choices":       "BEGIN { x = " + deep("1?") + "1 }",
		"indexes":       "BEGIN { x = " + deep("a[") + "1 }",
		"calls":         "function f(x) { } BEGIN { " + deep("f(") + "1 }",
		"blocks":        "BEGIN { " + deep("{ "),
		"conditions":    "BEGIN { " + deep("if (x) "),
		"getline":       "BEGIN { " + deep("getline < ") + "x }",
	} {
		if _, err := Parse(source); err == nil || !strings.Contains(err.Error(), "nested too deeply") && !strings.Contains(err.Error(), "operands") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A call in the middle of a large expression takes more of a stack than others.
	p, err := Parse("function f(n) { return " + strings.Repeat("(", 500) + "f(n + 1)" + strings.Repeat(")", 500) + " } BEGIN { f(0) }")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(Config{In: strings.NewReader(""), Out: io.Discard}); err == nil || !strings.Contains(err.Error(), "calls itself too often") {
		t.Errorf("a function without end: %v", err)
	}
}

// Programs are run with little input: whatever they are, they may fail, and not panic.
func FuzzProgram(f *testing.F) {
	for _, source := range []string{
		`{ print $1, $NF; n += $2 } END { print n / NR }`,
		`BEGIN { print substr("abc", "nan"), substr("abc", -1, "inf"), substr("abc", log(-1)), index("", "") }`,
		`BEGIN { for (k in`, `BEGIN { for (k in a) delete a[k]; delete`, `delete`, `BEGIN { getline <`, `a |`, `function f(`, `{ $(-1) = 2 }`, `{ $1e9 = 1 }`,
		`BEGIN { NF = 1e10; $3 = NF; print; NF = -1; print }`, `BEGIN { printf "%*d|%-.3s|%c|%5%|%z", -5, 3, "é", 300 }`, `BEGIN { printf "%" }`,
		`BEGIN { a["x"] = 1; a = 2; split("a b", a); length(a); f(a) } function f(b) { b = 1; b[1] = 2; return b }`,
		`BEGIN { FS = "["; RS = "" } /a(/ { gsub("(", "&"); gsub(/x*/, "-"); sub("", "\\&") } { print $0 ~ "[" }`,
		`BEGIN { while (("none" | getline x) > 0) print x; close("none"); print x > "/dev/stdout"; printf "x" | "cat"; system("") }`,
		`BEGIN { exit "x" } END { exit }`, `NR == 1, NR == 2 { next } { nextfile }`, `BEGIN { return }`, `function f() { next } { f() } END { f() }`,
		`BEGIN { print -"x", !"", 1e308 * 10, -log(0), int("0x1f"), 2 ^ 0.5, 7 % 0 }`, `BEGIN { srand("x"); rand(); srand() ; print toupper(x) tolower(1) }`,
		`BEGIN { ARGC = 1e4; ARGV[1] = ""; ARGV[2] = "x=1" } { print FILENAME }`, `BEGIN{x["a",1]=2;for(k in x){split(k,p,SUBSEP);print p[1]}}`,
	} {
		f.Add(source, "a 1\nb 2\n\nc")
	}
	f.Fuzz(func(t *testing.T, source, in string) {
		p, err := Parse(source)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		none := errors.New("there are no files here")
		_, _ = p.Run(Config{ // its error is the program's own
			In: strings.NewReader(in), Out: io.Discard, Context: ctx,
			Open:    func(string) (io.ReadCloser, error) { return nil, none },
			Create:  func(string, bool) (io.WriteCloser, error) { return nil, none },
			Command: func(string, io.Reader, io.Writer) int { return 1 },
		})
	})
}
