package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// diff compares two files or folders as `diff -u -N` does, which is what kubectl
// diff runs. It exits with 0 for equal, 1 for different, 2 for trouble.
func diff(_ *session, c *coreutils.Call) int {
	f := c.Flags("U")
	if len(f.Rest) != 2 {
		if len(f.Rest) == 1 {
			return c.Fail("missing operand after '%s'\ndiff: Try 'diff --help' for more information.", f.Rest[0]) + 1
		}
		return c.Fail("missing operand\ndiff: Try 'diff --help' for more information.") + 1
	}
	if lacks(c, f.Rest, f.On['N']) {
		return 2
	}
	names, err := compared(c.Path(f.Rest[0]), c.Path(f.Rest[1]), f.On['N'])
	if err != nil {
		return c.Fail("%s", coreutils.Reason(err)) + 1
	}
	code := 0
	for _, name := range names {
		from, to := join(f.Rest[0], name), join(f.Rest[1], name)
		text, err := compare(c, from, to, f.On['u'] || f.On['U'])
		if err != nil {
			return c.Fail("%s", coreutils.Reason(err)) + 1
		}
		if text == "" {
			continue
		}
		if code = 1; name != "" {
			fmt.Fprintf(c.Stdout, "diff %s %s %s\n", strings.Join(c.Args[:len(c.Args)-2], " "), from, to)
		}
		fmt.Fprint(c.Stdout, text)
	}
	return code
}

// lacks says which of two files are not there, and reports whether one is not. With -N one of them need not be.
func lacks(c *coreutils.Call, names []string, absent bool) bool {
	var failed []error
	for _, name := range names {
		_, err := os.Stat(c.Path(name))
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %s", name, coreutils.Reason(err)))
		}
	}
	if absent && len(failed) < 2 {
		return false
	}
	for _, err := range failed {
		c.Fail("%v", err)
	}
	return len(failed) > 0
}

func join(dir, name string) string {
	if name == "" {
		return dir
	}
	return filepath.Join(dir, name)
}

// compared returns the names of the files in either folder, in order, or the
// empty name when both are files.
func compared(a, b string, absent bool) ([]string, error) {
	names := map[string]bool{}
	for _, dir := range []string{a, b} {
		info, err := os.Stat(dir)
		if err != nil {
			if absent && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, err
		}
		if !info.IsDir() {
			return []string{""}, nil
		}
		err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				name, err := filepath.Rel(dir, p)
				names[name] = true
				return err
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// compare returns what differs, as -u or without.
func compare(c *coreutils.Call, from, to string, unified bool) (string, error) {
	var text [2]string
	var date [2]string
	for i, name := range []string{from, to} {
		date[i] = "1970-01-01 00:00:00.000000000 +0000" // of a file that is not there
		data, err := os.ReadFile(c.Path(name))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return "", err
		}
		info, err := os.Stat(c.Path(name))
		if err != nil {
			return "", err
		}
		text[i], date[i] = string(data), info.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 -0700")
	}
	if text[0] == text[1] {
		return "", nil
	}
	if !unified {
		return normal(lines(text[0]), lines(text[1])), nil
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(text[0]), B: lines(text[1]), FromFile: from, ToFile: to, FromDate: date[0], ToDate: date[1], Context: 3,
	})
}

// lines splits after newlines. A last line without one says so, as diff does.
func lines(text string) []string {
	all := slices.Collect(strings.Lines(text))
	if n := len(all); n > 0 && !strings.HasSuffix(all[n-1], "\n") {
		all[n-1] += "\n\\ No newline at end of file\n"
	}
	return all
}

// normal is the format of diff without -u.
func normal(a, b []string) string {
	var out strings.Builder
	span := func(from, to int) string { // lines are counted from one
		if to-from <= 1 {
			return fmt.Sprint(to)
		}
		return fmt.Sprintf("%d,%d", from+1, to)
	}
	for _, op := range difflib.NewMatcher(a, b).GetOpCodes() {
		letter := map[byte]string{'r': "c", 'd': "d", 'i': "a"}[op.Tag]
		if letter == "" {
			continue
		}
		fmt.Fprintf(&out, "%s%s%s\n", span(op.I1, op.I2), letter, span(op.J1, op.J2))
		for _, line := range a[op.I1:op.I2] {
			out.WriteString("< " + line)
		}
		if op.Tag == 'r' {
			out.WriteString("---\n")
		}
		for _, line := range b[op.J1:op.J2] {
			out.WriteString("> " + line)
		}
	}
	return out.String()
}
