package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidwall/buntdb"
)

const (
	newSuffix = ".new"

	// A file is worth rewriting when more than half of it is superseded, and that
	// is more than rewriteMin bytes.
	rewriteMin = 4 << 20
	// rewriteBatch records are copied before writers get a turn.
	rewriteBatch = 256
)

func dirOf(path string) string { return filepath.Dir(path) }

// RewriteIfWorth rewrites the file if more than half of it, and not just a little,
// is superseded. See Rewrite.
func (j *Journal) RewriteIfWorth() error {
	j.mu.Lock()
	garbage, worth := j.size-j.live, false
	if j.opts.Path != "" {
		worth = garbage > rewriteMin && garbage > j.live
	}
	j.mu.Unlock()
	if !worth {
		return nil
	}
	return j.Rewrite()
}

// Rewrite replaces the file by one without superseded records. Others may read and
// write meanwhile; only the last step makes them wait. One call at a time.
//
// A crash at any moment leaves either the old file or the new one under the name,
// and both hold everything: every record goes to both from the beginning, and the
// new one is on the disk before it takes the name.
//
// When it fails the old file goes on being used.
func (j *Journal) Rewrite() (err error) {
	if j.opts.Path == "" {
		return nil
	}
	name := j.opts.Path + newSuffix
	next, err := openFile(name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			j.mu.Lock()
			j.next = nil
			j.mu.Unlock()
			err = fmt.Errorf("rewrite %s: %w", j.opts.Path, errors.Join(err, next.Close(), os.Remove(name)))
		}
	}()
	if _, _, err := set(next, keyOf(headerName), Seal(headerName, []byte(headerPayload))); err != nil {
		return err
	}
	j.mu.Lock()
	j.next = next
	j.mu.Unlock()
	for key, more := "", true; more; {
		if key, more, err = j.copyFrom(key); err != nil {
			return err
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	// Once without holding anybody up, so that there is little left for later.
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := j.swap(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// mirror repeats a change in the file that a Rewrite is filling. If that fails the
// Rewrite does, not the change. Called with mu held.
func (j *Journal) mirror(change func(*buntdb.DB) error) {
	if j.next != nil && change(j.next) != nil {
		j.next = nil
	}
}

var errMirror = errors.New("a record could not be written to the new file")

// copyFrom copies a batch of records from key on. The records share their bytes,
// so the memory they take does not double.
func (j *Journal) copyFrom(key string) (next string, more bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == nil {
		return "", false, errMirror
	}
	header := keyOf(headerName)
	err = j.next.Update(func(to *buntdb.Tx) error {
		return j.db.View(func(from *buntdb.Tx) error {
			n := 0
			var failed error
			err := from.AscendGreaterOrEqual("", key, func(key, record string) bool {
				if n++; n > rewriteBatch {
					next, more = key, true
					return false
				}
				if key != header { // it is there already, as the first
					_, _, failed = to.Set(key, record, nil)
				}
				return failed == nil
			})
			return errors.Join(err, failed)
		})
	})
	return next, more, err
}

// swap makes the new file, open as f, the journal's file.
func (j *Journal) swap(f *os.File) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == nil {
		return errMirror
	}
	if err := f.Sync(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := os.Rename(j.opts.Path+newSuffix, j.opts.Path); err != nil {
		return err
	}
	// From here on the new file has the name, so there is no way back. Should the
	// directory not reach the disk, a loss of power brings back the old file, which
	// lacks what is written from now on.
	dirErr := syncDir(j.opts.Path)
	old := j.db
	j.db, j.next = j.next, nil
	j.size = info.Size()
	j.sync.replace(f)
	if dirErr != nil {
		j.sync.fail(dirErr)
	}
	_ = old.Close()
	return nil
}
