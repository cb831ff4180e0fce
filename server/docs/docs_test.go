package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/internal/testlog"
)

// documents is the folder docs of the project. Documents change the folder of the process.
var documents, _ = filepath.Abs("../../docs")

func TestMain(m *testing.M) {
	testlog.Quiet()
	os.Exit(m.Run())
}

func parsed(t *testing.T, path, source string) *Document {
	t.Helper()
	d, err := Parse(path, []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// told are the steps of a document, in the notation of core/shell/lines.
func told(d *Document) string {
	var text strings.Builder
	for _, s := range d.steps {
		fmt.Fprintf(&text, "%d", s.line)
		if s.session != "" {
			fmt.Fprintf(&text, " in %s", s.session)
		}
		if s.isSkip {
			text.WriteString(" skip")
		}
		if s.file != "" {
			fmt.Fprintf(&text, " %s %q\n", s.file, s.text)
			continue
		}
		fmt.Fprintf(&text, " $ %s\n", strings.ReplaceAll(s.command, "\n", "\n| "))
		if s.script != "" && s.script != s.command {
			fmt.Fprintf(&text, "= %s\n", strings.ReplaceAll(s.script, "\n", "\n= "))
		}
		if s.expected != nil {
			for _, l := range s.expected.lines() {
				fmt.Fprintf(&text, "> %s\n", l)
			}
		}
	}
	return text.String()
}

const markdown = "# A page\n\n" +
	"```console\n$ kubectl get pods\nNAME\nweb\n\n$ echo 'a\n> b'\na\nb\n$ true\n```\n\n" +
	"- in a list:\n\n  ```shell session=two\n  kubectl get \\\n    nodes\n  ```\n  so that\n\n  ```none\n  NAME\n\n  one\n  ```\n\n" +
	"> ```sh {skip=true}\n> rm -rf /\n> ```\n\n" +
	"```yaml {title=\"a/pod.yaml\" hl_lines=[1]}\nkind: Pod\n```\n\n" +
	"```yaml title=\"A Pod\"\nkind: Pod\n```\n\n" +
	"```\nmake\n```\n\n" +
	"``` {.bash}\nls\n```\n\n```json output\n{}\n```\n\n" +
	"```none\nnobody's\n```\n"

func TestMarkdown(t *testing.T) {
	want := `4 $ kubectl get pods
> NAME
> web
8 $ echo 'a
| b'
> a
> b
12 $ true
18 in two $ kubectl get \
|   nodes
> NAME
> 
> one
30 skip $ rm -rf /
34 a/pod.yaml "kind: Pod\n"
46 $ ls
> {}
`
	for ending, source := range map[string]string{"LF": markdown, "CRLF": strings.ReplaceAll(markdown, "\n", "\r\n")} {
		if diff := cmp.Diff(want, told(parsed(t, "page.md", source))); diff != "" {
			t.Errorf("%s: -want +got\n%s", ending, diff)
		}
	}
	for _, name := range []string{"../up.yaml", "/etc/passwd.yaml"} {
		if _, err := Parse("page.md", []byte("\n```yaml file="+name+"\nkind: Pod\n```\n")); err == nil || !strings.Contains(err.Error(), "page.md:3: ") {
			t.Errorf("a file %s: %v", name, err)
		}
	}
}

// page has the markup of Hugo's theme for kubernetes.io, of Hugo's highlighter, of VitePress and of Docusaurus.
const page = `<!doctype html><title>A page</title>
<div class="code-sample"><div class="copy-code-icon"><a href="https://example.org/a.yaml" download="app/a.yaml"><code>app/a.yaml</code></a>
<img src="copy.svg"></div><div class="includecode"><div class="highlight"><pre tabindex="0"><code class="language-yaml" data-lang="yaml"><span style="display:flex;"><span><span>kind</span>: <span>Pod</span>
</span></span><span style="display:flex;"><span>name: &quot;a&quot;
</span></span></code></pre></div></div></div>
<p>Then</p>
<div class="highlight"><pre><code class="language-shell" data-lang="shell">kubectl get pods <span class="o">&amp;&amp;</span> date</code></pre></div>
<p>The output is similar to this:</p>
<pre tabindex="0"><code class="language-none" data-lang="none">NAME &lt;a&gt;
web</code></pre>
<div class="language-console vp-adaptive-theme" data-session="two"><button></button><span class="lang">console</span><pre class="shiki"><code><span class="line"><span>$ ls</span></span>
<span class="line"><span>a</span></span>
<span class="line"><span>b</span></span>
<span class="line"><span>$ pwd</span></span>
<span class="line"><span>/</span></span></code></pre></div>
<div class="language-yaml codeBlockContainer_x"><div class="codeBlockTitle_y">b.yaml</div><div><pre><code><span class="token-line">kind: Pod<br></span><span class="token-line">name: b<br></span></code></pre></div></div>
<pre data-skip><code class="language-sh">rm -rf /</code></pre>
<pre>no language</pre>
`

func TestHTML(t *testing.T) {
	want := `3 app/a.yaml "kind: Pod\nname: \"a\"\n"
7 $ kubectl get pods && date
> NAME <a>
> web
11 in two $ ls
> a
> b
14 in two $ pwd
> /
16 b.yaml "kind: Pod\nname: b\n"
17 skip $ rm -rf /
`
	if diff := cmp.Diff(want, told(parsed(t, "page.html", page))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		said, printed string
		want          bool
	}{
		{"web   2/2  4s", "web 2/2 3m12s", true},
		{"web   2/2  4s", "web 1/2 4s", false},
		{"NAME  AGE", "NAME READY", false},
		{"web-7c56dcdb9b-8xk2p Running", "web-5d4f8c7b6d-zz7ql Running", true},
		{"web-8xk2p", "web-zz7ql", true},
		{"web-one", "web-two", false},
		{"web ClusterIP 10.0.0.12 <none> 80:31234/TCP 2d3h", "web ClusterIP 10.96.3.4 <none> 80:30001/TCP 0s", true},
		{"80:31234/TCP", "81:31234/TCP", false},
		{"resourceVersion: \"12\"", "resourceVersion: \"3456\"", true},
		{"generation: 1", "generation: 2", false},
		{"creationTimestamp: \"2026-11-22T10:00:00Z\"", "creationTimestamp: \"2027-01-02T03:04:05Z\"", true},
		{"uid: 0e3c5a3a-9d1f-4d3c-8f6b-1c2d3e4f5a6b", "uid: 7a8b9c0d-1e2f-4a3b-8c5d-6e7f8a9b0c1d", true},
		{"cpu: 100m", "cpu: 200m", false},
		{"100m", "12m", true},
		{"memory: 64Mi", "memory: 32Mi", false},
		{"a\n...\nd", "a\nb\nc\nd", true},
		{"a\n...\nd", "a\nd", true},
		{"a\n...", "b\na", false},
		{"...\nb\n...", "a\nb\nc", true},
		{"a\nb", "a", false},
	} {
		got := holds(strings.Split(c.said, "\n"), strings.Split(c.printed, "\n"))
		if got != c.want {
			t.Errorf("%q and %q: %v", c.said, c.printed, got)
		}
	}
}

func TestWhatOnlyReads(t *testing.T) {
	for script, want := range map[string]string{
		"kubectl get pods": "kubectl get pods",
		"kubectl apply -f a; kubectl get pods | grep web": "kubectl get pods | grep web",
		"kubectl get pods > a":                            "",
		"kubectl get pods -w":                             "",
		"kubectl get pods | tee a":                        "",
		"kubectl -n a rollout status deploy/web":          "kubectl -n a rollout status deploy/web",
		"kubectl rollout restart deploy/web":              "",
		"kubectl get -f a.yaml":                           "kubectl get -f a.yaml",
		"N=1 kubectl get pods":                            "",
		"kubectl $VERB pods":                              "",
		"echo $(kubectl delete pod a)":                    "",
		"if true; then":                                   "",
		"kubectl get pods &":                              "",
		"k auth can-i create pods":                        "k auth can-i create pods",
	} {
		if _, got := split(script); got != want {
			t.Errorf("%q: %q", script, got)
		}
	}
}

// differing is a report in which the outputs of commands are others.
func differing(d *Document, printed map[string][]string) Report {
	var r Report
	for i := range d.steps {
		s := &d.steps[i]
		f := Finding{Command: s.command, Outcome: Ran, step: s}
		if lines, ok := printed[s.command]; ok {
			f.Outcome, f.printed = Differs, lines
		}
		r = append(r, f)
	}
	return r
}

// TestUpdate: only the outputs that differ are others, in lists, quotes and markup, and with either line ending.
func TestUpdate(t *testing.T) {
	crlf := strings.NewReplacer("\n", "\r\n")
	for what, c := range map[string]struct {
		path, source string
		printed      map[string][]string
		replace      []string
	}{
		"a console": {"a.md", markdown, map[string][]string{"kubectl get pods": {"NAME", "api", "web"}}, []string{"$ kubectl get pods\nNAME\nweb\n", "$ kubectl get pods\nNAME\napi\nweb\n"}},
		"in a list, nothing": {"a.md", markdown, map[string][]string{"kubectl get \\\n  nodes": {"NAME", "", "1", "2"}},
			[]string{"  NAME\n\n  one\n", "  NAME\n\n  1\n  2\n"}},
		"CRLF":     {"a.md", crlf.Replace(markdown), map[string][]string{"ls": {"[]", "{}"}}, []string{"{}\r\n", "[]\r\n{}\r\n"}},
		"an empty": {"a.md", "```sh\nls\n```\n```output\n```\n", map[string][]string{"ls": {"a"}}, []string{"```output\n", "```output\na\n"}},
		"HTML":     {"a.html", page, map[string][]string{"kubectl get pods && date": {"NAME", "a & <b>"}}, []string{"NAME &lt;a&gt;\nweb", "NAME\na &amp; &lt;b&gt;"}},
		"in spans": {"a.html", page, map[string][]string{"ls": {"c"}, "pwd": {"/home"}}, []string{
			"<span class=\"line\"><span>a</span></span>\n<span class=\"line\"><span>b</span></span>\n", "c\n", "<span class=\"line\"><span>/</span></span>", "/home",
		}},
		"Hugo's spans": {"a.html", "<pre><code class=\"language-console\"><span><span>$ ls\n</span></span><span><span>a\n</span></span><span><span>b\n</span></span></code></pre>\n",
			map[string][]string{"ls": {"c", "d"}}, []string{"<span><span>a\n</span></span><span><span>b\n</span></span>", "c\nd\n"}},
	} {
		d := parsed(t, c.path, c.source)
		want := strings.NewReplacer(c.replace...).Replace(c.source)
		if want == c.source {
			t.Fatalf("%s: nothing is to be replaced", what)
		}
		got, err := d.Update(differing(d, c.printed))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
}

// TestUpdateRefuses: what cannot be written so that it is read again is refused with its line.
func TestUpdateRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		path, source string
		printed      []string
		want         string
	}{
		"a fence":           {"a.md", "```console\n$ ls\na\n```\n", []string{"```"}, "a.md:3: "},
		"a prompt":          {"a.md", "```console\n$ ls\na\n```\n", []string{"$ b"}, "a.md"},
		"markup in between": {"a.html", "<pre class=\"language-console\">$ ls\n<b>a\n</b>$ pwd <b>/</b></pre>", []string{"b"}, "a.html:1"},
		"markup across":     {"a.html", "<pre class=\"language-console\">$ ls\na<b>b\n$ pwd</b>\n/</pre>", []string{"b"}, "a.html:2: "},
	} {
		d := parsed(t, c.path, c.source)
		text, err := d.Update(differing(d, map[string][]string{"ls": c.printed}))
		if what == "markup in between" && err == nil {
			continue // it has found a way
		}
		if !errors.Is(err, ErrMarkup) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %q", what, err, text)
		}
	}
}

// TestWrite: a file keeps its mode, and a link stays one.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.md"), filepath.Join(dir, "link.md")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o640), os.Chmod(path, 0o640), os.Symlink("a.md", link)); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	info, statErr := os.Lstat(path)
	if err != nil || statErr != nil || string(text) != "new" || info.Mode() != 0o640 {
		t.Errorf("%q, %v, %v, %v", text, err, info, statErr)
	}
	if target, err := os.Readlink(link); err != nil || target != "a.md" {
		t.Errorf("%q, %v", target, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}

// options wait as long as a slow machine needs: what is true is found as soon as it is.
var options = Options{Patience: 2 * time.Minute, Timeout: 5 * time.Minute}

// played runs a document that is true.
func played(t *testing.T, path, source string) (*Document, Report) {
	t.Helper()
	d := parsed(t, path, source)
	report, err := d.Play(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report {
		if f.Outcome != True && f.Outcome != Ran {
			t.Errorf("%s:%d: %s: %s\n%s", f.Path, f.Line, f.Outcome, f.Command, f.Why)
		}
	}
	return d, report
}

func read(t *testing.T, path string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// TestDocument runs a document of the project. Then it runs it with outputs that are not true, and has them written.
func TestDocument(t *testing.T) {
	path := filepath.Join(documents, "examples.md")
	_, report := played(t, path, read(t, path))
	if report.Count(True) < 8 || report.Count(Ran) == 0 {
		t.Errorf("%d examples are true, %d ran", report.Count(True), report.Count(Ran))
	}

	const said, right, why = "a\n```console\n$ kubectl create ns one\nnamespace/two created\n$ echo b\nb\n$ false\n```\n", "namespace/one", "exit code 1"
	d := parsed(t, "false.md", said)
	report, err := d.Play(t.Context(), Options{Patience: time.Millisecond, Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if len(report) != 3 || report.IsTrue() || report[0].Outcome != Differs || report[1].Outcome != True || report[2].Outcome != Failed {
		t.Fatalf("%+v", report)
	}
	const diff = "--- false.md\n+++ as it runs\n@@ -4 +4 @@\n-namespace/two created\n+namespace/one created\n"
	if report[0].Line != 3 || report[0].Why != diff || report[2].Line != 7 || report[2].Why != why+"\n" {
		t.Errorf("%+v", report)
	}
	updated, err := d.Update(report)
	if err != nil || string(updated) != strings.Replace(said, "namespace/two", right, 1) {
		t.Errorf("%q, %v", updated, err)
	}
}
