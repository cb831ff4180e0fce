package awk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// mostOpen bounds how many files and commands a program has at once.
const mostOpen = 64

// stream is a file or a command that the program reads or writes, open from its
// first use to close(name).
type stream struct {
	in    *lineReader
	out   *bufio.Writer
	end   func() error // closes what is below
	wait  chan int     // the exit code of a command; nil for files
	done  bool
	flush *bufio.Writer // the program's own output, which comes before a command's
}

// close returns the exit code of a command.
func (s *stream) close() (code int, err error) {
	if s.done {
		return -1, nil
	}
	s.done = true
	if s.out != nil {
		err = errors.Join(s.flush.Flush(), s.out.Flush())
	}
	err = errors.Join(err, s.end())
	if s.wait != nil {
		code = <-s.wait
	}
	return code, err
}

// open returns the stream of a kind and name, or opens it.
func (m *machine) open(kind, name string, open func() (*stream, error)) (*stream, error) {
	key := kind + name
	if s := m.streams[key]; s != nil {
		return s, nil
	}
	if len(m.streams) >= mostOpen {
		panic(failure{fmt.Errorf("more than %d files and commands are open: close(name) those that are done", mostOpen)})
	}
	s, err := open()
	if err != nil {
		return nil, err
	}
	s.flush = m.out
	m.streams[key] = s
	return s, nil
}

// reading opens a file ("<") or a command ("|<") to be read.
func (m *machine) reading(kind, name string) (*stream, error) {
	return m.open(kind, name, func() (*stream, error) {
		if kind == "<" {
			if name == "-" {
				return &stream{in: newLineReader(m.config.In), end: func() error { return nil }}, nil
			}
			if m.config.Open == nil {
				return nil, errors.New("there are no files here")
			}
			f, err := m.config.Open(name)
			if err != nil {
				return nil, err
			}
			return &stream{in: newLineReader(f), end: f.Close}, nil
		}
		if m.config.Command == nil {
			panic(failure{errors.New("there are no commands here")})
		}
		if err := m.out.Flush(); err != nil {
			return nil, err
		}
		r, w := io.Pipe()
		s := &stream{in: newLineReader(r), end: r.Close, wait: make(chan int, 1)}
		go func() {
			code := m.config.Command(name, strings.NewReader(""), w)
			_ = w.Close() // never fails
			s.wait <- code
		}()
		return s, nil
	})
}

// writing opens a file (">", ">>") or a command ("|") to be written.
func (m *machine) writing(kind, name string) *stream {
	s, err := m.open(kind, name, func() (*stream, error) {
		switch {
		case kind != "|" && (name == "/dev/stdout" || name == "-"):
			return &stream{out: m.out, end: func() error { return nil }}, nil
		case kind != "|":
			if m.config.Create == nil {
				return nil, errors.New("there are no files here")
			}
			f, err := m.config.Create(name, kind == ">>")
			if err != nil {
				return nil, err
			}
			return &stream{out: bufio.NewWriter(f), end: f.Close}, nil
		case m.config.Command == nil:
			return nil, errors.New("there are no commands here")
		}
		if err := m.out.Flush(); err != nil {
			return nil, err
		}
		r, w := io.Pipe()
		s := &stream{out: bufio.NewWriter(w), end: w.Close, wait: make(chan int, 1)}
		go func() {
			code := m.config.Command(name, r, m.config.Out)
			_ = r.Close() // never fails; who writes on is told
			s.wait <- code
		}()
		return s, nil
	})
	if err != nil {
		panic(failure{fmt.Errorf("%s: %w", name, err)})
	}
	return s
}

// closeNamed is close(name).
func (m *machine) closeNamed(name string) value {
	code := -1
	for _, kind := range []string{">", ">>", "|", "<", "|<"} {
		s := m.streams[kind+name]
		if s == nil {
			continue
		}
		delete(m.streams, kind+name)
		var err error
		if code, err = s.close(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			panic(failure{fmt.Errorf("%s: %w", name, err)})
		}
	}
	return numeric(float64(code))
}

// lineReader cuts a stream into records.
type lineReader struct {
	r    *bufio.Reader
	rest *string // of a stream that was read to its end, for a separator of several characters
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReader(r)} }

// next returns the next record without its separator; ok is false at the end.
func (l *lineReader) next(m *machine) (record string, ok bool, err error) {
	separator := m.get("RS").string()
	switch {
	case len(separator) == 1 && l.rest == nil:
		record, err = coreutils.ReadLine(l.r, separator[0])
		if err != nil && (!errors.Is(err, io.EOF) || record == "") {
			switch {
			case errors.Is(err, io.EOF):
				err = nil
			case errors.Is(err, coreutils.ErrMemory):
				err = errMemory
			}
			return "", false, err
		}
		return strings.TrimSuffix(record, separator), true, nil
	case l.rest == nil:
		all, err := coreutils.ReadAll(l.r)
		if errors.Is(err, coreutils.ErrMemory) {
			err = errMemory
		}
		if err != nil {
			return "", false, err
		}
		text := string(all)
		l.rest = &text
	}
	pattern := separator
	switch len(separator) {
	case 0: // paragraphs
		*l.rest = strings.TrimLeft(*l.rest, "\n")
		pattern = "\n\n+"
	case 1:
		pattern = regexp.QuoteMeta(separator)
	}
	if *l.rest == "" {
		return "", false, nil
	}
	record = *l.rest
	*l.rest = ""
	if at := m.regexp(pattern).Find(record); at != nil && at[1] > at[0] {
		record, *l.rest = record[:at[0]], record[at[1]:]
	} else {
		record = strings.TrimSuffix(record, "\n")
	}
	return record, true, nil
}

// mainInput is what the rules read: the files of ARGV one after the other, or In.
type mainInput struct {
	at      int // in ARGV
	lines   *lineReader
	end     func() error
	hadFile bool
}

func (i *mainInput) close() {
	if i.end != nil {
		_ = i.end() // it was only read
	}
	i.lines, i.end = nil, nil
}

// nextLine returns the next record of the main input, and counts it.
func (m *machine) nextLine() (string, bool) {
	for m.input.lines != nil || m.openNext() {
		line, ok, err := m.input.lines.next(m)
		if err != nil {
			panic(failure{err})
		}
		if ok {
			m.put("NR", numeric(m.get("NR").number()+1))
			m.put("FNR", numeric(m.get("FNR").number()+1))
			return line, true
		}
		m.input.close()
	}
	return "", false
}

// openNext goes on to the next file. What looks like name=value is an assignment.
func (m *machine) openNext() bool {
	i := &m.input
	for i.at++; i.at < int(m.get("ARGC").number()); i.at++ {
		m.breathe() // ARGC is whatever the program says
		name := m.array("ARGV")[numeric(float64(i.at)).string()].string()
		if left, right, ok := strings.Cut(name, "="); ok && isName(left) {
			m.put(left, input(unescape(right)))
			continue
		}
		if name == "" {
			continue
		}
		i.hadFile = true
		m.put("FILENAME", str(name))
		m.put("FNR", numeric(0))
		if name == "-" {
			i.lines = newLineReader(m.config.In)
			return true
		}
		if m.config.Open == nil {
			panic(failure{errors.New("there are no files here")})
		}
		f, err := m.config.Open(name)
		if err != nil {
			panic(failure{fmt.Errorf("%s: %w", name, err)})
		}
		i.lines, i.end = newLineReader(f), f.Close
		return true
	}
	if i.hadFile {
		return false
	}
	i.hadFile = true
	i.lines = newLineReader(m.config.In)
	return true
}

func isName(s string) bool {
	for i := range len(s) {
		if !letter(s[i]) && (i == 0 || !digit(s[i])) {
			return false
		}
	}
	return s != ""
}

// getline reads a record: from the main input, a file or a command. Its value is
// 1, 0 at the end, and -1 when it cannot be read.
type getline struct {
	into target // nil: $0
	kind string // "", "<" or "|<"
	from expression
}

func (g getline) eval(m *machine) value {
	var line string
	var ok bool
	if g.kind == "" {
		if line, ok = m.nextLine(); !ok {
			return numeric(0)
		}
	} else {
		s, err := m.reading(g.kind, g.from.eval(m).string())
		if err != nil {
			return numeric(-1)
		}
		if line, ok, err = s.in.next(m); err != nil {
			return numeric(-1)
		} else if !ok {
			return numeric(0)
		}
		if g.kind == "|<" {
			m.put("NR", numeric(m.get("NR").number()+1))
		}
	}
	if g.into != nil {
		g.into.set(m, input(line))
	} else {
		m.record(line)
	}
	return numeric(1)
}
