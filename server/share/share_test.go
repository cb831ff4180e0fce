package share

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
)

// store is a handler over a folder, with a clock of its own.
type store struct {
	*Handler
	directory *Directory
	dir       string
	now       time.Time
}

func newStore(t *testing.T, change func(*Config)) *store {
	t.Helper()
	s := &store{dir: t.TempDir(), now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	var err error
	if s.directory, err = OpenDirectory(s.dir, 1<<20); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.directory.Close(); err != nil {
			t.Error(err)
		}
	})
	config := Config{Storage: s.directory, Now: func() time.Time { return s.now }}
	if change != nil {
		change(&config)
	}
	s.Handler = New(config)
	return s
}

func (s *store) ask(method, path, mediaType string, body []byte, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// sent posts content and returns its name.
func (s *store) sent(t *testing.T, mediaType string, content []byte) string {
	t.Helper()
	w := s.ask("POST", "/s", mediaType, content)
	var answer struct{ ID string }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusCreated && w.Code != http.StatusOK {
		t.Fatalf("%d %s, %v", w.Code, w.Body, err)
	}
	return answer.ID
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func aBundle(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	err := bundle.Write(&b, &bundle.Bundle{
		Kubernetes: "v1.37.0", Build: "b", Time: time.Unix(0, 0), Name: "shop", Clock: bundle.Clock{Ahead: time.Minute, Speed: 1.5, Paused: true},
		Settings: bundle.Settings{
			EmulatedVersion: "1.36", RuntimeConfig: map[string]string{"api/all": "true"}, FeatureGates: map[string]bool{"A": true}, Nodes: new(300),
			Controllers: []string{"*"}, NoScheduler: true,
		},
		State: etcd.State{
			Revision: 70_000, Leases: []etcd.LeaseState{{ID: 1 << 40, TTL: 60}},
			Records: []etcd.RecordState{{Key: "/registry/a", CreateRevision: 2, ModRevision: 3, Version: 2, Lease: 1 << 40, Value: bytes.Repeat([]byte("v"), 300)}},
		},
		Files: []bundle.File{{Path: "a.yaml", Data: []byte("kind: Pod")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const files, bundles = "application/vnd.kubetab.files", "application/vnd.kubetab.bundle"

// TestKeeps: the same content is the same link, and comes back as what it is, never as a page.
func TestKeeps(t *testing.T) {
	s := newStore(t, nil)
	for mediaType, content := range map[string][]byte{
		files:   zipped(t, `[["<b>.html","<script>alert(1)</script>"]]`),
		bundles: aBundle(t),
	} {
		id := s.sent(t, mediaType, content)
		if len(id) < 16 || s.sent(t, mediaType+"; charset=utf-8", content) != id {
			t.Errorf("its name is %q, and then another", id)
		}
		w := s.ask("GET", "/s/"+id, "", nil, "Accept", "text/html")
		if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), content) {
			t.Fatalf("%d, %q", w.Code, w.Body)
		}
		for name, want := range map[string]string{
			"Content-Type": mediaType, "X-Content-Type-Options": "nosniff", "ETag": `"` + id + `"`, "Content-Disposition": "attachment",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox", "Cache-Control": "private, no-cache",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		for _, list := range []string{`"` + id + `"`, `"x", W/"` + id + `"`, "*"} {
			w := s.ask("GET", "/s/"+id, "", nil, "If-None-Match", list)
			if w.Code != http.StatusNotModified || w.Body.Len() != 0 || w.Header().Get("ETag") == "" {
				t.Errorf("If-None-Match %s: %d, %q", list, w.Code, w.Body)
			}
		}
		if w := s.ask("HEAD", "/s/"+id, "", nil); w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") != fmt.Sprint(len(content)) {
			t.Errorf("HEAD: %d, %v", w.Code, w.Header())
		}
	}
	if w := s.ask("GET", "/s/"+strings.Repeat("a", 24), "", nil); w.Code != http.StatusNotFound {
		t.Errorf("what nobody has sent: %d", w.Code)
	}
}

func enveloped(t *testing.T, cluster any, size int) []byte {
	t.Helper()
	body, err := msgpack.Marshal(cluster)
	if err != nil {
		t.Fatal(err)
	}
	return envelopedBytes(t, body, size)
}

func envelopedBytes(t *testing.T, body []byte, size int) []byte {
	t.Helper()
	var zip bytes.Buffer
	w := gzip.NewWriter(&zip)
	_, err := w.Write(body)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if size == 0 {
		size = len(body)
	}
	file, err := msgpack.Marshal(map[string]any{"format": "kubetab.bundle", "version": 1, "codec": "gzip", "size": size, "body": zip.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// followed is a bundle with a byte behind what is compressed in it.
func followed(t *testing.T, file []byte) []byte {
	t.Helper()
	var envelope map[string]any
	err := msgpack.Unmarshal(file, &envelope)
	if err == nil {
		envelope["body"] = append(envelope["body"].([]byte), 0)
		file, err = msgpack.Marshal(envelope)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRefuses: what is too much, hostile or of another shape is refused, and nothing is kept.
func TestRefuses(t *testing.T) {
	s := newStore(t, nil)
	random := make([]byte, MostBytes+1)
	for what, c := range map[string]struct {
		mediaType string
		content   []byte
		code      int
	}{
		"a page":                       {"text/html", []byte("<script>"), 415},
		"a form":                       {"application/x-www-form-urlencoded", []byte("a=b"), 415},
		"no type":                      {"", zipped(t, `[["a","b"]]`), 415},
		"too much":                     {files, random, 413},
		"no files":                     {files, []byte("text"), 422},
		"half of them":                 {files, zipped(t, `[["a","b"]]`)[:12], 422},
		"a bomb":                       {files, zipped(t, `[["a","`+strings.Repeat(" ", 24_000_000)+`"]]`), 422},
		"none":                         {files, zipped(t, `[]`), 422},
		"other JSON":                   {files, zipped(t, `{"a":1}`), 422},
		"three":                        {files, zipped(t, `[["a","b","c"]]`), 422},
		"too many":                     {files, zipped(t, "["+strings.Repeat(`["a","b"],`, 100)+`["a","b"]]`), 422},
		"more than files":              {files, append(zipped(t, `[["a","b"]]`), 0), 422},
		"no UTF-8":                     {files, zipped(t, "[[\"a\",\"\xff\"]]"), 422},
		"files as a bundle":            {bundles, zipped(t, `[["a","b"]]`), 422},
		"half a bundle":                {bundles, aBundle(t)[:40], 422},
		"more than a bundle":           {bundles, append(aBundle(t), 0xc0), 422},
		"more than a bundle's body":    {bundles, followed(t, aBundle(t)), 422},
		"a bundle of something":        {bundles, enveloped(t, map[string]any{"pictures": 1}, 0), 422},
		"a bundle's record":            {bundles, enveloped(t, map[string]any{"records": []any{map[string]any{"key": 7}}}, 0), 422},
		"a bundle that says less":      {bundles, enveloped(t, map[string]any{"name": "long enough"}, 3), 422},
		"a bundle that says more":      {bundles, enveloped(t, map[string]any{"name": "a"}, 300), 422},
		"a bundle that inflates":       {bundles, envelopedBytes(t, make([]byte, 32<<20), 0), 422},
		"a bundle of arrays in arrays": {bundles, envelopedBytes(t, append([]byte{0x81, 0xa7, 'r', 'e', 'c', 'o', 'r', 'd', 's'}, bytes.Repeat([]byte{0x91}, 8<<20)...), 0), 422},
		"a bundle with 4 G records":    {bundles, envelopedBytes(t, []byte{0x81, 0xa7, 'r', 'e', 'c', 'o', 'r', 'd', 's', 0xdd, 0xff, 0xff, 0xff, 0xff}, 0), 422},
		"a bundle with a long value":   {bundles, envelopedBytes(t, []byte{0x81, 0xa4, 'n', 'a', 'm', 'e', 0xdb, 0xff, 0xff, 0xff, 0xff}, 0), 422},
		"a name twice":                 {bundles, envelopedBytes(t, []byte{0x82, 0xa4, 'n', 'a', 'm', 'e', 0xa0, 0xa4, 'n', 'a', 'm', 'e', 0xa0}, 0), 422},
	} {
		w := s.ask("POST", "/s", c.mediaType, c.content)
		if w.Code != c.code || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	for what, headers := range map[string][]string{
		"another site's script": {"Sec-Fetch-Site", "cross-site"},
		"another origin":        {"Origin", "https://evil.example"},
	} {
		if w := s.ask("POST", "/s", files, zipped(t, `[["a","b"]]`), headers...); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", what, w.Code)
		}
	}
	for path, code := range map[string]int{
		"/s/": 404, "/s/a": 404, "/s/../s": 404, "/s/" + strings.Repeat("A", 24): 404, "/s/" + strings.Repeat("a", 24) + "/": 404, "/s/..%2f..%2fetc%2fpasswd": 404,
	} {
		if w := s.ask("GET", path, "", nil); w.Code != code {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := s.ask("GET", "/s", "", nil); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET /s: %d", w.Code)
	}
	if w := s.ask("DELETE", "/s/"+strings.Repeat("a", 24), "", nil); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("DELETE where nobody may: %d", w.Code)
	}
	if kept, err := os.ReadDir(s.dir); err != nil || len(kept) != 0 {
		t.Errorf("kept: %v, %v", kept, err)
	}
}

// TestUnused: what is used is kept, and what nobody has used for 90 days is gone, from the folder too.
func TestUnused(t *testing.T) {
	s := newStore(t, nil)
	used, unused := s.sent(t, files, zipped(t, `[["a","used"]]`)), s.sent(t, files, zipped(t, `[["a","unused"]]`))
	for range 4 {
		s.now = s.now.Add(40 * 24 * time.Hour)
		if w := s.ask("GET", "/s/"+used, "", nil); w.Code != http.StatusOK {
			t.Fatalf("what is used: %d", w.Code)
		}
	}
	if w := s.ask("GET", "/s/"+unused, "", nil); w.Code != http.StatusNotFound {
		t.Errorf("what is unused: %d", w.Code)
	}
	// A folder knows the time of its files, which this test's clock is not.
	old := time.Now().Add(-Unused - time.Hour)
	if err := os.Chtimes(filepath.Join(s.dir, unused+".share"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.directory.Sweep(time.Now()); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadDir(s.dir); err != nil || len(kept) != 1 || kept[0].Name() != used+".share" {
		t.Errorf("kept: %v, %v", kept, err)
	}
	if s.sent(t, files, zipped(t, `[["a","unused"]]`)) != unused {
		t.Error("it has another name now")
	}
}

// TestTakenDown: nobody gets it, it cannot be sent again, and time does not bring it back.
func TestTakenDown(t *testing.T) {
	s := newStore(t, func(c *Config) { c.Token = "secret" })
	content := zipped(t, `[["a","b"]]`)
	id := s.sent(t, files, content)
	for _, token := range []string{"", "Bearer wrong", "secret", "Bearer "} {
		if w := s.ask("DELETE", "/s/"+id, "", nil, "Authorization", token); w.Code != http.StatusUnauthorized {
			t.Errorf("with %q: %d", token, w.Code)
		}
	}
	if w := s.ask("GET", "/s/"+id, "", nil); w.Code != http.StatusOK {
		t.Fatalf("%d", w.Code)
	}
	if w := s.ask("DELETE", "/s/"+id, "", nil, "Authorization", "Bearer secret"); w.Code != http.StatusNoContent {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	old := time.Now().Add(-2 * Unused)
	if err := os.Chtimes(filepath.Join(s.dir, id+".share"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.directory.Sweep(time.Now()); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(2 * Unused)
	if w := s.ask("GET", "/s/"+id, "", nil, "If-None-Match", `"`+id+`"`); w.Code != http.StatusGone {
		t.Errorf("%d", w.Code)
	}
	if w := s.ask("POST", "/s", files, content); w.Code != http.StatusGone {
		t.Errorf("sent again: %d", w.Code)
	}
	if err := Remove(t.Context(), s.directory, "../x"); err == nil {
		t.Error("a name that is none was removed")
	}
}

// TestTorn: a file that is not what was written is no content, and can be sent again.
func TestTorn(t *testing.T) {
	s := newStore(t, nil)
	content := zipped(t, `[["a","b"]]`)
	id := s.sent(t, files, content)
	path := filepath.Join(s.dir, id+".share")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, torn := range map[string][]byte{
		"empty": nil, "half": whole[:len(whole)/2], "no content": whole[:bytes.IndexByte(whole, '\n')+1], "changed": append(bytes.Clone(whole[:len(whole)-1]), whole[len(whole)-1]+1),
		"of another": []byte("null"),
	} {
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		if w := s.ask("GET", "/s/"+id, "", nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %q", what, w.Code, w.Body)
		}
	}
	if s.sent(t, files, content) != id {
		t.Error("it has another name now")
	}
	if w := s.ask("GET", "/s/"+id, "", nil); w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), content) {
		t.Errorf("sent again: %d", w.Code)
	}
}

// TestLimits: an address is refused that asks too often, and others are not; the next period is another.
func TestLimits(t *testing.T) {
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	address := "192.0.2.1:1000"
	s := newStore(t, func(c *Config) {
		c.Writes, c.Reads = NewWindow(2, time.Minute, clock), NewWindow(3, time.Minute, clock)
		c.Address = func(*http.Request) string { return address }
	})
	content := zipped(t, `[["a","b"]]`)
	id := ID(content)
	codes := func(method, path string, n int) (codes []int) {
		for range n {
			w := s.ask(method, path, files, content)
			codes = append(codes, w.Code)
			if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
				t.Error("it does not say when to try again")
			}
		}
		return codes
	}
	for _, c := range []struct {
		from, method, path string
		want               []int
	}{
		{"192.0.2.1:1000", "POST", "/s", []int{201, 200, 429}},
		{"192.0.2.1:2000", "POST", "/s", []int{429}},
		{"192.0.2.2:1000", "POST", "/s", []int{200}},
		{"192.0.2.1:1000", "GET", "/s/" + id, []int{200, 200, 200, 429}},
		{"[2001:db8::1]:1", "POST", "/s", []int{200, 200, 429}},
		{"[2001:db8::ffff]:1", "POST", "/s", []int{429}},
		{"2001:db8:0:1::1", "POST", "/s", []int{200}},
	} {
		address = c.from
		if got := codes(c.method, c.path, len(c.want)); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s %s from %s: %v", c.method, c.path, c.from, got)
		}
	}
	now, address = now.Add(time.Minute), "192.0.2.1:1000"
	if got := codes("POST", "/s", 1); got[0] != http.StatusOK {
		t.Errorf("a minute later: %v", got)
	}
}

// TestDirectory: a folder has a limit, takes no names that lead elsewhere, and begins again after a crash.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, strings.Repeat("b", 24)+".share.tmp")
	if err := os.WriteFile(torn, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, ctx := strings.Repeat("a", 24), context.Background()
	if err := os.Symlink(filepath.Join(dir, "notes.txt"), filepath.Join(dir, strings.Repeat("c", 24)+".share")); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDirectory(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := os.Stat(torn); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was half written: %v", err)
	}
	for _, bad := range []string{"", "..", "../notes", "/etc/passwd", "a/b", "notes.txt", strings.Repeat("A", 24)} {
		if err := d.Put(ctx, bad, []byte("x"), 0); err == nil {
			t.Errorf("kept under %q", bad)
		}
		if _, err := d.Get(ctx, bad); !errors.Is(err, ErrMissing) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if text, err := d.Get(ctx, strings.Repeat("c", 24)); !errors.Is(err, ErrMissing) {
		t.Errorf("a link: %q, %v", text, err)
	}
	if err := d.Put(ctx, key, make([]byte, 101), 0); !errors.Is(err, ErrFull) {
		t.Errorf("more than there is room for: %v", err)
	}
	if err := d.Put(ctx, key, make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	if err := d.Put(ctx, strings.Repeat("b", 24), make([]byte, 1), 0); !errors.Is(err, ErrFull) {
		t.Errorf("a second one: %v", err)
	}
	if err := d.Put(ctx, key, make([]byte, 10), 0); err != nil {
		t.Error(err)
	}
	if again, err := OpenDirectory(dir, 100); err != nil || again.bytes != 10 {
		t.Errorf("opened again: %+v, %v", again, err)
	} else if err := again.Close(); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, key+".share"))
	if text, readErr := os.ReadFile(filepath.Join(dir, "notes.txt")); err != nil || readErr != nil || info.Mode().Perm() != 0o600 || string(text) != "mine" {
		t.Errorf("%v, %v; notes %q, %v", info, err, text, readErr)
	}
}

// TestStorageThatFails: the client is told that it is the store, and nothing of why.
func TestStorageThatFails(t *testing.T) {
	s := newStore(t, func(c *Config) { c.Storage = failing{} })
	for _, w := range []*httptest.ResponseRecorder{
		s.ask("GET", "/s/"+strings.Repeat("a", 24), "", nil), s.ask("POST", "/s", files, zipped(t, `[["a","b"]]`)),
	} {
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "/secret") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

type failing struct{}

func (failing) Get(context.Context, string) ([]byte, error) { return nil, errors.New("open /secret") }
func (failing) Put(context.Context, string, []byte, time.Duration) error {
	return errors.New("open /secret")
}

// FuzzCheck: whatever is posted is refused, or is of its kind with nothing behind it, and what package bundle has read and
// written is not refused. Content is looked at as it is and compressed, because chance does not find its way into that.
func FuzzCheck(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		for kind, posted := range map[string][][]byte{
			filesKind:  {content, zipped(t, string(content))},
			bundleKind: {content, envelopedBytes(t, content, 0)},
		} {
			for _, each := range posted {
				if check(kind, each) == nil && check(kind, append(bytes.Clone(each), 0)) == nil {
					t.Errorf("%s with more behind them: %q", kind, each)
				}
			}
		}
		if b, err := bundle.Read(bytes.NewReader(envelopedBytes(t, content, 0)), bundle.DefaultLimits()); err == nil {
			var written bytes.Buffer
			if err := bundle.Write(&written, b); err != nil {
				t.Fatal(err)
			}
			if err := check(bundleKind, written.Bytes()); err != nil && written.Len() < mostCluster {
				t.Errorf("a bundle: %v", err)
			}
		}
		if r, err := decode(content); err == nil && r.kind == goneKind && !bytes.HasPrefix(content, []byte(magic)) {
			t.Error("taken down by something else")
		}
	})
}
