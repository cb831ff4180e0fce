package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocs: a document that is not true ends with exit code 1 and a diff, and is true when it was updated.
func TestDocs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	const said = "# A page\n\n```console\n$ kubectl create namespace shop\nnamespace/store created\n```\n\n```yaml skip\n```\n"
	if err := os.WriteFile(path, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	const diff = "@@ -5 +5 @@\n-namespace/store created\n+namespace/shop created\n"
	code, stdout, stderr := kubetab(t, "docs", "check", path)
	if code != 1 || !strings.Contains(stdout, path+":4: differs: kubectl create namespace shop\n") || !strings.Contains(stdout, diff) ||
		stderr != "kubetab: 1 of 1 examples do not do what the text says\n" {
		t.Errorf("check: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != said {
		t.Errorf("after a check: %q, %v", text, err)
	}
	for _, command := range []string{"update", "check"} {
		if code, stdout, stderr := kubetab(t, "docs", command, path); code != 0 || stderr != "" {
			t.Errorf("%s: code %d, stdout %q, stderr %q", command, code, stdout, stderr)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != strings.Replace(said, "store", "shop", 1) {
		t.Errorf("after an update: %q, %v", text, err)
	}
	for want, args := range map[string][]string{
		"give FILES":       {"docs", "check"},
		"unknown command":  {"docs", "chek"},
		"unknown flag":     {"docs", "check", "--loud"},
		"no such file":     {"docs", "check", "none.md"},
		"is not within":    {"docs", "check", writeFile(t, "```yaml file=../up.yaml\n```\n")},
		"invalid argument": {"docs", "check", "--patience", "long", path},
	} {
		code, stdout, stderr := kubetab(t, args...)
		if code == 0 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bad.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
