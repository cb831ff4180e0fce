//go:build unix

package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestLocked is not for js, where there is no other process and no lock.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, path)
	_, err := Open(Options{Path: path})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("the second Open says: %v", err)
	}
	if err := j.Rewrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Path: path}); !errors.Is(err, ErrLocked) {
		t.Errorf("after Rewrite: %v", err)
	}
	mustClose(t, j)
	mustClose(t, mustOpen(t, path))
}

func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, path)
	want := map[string]string{}
	for i := range 3000 {
		name, payload := fmt.Sprintf("name-%04d", i%1000), fmt.Sprintf("payload %d", i)
		put(t, j, name, payload)
		want[name] = payload
	}
	before, live := j.Size()
	if err := j.Rewrite(); err != nil {
		t.Fatal(err)
	}
	after, inUse := j.Size()
	if after != live || inUse != live || before <= after {
		t.Errorf("size: %d (%d in use) before, %d (%d in use) after", before, live, after, inUse)
	}
	put(t, j, "later", "x")
	want["later"] = "x"
	mustClose(t, j)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != after+setSize(keyOf("later"), Seal("later", []byte("x"))) {
		t.Errorf("%v %v", info.Size(), err)
	}
	j = mustOpen(t, path)
	if got := contents(t, j); !maps.Equal(got, want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	mustClose(t, j)
}

// TestRewriteWhileWriting has writers that never stop while the file is replaced.
func TestRewriteWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, path)
	for i := range 2000 {
		put(t, j, fmt.Sprintf("old-%04d", i), "x")
	}
	stop := make(chan struct{})
	wrote := make([]map[string]string, 4)
	var wg sync.WaitGroup
	for w := range wrote {
		wrote[w] = map[string]string{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name, payload := fmt.Sprintf("%c%d-%d", 'a'+byte(i*7%26), w, i%50), fmt.Sprint(i)
				if i%5 == 4 {
					if err := j.Delete(name); err != nil {
						t.Error(err)
					}
					delete(wrote[w], name)
					continue
				}
				if err := j.Set(name, Seal(name, []byte(payload))); err != nil {
					t.Error(err)
				}
				wrote[w][name] = payload
			}
		}()
	}
	for range 5 {
		if err := j.Rewrite(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	mustClose(t, j)
	j = mustOpen(t, path)
	got := contents(t, j)
	mustClose(t, j)
	n := 2000
	for _, m := range wrote {
		n += len(m)
		for name, payload := range m {
			if got[name] != payload {
				t.Errorf("%s: %q, want %q", name, got[name], payload)
			}
		}
	}
	if len(got) != n {
		t.Errorf("%d records, want %d", len(got), n)
	}
}

// TestLoadWhileRewriting reads all records again and again while the file is
// replaced: each time all of them are there.
func TestLoadWhileRewriting(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "db"))
	for i := range 100 {
		put(t, j, fmt.Sprint("name", i), "payload")
	}
	done := make(chan struct{})
	var loading sync.WaitGroup
	for range 2 {
		loading.Go(func() {
			for {
				n := 0
				if err := j.Load(func(string, string) error { n++; return nil }); err != nil || n != 100 {
					t.Errorf("%d records of 100: %v", n, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 50 {
		if err := j.Rewrite(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	loading.Wait()
	mustClose(t, j)
}

// TestCrashDuringRewrite finds a half-written new file beside the old one.
func TestCrashDuringRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, path)
	put(t, j, "a", "b")
	mustClose(t, j)
	if err := os.WriteFile(path+newSuffix, []byte("*3\r\n$3\r\nset\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j = mustOpen(t, path)
	if got := fmt.Sprint(contents(t, j)); got != "map[a:b]" {
		t.Error(got)
	}
	mustClose(t, j)
	if _, err := os.Stat(path + newSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Error("the new file is still there")
	}
}

// TestRewriteThatFails goes on with the old file.
func TestRewriteThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, path)
	put(t, j, "a", "b")
	if err := os.Mkdir(path+newSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.Rewrite(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	put(t, j, "c", "d")
	mustClose(t, j)
	j = mustOpen(t, path)
	if got := fmt.Sprint(contents(t, j)); got != "map[a:b c:d]" {
		t.Error(got)
	}
	mustClose(t, j)
}

// TestSyncFails: a record whose sync failed is not acknowledged, and nothing is
// written after it, because nobody knows what the disk has.
func TestSyncFails(t *testing.T) {
	broken := errors.New("input/output error")
	for _, always := range []bool{true, false} {
		t.Run(fmt.Sprintf("always=%v", always), func(t *testing.T) {
			j, err := Open(Options{Path: filepath.Join(t.TempDir(), "journal"), SyncAlways: always, SyncDelay: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			failed := make(chan struct{})
			var once sync.Once
			j.sync.mu.Lock()
			j.sync.fsync = func(*os.File) error {
				once.Do(func() { close(failed) })
				return broken
			}
			j.sync.mu.Unlock()
			if err := j.Set("a", Seal("a", nil)); always != errors.Is(err, broken) {
				t.Errorf("the first write: %v", err)
			}
			<-failed
			// The failure is noted a moment after fsync has returned.
			for j.sync.failed() == nil {
				select {
				case <-t.Context().Done():
					t.Fatal("the failure was never noted")
				case <-time.After(time.Millisecond):
				}
			}
			if err := j.Set("b", Seal("b", nil)); !errors.Is(err, broken) {
				t.Errorf("the next write: %v", err)
			}
			if err := j.Delete("a"); !errors.Is(err, broken) {
				t.Errorf("the next delete: %v", err)
			}
			if err := j.Close(); !errors.Is(err, broken) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(Options{Path: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(Options{Path: filepath.Join(dir, "missing", "journal")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a directory that does not exist: %v", err)
	}
}

func BenchmarkSet(b *testing.B) {
	record := Seal("name", make([]byte, 1000, 1004))
	for _, o := range []Options{{}, {Path: "file", SyncDelay: 100 * time.Millisecond}, {Path: "file", SyncAlways: true}} {
		name := "memory"
		if o.Path != "" {
			name = fmt.Sprintf("file,always=%v", o.SyncAlways)
			o.Path = filepath.Join(b.TempDir(), o.Path)
		}
		b.Run(name, func(b *testing.B) {
			j, err := Open(o)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := j.Set("name", record); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			_ = j.Close()
		})
	}
}
