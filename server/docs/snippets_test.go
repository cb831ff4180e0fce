package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
)

// TestSamples runs the pages with embed.js of docs/samples. Each is updated from outputs that are not true to what it was.
func TestSamples(t *testing.T) {
	for name, c := range map[string]struct {
		says, lies, becomes string // an output of the page, another one, and what is written in its place
		isTrue, ran         int
	}{
		"plain.html":     {"deployment.apps/shop scaled\n4\n", "deployment.apps/shop shrunk\n", "deployment.apps/shop scaled\n4\n", 1, 1},
		"hugo.html":      {"nginx-deployment   nginx:1.14.2\n", "nginx-deployment   nginx:1 &amp; more\n", "nginx-deployment   nginx:1.14.2\n", 1, 2},
		"vitepress.html": {`<span class="line"><span>namespace/team-a created</span></span>`, "namespace/team-b created", "namespace/team-a created", 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(documents, "samples", name)
			source := read(t, path)
			d, report := played(t, path, source)
			if report.Count(True) != c.isTrue || report.Count(Ran) != c.ran {
				t.Errorf("%d examples are true, %d ran:\n%s", report.Count(True), report.Count(Ran), told(d))
			}
			lying := parsed(t, path, strings.Replace(source, c.says, c.lies, 1))
			report, err := lying.Play(t.Context(), Options{Patience: time.Millisecond, Timeout: options.Timeout})
			if err != nil || report.Count(Differs) != 1 {
				t.Fatalf("%+v, %v", report, err)
			}
			updated, err := lying.Update(report)
			if diff := cmp.Diff(strings.Replace(source, c.says, c.becomes, 1), string(updated)); diff != "" || err != nil {
				t.Errorf("%v, -want +got\n%s", err, diff)
			}
		})
	}
}

// embedded has every attribute that says what runs.
const embedded = `<!doctype html><title>A page</title>
<script src="https://kubetab.example/embed.js" data-selector="code.run" data-output-selector=".printed" data-setup="#before setup.yaml" data-bundle="begin.kubetab" defer></script>
<script id="before" type="text/plain">kind: Namespace</script>
<kubetab-snippet id="second" depends-on="first"><pre>echo $N</pre></kubetab-snippet>
<pre id="of-the-first"><code>N=1</code></pre>
<kubetab-snippet id="first" session="shop" picture editor="off" status-done="ok" data-v-1a2b></kubetab-snippet>
<div class="code-sample"><a download="app/a.yaml">a.yaml</a><pre id="a"><code class="language-yaml run"><i class="ln">1</i>kind: A</code></pre></div>
<pre><code class="language-sh run">kubectl apply -f https://k8s.io/examples/app/a.yaml</code></pre>
<p>The output is:</p>
<pre><code class="printed">made</code></pre>
<kubetab-snippet files="#a:b.yaml beside.yaml #first:a/first.sh" template="#around" output="@next samp" data-skip><pre><code>$ one \
  two
three
$ four
</code></pre></kubetab-snippet>
<p><samp>said &amp; done</samp></p>
<template id="around">set -e
##CODE##
echo ##CODE##</template>
<pre><code class="language-console run">$ ls
a
  $ curl -O http://example.org/app/a.yaml</code></pre>
<div><pre class="x">kind: B</pre></div>
<p><kubetab-snippet selector=".x" output="@next"></kubetab-snippet></p>
<pre>applied</pre>
<section><pre>not this</pre><pre>but this</pre></section>
<kubetab-snippet selector="@prev pre + pre" session="shop"></kubetab-snippet>
<pre><code class="language-shell">nobody's</code></pre>
`

// TestSnippets: what runs, and in which shell, is what embed.js makes run.
func TestSnippets(t *testing.T) {
	dir := t.TempDir()
	var file strings.Builder
	if err := bundle.Write(&file, &bundle.Bundle{Kubernetes: "v1", Name: "begin", Time: time.Unix(0, 0), State: etcd.State{Revision: 1}}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"setup.yaml": "kind: Node", "beside.yaml": "kind: C", "begin.kubetab": file.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := `2 in /setup $ kubectl apply -f #before
= kubectl apply -f - <<'EOF'
= kind: Namespace
= EOF
= 
2 in /setup $ kubectl apply -f setup.yaml
= kubectl apply -f - <<'EOF'
= kind: Node
= EOF
= 
5 in shop $ N=1
4 in shop $ echo $N
8 in /3 $ kubectl apply -f https://k8s.io/examples/app/a.yaml
= mkdir -p "$(dirname 'app/a.yaml')" && cat > 'app/a.yaml' <<'EOF'
= kind: A
= EOF
= kubectl apply -f app/a.yaml
> made
11 in /4 skip $ one \
|   two
| four
= mkdir -p "$(dirname 'b.yaml')" && cat > 'b.yaml' <<'EOF'
= 1kind: A
= EOF
= mkdir -p "$(dirname 'beside.yaml')" && cat > 'beside.yaml' <<'EOF'
= kind: C
= EOF
= mkdir -p "$(dirname 'a/first.sh')" && cat > 'a/first.sh' <<'EOF'
= N=1
= EOF
= one \
=   two
= four
> said & done
20 in /5 $ ls
= mkdir -p "$(dirname 'app/a.yaml')" && cat > 'app/a.yaml' <<'EOF'
= kind: A
= EOF
= ls
> a
22 in /5 $ curl -O http://example.org/app/a.yaml
= curl -O app/a.yaml
23 in /6 $ kubectl apply -f -
= kubectl apply -f - <<'EOF'
= kind: B
= EOF
= 
> applied
26 in shop $ but this
`
	d := parsed(t, filepath.Join(dir, "page.html"), embedded)
	if diff := cmp.Diff(want, told(d)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if d.bundle == nil || d.bundle.Name != "begin" {
		t.Errorf("it begins with %+v", d.bundle)
	}
}

// TestSnippetsRefuse: what is impossible is a sentence with its line.
func TestSnippetsRefuse(t *testing.T) {
	const pre = "\n<pre>ls</pre>\n"
	const script = "<script src=/embed.js "
	for source, want := range map[string]string{
		pre + "<kubetab-snippet depend-on=a>":                         "page.html:3: <kubetab-snippet> has no attribute depend-on: see docs/embed.md",
		pre + "<kubetab-snippet depends-on=a>":                        `page.html:3: depends-on="a": no <kubetab-snippet> has the id "a"`,
		pre + "<kubetab-snippet selector='pre['>":                     `page.html:3: selector="pre[": "pre[" is no selector`,
		pre + "<kubetab-snippet selector=.none>":                      "page.html:3: the snippet has no block",
		"\n<kubetab-snippet></kubetab-snippet>":                       "page.html:2: the snippet has no block",
		pre + "<kubetab-snippet output=#none>":                        `page.html:3: output="#none": the page has no such element`,
		pre + "<kubetab-snippet output>":                              `page.html:3: output="": the page has no such element`,
		pre + "<kubetab-snippet files=#none:a.yaml>":                  `page.html:3: files="#none": no element of the page has the id "none"`,
		pre + "<kubetab-snippet files=none.yaml>":                     `page.html:3: files="none.yaml": open `,
		pre + "<kubetab-snippet files=/none.yaml>":                    "the folder of the site is not known",
		pre + "<kubetab-snippet template=https://example.org/a>":      "nothing is fetched from other hosts",
		"<pre id=a>a</pre>" + pre + "<kubetab-snippet files=#a:../a>": `the file "../a" is not within the session's folder`,
		"<p id=a>a" + pre + "<kubetab-snippet output=#a>":             "is no block of its own",
		"<pre> </pre><kubetab-snippet></kubetab-snippet>":             "page.html:1: the block is empty",
		pre + script + "data-selector=.none>":                         "page.html:4: nothing of the page runs",
		pre + script + "data-selector=pre data-setpu=#a>":             "page.html:4: embed.js has no attribute data-setpu",
		pre + script + "data-selector='a['>":                          "is no selector",
		pre + script + "data-selector=pre data-setup=#none>":          `page.html:4: data-setup="#none"`,
		pre + script + "data-selector=pre data-bundle=bundle.md>":     `data-bundle="bundle.md": the file cannot be read as a bundle`,
	} {
		source = strings.Replace(source, script, "\n"+script, 1)
		if _, err := Parse(filepath.Join(documents, "page.html"), []byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", source, err, want)
		}
	}
}

// TestAttributes: embed.js, docs/embed.md and this package know the same attributes.
func TestAttributes(t *testing.T) {
	alike := func(where string, want, got []string) {
		t.Helper()
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", where, diff)
		}
	}
	all, allOfScript := slices.Concat(honoured, ignored), slices.Concat(scriptHonoured, scriptIgnored)

	var found []string
	for _, name := range []string{"block", "command", "output", "snippet"} {
		for _, each := range matches(`(?:get|has)Attribute\('([\w-]+)'\)|listOf\(\w+, '([\w-]+)'\)`, read(t, filepath.Join(documents, "../web/src/embed", name+".ts"))) {
			if !everywhere.MatchString(each) {
				found = append(found, each)
			}
		}
	}
	alike("embed.js", all, found)

	document := read(t, filepath.Join(documents, "embed.md"))
	firsts := func(title string) string {
		_, table, _ := strings.Cut(document, "\n"+title+"\n|---|---|\n")
		table, _, _ = strings.Cut(table, "\n\n")
		return strings.Join(regexp.MustCompile(`(?m)^\| .*? \|`).FindAllString(table, -1), "")
	}
	const names = "`([\\w-]+)`"
	alike("the table of snippets", all, matches(names, firsts("| attribute | |")))
	alike("the table of the script", allOfScript, matches(names, firsts("Attributes of the script:\n\n| | |")))
	_, sentence, _ := strings.Cut(document, "by the same attributes:\n\n- ")
	sentence, _, _ = strings.Cut(sentence, " mean what the tables say")
	alike("what docs check honours", slices.Concat(honoured, scriptHonoured), matches(names, sentence))
}

// matches are what the groups of a pattern find in a text.
func matches(pattern, text string) (found []string) {
	for _, groups := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, strings.Join(groups[1:], ""))
	}
	return found
}

// TestBegin: a page's cluster begins with its bundle, and then with its manifests. Its shells have their names.
func TestBegin(t *testing.T) {
	dir := t.TempDir()
	b := &bundle.Bundle{Kubernetes: "v1.2.3", Time: time.Unix(0, 0), State: etcd.State{Revision: 2, Records: []etcd.RecordState{{
		Key: "/registry/configmaps/default/kept", CreateRevision: 2, ModRevision: 2, Version: 1,
		Value: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kept","namespace":"default","uid":"of-the-bundle"}}`),
	}}}}
	var file strings.Builder
	if err := bundle.Write(&file, b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "begin.kubetab"), []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, report := played(t, filepath.Join(dir, "page.html"), `<script src="/embed.js" data-bundle="begin.kubetab" data-setup="#before" data-session="one"></script>
<script id="before" type="text/plain">{apiVersion: v1, kind: ConfigMap, metadata: {name: applied, namespace: default}}</script>
<pre>$ kubectl get configmap kept -o jsonpath='{.metadata.uid}{"\n"}'
of-the-bundle
$ kubectl get configmap applied -o name
configmap/applied</pre>
<kubetab-snippet></kubetab-snippet>
<pre>N=1</pre><kubetab-snippet></kubetab-snippet>
<pre>$ echo $N
1</pre><kubetab-snippet></kubetab-snippet>
<pre>$ echo "&lt;$N&gt;"
&lt;&gt;</pre><kubetab-snippet session="two"></kubetab-snippet>`)
	if report.Count(True) != 4 || report.Count(Ran) != 2 {
		t.Errorf("%+v", report)
	}
}
