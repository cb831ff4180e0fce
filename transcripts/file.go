package transcripts

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// File is one transcript.
type File struct {
	// Name is the path below testdata without its ending, such as "verbs/create".
	Name string
	// Preamble is everything before the first step, as written: comments and settings.
	Preamble string
	Settings Settings
	Steps    []*Step
}

// Settings are the lines of the preamble that are not comments.
type Settings struct {
	// Namespaces is how many fresh namespaces the story needs: ${ns}, ${ns2}, ...
	Namespaces int
	// Needs names what not every server can offer; see Target.Lacks.
	Needs []string
	// Serial keeps the story from running beside others, because it does something to the whole server.
	Serial bool
	// ManagedFields shows metadata.managedFields, which are left out otherwise.
	ManagedFields bool
}

// Step is one request and its answer.
type Step struct {
	Title string
	// Line is where the title stands in the file, from 1.
	Line int
	// Text is the request part as written: directives, request line, headers, body.
	Text string
	// Want is the recorded answer.
	Want string

	Directives []Directive
	// Method is an HTTP method, or EVENTS, END, CLOSE or COMPACT.
	Method string
	// Target is the path and query, or the name of a stream. Variables are not expanded.
	Target string
	Header [][2]string
	Body   string
}

// Directive is an "@name arguments" line of a step.
type Directive struct{ Name, Args string }

// directives lists every known directive, so that a typing error is not taken for an absent condition.
var directives = []string{"capture", "until", "only", "ignore", "grep", "shape", "headers", "raw", "bytes", "text", "redact",
	"omit-body", "rv", "sort", "stream", "count", "skip"}

// Directive returns the arguments of the first directive of that name, and whether there is one.
func (s *Step) Directive(name string) (string, bool) {
	for _, d := range s.Directives {
		if d.Name == name {
			return d.Args, true
		}
	}
	return "", false
}

// ReadFile reads the transcript at path. Errors: the file cannot be read, or is not a transcript; the latter name
// path and line.
func ReadFile(path, name string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	f.Name = name
	return f, nil
}

// Parse reads a transcript. An error begins with the line number.
func Parse(text string) (*File, error) {
	f := &File{}
	var preamble strings.Builder
	var step *Step
	var inWant bool
	for i, line := range strings.SplitAfter(text, "\n") {
		bare := strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(bare, "=== "):
			step, inWant = &Step{Title: strings.TrimPrefix(bare, "=== "), Line: i + 1}, false
			f.Steps = append(f.Steps, step)
		case step == nil:
			preamble.WriteString(line)
			if err := f.Settings.add(bare); err != nil {
				return nil, fmt.Errorf("%d: %w", i+1, err)
			}
		case bare == "----" && !inWant:
			inWant = true
		case inWant:
			step.Want += line
		default:
			step.Text += line
		}
	}
	f.Preamble = preamble.String()
	if !strings.HasPrefix(f.Preamble, "# ") {
		return nil, fmt.Errorf("1: a transcript starts with a comment that says what it shows")
	}
	for _, s := range f.Steps {
		s.Want = strings.TrimRight(s.Want, "\n")
		if err := s.parse(); err != nil {
			return nil, fmt.Errorf("%d: %w", s.Line, err)
		}
	}
	if len(f.Steps) == 0 {
		return nil, fmt.Errorf("1: no steps")
	}
	return f, nil
}

func (s *Settings) add(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasPrefix(line, "#") {
		return nil
	}
	var err error
	switch {
	case words[0] == "namespaces" && len(words) == 2:
		s.Namespaces, err = strconv.Atoi(words[1])
	case words[0] == "needs" && len(words) > 1:
		s.Needs = append(s.Needs, words[1:]...)
	case line == "serial":
		s.Serial = true
	case line == "show managedFields":
		s.ManagedFields = true
	default:
		err = fmt.Errorf("unknown setting %q", line)
	}
	return err
}

func (s *Step) parse() error {
	head, body, _ := strings.Cut(s.Text, "\n\n")
	s.Body = strings.TrimRight(body, "\n")
	for _, line := range strings.Split(strings.TrimRight(head, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "#") || line == "":
		case strings.HasPrefix(line, "@"):
			name, args, _ := strings.Cut(line[1:], " ")
			if !slices.Contains(directives, name) {
				return fmt.Errorf("unknown directive @%s", name)
			}
			s.Directives = append(s.Directives, Directive{name, strings.TrimSpace(args)})
		case s.Method == "":
			s.Method, s.Target, _ = strings.Cut(line, " ")
		default:
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				return fmt.Errorf("not a header: %q", line)
			}
			s.Header = append(s.Header, [2]string{name, strings.TrimSpace(value)})
		}
	}
	if s.Method == "" {
		return fmt.Errorf("step %q has no request line", s.Title)
	}
	return nil
}

// Format writes the transcript with the recorded answers; Parse of the result gives an equal transcript.
func (f *File) Format() []byte {
	var b bytes.Buffer
	b.WriteString(strings.TrimRight(f.Preamble, "\n"))
	b.WriteString("\n")
	for _, s := range f.Steps {
		fmt.Fprintf(&b, "\n=== %s\n%s\n----\n", s.Title, strings.TrimRight(s.Text, "\n"))
		if s.Want != "" {
			b.WriteString(s.Want + "\n")
		}
	}
	return b.Bytes()
}
