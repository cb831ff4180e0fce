package coreutils

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// tail prints the last lines of files, and with -f and -F what is added to them. Its messages are busybox's.
func tail(k *Call) int {
	f := k.Flags("ncs")
	p, err := f.part("+")
	if err != nil {
		return k.report(err, nil)
	}
	how, long := f.Long["follow"]
	_, retries := f.Long["retry"]
	t := &tailing{Call: k, part: p, retries: retries || f.On['F'] || how == "name"}
	follows := f.On['f'] || f.On['F'] || long
	names := f.Rest
	if len(names) == 0 {
		names, follows = []string{"-"}, false // standard input ends
	}
	_, quiet := f.Long["quiet"]
	t.titled = (len(names) > 1 || f.On['v']) && !f.On['q'] && !quiet
	for _, name := range names {
		t.add(name)
	}
	defer t.close()
	if !follows || k.Err() != nil || len(t.files) == 0 {
		return t.code
	}
	return t.follow()
}

// tailing is one run of tail.
type tailing struct {
	*Call
	part    part
	titled  bool // what is printed of a file is below its name
	retries bool // a file is the one that has the name, whichever that is
	files   []*tailed
	shown   *tailed // what was printed last is of it
	code    int
}

// tailed is a file that is followed.
type tailed struct {
	name string
	file io.ReadCloser // nil: there is none
	info fs.FileInfo   // of file
	read int64         // bytes of file
}

func (f *tailed) Read(b []byte) (int, error) {
	n, err := f.file.Read(b)
	f.read += int64(n)
	return n, err
}

// add prints what is asked for of a file, and has it be followed, if it can be.
func (t *tailing) add(name string) {
	f := &tailed{name: name}
	if name == "-" {
		f.file, f.name = io.NopCloser(t.Stdin), "standard input"
	} else if err := t.open(f); err != nil {
		t.code = t.unreadable(name, err)
		if t.retries {
			t.files = append(t.files, f)
		}
		return
	}
	t.title(f)
	switch err := t.end(f); {
	case errors.Is(err, ErrMemory):
		t.code = t.Fail("%v", err)
	case err != nil:
		t.code = t.unreadable(name, err)
	case name != "-":
		t.files = append(t.files, f)
		return
	}
	f.file.Close()
}

func (t *tailing) open(f *tailed) error {
	file, err := t.Call.open(f.name)
	if err != nil {
		return err
	}
	info, err := t.Files.Stat(t.Path(f.name), true)
	if err != nil {
		file.Close()
		return err
	}
	f.file, f.info, f.read = file, info, 0
	return nil
}

func (t *tailing) close() {
	for _, f := range t.files {
		if f.file != nil {
			f.file.Close()
		}
	}
}

// title prints the name of a file, unless what was printed last is of it.
func (t *tailing) title(f *tailed) {
	if t.titled && t.shown != f {
		if t.shown != nil {
			fmt.Fprintln(t.Stdout)
		}
		fmt.Fprintf(t.Stdout, "==> %s <==\n", f.name)
	}
	t.shown = f
}

// end prints the last lines, or bytes, of a file that has just been opened.
func (t *tailing) end(f *tailed) error {
	p := t.part
	if p.bytes {
		return t.lastBytes(f, p)
	}
	var kept []string
	var has held
	row, enough := 0, true
	err := whole(f, func(text string) bool {
		row++
		switch {
		case !p.sign:
			enough = has.add(text)
			if kept = append(kept, text); len(kept) > p.n {
				has.remove(kept[0])
				kept = kept[1:]
			}
			return enough
		case row >= p.n:
			_, err := fmt.Fprint(t.Stdout, text)
			return err == nil
		}
		return true
	})
	if !enough {
		return ErrMemory
	}
	for _, text := range kept {
		fmt.Fprint(t.Stdout, text)
	}
	return err
}

// follow prints what comes until the program is told to end.
func (t *tailing) follow() int {
	regular := false
	for _, f := range t.files {
		regular = regular || f.info == nil || f.info.Mode().IsRegular()
	}
	if !regular { // tail -f /dev/null keeps a container busy
		<-t.Done()
		return 143
	}
	ticker := t.System.Clock().NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-t.Done():
			return 143
		case <-ticker.C():
			for _, f := range t.files {
				if !t.more(f) {
					return 1
				}
			}
		}
	}
}

// more prints what has been added to a file, and looks whether the file is still the one. It reports false when nobody reads.
func (t *tailing) more(f *tailed) bool {
	if f.info != nil && !f.info.Mode().IsRegular() {
		return true
	}
	if !t.copy(f) {
		return false
	}
	info, err := t.Files.Stat(t.Path(f.name), true)
	isAnother := err != nil || f.info == nil || !same(info, f.info)
	// What was added between the two, before the file lost its name.
	if t.retries && f.file != nil && isAnother && !t.copy(f) {
		return false
	}
	switch {
	case err != nil:
		if t.retries && f.file != nil {
			t.refuse("'%s' has become inaccessible: %s", "%s has become inaccessible: %s", f.name, Reason(err))
			f.file.Close()
			f.file, f.info = nil, nil
		}
		return true
	case f.file == nil && t.open(f) == nil:
		t.refuse("'%s' has appeared;  following new file", "%s has appeared; following end of new file", f.name)
	case f.file == nil:
		return true
	case !isAnother && info.Size() < f.read && t.reopen(f):
		t.Fail("%s: file truncated", f.name)
	case t.retries && isAnother && t.reopen(f):
		t.refuse("'%s' has been replaced;  following new file", "%s has been replaced; following end of new file", f.name)
	default:
		return true
	}
	return t.copy(f)
}

// reopen begins anew with the file that has the name now. It reports whether that can be opened.
func (t *tailing) reopen(f *tailed) bool {
	before := f.file
	if t.open(f) != nil {
		return false
	}
	before.Close()
	return true
}

// copy prints what has been added to a file. It reports false when nobody reads.
func (t *tailing) copy(f *tailed) bool {
	if f.file == nil {
		return true
	}
	_, err := io.Copy(tailWriter{t, f}, f)
	return !errors.Is(err, errNobody)
}

var errNobody = errors.New("nobody reads")

// tailWriter writes what is of a file.
type tailWriter struct {
	t *tailing
	f *tailed
}

func (w tailWriter) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	w.t.title(w.f)
	n, err := w.t.Stdout.Write(b)
	if err != nil {
		err = errors.Join(errNobody, err)
	}
	return n, err
}

// same reports whether two looks were at the same file.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) || a.Sys() != nil && a.Sys() == b.Sys()
}

// lastBytes prints the last bytes of r, or all from one on.
func (k *Call) lastBytes(r io.Reader, p part) error {
	if p.sign {
		if _, err := io.CopyN(io.Discard, r, int64(max(p.n-1, 0))); err != nil {
			return nil // there are fewer
		}
		_, err := io.Copy(k.Stdout, r)
		return err
	}
	var data []byte
	piece := make([]byte, 32<<10)
	for {
		n, err := r.Read(piece)
		data = append(data, piece[:n]...)
		if len(data) > mostMemory && len(data)-p.n < len(data)/2 {
			return ErrMemory
		}
		if from := len(data) - p.n; from > 1<<20 || from > 0 && err != nil { // now and then
			data = append(data[:0], data[from:]...)
		}
		if err == io.EOF {
			_, _ = k.Stdout.Write(data) // nobody reads any more
			return nil
		}
		if err != nil {
			return err
		}
	}
}
