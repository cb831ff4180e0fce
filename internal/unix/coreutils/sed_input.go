package coreutils

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// sedInput are the lines of files, one after the other. It reads one ahead only where somebody asks which line is the last.
type sedInput struct {
	run   *sedRun
	files []string // that are still to be opened

	name    string // of the file; - is what comes in
	lines   *bufio.Reader
	close   func() error
	row     int
	endless bool // the line that was read last had no end
}

// next reads a line, without its end.
func (in *sedInput) next() (text string, found bool, err error) {
	in.run.replaced = false
	for {
		if in.lines == nil && !in.open() {
			return "", false, nil
		}
		text, err := ReadLine(in.lines, in.run.end)
		switch {
		case err == nil || errors.Is(err, io.EOF) && text != "":
			in.row++
			end := string(in.run.end)
			in.endless = !strings.HasSuffix(text, end)
			return strings.TrimSuffix(text, end), true, nil
		case !errors.Is(err, io.EOF):
			in.shut()
			return "", false, err
		}
		in.shut()
	}
}

// open opens the next file that can be read, and reports whether there is one.
func (in *sedInput) open() bool {
	r := in.run
	for len(in.files) > 0 {
		name := in.files[0]
		in.files = in.files[1:]
		if r.separate {
			in.row = 0
			r.forget()
		}
		if in.name = name; name == "-" && !r.inPlace {
			in.lines, in.close = bufio.NewReader(r.Stdin), func() error { return nil }
			return true
		}
		f, err := r.Call.open(name)
		if err != nil {
			r.status = r.fail(2, "can't read %s: %s", name, Reason(err))
			continue
		}
		in.lines, in.close = bufio.NewReader(f), f.Close
		return true
	}
	return false
}

// shut closes the file that is open, if one is.
func (in *sedInput) shut() {
	if in.lines != nil {
		in.close()
	}
	in.lines = nil
}

// isLast reports whether no line comes behind the one that was read last.
func (in *sedInput) isLast() (bool, error) {
	for {
		if in.lines != nil {
			if _, err := in.lines.Peek(1); err == nil {
				return false, nil
			}
			if in.run.separate {
				return true, nil
			}
			in.shut()
		}
		if in.run.separate || !in.open() {
			return true, nil
		}
	}
}
