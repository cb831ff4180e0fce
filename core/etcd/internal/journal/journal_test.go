package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contents returns everything that is in the journal.
func contents(t *testing.T, j *Journal) map[string]string {
	t.Helper()
	got := map[string]string{}
	if err := j.Load(func(name, payload string) error {
		got[name] = payload
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func put(t *testing.T, j *Journal, name, payload string) {
	t.Helper()
	if err := j.Set(name, Seal(name, []byte(payload))); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func mustClose(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// history is a file and what was in it after each of its commands: states[n] is
// true of the first ends[n] bytes.
type history struct {
	path   string
	data   []byte
	ends   []int
	states []map[string]string
}

// record makes a file with sets, replacements and deletes, of payloads that look
// like the file's own syntax, too. The last payload has the given size.
func record(t *testing.T, last int) history {
	path := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, path)
	h := history{path: path}
	state := map[string]string{}
	step := func(do func()) {
		do()
		size, _ := j.Size()
		h.ends = append(h.ends, int(size))
		h.states = append(h.states, maps.Clone(state))
	}
	set := func(name, payload string) {
		step(func() {
			put(t, j, name, payload)
			state[name] = payload
		})
	}
	step(func() {}) // the header
	set("a", "one")
	set("b", strings.Repeat("x", 40))
	set("c", "*3\r\n$3\r\nset\r\n$1\r\nq\r\n$1\r\nr\r\n")
	set("a", "two")
	step(func() {
		if err := j.Delete("b"); err != nil {
			t.Fatal(err)
		}
		delete(state, "b")
	})
	set("d", "")
	set("e\r\n$", "\r\n")
	set("f", strings.Repeat("y", last))
	mustClose(t, j)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := h.ends[len(h.ends)-1]; n != len(data) {
		t.Fatalf("Size says %d, the file has %d bytes", n, len(data))
	}
	h.data = data
	return h
}

func (h history) open(t *testing.T, data []byte) (*Journal, string, error) {
	t.Helper()
	path := h.path
	if path == "" {
		path = filepath.Join(t.TempDir(), "journal")
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := Open(Options{Path: path})
	return j, path, err
}

func TestReopen(t *testing.T) {
	h := record(t, 50)
	j, _, err := h.open(t, h.data)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, j)
	if got, want := contents(t, j), h.states[len(h.states)-1]; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if j.Repaired() != 0 {
		t.Errorf("repaired %d bytes of a sound file", j.Repaired())
	}
}

// TestTornAnywhere cuts the file at every byte. What is left must be what the last
// complete command made of it, and the file must take new records after it.
func TestTornAnywhere(t *testing.T) {
	h := record(t, 50)
	complete := -1 // no command
	for cut := 0; cut <= len(h.data); cut++ {
		for complete+1 < len(h.ends) && h.ends[complete+1] <= cut {
			complete++
		}
		want, end := map[string]string{}, 0
		if complete >= 0 {
			want, end = maps.Clone(h.states[complete]), h.ends[complete]
		}
		j, path, err := h.open(t, h.data[:cut])
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if got := contents(t, j); !maps.Equal(got, want) {
			t.Fatalf("cut at %d: got %q, want %q", cut, got, want)
		}
		if got := j.Repaired(); got != int64(cut-end) {
			t.Fatalf("cut at %d: repaired %d bytes, want %d", cut, got, cut-end)
		}
		if cut%16 != 0 { // of the rest, some are enough: a sync takes its time
			mustClose(t, j)
			continue
		}
		put(t, j, "after", "repair")
		want["after"] = "repair"
		mustClose(t, j)
		j = mustOpen(t, path)
		if got := contents(t, j); !maps.Equal(got, want) {
			t.Fatalf("cut at %d, written and opened again: got %q, want %q", cut, got, want)
		}
		mustClose(t, j)
	}
}

// TestZerosAfterPowerLoss ends the file with zeros, as a file system does that had
// made the file longer and not yet written the data.
func TestZerosAfterPowerLoss(t *testing.T) {
	h := record(t, 2*sector)
	last := len(h.ends) - 2
	from := h.ends[last]
	for keep := from; keep < len(h.data)-sector; keep += 7 {
		data := append([]byte(nil), h.data...)
		for i := keep; i < len(data); i++ {
			data[i] = 0
		}
		j, _, err := h.open(t, data)
		if err != nil {
			t.Fatalf("zeros from %d: %v", keep, err)
		}
		if got := contents(t, j); !maps.Equal(got, h.states[last]) {
			t.Fatalf("zeros from %d: got %q, want %q", keep, got, h.states[last])
		}
		mustClose(t, j)
	}
}

// TestDamageAnywhere changes every byte of the file in several ways. That must
// never go unnoticed, and a file found to be damaged must not be changed.
func TestDamageAnywhere(t *testing.T) {
	h := record(t, 50)
	for at := range h.data {
		for _, flip := range []byte{0x01, 0x02, 0x08, 0xff} {
			data := append([]byte(nil), h.data...)
			data[at] ^= flip
			j, path, err := h.open(t, data)
			if err == nil {
				t.Fatalf("byte %d changed from %q to %q: opened with %q, %d bytes cut off",
					at, h.data[at], data[at], contents(t, j), j.Repaired())
			}
			var damage *DamageError
			var format *FormatError
			switch {
			case errors.As(err, &damage):
				begin := 0
				for _, end := range h.ends {
					if end <= at {
						begin = end
					}
				}
				if damage.Offset != int64(begin) || damage.Path != path {
					t.Fatalf("byte %d: reported as %v, the command begins at %d", at, err, begin)
				}
			case !errors.As(err, &format) || at >= h.ends[0]:
				t.Fatalf("byte %d: %v", at, err)
			}
			after, err := os.ReadFile(path)
			if err != nil || string(after) != string(data) {
				t.Fatalf("byte %d: the damaged file was changed (%v)", at, err)
			}
		}
	}
}

// TestLongLengthInTheMiddle gives each item of the file a length that reaches beyond
// the end. That looks like a torn tail, but for what follows it; and at the very
// end, but for the record being whole.
func TestLongLengthInTheMiddle(t *testing.T) {
	h := record(t, 50)
	begin := 0
	for _, end := range h.ends {
		command := string(h.data[begin:end])
		for at := strings.Index(command, "\r\n$") + 3; at > 3; {
			stop := at + 1 + strings.Index(command[at+1:], "\r\n")
			if length := command[at+1 : stop]; strings.Trim(length, "0123456789") == "" {
				data := string(h.data[:begin]) + command[:at+1] + "999999" + command[stop:] + string(h.data[end:])
				var damage *DamageError
				var format *FormatError
				j, _, err := h.open(t, []byte(data))
				if !errors.As(err, &damage) && (begin > 0 || !errors.As(err, &format)) {
					t.Fatalf("length %s at byte %d: %v, %v", length, begin+at, j, err)
				}
				if damage != nil && damage.Offset != int64(begin) {
					t.Errorf("length %s at byte %d: %v", length, begin+at, err)
				}
			}
			next := strings.Index(command[at:], "\r\n$")
			if next < 0 {
				break
			}
			at += next + 3
		}
		begin = end
	}
}

// TestLostSector has zeros where a disk lost a sector, with records behind it.
func TestLostSector(t *testing.T) {
	h := record(t, 4*sector)
	// The last record, of four sectors, is followed by one more.
	path := h.path
	j, _, err := h.open(t, h.data)
	if err != nil {
		t.Fatal(err)
	}
	put(t, j, "g", "last")
	mustClose(t, j)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[2*sector : 3*sector])
	var damage *DamageError
	if _, _, err := h.open(t, data); !errors.As(err, &damage) || damage.Offset != int64(h.ends[len(h.ends)-2]) || !strings.Contains(err.Error(), "a record follows") {
		t.Errorf("got %v", err)
	}
}

func TestForeignFile(t *testing.T) {
	for _, text := range []string{"hello", "SQLite format 3\x00", "*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\nb\r\n"} {
		_, path, err := history{}.open(t, []byte(text))
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNewerFormat(t *testing.T) {
	_, _, err := history{}.open(t, appendSet(nil, keyOf(headerName), Seal(headerName, []byte("2"))))
	var format *FormatError
	if !errors.As(err, &format) || format.Found != "2" {
		t.Errorf("got %v", err)
	}
}

func TestEmptyFileIsNew(t *testing.T) {
	j, _, err := history{}.open(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, j, "a", "b")
	mustClose(t, j)
}

func TestMemory(t *testing.T) {
	j := mustOpen(t, "")
	put(t, j, "a", "b")
	put(t, j, "a", "c")
	put(t, j, "d", "e")
	if err := j.Delete("d"); err != nil {
		t.Fatal(err)
	}
	if err := j.Delete("nothing"); err != nil {
		t.Fatal(err)
	}
	if err := j.Rewrite(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(contents(t, j)); got != "map[a:c]" {
		t.Error(got)
	}
	if payload, ok, err := j.Get("a"); payload != "c" || !ok || err != nil {
		t.Error(payload, ok, err)
	}
	if _, ok, err := j.Get("d"); ok || err != nil {
		t.Error(ok, err)
	}
	if size, inUse := j.Size(); size == 0 || size != inUse {
		t.Error(size, inUse)
	}
	mustClose(t, j)
}

// TestSealIsOfNameAndPayload is about a record that turns up under another name.
func TestSealIsOfNameAndPayload(t *testing.T) {
	record := Seal("a", []byte("payload"))
	if got, err := Unseal("a", record); got != "payload" || err != nil {
		t.Error(got, err)
	}
	for _, bad := range []struct{ name, record string }{{"b", record}, {"a", record[1:]}, {"a", ""}, {"a", "x" + record}} {
		if got, err := Unseal(bad.name, bad.record); err == nil {
			t.Errorf("Unseal(%q, %q) = %q", bad.name, bad.record, got)
		}
	}
}
