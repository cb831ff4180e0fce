package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestListIsComplete(t *testing.T) {
	sum := regexp.MustCompile(`^[0-9a-f]{64}$`)
	named := map[string]bool{}
	for i, p := range patches {
		if p.why == "" || !sum.MatchString(p.sha256) || p.module == "" || p.file == "" {
			t.Errorf("%s %s: an entry needs a module, a file, its sha256 and why", p.module, p.file)
		}
		if (p.module == std || p.module == linker) && !p.diff {
			t.Errorf("%s: files of Go are changed, not exchanged", p.file)
		}
		if p.twin != "" && p.diff {
			t.Errorf("%s %s: a file has either a twin or a diff", p.module, p.file)
		}
		if i > 0 {
			if q := patches[i-1]; q.module+" "+q.file >= p.module+" "+p.file {
				t.Errorf("%s %s: entries are sorted and each file has one", p.module, p.file)
			}
		}
		if p.twin != "" {
			if named[p.twinPath()] {
				t.Errorf("twin %s is named twice", p.twinPath())
			}
			named[p.twinPath()] = true
		}
		if p.diff {
			named[p.diffPath()] = true
		}
	}
	var there, wanted []string
	if err := fs.WalkDir(embedded, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			there = append(there, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name := range named {
		wanted = append(wanted, name)
	}
	slices.Sort(wanted)
	slices.Sort(there)
	if !slices.Equal(there, wanted) {
		t.Errorf("the files in _twins and _diffs and those on the list differ:\nthere  %q\nlisted %q", there, wanted)
	}
}

// docs/toolchain.md has a row for each file of Go that is changed, and for no other.
func TestToolchainPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "toolchain.md"))
	if err != nil {
		t.Fatal(err)
	}
	var there, listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)\\.diff` \\|").FindAllStringSubmatch(string(page), -1) {
		there = append(there, row[1])
	}
	for _, p := range patches {
		if p.module == std || p.module == linker {
			listed = append(listed, p.file)
		}
	}
	slices.Sort(there)
	slices.Sort(listed)
	if !slices.Equal(there, listed) {
		t.Errorf("the rows of the page and the entries of the list differ:\nthere  %q\nlisted %q", there, listed)
	}
}

// Upstream as go.mod names it is what the list was written against, and every diff still applies.
// This is the test that fails when a dependency is raised; the message says what to do.
func TestNoDrift(t *testing.T) {
	g, err := readGoEnv()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range patches {
		if p.module != std && p.module != linker && !slices.Contains(paths, p.module) {
			paths = append(paths, p.module)
		}
	}
	modules, err := findModules(filepath.Dir(g.GOMOD), paths)
	if err != nil {
		t.Fatal(err)
	}
	modules[std] = module{Dir: filepath.Join(g.GOROOT, "src"), Version: g.GOVERSION}
	modules[linker] = modules[std]
	for _, p := range patches {
		text, err := p.upstream(modules[p.module].Dir, modules[p.module].Version)
		var drift *driftError
		if errors.As(err, &drift) {
			t.Error(err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !p.diff {
			continue
		}
		if _, err := p.changed(embedded, text); err != nil {
			t.Error(err)
		}
	}
}
