package transcripts

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// headers are shown whenever an answer has them; @headers adds to them.
var headers = []string{"Content-Type", "Content-Encoding", "Allow", "Location", "Retry-After", "Warning"}

func (r *run) normal(s *Step) *normal {
	n := &normal{vars: r.vars, managedFields: r.file.Settings.ManagedFields}
	if args, ok := s.Directive("rv"); ok {
		n.rvMode, n.rvName, _ = strings.Cut(args, " ")
	}
	return n
}

func (r *run) render(s *Step, resp *http.Response, body any) (string, error) {
	n := r.normal(s)
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	shown := headers
	if args, ok := s.Directive("headers"); ok {
		shown = append(strings.Fields(args), headers...)
	}
	for _, name := range shown {
		for _, value := range resp.Header.Values(name) {
			fmt.Fprintf(&b, "%s: %s\n", name, n.text(value))
		}
	}
	if _, omit := s.Directive("omit-body"); !omit && body != nil {
		text, err := r.body(s, n, body)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + text)
	}
	answer := strings.TrimRight(b.String(), "\n")
	if pattern, ok := s.Directive("redact"); ok {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return "", err
		}
		answer = re.ReplaceAllString(answer, "<redacted>")
	}
	return answer, nil
}

// body shows what the directives of the step leave of a body.
func (r *run) body(s *Step, n *normal, body any) (string, error) {
	if text, ok := body.(string); ok {
		text = n.text(text)
		var err error
		if pattern, ok := s.Directive("grep"); ok {
			text, err = grep(pattern, text)
		}
		if _, ok := s.Directive("sort"); ok {
			lines := strings.Split(text, "\n")
			slices.Sort(lines)
			text = strings.Join(lines, "\n")
		}
		return printable(text), err
	}
	body = n.value(body)
	kind, _ := lookup(body, "kind")
	code, _ := lookup(body, "code")
	for _, d := range s.Directives {
		switch d.Name {
		case "only":
			// An error is never cut short: it is what a changed answer most often is.
			if kind != "Status" || code == nil {
				body = only(body, strings.Fields(d.Args))
			}
		case "ignore":
			for _, path := range strings.Fields(d.Args) {
				drop(body, splitPath(path))
			}
		case "sort":
			if list, ok := lookup(body, d.Args); ok {
				sortShown(list)
			}
		case "shape":
			body = shape(body)
		}
	}
	text, err := show(body)
	if err != nil {
		return "", err
	}
	if pattern, ok := s.Directive("grep"); ok {
		return grep(pattern, text)
	}
	return text, nil
}

// sortShown puts a list whose order the server does not promise into that of its printed elements.
func sortShown(v any) {
	list, _ := v.([]any)
	slices.SortFunc(list, func(a, b any) int {
		x, _ := show(a)
		y, _ := show(b)
		return strings.Compare(x, y)
	})
}

// printable keeps binary answers from turning a transcript into a binary file.
func printable(text string) string {
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r == '\ufffd' {
			return strconv.Quote(text)
		}
	}
	return text
}

func grep(pattern, text string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if re.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), nil
}
