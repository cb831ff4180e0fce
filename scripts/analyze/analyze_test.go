package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const asAnalyze = "ANALYZE_TEST" // this test's own program is the command, then

func TestMain(m *testing.M) {
	if os.Getenv(asAnalyze) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// analyze writes files into a module and returns what the command prints of its packages, and whether it failed.
func analyze(t *testing.T, files map[string]string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/planted\n\ngo 1.26.0\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(os.Args[0], "./...")
	command.Dir = dir
	command.Env = append(os.Environ(), asAnalyze+"=1", "STATICCHECK_CACHE="+t.TempDir())
	var out bytes.Buffer
	command.Stdout = &out
	command.Stderr = os.Stderr // warnings of packages without files among them
	err := command.Run()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	return out.String(), err != nil
}

func TestFindsWhatIsPlanted(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // "" is nothing
	}{
		"nothing": {map[string]string{"a.go": "package a\n\nfunc A() {}\n"}, ""},
		"of vet": {
			map[string]string{"a.go": "package a\n\nimport \"fmt\"\n\nfunc A() { fmt.Printf(\"%d\\n\", \"one\") }\n"},
			"fmt.Printf format %d has arg \"one\" of wrong type string (printf)",
		},
		"a function that is long": {
			map[string]string{"a.go": "package a\n\n// A has lines.\nfunc A() {" + strings.Repeat("\n", longest) + "}\n"},
			"A has 81 lines, more than 80: split it",
		},
		"a function that is long for a reason, and one that is not": {
			map[string]string{
				"a.go": "package a\n\n// A is a table. It is\n// long because the table is.\nfunc A() {" + strings.Repeat("\n", 2*longest) + "}\n\nfunc B() {" + strings.Repeat("\n", longest-1) + "}\n",
			},
			"",
		},
		"of vet, in a test": {
			map[string]string{"a.go": "package a\n", "a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Logf(\"%d\", true) }\n"},
			"wrong type bool (printf)",
		},
		"of vet, by a fact about another package": {
			map[string]string{
				"a.go":       "package a\n\nimport \"example.org/planted/say\"\n\nfunc A() { say.F(\"%d\", \"one\") }\n",
				"say/say.go": "package say\n\nimport \"fmt\"\n\nfunc F(format string, args ...any) { fmt.Printf(format, args...) }\n",
			},
			"say.F format %d has arg \"one\" of wrong type string (printf)",
		},
		"of staticcheck": {
			map[string]string{"a.go": "package a\n\nimport \"regexp\"\n\nvar A = regexp.MustCompile(\"(\")\n"},
			"(SA1000)",
		},
		"of staticcheck, by a fact about the standard library": {
			map[string]string{"a.go": "package a\n\nimport \"strings\"\n\nvar A = strings.Title(\"a\")\n"},
			"strings.Title has been deprecated",
		},
		"unused": {
			map[string]string{"a.go": "package a\n\nfunc unused() {}\n"},
			"func unused is unused (U1000)",
		},
		"used by a test alone": {
			map[string]string{"a.go": "package a\n\nfunc tested() {}\n", "a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { tested() }\n"},
			"",
		},
		"ignored": {
			map[string]string{"a.go": "package a\n\nimport \"strings\"\n\n//lint:ignore SA1019 for a reason\nvar A = strings.Title(\"a\")\n"},
			"",
		},
		"ignored in vain": {
			map[string]string{"a.go": "package a\n\n//lint:ignore SA1019 for a reason\nvar A = 1\n"},
			"this linter directive didn't match anything",
		},
		"what does not compile": {
			map[string]string{"a.go": "package a\n\nvar A int = \"one\"\n"},
			"(compile)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, failed := analyze(t, c.files)
			if failed != (c.want != "") || !strings.Contains(out, c.want) || c.want == "" && out != "" {
				t.Errorf("failed: %t, want %q:\n%s", failed, c.want, out)
			}
		})
	}
}

// TestVetIsWhole holds the list of vet's analyzers against the go command's.
func TestVetIsWhole(t *testing.T) {
	out, err := exec.Command("go", "tool", "vet", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(out), "Registered analyzers:\n\n")
	if !found {
		t.Fatalf("no list of analyzers:\n%s", out)
	}
	list, _, _ = strings.Cut(list, "\n\n")
	ours := map[string]bool{}
	for _, a := range vet {
		ours[a.Name] = true
	}
	for line := range strings.Lines(list) {
		if name := strings.Fields(line)[0]; !ours[name] {
			t.Errorf("go vet has %s", name)
		}
	}
}
