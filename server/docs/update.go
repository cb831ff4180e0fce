package docs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Update returns the document with what is printed now in place of the outputs that differ. Errors: ErrMarkup, with the
// line, for the first output that has no place for its new text; the caller may write nothing then.
func (d *Document) Update(r Report) ([]byte, error) {
	var changes []change
	for _, f := range r {
		if f.Outcome != Differs {
			continue
		}
		e := f.step.expected
		c, err := e.in.replace(e.from, e.to, f.printed)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.Path, e.number(), err)
		}
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.start, b.start) })
	var updated []byte
	at := 0
	for _, c := range changes {
		updated = append(append(updated, d.source[at:c.start]...), c.text...)
		at = c.end
	}
	updated = append(updated, d.source[at:]...)
	return updated, d.confirm(updated, r)
}

// confirm fails unless updated has the same examples, with the outputs that r tells.
func (d *Document) confirm(updated []byte, r Report) error {
	now, err := Parse(d.Path, updated)
	if err != nil {
		return err
	}
	for i, f := range r {
		want := f.step.expected
		if len(now.steps) != len(r) {
			return fmt.Errorf("%s: %w: there would be %d examples in place of %d", d.Path, ErrMarkup, len(now.steps), len(r))
		}
		got := now.steps[i]
		isSame := got.command == f.step.command && got.script == f.step.script && got.file == f.step.file && got.text == f.step.text
		if isSame && want != nil && f.Outcome != Skipped {
			said := want.lines()
			if f.Outcome == Differs {
				said = f.printed
			}
			// An output without lines is none.
			isSame = got.expected == nil && len(said) == 0 || got.expected != nil && slices.Equal(trimmed(got.expected.lines()), trimmed(said))
		}
		if !isSame {
			return fmt.Errorf("%s:%d: %w: it would be read as something else", d.Path, f.Line, ErrMarkup)
		}
	}
	return nil
}

func trimmed(lines []string) []string {
	var found []string
	for _, l := range lines {
		found = append(found, strings.TrimRight(l, " \t"))
	}
	return found
}

// Write puts text into the file of a document, whole or not at all, with the mode that it has. The file of a symbolic
// link is written, and the link stays. Errors are those of package os.
func Write(path string, text []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
