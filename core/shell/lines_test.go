package shell_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/core/shell"
	"github.com/kubetab/kubetab/core/shell/lines"
	"github.com/kubetab/kubetab/internal/testmodule"
)

var (
	update = flag.Bool("update", false, "write what the shell prints to lines/lines.txt")
	module = flag.String("wasm", "", "run the lines in this module under Node, too")
)

// TestLines runs every command line natively and, with -wasm, in the module.
func TestLines(t *testing.T) {
	server := httptest.NewServer(shared.shell.Handler())
	defer server.Close()
	t.Run("native", func(t *testing.T) { runLines(t, server.URL, shared.home, *update) })
	if *module != "" {
		t.Run("wasm", func(t *testing.T) { runLines(t, startModule(t), "/home/kubetab", false) })
	}
}

func runLines(t *testing.T, url, home string, update bool) {
	all, err := lines.All()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		block := &all[i]
		got := post(t, url, block.Command)
		stdout, stderr := lines.Normal(got.Stdout, home, "<home>"), lines.Normal(got.Stderr, home, "<home>")
		if update {
			block.Stdout, block.Stderr, block.ExitCode = stdout, stderr, got.ExitCode
			continue
		}
		want := fmt.Sprintf("%s%s= %d", lines.Normal(block.Stdout), lines.Normal(block.Stderr), block.ExitCode)
		if diff := cmp.Diff(want, fmt.Sprintf("%s%s= %d", stdout, stderr, got.ExitCode)); diff != "" {
			t.Errorf("lines.txt:%d: $ %s\n-want +got\n%s", block.Line, block.Command, diff)
		}
	}
	if update {
		if err := os.WriteFile(filepath.Join(here, "lines/lines.txt"), []byte(lines.Format(all)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// post runs a command line through the page's own endpoint.
func post(t *testing.T, url, command string) shell.Result {
	t.Helper()
	body, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(url+"/kubetab/run", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("run %q: %s %s %v", command, response.Status, text, err)
	}
	var result shell.Result
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// startModule returns the address of a module that runs until the test ends. It
// goes on from the snapshot beside the module, as the page's does.
func startModule(t *testing.T) (url string) {
	t.Helper()
	return testmodule.Start(t, testmodule.Options{WASM: *module, Snapshot: snapshot()}).URL
}

// snapshot is the path of the module's snapshot; empty where the Go that has built
// it can make none.
func snapshot() string {
	path := strings.TrimSuffix(*module, ".wasm") + ".snapshot"
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
