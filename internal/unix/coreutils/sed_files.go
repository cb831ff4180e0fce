package coreutils

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// source opens what r and R read.
func (r *sedRun) source(name string) (io.ReadCloser, error) {
	if name == "/dev/stdin" {
		return io.NopCloser(r.Stdin), nil
	}
	return r.Call.open(name)
}

// sedFile is a file that R reads.
type sedFile struct {
	io.Closer
	lines *bufio.Reader
}

// line reads the next line of a file.
func (r *sedRun) line(name string) (text string, found bool, err error) {
	f := r.read[name]
	if f == nil {
		in, err := r.source(name)
		if err != nil {
			return "", false, nil
		}
		f = &sedFile{in, bufio.NewReader(in)}
		r.read[name] = f
	}
	text, err = ReadLine(f.lines, '\n')
	if errors.Is(err, io.EOF) {
		return text, text != "", nil
	}
	return strings.TrimSuffix(text, "\n"), err == nil, err
}

// writes are the files that a command writes to.
func (c *sedCommand) writes() []string {
	switch {
	case c.name == 'w' || c.name == 'W':
		return []string{c.text}
	case c.s != nil && c.s.file != "":
		return []string{c.s.file}
	}
	return nil
}

func (r *sedRun) stdout() *sedOutput {
	if r.printed["/dev/stdout"] == nil {
		r.printed["/dev/stdout"] = &sedOutput{w: r.Stdout}
	}
	return r.printed["/dev/stdout"]
}

func (r *sedRun) create(name string) error {
	switch {
	case name == "/dev/stdout":
		r.stdout()
	case name == "/dev/stderr":
		r.printed[name] = &sedOutput{w: r.Stderr}
	case r.printed[name] == nil:
		f, err := r.Files.Open(r.Path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		r.printed[name] = &sedOutput{w: f, file: f}
	}
	return nil
}

func (r *sedRun) close() {
	r.in.shut()
	for _, to := range r.printed {
		if to.file != nil {
			to.file.Close()
		}
	}
	for _, from := range r.read {
		from.Close()
	}
}

// sedOutput is where a script prints to.
type sedOutput struct {
	w      io.Writer
	file   io.Closer // nil for what others close
	isOpen bool      // the last line has no end yet
	lacks  byte      // which
}

// Write ends the line before it, if it lacks that.
func (o *sedOutput) Write(text []byte) (int, error) {
	if o.isOpen {
		o.isOpen = false
		if _, err := o.w.Write([]byte{o.lacks}); err != nil {
			return 0, err
		}
	}
	if held, ok := o.w.(*bytes.Buffer); ok && held.Len()+len(text) > mostMemory {
		return 0, ErrMemory
	}
	return o.w.Write(text)
}

func (o *sedOutput) write(text string) error {
	_, err := io.WriteString(o, text)
	return err
}
