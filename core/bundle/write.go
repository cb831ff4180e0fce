package bundle

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

// Write writes b. It fails with what etcd.State.Check says of its records, with
// ErrTooLarge above the default limits, and as w does.
func Write(w io.Writer, b *Bundle) error {
	return write(w, b, codec, func(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(to), nil })
}

// write writes b with a body that is compressed by what with returns, which is called how.
func write(w io.Writer, b *Bundle, how string, with func(io.Writer) (io.WriteCloser, error)) error {
	if err := b.check(DefaultLimits()); err != nil {
		return err
	}
	var body bytes.Buffer
	zip, err := with(&body)
	if err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	size, err := writeBody(zip, b)
	if err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	envelope := writer{msgpack.NewEncoder(w), nil}
	envelope.fields(5)
	envelope.field("format").text(format)
	envelope.field("version").number(version)
	envelope.field("codec").text(how)
	envelope.field("size").number(size)
	envelope.field("body").bytes(body.Bytes())
	return envelope.err
}

// writeBody writes b's cluster and returns how many bytes it has.
func writeBody(w io.Writer, b *Bundle) (int64, error) {
	size := &counter{w: w}
	cluster := writer{msgpack.NewEncoder(size), nil}
	cluster.cluster(b)
	return size.n, cluster.err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// writer writes fields of msgpack; err is the first failure.
type writer struct {
	to  *msgpack.Encoder
	err error
}

func (w *writer) do(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) fields(n int)              { w.do(w.to.EncodeMapLen(n)) }
func (w *writer) array(n int)               { w.do(w.to.EncodeArrayLen(n)) }
func (w *writer) field(name string) *writer { w.text(name); return w }
func (w *writer) text(s string)             { w.do(w.to.EncodeString(s)) }
func (w *writer) number(n int64)            { w.do(w.to.EncodeInt(n)) }
func (w *writer) float(f float64)           { w.do(w.to.EncodeFloat64(f)) }
func (w *writer) bool(is bool)              { w.do(w.to.EncodeBool(is)) }

func (w *writer) bytes(b []byte) {
	if b == nil {
		b = []byte{} // msgpack would write nil
	}
	w.do(w.to.EncodeBytes(b))
}

func (w *writer) cluster(b *Bundle) {
	w.fields(10)
	w.field("kubernetes").text(b.Kubernetes)
	w.field("build").text(b.Build)
	w.field("time").text(b.Time.UTC().Format(time.RFC3339Nano))
	w.field("name").text(b.Name)
	w.field("revision").number(b.State.Revision)
	w.field("settings").settings(b.Settings)
	w.field("clock").clock(b.Clock)
	w.field("leases").array(len(b.State.Leases))
	for _, l := range b.State.Leases {
		w.fields(2)
		w.field("id").number(l.ID)
		w.field("ttl").number(l.TTL)
	}
	w.field("records").array(len(b.State.Records))
	for _, r := range b.State.Records {
		w.fields(6)
		w.field("key").text(r.Key)
		w.field("create").number(r.CreateRevision)
		w.field("mod").number(r.ModRevision)
		w.field("version").number(r.Version)
		w.field("lease").number(r.Lease)
		w.field("value").bytes(r.Value)
	}
	w.field("files").array(len(b.Files))
	for _, f := range b.Files {
		w.fields(2)
		w.field("path").text(f.Path)
		w.field("data").bytes(f.Data)
	}
}

func (w *writer) settings(s Settings) {
	fields := 6
	if s.Nodes == nil {
		fields--
	}
	w.fields(fields)
	w.field("emulatedVersion").text(s.EmulatedVersion)
	w.field("runtimeConfig").fields(len(s.RuntimeConfig))
	for _, name := range slices.Sorted(maps.Keys(s.RuntimeConfig)) {
		w.field(name).text(s.RuntimeConfig[name])
	}
	w.field("featureGates").fields(len(s.FeatureGates))
	for _, name := range slices.Sorted(maps.Keys(s.FeatureGates)) {
		w.field(name).bool(s.FeatureGates[name])
	}
	if s.Nodes != nil {
		w.field("nodes").number(int64(*s.Nodes))
	}
	w.field("controllers").array(len(s.Controllers))
	for _, name := range s.Controllers {
		w.text(name)
	}
	w.field("noScheduler").bool(s.NoScheduler)
}

func (w *writer) clock(c Clock) {
	w.fields(3)
	w.field("aheadSeconds").float(c.Ahead.Seconds())
	w.field("paused").bool(c.Paused)
	w.field("speed").float(c.Speed)
}

// check says what no reader would take.
func (b *Bundle) check(most Limits) error {
	if err := b.State.Check(); err != nil {
		return err
	}
	for what, n := range map[string]int{"leases": len(b.State.Leases), "records": len(b.State.Records), "files": len(b.Files)} {
		if n > most.Records {
			return fmt.Errorf("%w: %d %s, and %d are possible", ErrTooLarge, n, what, most.Records)
		}
	}
	size := int64(0)
	for i, r := range b.State.Records {
		if size += int64(len(r.Value)); len(r.Value) > most.Value {
			return fmt.Errorf("record %d, %q: %w: %d bytes, and %d are possible", i+1, r.Key, ErrTooLarge, len(r.Value), most.Value)
		}
	}
	for i, f := range b.Files {
		if size += int64(len(f.Data)); len(f.Data) > most.Value {
			return fmt.Errorf("file %d, %q: %w: %d bytes, and %d are possible", i+1, f.Path, ErrTooLarge, len(f.Data), most.Value)
		}
	}
	if err := checkPaths(b.Files); err != nil {
		return err
	}
	if size > most.Cluster {
		return fmt.Errorf("%w: %d bytes, and %d are possible", ErrTooLarge, size, most.Cluster)
	}
	return nil
}
