package bundle

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/kubetab/kubetab/core/etcd"
)

func sample() *Bundle {
	return &Bundle{
		Kubernetes: "v1.37.0+kubetab",
		Build:      "0123abcd",
		Time:       time.Date(2026, 11, 22, 7, 30, 0, 123456789, time.UTC),
		Name:       "Shop 店",
		Settings: Settings{
			EmulatedVersion: "1.36", RuntimeConfig: map[string]string{"batch/v1": "false", "api/all": "true"}, FeatureGates: map[string]bool{"B": true, "A": false},
			Nodes: new(3), Controllers: []string{"*", "-cronjob"}, NoScheduler: true,
		},
		Clock: Clock{Ahead: 90 * time.Minute, Paused: true, Speed: 60},
		State: etcd.State{
			Revision: 900,
			Leases:   []etcd.LeaseState{{ID: 7, TTL: 3600}},
			Records: []etcd.RecordState{
				{Key: "/registry/configmaps/default/a", Value: []byte("k8s\x00\xff\x00"), CreateRevision: 5, ModRevision: 812, Version: 40},
				{Key: "/registry/events/default/e", Value: []byte("{}"), CreateRevision: 812, ModRevision: 812, Version: 1, Lease: 7},
			},
		},
		Files: []File{{Path: "a.yaml", Data: []byte("kind: Pod\n")}, {Path: "dir/b", Data: []byte{}}},
	}
}

func written(t testing.TB, b *Bundle) []byte {
	t.Helper()
	return writtenBy(t, Write, b)
}

func compacted(t testing.TB, b *Bundle) []byte {
	t.Helper()
	return writtenBy(t, WriteCompact, b)
}

func writtenBy(t testing.TB, write func(io.Writer, *Bundle) error, b *Bundle) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := write(&file, b); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestReadsWhatItWrites: nothing is lost, and the same cluster is the same bytes.
func TestReadsWhatItWrites(t *testing.T) {
	for what, want := range map[string]*Bundle{
		"a cluster": sample(),
		"an empty one": {
			Kubernetes: "v1", Time: time.Unix(0, 0).UTC(), State: etcd.State{Revision: 1},
		},
	} {
		for how, write := range map[string]func(testing.TB, *Bundle) []byte{"a file": written, "compact": compacted} {
			file := write(t, want)
			if again := write(t, want); !bytes.Equal(file, again) {
				t.Errorf("%s, %s: two writes differ", what, how)
			}
			got, err := Read(iotest.OneByteReader(bytes.NewReader(file)), DefaultLimits())
			if err != nil {
				t.Fatalf("%s, %s: %v", what, how, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s:\n%+v\nis not\n%+v", what, how, got, want)
			}
		}
	}
}

// writeBody writes b's cluster and returns how many bytes it has.
func writeBody(w io.Writer, b *Bundle) (int64, error) {
	size := &counter{w: w}
	s := inMemory(b)
	err := (&writer{msgpack.NewEncoder(size), nil}).cluster(b, s.Count, s.Records())
	return size.n, err
}

// zipped is a bundle of sample whose body is compressed in another way, and said to be compact.
func zipped(t *testing.T, options ...zstd.EOption) []byte {
	t.Helper()
	var body, file bytes.Buffer
	zip, err := zstd.NewWriter(&body, options...)
	if err != nil {
		t.Fatal(err)
	}
	size, err := writeBody(zip, sample())
	if err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	envelope := map[string]any{"format": format, "version": version, "codec": compact, "size": size, "body": body.Bytes()}
	if err := msgpack.NewEncoder(&file).Encode(envelope); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestRefusesCompact: what the codec refuses, and what would take memory.
func TestRefusesCompact(t *testing.T) {
	good := compacted(t, sample())
	var dictionary bytes.Buffer
	if _, err := writeBody(&dictionary, sample()); err != nil {
		t.Fatal(err)
	}
	// A frame without checksum, dictionary and size, with a window of 64 MiB and one block that is empty: RFC 8878, 3.1.1.
	wide := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x80, 0x01, 0x00, 0x00}
	for n := range good { // torn anywhere
		if _, err := Read(bytes.NewReader(good[:n]), DefaultLimits()); !errors.Is(err, ErrInvalid) {
			t.Fatalf("%d bytes of %d: %v", n, len(good), err)
		}
	}
	for what, tc := range map[string]struct {
		file []byte
		want string
	}{
		"no zstd":                       {enveloped(t, body(t, nil), map[string]any{"codec": compact}), "magic number mismatch"},
		"another dictionary":            {zipped(t, zstd.WithEncoderDictRaw(2, dictionary.Bytes())), "unknown dictionary"},
		"other content of a dictionary": {zipped(t, zstd.WithEncoderDictRaw(dictionaryID, dictionary.Bytes())), "the cluster: "},
		"a window of 64 MiB":            {enveloped(t, body(t, nil), map[string]any{"codec": compact, "body": wide}), "window size exceeded"},
	} {
		b, err := Read(bytes.NewReader(tc.file), DefaultLimits())
		if b != nil || !errors.Is(err, ErrInvalid) || !strings.Contains(fmt.Sprint(err), tc.want) {
			t.Errorf("%s: %v, want %q", what, err, tc.want)
		}
	}
	if _, err := Read(bytes.NewReader(zipped(t)), DefaultLimits()); err != nil {
		t.Errorf("without a dictionary: %v", err)
	}
}

// TestReadsWhatOthersLeaveOut: what a program does not write is not said. Zero nodes are.
func TestReadsWhatOthersLeaveOut(t *testing.T) {
	for what, tc := range map[string]struct {
		change map[string]any
		want   Settings
	}{
		"no settings":    {nil, Settings{}},
		"empty settings": {map[string]any{"settings": map[string]any{}}, Settings{}},
		"no number":      {map[string]any{"settings": map[string]any{"noScheduler": true}}, Settings{NoScheduler: true}},
		"zero nodes":     {map[string]any{"settings": map[string]any{"nodes": 0}}, Settings{Nodes: new(0)}},
	} {
		got, err := Read(bytes.NewReader(enveloped(t, body(t, tc.change), nil)), DefaultLimits())
		if err != nil || !reflect.DeepEqual(got.Settings, tc.want) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// enveloped wraps a body of msgpack, with fields of the envelope changed; nil takes
// a field out.
func enveloped(t testing.TB, body []byte, change map[string]any) []byte {
	t.Helper()
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{"format": format, "version": 1, "codec": codec, "size": len(body), "body": zipped.Bytes()}
	for name, value := range change {
		if fields[name] = value; value == nil {
			delete(fields, name)
		}
	}
	return packed(t, fields)
}

func packed(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	e.SetSortMapKeys(true)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// body is that of a cluster with fields changed; nil takes a field out.
func body(t testing.TB, change map[string]any) []byte {
	t.Helper()
	fields := map[string]any{
		"kubernetes": "v1.37.0", "build": "b", "time": "2026-11-22T07:30:00Z", "name": "n", "revision": 9,
		"records": []any{map[string]any{"key": "/registry/a", "create": 2, "mod": 3, "version": 2, "lease": 0, "value": []byte("v")}},
	}
	for name, value := range change {
		if fields[name] = value; value == nil {
			delete(fields, name)
		}
	}
	return packed(t, fields)
}

func record(change map[string]any) map[string]any {
	fields := map[string]any{"key": "/registry/b", "create": 4, "mod": 4, "version": 1, "lease": 0, "value": []byte("v")}
	for name, value := range change {
		fields[name] = value
	}
	first := map[string]any{"key": "/registry/a", "create": 2, "mod": 3, "version": 2, "lease": 0, "value": []byte("v")}
	return map[string]any{"records": []any{first, fields}}
}

func files(paths ...string) map[string]any {
	var entries []any
	for _, path := range paths {
		entries = append(entries, map[string]any{"path": path, "data": []byte{}})
	}
	return map[string]any{"files": entries}
}

// TestRefuses: what is torn, hostile or of another kind is refused, with the place.
func TestRefuses(t *testing.T) {
	good := written(t, sample())
	huge := append([]byte{0x85}, packed(t, "body")...)
	huge = append(huge, 0xc6, 0xff, 0xff, 0xff, 0xff) // bytes of 4 GiB, and none follow
	deep := append(append([]byte{0x81}, packed(t, "unknown")...), bytes.Repeat([]byte{0x91}, 1<<20)...)
	for what, tc := range map[string]struct {
		file []byte
		is   error
		want string
	}{
		"nothing":                    {nil, ErrInvalid, "at byte 0: it ends early"},
		"YAML":                       {[]byte("kind: Pod\n"), ErrInvalid, "at byte 1"},
		"zeroes":                     {make([]byte, 64), ErrInvalid, "at byte 1"},
		"half of it":                 {good[:len(good)/2], ErrInvalid, "body: at byte"},
		"something behind it":        {append(bytes.Clone(good), "more"...), ErrInvalid, "4 bytes follow the bundle"},
		"more bytes than there are":  {huge, ErrTooLarge, "body: at byte"},
		"arrays without end":         {deep, ErrInvalid, `the envelope has no field "unknown"`},
		"another format":             {enveloped(t, body(t, nil), map[string]any{"format": "zip"}), ErrInvalid, `its format is "zip"`},
		"no format":                  {enveloped(t, body(t, nil), map[string]any{"format": nil}), ErrInvalid, "no format and version"},
		"a format of the future":     {enveloped(t, body(t, nil), map[string]any{"version": 2}), ErrNewer, "format 2, and this build reads 1"},
		"another codec":              {enveloped(t, body(t, nil), map[string]any{"codec": "zstd"}), ErrInvalid, `compressed with "zstd"`},
		"no gzip":                    {enveloped(t, nil, map[string]any{"body": []byte("text")}), ErrInvalid, "the body: "},
		"a size above the limit":     {enveloped(t, body(t, nil), map[string]any{"size": int64(1) << 60}), ErrTooLarge, "size: at byte"},
		"larger than it says":        {enveloped(t, body(t, nil), map[string]any{"size": 100}), ErrInvalid, "the cluster: "},
		"smaller than it says":       {enveloped(t, body(t, nil), map[string]any{"size": 1000}), ErrInvalid, "does not have the 1000 bytes"},
		"more behind the cluster":    {enveloped(t, append(body(t, nil), 1, 2), nil), ErrInvalid, "does not have the"},
		"no cluster":                 {enveloped(t, packed(t, nil), nil), ErrInvalid, "the cluster is nil"},
		"a field of the future":      {enveloped(t, body(t, map[string]any{"pictures": 1}), nil), ErrInvalid, `the cluster has no field "pictures"`},
		"no revision":                {enveloped(t, body(t, map[string]any{"revision": nil}), nil), ErrInvalid, "revision 0"},
		"a time that is none":        {enveloped(t, body(t, map[string]any{"time": "soon"}), nil), ErrInvalid, "time: at byte"},
		"a name that is none":        {enveloped(t, body(t, map[string]any{"name": "\xff"}), nil), ErrInvalid, "name: at byte"},
		"a long name":                {enveloped(t, body(t, map[string]any{"name": strings.Repeat("n", 5000)}), nil), ErrTooLarge, "name: at byte"},
		"a record of the future":     {enveloped(t, body(t, record(map[string]any{"mod": 10})), nil), ErrInvalid, `record 2, "/registry/b": created at revision 4, changed at 10`},
		"a revision below zero":      {enveloped(t, body(t, record(map[string]any{"create": -4})), nil), ErrInvalid, "records: record 2: create: at byte"},
		"a revision in words":        {enveloped(t, body(t, record(map[string]any{"create": "four"})), nil), ErrInvalid, "records: record 2: create: at byte"},
		"a record without a value":   {enveloped(t, body(t, record(map[string]any{"value": nil})), nil), ErrInvalid, "records: record 2: value: at byte"},
		"a record twice":             {enveloped(t, body(t, record(map[string]any{"key": "/registry/a"})), nil), ErrInvalid, "sorted by key"},
		"a lease that is nowhere":    {enveloped(t, body(t, record(map[string]any{"lease": 3})), nil), ErrInvalid, "lease 3 is not there"},
		"a field twice":              {enveloped(t, append([]byte{0x82}, bytes.Repeat(append(packed(t, "name"), packed(t, "n")...), 2)...), nil), ErrInvalid, `has the field "name" twice`},
		"too many nodes":             {enveloped(t, body(t, map[string]any{"settings": map[string]any{"nodes": 1 << 40}}), nil), ErrInvalid, "settings: nodes: at byte"},
		"a clock that runs away":     {enveloped(t, body(t, map[string]any{"clock": map[string]any{"aheadSeconds": 1e300}}), nil), ErrInvalid, "clock: aheadSeconds: at byte"},
		"a way out of the workspace": {enveloped(t, body(t, files("../x")), nil), ErrInvalid, "no path within a workspace"},
		"an absolute path":           {enveloped(t, body(t, files("/etc/x")), nil), ErrInvalid, "no path within a workspace"},
		"a path with a zero byte":    {enveloped(t, body(t, files("a\x00b")), nil), ErrInvalid, "no path within a workspace"},
		"a path without end":         {enveloped(t, body(t, files(strings.Repeat("n/", 2500)+"n")), nil), ErrTooLarge, "files: file 1: path: at byte"},
		"a long name of a file":      {enveloped(t, body(t, files("a/"+strings.Repeat("n", 256))), nil), ErrInvalid, "a name in it has more than 255 bytes"},
		"a file below a file":        {enveloped(t, body(t, files("a", "a.b", "a.b.c", "a/b")), nil), ErrInvalid, `file 4, "a/b": "a" is a file and no folder`},
		"a kubeconfig":               {enveloped(t, body(t, files(".kube/config")), nil), ErrInvalid, "kubeconfigs are not part"},
	} {
		b, err := Read(bytes.NewReader(tc.file), DefaultLimits())
		if b != nil || !errors.Is(err, tc.is) || !strings.Contains(fmt.Sprint(err), tc.want) {
			t.Errorf("%s: %v, want %q and %q", what, err, tc.is, tc.want)
		}
	}
	for n := range good { // torn anywhere
		if _, err := Read(bytes.NewReader(good[:n]), DefaultLimits()); !errors.Is(err, ErrInvalid) {
			t.Fatalf("%d bytes of %d: %v", n, len(good), err)
		}
	}
	if _, err := Read(iotest.ErrReader(os.ErrClosed), DefaultLimits()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestLimits: nothing above a limit is inflated or kept.
func TestLimits(t *testing.T) {
	file := written(t, sample())
	for what, change := range map[string]func(*Limits){
		"the file":    func(l *Limits) { l.File = int64(len(file)) - 1 },
		"the cluster": func(l *Limits) { l.Cluster = 100 },
		"records":     func(l *Limits) { l.Records = 1 },
		"a value":     func(l *Limits) { l.Value = 3 },
	} {
		most := DefaultLimits()
		change(&most)
		if _, err := Read(bytes.NewReader(file), most); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// What inflates to more than it says costs no more than that.
	bomb := enveloped(t, bytes.Repeat([]byte{0x93}, 64<<20), map[string]any{"size": 1000})
	n := testing.AllocsPerRun(1, func() {
		if _, err := Read(bytes.NewReader(bomb), DefaultLimits()); !errors.Is(err, ErrInvalid) {
			t.Error(err)
		}
	})
	if n > 1000 {
		t.Errorf("%v allocations", n)
	}
	large := sample()
	large.State.Records[0].Value = make([]byte, DefaultLimits().Value+1)
	if err := Write(&bytes.Buffer{}, large); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a value that nobody would read: %v", err)
	}
	for _, path := range []string{"/a", "a//b", "../a", "a/../../b", ".", "", ".kube/config", "a\\b"} {
		b := sample()
		b.Files = []File{{Path: path}}
		if err := Write(&bytes.Buffer{}, b); err == nil {
			t.Errorf("a file %q has been written", path)
		}
	}
}

// TestReadsValuesOfAllSizes: also those that have no memory of their size from the start.
func TestReadsValuesOfAllSizes(t *testing.T) {
	want := &Bundle{Kubernetes: "v1", Time: time.Unix(0, 0).UTC(), State: etcd.State{Revision: 100}}
	for i, size := range []int{0, 1, 511, 512, firstPiece - 1, firstPiece, firstPiece + 1, 2*firstPiece - 1, 2 * firstPiece, 2*firstPiece + 1, 9*firstPiece + 7, 0, 3} {
		value := make([]byte, size)
		for at := range value {
			value[at] = byte(at*7 + i)
		}
		rev := int64(2 + i)
		want.State.Records = append(want.State.Records, etcd.RecordState{Key: fmt.Sprintf("/registry/%03d", i), Value: value, CreateRevision: rev, ModRevision: rev, Version: 1})
	}
	want.Settings.RuntimeConfig = map[string]string{}
	for i := range 3 * mostNames { // more than are remembered
		want.Settings.RuntimeConfig[fmt.Sprintf("group%d/v1", i)] = fmt.Sprint(i)
	}
	file := written(t, want)
	for _, r := range []io.Reader{bytes.NewReader(file), iotest.HalfReader(bytes.NewReader(file))} {
		got, err := Read(r, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Error("another cluster has been read")
		}
	}
}

// TestAllocatesForWhatIsThere: a file that says of a value that it is large costs what
// has been read of it.
func TestAllocatesForWhatIsThere(t *testing.T) {
	cluster := append([]byte{0x81}, packed(t, "records")...)
	cluster = append(append(cluster, 0x91, 0x81), packed(t, "value")...)
	cluster = append(cluster, 0xc6, 0x00, 0xff, 0xff, 0xff) // almost 16 MiB, and few follow
	file := enveloped(t, append(cluster, make([]byte, 1000)...), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Read(bytes.NewReader(file), DefaultLimits()); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "records: record 1: value: at byte 1022: it ends early") {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<20 {
		t.Errorf("%d bytes", bytes)
	}
}

// TestReadsTheFirstVersion: bundles that were sent out stay readable, and links with them.
func TestReadsTheFirstVersion(t *testing.T) {
	for name, write := range map[string]func(testing.TB, *Bundle) []byte{"version1.kubetab": written, "compact1.kubetab": compacted} {
		path := filepath.Join("testdata", name)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, write(t, sample()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		got, err := Read(file, DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, sample()) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// FuzzRead: whatever a file holds, it is refused with one of the errors or can be
// written and read again, and a store can hold it.
func FuzzRead(f *testing.F) {
	f.Add(written(f, sample()))
	f.Add(compacted(f, sample()))
	f.Add(enveloped(f, body(f, nil), nil))
	f.Add(enveloped(f, body(f, record(nil)), nil))
	most := Limits{File: 1 << 20, Cluster: 1 << 20, Records: 1000, Value: 1 << 16}
	f.Fuzz(func(t *testing.T, file []byte) {
		b, err := Read(bytes.NewReader(file), most)
		fuzzed(t, b, err)
	})
}

// FuzzCluster is FuzzRead behind the compression, which chance does not find its
// way through.
func FuzzCluster(f *testing.F) {
	var plain bytes.Buffer
	if _, err := writeBody(&plain, sample()); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	f.Add(body(f, nil))
	f.Add(body(f, record(nil)))
	most := Limits{File: 1 << 20, Cluster: 1 << 20, Records: 1000, Value: 1 << 16}
	f.Fuzz(func(t *testing.T, cluster []byte) {
		b, err := Read(bytes.NewReader(enveloped(t, cluster, nil)), most)
		fuzzed(t, b, err)
	})
}

func fuzzed(t *testing.T, b *Bundle, err error) {
	t.Helper()
	if err != nil {
		if b != nil || !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNewer) && !errors.Is(err, ErrTooLarge) {
			t.Fatalf("%v with %v", b, err)
		}
		return
	}
	again, err := Read(bytes.NewReader(written(t, b)), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if len(again.State.Records) != len(b.State.Records) || again.State.Revision != b.State.Revision {
		t.Fatalf("%+v has become %+v", b, again)
	}
	if _, err := b.State.Entries(); err != nil {
		t.Fatal(err)
	}
}
