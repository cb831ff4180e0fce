package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(100-i)*time.Millisecond)
	}
	s := summarise("x", times)
	if s.P50 != 51 || s.P99 != 100 || s.Samples != 100 {
		t.Errorf("of 1 to 100 ms: %+v", s)
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("median %v", got)
	}
}

func TestReadKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`
current-context: b
contexts: [{name: a, context: {cluster: one, user: me}}, {name: b, context: {cluster: two, user: you}}]
clusters: [{name: one, cluster: {server: 'https://one'}}, {name: two, cluster: {server: 'https://two', insecure-skip-tls-verify: true}}]
users: [{name: me, user: {token: mine}}, {name: you, user: {token: yours}}]
`)
	got, err := readKubeconfig(path)
	if err != nil || got.url != "https://two" || got.token != "yours" || !got.tls.InsecureSkipVerify {
		t.Errorf("%+v, %v: want the current context's", got, err)
	}
	for text, want := range map[string]string{
		"current-context: x": "no current context",
		"current-context: a\ncontexts: [{name: a, context: {cluster: none}}]": "no server",
		"{": "yaml",
	} {
		write(text)
		if _, err := readKubeconfig(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	http := []sample{{What: "create, 1 client", P50: 0.5, P99: 1.25, PerSec: 1000}, {What: "write to watch event", P50: 1, P99: 2}}
	if err := printTable(&b, []server{
		{Name: "kubetab", Version: "v1", Start: &startup{ReadyMS: 600, ReadyMB: 170.4}, HTTP: http},
		{Name: "https://other", Version: "v2", HTTP: http},
	}); err != nil {
		t.Fatal(err)
	}
	want := `Native server             kubetab                  https://other
version                   v1                       v2
program                   0 MB                     -
start until /readyz       600 ms                   -
resident a second later   170 MB                   -
resident at rest          0 MB                     -
resident after the load   0 MB                     -
resident at most          0 MB                     -
over TLS: p50 / p99
  create, 1 client        0.50 / 1.25 ms, 1000/s   0.50 / 1.25 ms, 1000/s
  write to watch event    1.00 / 2.00 ms           1.00 / 2.00 ms
`
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.TrimRight(line, " \n"))
	}
	if text := strings.Join(got, "\n") + "\n"; text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
