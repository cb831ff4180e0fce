package container

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

const (
	nginxFile  = "/etc/nginx/nginx.conf"
	nginxDepth = 8       // of blocks and of files that include each other
	nginxBytes = 4 << 20 // of all files together, each as often as it is included
)

// directive is one of nginx's configuration, such as listen 80; or server { ... }.
type directive struct {
	name  string
	args  []string
	block []directive
	file  string
	line  int // where its name is
}

// at is where the directive is.
func (d directive) at() string { return d.file + ":" + strconv.Itoa(d.line) }

// find returns the first directive of the name among some; the zero one if there is none.
func find(among []directive, name string) directive {
	for _, d := range among {
		if d.name == name {
			return d
		}
	}
	return directive{}
}

// arg is the first argument, empty if there is none.
func (d directive) arg() string {
	if len(d.args) == 0 {
		return ""
	}
	return d.args[0]
}

// nginxParser reads a configuration. Its files are those of the container.
type nginxParser struct {
	tree  *Tree
	left  *int // of nginxBytes
	file  string
	words []nginxWord
}

// nginxWord is a word, or one of ; { }.
type nginxWord struct {
	text   string
	quoted bool
	line   int
}

func (w nginxWord) is(text string) bool { return !w.quoted && w.text == text }

// readNginx returns the directives of a file, with what it includes in its place. The error is in nginx's words.
func readNginx(t *Tree, file string, depth int, left *int) ([]directive, error) {
	data, err := t.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("open() %q failed (2: %s)", file, coreutils.Reason(err))
	}
	if *left -= len(data) + 1; *left < 0 {
		return nil, fmt.Errorf("too large a configuration with %s", file)
	}
	p := &nginxParser{tree: t, left: left, file: file, words: nginxWords(string(data))}
	return p.block(depth, false)
}

// nginxWords takes a text apart.
func nginxWords(text string) []nginxWord {
	var all []nginxWord
	line := 1
	for len(text) > 0 {
		switch c := text[0]; {
		case c == '\n':
			line++
			text = text[1:]
		case c == ' ' || c == '\t' || c == '\r':
			text = text[1:]
		case c == '#':
			if end := strings.IndexByte(text, '\n'); end >= 0 {
				text = text[end:]
			} else {
				text = ""
			}
		case c == ';' || c == '{' || c == '}':
			all = append(all, nginxWord{string(c), false, line})
			text = text[1:]
		case c == '"' || c == '\'':
			word, rest := quotedWord(text[1:], c)
			all = append(all, nginxWord{word, true, line})
			line += strings.Count(word, "\n")
			text = rest
		default:
			end := strings.IndexAny(text, " \t\r\n;{}")
			if end > 0 && strings.HasPrefix(text[end-1:], "${") { // a variable in braces
				if closing := strings.IndexByte(text[end:], '}'); closing >= 0 {
					if rest := strings.IndexAny(text[end+closing+1:], " \t\r\n;{}"); rest >= 0 {
						end += closing + 1 + rest
					}
				}
			}
			if end < 0 {
				end = len(text)
			}
			all = append(all, nginxWord{text[:end], false, line})
			text = text[end:]
		}
	}
	return all
}

// quotedWord returns what is up to the quote, and what follows it.
func quotedWord(text string, quote byte) (word, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return b.String(), text[i+1:]
		case text[i] == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			default:
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), ""
}

// block reads directives up to the end of the block or the file.
func (p *nginxParser) block(depth int, closes bool) ([]directive, error) {
	if depth <= 0 {
		return nil, fmt.Errorf("too many levels of blocks in %s", p.file)
	}
	var all []directive
	var current []nginxWord
	for len(p.words) > 0 {
		w := p.words[0]
		p.words = p.words[1:]
		switch {
		case w.is(";") && len(current) == 0, w.is("{") && len(current) == 0:
			return nil, p.fail(w.line, "unexpected \""+w.text+"\"")
		case w.is(";"):
			d := p.directive(current)
			current = nil
			if d.name != "include" {
				all = append(all, d)
				continue
			}
			included, err := p.include(d.arg(), depth)
			if err != nil {
				return nil, err
			}
			all = append(all, included...)
		case w.is("{"):
			d := p.directive(current)
			current = nil
			var err error
			if d.block, err = p.block(depth-1, true); err != nil {
				return nil, err
			}
			all = append(all, d)
		case w.is("}"):
			if !closes || len(current) > 0 {
				return nil, p.fail(w.line, "unexpected \"}\"")
			}
			return all, nil
		default:
			current = append(current, w)
		}
	}
	if closes || len(current) > 0 {
		return nil, p.fail(1, "unexpected end of file, expecting \";\" or \"}\"")
	}
	return all, nil
}

func (p *nginxParser) fail(line int, text string) error {
	return fmt.Errorf("%s in %s:%d", text, p.file, line)
}

func (p *nginxParser) directive(words []nginxWord) directive {
	d := directive{name: words[0].text, file: p.file, line: words[0].line}
	for _, w := range words[1:] {
		d.args = append(d.args, w.text)
	}
	return d
}

// include returns what is in the files of a pattern. Files that nginx's package has and the container has not are empty.
func (p *nginxParser) include(pattern string, depth int) ([]directive, error) {
	pattern = coreutils.Absolute("/etc/nginx", pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		if _, err := p.tree.Stat(pattern, true); err != nil && path.Dir(pattern) == "/etc/nginx" {
			return nil, nil
		}
		return readNginx(p.tree, pattern, depth-1, p.left)
	}
	entries, err := p.tree.ReadDir(path.Dir(pattern))
	if err != nil {
		return nil, nil
	}
	var all []directive
	for _, e := range entries {
		if ok, _ := path.Match(path.Base(pattern), e.Name()); !ok {
			continue
		}
		some, err := readNginx(p.tree, path.Join(path.Dir(pattern), e.Name()), depth-1, p.left)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
