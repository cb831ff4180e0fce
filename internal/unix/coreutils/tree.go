package coreutils

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// treeing is one run of tree.
type treeing struct {
	*Call
	on                map[byte]bool
	deepest           int // level; 0 is all
	directories, rest int
}

// tree draws what is in directories.
func tree(k *Call) int {
	f := k.Flags("LIPo")
	t := &treeing{Call: k, on: f.On}
	if f.On['L'] {
		n, err := strconv.Atoi(f.Value['L'])
		if err != nil || n < 1 {
			return k.Fail("Invalid level, must be greater than 0.")
		}
		t.deepest = n
	}
	if len(f.Rest) == 0 {
		f.Rest = []string{"."}
	}
	code := 0
	for _, name := range f.Rest {
		i, err := k.Files.Stat(k.Path(name), true)
		if err != nil || !i.IsDir() {
			fmt.Fprintf(k.Stdout, "%s  [error opening dir]\n", name)
			code = 2
			continue
		}
		fmt.Fprintln(k.Stdout, name)
		t.below(name, "", 1)
	}
	if _, silent := f.Long["noreport"]; !silent {
		report := fmt.Sprintf("\n%d director%s", t.directories, map[bool]string{true: "y", false: "ies"}[t.directories == 1])
		if !f.On['d'] {
			report += fmt.Sprintf(", %d file%s", t.rest, map[bool]string{false: "s"}[t.rest == 1])
		}
		fmt.Fprintln(k.Stdout, report)
	}
	return code
}

// below draws what is in a directory, each line behind indent.
func (t *treeing) below(dir, indent string, level int) {
	entries, err := t.Files.ReadDir(t.Path(dir))
	if err != nil {
		fmt.Fprintf(t.Stdout, "%s└── [error opening dir: %s]\n", indent, Reason(err))
		return
	}
	var shown []listed
	for _, entry := range entries {
		i, err := t.Files.Stat(t.Path(path.Join(dir, entry.Name())), false)
		if err == nil && (i.IsDir() || !t.on['d']) && (t.on['a'] || !strings.HasPrefix(entry.Name(), ".")) {
			shown = append(shown, listed{name: entry.Name(), FileInfo: i})
		}
	}
	slices.SortFunc(shown, func(a, b listed) int { return cmp.Compare(a.name, b.name) })
	for n, file := range shown {
		branch, next := "├── ", "│   "
		if n == len(shown)-1 {
			branch, next = "└── ", "    "
		}
		name, p := file.name, strings.TrimSuffix(dir, "/")+"/"+file.name
		if t.on['f'] {
			name = p
		}
		if to := target(file.FileInfo); to != "" {
			name += " -> " + to
		} else if t.on['F'] && file.IsDir() {
			name += "/"
		}
		if _, err := fmt.Fprintln(t.Stdout, indent+branch+name); err != nil || t.Err() != nil {
			return
		}
		if !file.IsDir() {
			t.rest++
			continue
		}
		t.directories++
		if t.deepest == 0 || level < t.deepest {
			t.below(p, indent+next, level+1)
		}
	}
}
