package coreutils

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
)

// sedRun is a script at work.
type sedRun struct {
	*Call
	sedOptions
	ctx      context.Context // is asked before each command
	commands []*sedCommand

	in       sedInput
	out      *sedOutput
	pattern  sedSpace // the lines that are edited
	hold     sedSpace
	appended []sedLater // printed when the lines have been
	held     int        // bytes of these
	replaced bool       // since the last line was read, or t has asked
	last     *Pattern   // that was used
	status   int
	printed  map[string]*sedOutput // what w writes, by name
	read     map[string]*sedFile   // what R reads
}

// sedLater is a text or what is in a file.
type sedLater struct {
	text   string
	file   string
	isFile bool
}

// How a cycle, and with it perhaps the program, ends.
type sedEnd int

const (
	sedPrints  sedEnd = iota // what is edited is printed
	sedDeletes               // nothing is
	sedAgain                 // nothing is, and no line is read
	sedStops                 // as at the end of the input
	sedQuits                 // what is edited is printed, and it is the last
)

// run edits the files, or what comes in if there are none.
func (r *sedRun) run(files []string) int {
	for _, c := range r.commands {
		for _, name := range c.writes() {
			if err := r.create(name); err != nil {
				return r.fail(4, "couldn't open file %s: %s", name, Reason(err))
			}
		}
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	r.in = sedInput{run: r, files: files}
	r.out = r.stdout()
	if r.inPlace {
		for _, name := range files {
			if quit, err := r.edit(name); err != nil || quit {
				return r.code(err)
			}
		}
		return r.status
	}
	_, err := r.cycles()
	return r.code(err)
}

func (r *sedRun) code(err error) int {
	switch {
	case errors.Is(err, ErrMemory):
		return r.fail(1, "%v", err)
	case err != nil && r.ctx.Err() == nil:
		return r.fail(4, "%s", Reason(err))
	}
	return r.status
}

func (r *sedRun) fail(code int, format string, args ...any) int {
	r.Fail(format, args...)
	return code
}

// edit edits a file in place.
func (r *sedRun) edit(name string) (quit bool, err error) {
	info, err := r.Files.Stat(r.Path(name), true)
	switch {
	case err != nil:
		r.status = r.fail(2, "can't read %s: %s", name, Reason(err))
		return false, nil
	case !info.Mode().IsRegular():
		r.status = r.fail(4, "couldn't edit %s: not a regular file", name)
		return false, nil
	}
	var edited bytes.Buffer
	r.in, r.out = sedInput{run: r, files: []string{name}}, &sedOutput{w: &edited}
	quit, err = r.cycles()
	r.in.shut()
	if err != nil {
		return quit, err
	}
	if r.suffix != "" {
		before, err := r.Files.ReadFile(r.Path(name))
		if err != nil {
			return quit, err
		}
		if err := r.Files.WriteFile(r.Path(r.copyOf(name)), before, info.Mode().Perm()); err != nil {
			return quit, err
		}
	}
	return quit, r.Files.WriteFile(r.Path(name), edited.Bytes(), info.Mode().Perm())
}

// copyOf is the name of the copy of what is edited in place.
func (r *sedRun) copyOf(name string) string {
	if !strings.Contains(r.suffix, "*") {
		return name + r.suffix
	}
	copied := strings.ReplaceAll(r.suffix, "*", path.Base(name))
	if strings.Contains(copied, "/") {
		return copied
	}
	return path.Join(path.Dir(name), copied)
}

// cycles runs the script on each line.
func (r *sedRun) cycles() (quit bool, err error) {
	for again := false; ; {
		if err := r.ctx.Err(); err != nil {
			return true, err
		}
		if !again {
			text, found, err := r.in.next()
			if err != nil || !found {
				return false, err
			}
			r.pattern.set(text)
		}
		end, err := r.cycle()
		if err != nil {
			return true, err
		}
		if !r.quiet && (end == sedPrints || end == sedQuits) {
			if err := r.print(r.out, r.pattern.String()); err != nil {
				return true, err
			}
		}
		if err := r.flush(); err != nil || end == sedStops || end == sedQuits {
			return true, err
		}
		again = end == sedAgain
	}
}

// cycle runs the commands on the line that was read. It is long because each command is a few lines of its own.
func (r *sedRun) cycle() (sedEnd, error) {
	for i := 0; i < len(r.commands); i++ {
		c := r.commands[i]
		if !r.matches(c) {
			if c.name == '{' {
				i = c.target - 1
			}
			continue
		}
		var err error
		switch c.name {
		case 'a':
			err = r.later(sedLater{text: c.text})
		case 'r':
			err = r.later(sedLater{file: c.text, isFile: true})
		case 'R':
			var line string
			var found bool
			if line, found, err = r.line(c.text); found {
				err = r.later(sedLater{text: line + "\n"})
			}
		case 'i':
			err = r.out.write(c.text)
		case 'c':
			if c.to == nil || !c.open || c.not {
				err = r.out.write(c.text)
			}
			if err == nil {
				return sedDeletes, nil
			}
		case 'b':
			i = c.target - 1
			err = r.ctx.Err()
		case 't', 'T':
			if r.replaced == (c.name == 't') {
				i = c.target - 1
				err = r.ctx.Err()
			}
			r.replaced = false
		case 'd':
			return sedDeletes, nil
		case 'D':
			_, rest, found := strings.Cut(r.pattern.String(), "\n")
			if !found {
				return sedDeletes, nil
			}
			r.pattern.set(rest)
			return sedAgain, nil
		case 'g':
			r.pattern.set(r.hold.String())
		case 'G':
			err = r.pattern.add(r.hold.String())
		case 'h':
			r.hold.set(r.pattern.String())
		case 'H':
			err = r.hold.add(r.pattern.String())
		case 'x':
			r.pattern, r.hold = r.hold, r.pattern
		case 'n', 'N':
			end, done, nextErr := r.next(c.name == 'N')
			if done || nextErr != nil {
				return end, nextErr
			}
		case 'p':
			err = r.print(r.out, r.pattern.String())
		case 'P':
			line, _, _ := strings.Cut(r.pattern.String(), "\n")
			err = r.out.write(line + "\n")
		case 'l':
			width := c.number
			if width < 0 {
				width = r.width
			}
			err = r.out.write(shown(r.pattern.String(), width))
		case '=':
			err = r.out.write(strconv.Itoa(r.in.row) + "\n")
		case 'F':
			err = r.out.write(r.in.name + "\n")
		case 'z':
			r.pattern.set("")
		case 'w':
			err = r.print(r.printed[c.text], r.pattern.String())
		case 'W':
			line, _, _ := strings.Cut(r.pattern.String(), "\n")
			err = r.printed[c.text].write(line + "\n")
		case 's':
			err = r.substitute(c.s)
		case 'y':
			r.pattern.set(c.y.Replace(r.pattern.String()))
		case 'q', 'Q':
			r.status = max(c.number, 0)
			if c.name == 'Q' {
				r.appended = nil
				return sedStops, nil
			}
			return sedQuits, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return sedPrints, nil
}

// next reads the next line in place of the one that is edited, or behind it. Where there is none the script is done.
func (r *sedRun) next(behind bool) (end sedEnd, done bool, err error) {
	isLast, err := r.in.isLast()
	if err != nil || isLast {
		return sedPrints, true, err
	}
	if !behind && !r.quiet {
		if err := r.print(r.out, r.pattern.String()); err != nil {
			return 0, true, err
		}
	}
	if err := r.flush(); err != nil {
		return 0, true, err
	}
	text, _, err := r.in.next()
	switch {
	case err != nil:
		return 0, true, err
	case behind:
		return 0, false, r.pattern.add(text)
	}
	r.pattern.set(text)
	return 0, false, nil
}

// sedSpace is a text that lines are added to: without a copy of what is there for each.
type sedSpace struct {
	text  string
	grown []byte // nil unless lines have been added since it was looked at; then text is nothing
}

func (s *sedSpace) String() string {
	if s.grown != nil {
		s.set(string(s.grown))
	}
	return s.text
}

func (s *sedSpace) set(text string) { s.text, s.grown = text, nil }

// add adds a line. It fails with ErrMemory.
func (s *sedSpace) add(line string) error {
	if len(s.text)+len(s.grown)+len(line) > mostMemory {
		return ErrMemory
	}
	if s.grown == nil {
		s.grown = append(make([]byte, 0, 2*(len(s.text)+len(line)+1)), s.text...)
		s.text = ""
	}
	s.grown = append(append(s.grown, '\n'), line...)
	return nil
}

// print prints what is edited. The last line of a file may have no end, and has none then here.
func (r *sedRun) print(to *sedOutput, text string) error {
	if r.in.endless {
		err := to.write(text)
		to.lacks = r.end
		to.isOpen = true
		return err
	}
	return to.write(text + string(r.end))
}

func (r *sedRun) later(what sedLater) error {
	r.appended = append(r.appended, what)
	if r.held += len(what.text) + len(what.file) + perLine; r.held > mostMemory {
		return ErrMemory
	}
	return nil
}

// flush prints what is to come behind the line.
func (r *sedRun) flush() error {
	appended := r.appended
	r.appended, r.held = nil, 0
	for _, what := range appended {
		if !what.isFile {
			if err := r.out.write(what.text); err != nil {
				return err
			}
			continue
		}
		in, err := r.source(what.file)
		if err != nil {
			continue // as if it were empty
		}
		_, err = io.Copy(r.out, in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
