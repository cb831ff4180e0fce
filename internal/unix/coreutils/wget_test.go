package coreutils_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

// The messages are those of busybox 1.36.
func TestWget(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		if r.URL.Path == "/missing" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %s\n", r.Method, r.URL.RequestURI(), r.UserAgent(), r.Header.Get("X-A"), body)
	}))
	defer server.Close()
	server.Config.SetKeepAlivesEnabled(false) // each request connects
	address := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	dir := t.TempDir()
	const stars = "********************************"
	saves := func(name string, size int) string {
		return fmt.Sprintf("Connecting to ADDRESS (ADDRESS)\nsaving to '%s'\n%-20s 100%% |%s|%6d  0:00:00 ETA\n'%s' saved\n", name, name, stars, size, name)
	}
	printed := func(size int) string {
		return fmt.Sprintf("writing to stdout\n%-20s 100%% |%s|%6d  0:00:00 ETA\nwritten to stdout\n", "-", stars, size)
	}
	const connecting = "Connecting to ADDRESS (ADDRESS)\n"
	for _, test := range []struct {
		args      string
		out, errs string
		code      int
		file      string // that is there then
	}{
		{args: "-O- http://ADDRESS --timeout 2", out: "GET / Wget  \n", errs: connecting + printed(13)},
		{args: "--quiet --tries 1 --output-document - --header X-A:b --user-agent me --post-data x=y ADDRESS", out: "POST / me b x=y\n"},
		{args: "-qO - --header=X-A:b --post-data=x --timeout=1 -t 1 ADDRESS/a", out: "POST /a Wget b x\n"},
		{args: "-T2 -q -O out ADDRESS", file: "out"},
		{args: "ADDRESS", errs: saves("index.html", 13), file: "index.html"},
		{args: "ADDRESS", errs: connecting + "wget: can't open 'index.html': File exists\n", code: 1},
		{args: "-c ADDRESS", errs: saves("index.html", 13)},
		{args: "http://ADDRESS/d/f?x=1", errs: saves("f?x=1", 20), file: "f?x=1"},
		{args: "-q -P . ADDRESS/g", file: "g"},
		{args: "-O /nodir/x ADDRESS", errs: connecting + "wget: can't open '/nodir/x': No such file or directory\n", code: 1},
		{args: "ADDRESS/missing", errs: connecting + "wget: server returned error: HTTP/1.1 404 Not Found\n", code: 1},
		{args: "-q --spider ADDRESS/missing", errs: "wget: server returned error: HTTP/1.1 404 Not Found\n", code: 1},
		{args: "--spider ADDRESS", errs: connecting + "remote file exists\n"},
		{args: "-qS -O - ADDRESS", out: "GET / Wget  \n", errs: "  HTTP/1.1 200 OK\n  Content-Length: 13\n  Content-Type: text/plain; charset=utf-8\n  \n"},
		{args: "-o log -O- ADDRESS", out: "GET / Wget  \n", file: "log"},
		{args: "-O- ADDRESS ADDRESS/b", out: "GET / Wget  \nGET /b Wget  \n", errs: connecting + printed(13) + connecting + printed(14)},
		{args: "-T x ADDRESS", errs: "wget: invalid number 'x'\n", code: 1},
		{args: "", errs: "USAGE", code: 1},
		{args: "--bogus ADDRESS", errs: "wget: unrecognized option '--bogus'\nUSAGE", code: 1},
		{args: "-z ADDRESS", errs: "wget: invalid option -- 'z'\nUSAGE", code: 1},
		{args: "-T", errs: "wget: option requires an argument -- 'T'\nUSAGE", code: 1},
		{args: "--header", errs: "wget: option '--header' requires an argument\nUSAGE", code: 1},
	} {
		placed := strings.NewReplacer("ADDRESS", address, "PORT", port)
		var out, errs bytes.Buffer
		call := &coreutils.Call{Context: t.Context(), System: networked{unixtest.Machine{T: t, Lookup: coreutils.Lookup}}, Files: &unixtest.Files{}, Env: expand.ListEnviron(), Dir: dir,
			Name: "wget", Args: strings.Fields(placed.Replace(test.args)), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
		code := coreutils.Lookup("wget")(call)
		said := errs.String()
		if at := strings.Index(said, "BusyBox v"); at >= 0 && strings.Contains(said, "\nUsage: wget [-cqS] ") {
			said = said[:at] + "USAGE"
		}
		if code != test.code || out.String() != test.out || said != placed.Replace(test.errs) {
			t.Errorf("wget %s: %d\n%q\n%q, want\n%q", test.args, code, out.String(), said, placed.Replace(test.errs))
		}
		if test.file == "" {
			continue
		}
		if info, err := os.Stat(dir + "/" + test.file); err != nil || info.Size() == 0 {
			t.Errorf("wget %s: %s is not there, or empty: %v", test.args, test.file, err)
		}
	}
}
