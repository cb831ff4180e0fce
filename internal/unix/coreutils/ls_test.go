package coreutils_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

func TestLsTimesAndLinks(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"new": time.Hour, "older": 24 * time.Hour, "old": 1000 * 24 * time.Hour} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, make([]byte, 1500), 0o640); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("old", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	ls := func(line string) string {
		var out bytes.Buffer
		machine(t).Line(t.Context(), dir, line, strings.NewReader(""), &out)
		return out.String()
	}
	if got := ls("ls -t new old older"); got != "new\nolder\nold\n" {
		t.Errorf("ls -t prints %q", got)
	}
	if got := ls("ls -rt new old older"); got != "old\nolder\nnew\n" {
		t.Errorf("ls -rt prints %q", got)
	}
	year := time.Now().Add(-1000 * 24 * time.Hour).UTC().Format(" 2006 old")
	if got := ls("ls -lh old"); !strings.HasPrefix(got, "-rw-r-----    1 root     root          1.5K ") || !strings.HasSuffix(got, year+"\n") {
		t.Errorf("ls -lh prints %q, which should end with %q", got, year)
	}
	if got := ls("ls -l new"); !strings.Contains(got, ":") {
		t.Errorf("ls -l prints no time: %q", got)
	}
	if got := ls("ls -lL link; ls -l link"); !strings.HasPrefix(got, "-rw-r-----") || !strings.Contains(got, "\nlrwxrwxrwx") {
		t.Errorf("ls -lL prints %q", got)
	}
	if one, other := ls("ls -i old new"), ls("ls -i new"); !strings.Contains(one, other) || strings.Fields(one)[0] == "new" {
		t.Errorf("ls -i prints %q, and alone %q", one, other)
	}
	if got := ls("ls -s old"); got != "4 old\n" {
		t.Errorf("ls -s prints %q", got)
	}
}

func TestHumanSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 1023: "1023", 1024: "1.0K", 1025: "1.1K", 10239: "10K", 10240: "10K", 10241: "11K", 1048575: "1.0M", 98831908 << 10: "95G"} {
		if got := coreutils.Human(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestDiskSpace(t *testing.T) {
	dir := t.TempDir()
	print := func(line string) string {
		var out bytes.Buffer
		machine(t).Line(t.Context(), dir, line, strings.NewReader(""), &out)
		return out.String()
	}
	for line, want := range map[string]string{
		"df -h":      "Filesystem      Size  Used Avail Use% Mounted on\noverlay          95G   12G   83G  13% /\n",
		"df -hT /":   "Filesystem     Type     Size  Used Avail Use% Mounted on\noverlay        overlay   95G   12G   83G  13% /\n",
		"df":         "Filesystem     1K-blocks     Used Available Use% Mounted on\noverlay         98831908 12353988  86477920  13% /\n",
		"df nothing": "",
	} {
		if got := print(line); got != want {
			t.Errorf("%s prints %q, want %q", line, got, want)
		}
	}
	want := "8\t./a/b\n12\t./a\n16\t.\n" + "16\t.\n" + "8.0K\ta/b\n12K\ta\n" + "4.0K\ta/b/f\n8.0K\ta/b\n" + "5\ta/b/f\n" + "12\t./a\n16\t.\n" + "8\ta/b\n8\ttotal\n"
	if got := print("mkdir -p a/b; printf 12345 > a/b/f; du; du -s; du -h a; du -ah a/b; du -sb a/b/f; du -d 1; du -c a/b"); got != want {
		t.Errorf("du prints %q, want %q", got, want)
	}
}

func TestTree(t *testing.T) {
	dir := t.TempDir()
	for line, want := range map[string]string{
		"mkdir -p a/b c; touch a/b/f a/g .h; tree": ".\n├── a\n│   ├── b\n│   │   └── f\n│   └── g\n└── c\n\n3 directories, 2 files\n",
		"mkdir -p a/b c; tree -d -L 1 .":           ".\n├── a\n└── c\n\n2 directories\n",
		"mkdir -p c/d; tree --noreport -f c":       "c\n└── c/d\n",
		"tree nothing":                             "nothing  [error opening dir]\n\n0 directories, 0 files\n",
	} {
		var out bytes.Buffer
		machine(t).Line(t.Context(), dir, "rm -r a c .h; "+line, strings.NewReader(""), &out)
		if out.String() != want {
			t.Errorf("%s prints\n%swant\n%s", line, out.String(), want)
		}
	}
}
