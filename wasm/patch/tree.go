package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// driftError says that upstream no longer has the file an entry was written against.
type driftError struct {
	patch   patch
	version string // of the module that was looked at
	found   string // sha256 of the file there; "" when the file is gone
}

func (e *driftError) Error() string {
	where := fmt.Sprintf("%s in %s %s", e.patch.file, e.patch.module, e.version)
	next := "Read what upstream changed"
	switch {
	case e.patch.diff:
		next += ", bring wasm/patch/" + e.patch.diffPath() + " in line"
	case e.patch.twin != "":
		next += ", bring wasm/patch/" + e.patch.twinPath() + " in line"
	}
	if e.found == "" {
		return fmt.Sprintf("%s is gone, and wasm/patch/list.go changes it (%s). %s or drop the entry.", where, e.patch.why, next)
	}
	return fmt.Sprintf("%s is not the file that wasm/patch/list.go was written against (%s).\n\texpected sha256 %s\n\tfound    sha256 %s\n%s, and put the new sum into the list.",
		where, e.patch.why, e.patch.sha256, e.found, next)
}

// twinPath is where the twin lies below this folder, with slashes.
func (p patch) twinPath() string { return path.Join("_twins", p.module, path.Dir(p.file), p.twin) }

// diffPath is where the diff lies below this folder, with slashes.
func (p patch) diffPath() string { return path.Join("_diffs", p.module, p.file+".diff") }

// upstream reads the file of p below dir, the root of its module.
// Errors: *driftError when it is gone or its sum is not the expected one; any other reason not to read it.
func (p patch) upstream(dir, version string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.file)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &driftError{patch: p, version: version}
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if found := hex.EncodeToString(sum[:]); found != p.sha256 {
		return nil, &driftError{patch: p, version: version, found: found}
	}
	return text, nil
}

// changed applies the diff of p, which is in ours, to text. It applies as a whole and at the lines that it names: text is
// the file that the diff was made from.
// Errors: a diff that is not there, is not of exactly this file, or does not apply.
func (p patch) changed(ours fs.FS, text []byte) ([]byte, error) {
	diff, err := ours.Open(p.diffPath())
	if err != nil {
		return nil, err
	}
	defer diff.Close()
	files, _, err := gitdiff.Parse(diff)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.diffPath(), err)
	}
	if len(files) != 1 || files[0].OldName != p.file || files[0].NewName != p.file {
		return nil, fmt.Errorf("%[1]s is not a diff of a/%[2]s to b/%[2]s and of nothing else", p.diffPath(), p.file)
	}
	var to bytes.Buffer
	if err := gitdiff.Apply(&to, bytes.NewReader(text), files[0]); err != nil {
		return nil, fmt.Errorf("%s: %w", p.diffPath(), err)
	}
	return to.Bytes(), nil
}

// plantModule lays out at dst what the module at src looks like with its patches applied.
//
// Only the directories on the way to a patched file are real, and hold copies; every other directory is
// a link into the module cache, so that the hundreds of megabytes of k8s.io/kubernetes are neither copied
// nor walked. Copies rather than links for files, and for what is below a patched package without being
// one, because go:embed refuses links. Tests of patched packages are left out: they test the file that
// is gone.
//
// All patches must be of this module. Errors: *driftErrors (joined, all of them), I/O errors.
func plantModule(dst, src, version string, ours fs.FS, patches []patch) error {
	real := map[string]bool{".": true} // directories that cannot be links
	patched := map[string]bool{}       // directories with a patched file
	changed := map[string][]byte{}     // file -> what takes its place; nil: nothing
	var drift []error
	for _, p := range patches {
		text, err := p.upstream(src, version)
		if err != nil {
			drift = append(drift, err)
			continue
		}
		patched[path.Dir(p.file)] = true
		for d := path.Dir(p.file); d != "."; d = path.Dir(d) {
			real[d] = true
		}
		changed[p.file] = nil
		switch {
		case p.diff:
			if text, err = p.changed(ours, text); err != nil {
				return err
			}
			changed[p.file] = text
		case p.twin != "":
			if text, err = fs.ReadFile(ours, p.twinPath()); err != nil {
				return fmt.Errorf("twin of %s %s: %w", p.module, p.file, err)
			}
			changed[path.Join(path.Dir(p.file), p.twin)] = text
		}
	}
	if drift != nil {
		return errors.Join(drift...)
	}
	for dir := range real {
		if err := plantDir(filepath.Join(dst, dir), filepath.Join(src, dir), dir, real, changed, patched[dir]); err != nil {
			return err
		}
	}
	for file, text := range changed {
		if text == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dst, file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plantDir fills the one real directory dst from src; dir is its name below the module's root. Of a patched one
// directories without Go are copied.
func plantDir(dst, src, dir string, real map[string]bool, changed map[string][]byte, patched bool) error {
	if err := os.MkdirAll(dst, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		from, to := filepath.Join(src, e.Name()), filepath.Join(dst, e.Name())
		_, replaced := changed[name]
		switch {
		case real[name] || replaced || strings.HasSuffix(name, "_test.go") || e.Name() == "testdata":
			continue
		case e.IsDir() && patched && !hasGo(from):
			err = os.CopyFS(to, os.DirFS(from))
		case e.IsDir():
			err = os.Symlink(from, to)
		default:
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, text, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasGo reports whether there is a Go file in a directory or below.
func hasGo(dir string) bool {
	found := errors.New("found")
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".go" {
			return found
		}
		return err
	})
	return err != nil
}
