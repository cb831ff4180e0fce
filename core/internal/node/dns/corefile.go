package dns

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/coredns/caddy/caddyfile"
)

const (
	importDepth = 8       // of files and snippets in each other
	mostBytes   = 4 << 20 // of a Corefile with all that it imports
)

// plugins are those that CoreDNS is built with, https://github.com/coredns/coredns/blob/master/plugin.cfg.
var plugins = []string{
	"root", "metadata", "geoip", "cancel", "tls", "proxyproto", "quic", "grpc_server", "https", "https3", "timeouts", "multisocket", "reload",
	"nsid", "bufsize", "bind", "debug", "trace", "ready", "health", "pprof", "prometheus", "errors", "log", "dnstap", "local", "dns64", "any",
	"chaos", "loadbalance", "tsig", "cache", "rewrite", "acl", "header", "dnssec", "autopath", "minimal", "template", "transfer", "hosts",
	"route53", "azure", "clouddns", "k8s_external", "kubernetes", "file", "auto", "secondary", "etcd", "loop", "forward", "grpc", "erratic",
	"whoami", "on", "sign", "view", "nomad",
}

// Files are those of the machine that CoreDNS runs on.
type Files interface {
	ReadFile(name string) ([]byte, error)
	// Names returns the names of the files in a folder, in their order, and none for what is no folder.
	Names(folder string) []string
}

// corefile reads a Corefile, https://coredns.io/manual/configuration/. The error is in CoreDNS's words.
//
// What the parser itself would look for on the machine that it runs on, which is not the container, has its place taken
// before: variables of the environment, and imports.
func corefile(files Files, name string, env func(string) string) ([]caddyfile.ServerBlock, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	i := &importing{files: files, snippets: map[string]string{}, left: mostBytes}
	text, err := i.expand(name, string(data), importDepth)
	if err != nil {
		return nil, err
	}
	text = variables(text, env)
	if err := looksOutside(caddyfile.NewDispenser(name, strings.NewReader(text))); err != nil {
		return nil, err
	}
	return caddyfile.Parse(name, strings.NewReader(text), plugins)
}

// looksOutside fails for words that the parser would take to its own machine. The lexer makes words of what does not look like
// them: it drops carriage returns.
func looksOutside(words caddyfile.Dispenser) error {
	for words.Next() {
		switch word := words.Val(); {
		case word == "import":
			return fmt.Errorf("%s:%d: import can only begin a line", words.File(), words.Line())
		case strings.Contains(word, "{$") || strings.Contains(word, "{%"):
			return fmt.Errorf("%s:%d: a variable can only have its name in braces", words.File(), words.Line())
		}
	}
	return nil
}

// variable is {$NAME} or, as on Windows, {%NAME%}.
var variable = regexp.MustCompile(`\{\$[^}\n]*\}|\{%[^}\n]*%\}`)

// variables puts values of the environment in the place of their names, so that none is left.
func variables(text string, env func(string) string) string {
	text = variable.ReplaceAllStringFunc(text, func(v string) string { return env(strings.Trim(v, "{$%}")) })
	for variable.MatchString(text) { // of what a value holds
		text = variable.ReplaceAllString(text, "")
	}
	return text
}

// misuse is an error in the words of CoreDNS, which begin with a capital letter.
type misuse string

func (m misuse) Error() string { return string(m) }

// importing puts files and snippets in the place of lines that import them.
type importing struct {
	files    Files
	snippets map[string]string // the lines in them, by name
	left     int               // of mostBytes
}

// snippet is the first line of one: (name) {
var snippet = regexp.MustCompile(`^\s*\((\S+)\)\s*\{\s*$`)

// expand returns the text of a file, or of a snippet in it.
func (i *importing) expand(file, text string, depth int) (string, error) {
	if i.left -= len(text); i.left < 0 {
		return "", fmt.Errorf("a Corefile may have %d bytes with all that it imports", mostBytes)
	}
	var b strings.Builder
	lines := slices.Collect(strings.Lines(text))
	for n := 0; n < len(lines); n++ {
		words := strings.Fields(lines[n])
		if m := snippet.FindStringSubmatch(lines[n]); m != nil {
			body, end := block(lines[n+1:])
			i.snippets[m[1]] = body
			n += end
			continue
		}
		if len(words) == 0 || words[0] != "import" {
			b.WriteString(lines[n])
			continue
		}
		if len(words) != 2 {
			return "", fmt.Errorf("%s:%d - Error during parsing: Wrong argument count or unexpected line ending after 'import'", file, n+1)
		}
		part, err := i.imported(file, strings.Trim(words[1], `"`), depth)
		if err != nil {
			return "", fmt.Errorf("%s:%d - Error during parsing: %w", file, n+1, err)
		}
		b.WriteString(part + "\n")
	}
	return b.String(), nil
}

// block returns the lines up to the brace that closes the block which they are in, and how many lines these are with it.
func block(lines []string) (string, int) {
	depth := 1
	for n, line := range lines {
		for _, word := range strings.Fields(line) {
			switch word {
			case "{":
				depth++
			case "}":
				depth--
			}
		}
		if depth == 0 {
			return strings.Join(lines[:n], ""), n + 1
		}
	}
	return strings.Join(lines, ""), len(lines)
}

// imported returns what a snippet, or the files of a pattern, hold.
func (i *importing) imported(from, pattern string, depth int) (string, error) {
	if depth == 0 {
		return "", errors.New("maximum file import depth exceeded")
	}
	if body, ok := i.snippets[pattern]; ok {
		return i.expand(from, body, depth-1)
	}
	name := pattern
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(from), name)
	}
	var b strings.Builder
	found := false
	for _, file := range i.files.Names(path.Dir(name)) {
		if ok, err := path.Match(path.Base(name), file); err != nil {
			return "", misuse("Failed to use import pattern " + pattern + ": " + err.Error())
		} else if !ok {
			continue
		}
		file = path.Join(path.Dir(name), file)
		data, err := i.files.ReadFile(file)
		if err != nil {
			return "", misuse("Could not import " + file + ": " + err.Error())
		}
		part, err := i.expand(file, string(data), depth-1)
		if err != nil {
			return "", err
		}
		b.WriteString(part + "\n")
		found = true
	}
	if !found && !strings.ContainsAny(name, "*?[") {
		return "", misuse("File to import not found: " + pattern)
	}
	return b.String(), nil
}
