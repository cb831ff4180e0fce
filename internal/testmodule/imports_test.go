package testmodule

import (
	"os/exec"
	"strings"
	"testing"
)

// The packages of internal/ whose names begin with test are for tests: no program may link them.
func TestOnlyTestsImportThese(t *testing.T) {
	const prefix = "github.com/kubetab/kubetab/internal/test"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "github.com/kubetab/kubetab/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(line, " ")
		found = found || strings.HasPrefix(path, prefix)
		for _, one := range strings.Fields(imports) {
			if strings.HasPrefix(one, prefix) {
				t.Errorf("%s imports %s", path, one)
			}
		}
	}
	if !found {
		t.Errorf("no package begins with %s", prefix)
	}
}
