// Package lines holds command lines with what they print, and says how to
// compare. The same file is run by the shell of this module, natively and as
// WebAssembly, and by bash with kubectl and the tools of a real machine.
//
//	# a comment                     about the block that follows
//	# in the cluster's network      this one asks for names that a real machine does not have
//	$ kubectl get pods | grep web   the command; "| " goes on with it
//	> web-1  1/1  Running           standard output
//	! Warning: ...                  standard error
//	= 1                             exit code, when it is not 0
//
// Blocks are run one after the other, each by a shell of its own, in the same
// folder and cluster.
package lines

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed lines.txt
var text string

//go:embed endless.txt
var endless string

// Block is a command with what it does.
type Block struct {
	Comment  []string
	Command  string
	Stdout   string
	Stderr   string
	ExitCode int
	Line     int // in the file
}

// InCluster says whether the command asks for names of the cluster's network, which a machine outside of it cannot.
func (b Block) InCluster() bool { return slices.Contains(b.Comment, "in the cluster's network") }

// All returns the blocks of lines.txt. The error names a line.
func All() ([]Block, error) { return Parse(text) }

// Endless returns the blocks of endless.txt: lines that are typed in a terminal and
// do not end, or take more than there is. Ctrl-C ends each within a second. One
// with standard error ends by itself, and prints that as a part of a line. The
// error names a line.
func Endless() ([]Block, error) { return Parse(endless) }

// Parse reads blocks. The error names a line.
func Parse(text string) ([]Block, error) {
	var all []Block
	var comment []string
	for i, line := range strings.Split(text, "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		if mark == "$" {
			all = append(all, Block{Comment: comment, Command: rest, Line: i + 1})
			comment = nil
			continue
		}
		if mark == "" && rest == "" {
			continue
		}
		if mark == "#" {
			comment = append(comment, rest)
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("line %d: %q belongs to no command", i+1, line)
		}
		b := &all[len(all)-1]
		switch mark {
		case "|":
			b.Command += "\n" + rest
		case ">":
			b.Stdout += rest + "\n"
		case "!":
			b.Stderr += rest + "\n"
		case "=":
			code, err := strconv.Atoi(rest)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is no exit code", i+1, rest)
			}
			b.ExitCode = code
		default:
			return nil, fmt.Errorf("line %d: begins with neither of # $ | > ! =", i+1)
		}
	}
	return all, nil
}

// Format is the inverse of Parse.
func Format(all []Block) string {
	var b strings.Builder
	each := func(mark, text string) {
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimRight(mark+" "+strings.TrimSuffix(line, "\n"), " ") + "\n")
		}
	}
	for i, block := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, line := range block.Comment {
			b.WriteString("# " + line + "\n")
		}
		first, more, several := strings.Cut(block.Command, "\n")
		b.WriteString("$ " + first + "\n")
		if several {
			each("|", more)
		}
		each(">", block.Stdout)
		each("!", block.Stderr)
		if block.ExitCode != 0 {
			fmt.Fprintf(&b, "= %d\n", block.ExitCode)
		}
	}
	return b.String()
}

// CanceledWatch matches what client-go logs if its reflector was reading from a
// watch at the moment in which `kubectl wait` or `kubectl delete` had seen
// enough and canceled it (tools/cache/reflector.go): now and then a line more on
// stderr, which says nothing of the command.
var CanceledWatch = regexp.MustCompile(`(?m)^[IWE]\d{4} [\d:.]+ +\d+ reflector\.go:\d+\] "Warning: watch ended with error" .*context canceled.*\n`)

// varying is what differs from run to run, by what stands for it.
var varying = []struct {
	pattern *regexp.Regexp
	stands  string
}{
	{CanceledWatch, ""},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)?`), "<time>"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`(https?://)?127\.0\.0\.1:\d+`), "<server>"},
	{regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b`), "<ip>"},
	{regexp.MustCompile(`-[0-9a-f]{6,10}-[a-z0-9]{5}\b`), "-<hash>-<id>"},
	{regexp.MustCompile(`-[0-9a-f]{9,10}\b`), "-<hash>"},
	{regexp.MustCompile(`/(LIVE|MERGED)-\d+`), "/$1-<n>"},
	{regexp.MustCompile(`\b\d+m\d+s\b|\b\d+(ms|s|m|h|d)\b`), "<age>"},
	{regexp.MustCompile(`(resourceVersion"?: )"\d+"`), `$1"<n>"`},
	{regexp.MustCompile(`  +`), "  "}, // the columns of a table are as wide as what is in them
	{regexp.MustCompile(`[ \t]+\n`), "\n"},
}

// Normal returns output with the text that varies replaced. replace are pairs
// of a text that varies in this run, such as the home folder, and its
// replacement.
func Normal(output string, replace ...string) string {
	output = strings.NewReplacer(replace...).Replace(output)
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	for _, v := range varying {
		output = v.pattern.ReplaceAllString(output, v.stands)
	}
	return output
}
