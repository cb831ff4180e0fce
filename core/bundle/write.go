package bundle

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/kubetab/kubetab/core/etcd"
)

// Write writes b. It fails with what etcd.State.Check says of its records, with
// ErrTooLarge above the default limits, and as w does.
func Write(w io.Writer, b *Bundle) error {
	return inMemory(b).write(gzipped, DefaultLimits(), math.MaxInt, func(int64) io.Writer { return w })
}

// Stream is a bundle whose records are not in memory all at once.
type Stream struct {
	// Bundle has no records in its State.
	Bundle *Bundle
	// Count is how many records there are, and Bytes how many bytes their values have.
	Count int
	Bytes int64
	// Records returns all records, sorted by key. Each call returns the same. An error is
	// the last that it yields. A record's value is used until the next one is asked for.
	Records func() iter.Seq2[etcd.RecordState, error]
}

const (
	// keptBody is how many bytes of a compressed body are kept instead of being made twice.
	keptBody = 4 << 20
	// quickFrom is from how many bytes on, before they are compressed, time counts more than
	// a smaller file: they are compressed twice. No build before there were Streams could
	// write as many.
	quickFrom = 256 << 20
)

// Write writes the bundle as the function Write does, into what begin returns. The file
// has the sizes of its body before it, so all is compressed, and then begin is called with
// the size of the file. A body of more than keptBody bytes is compressed once more while
// it is written. What is in memory are keptBody bytes and a compressor of about a MiB.
//
// It fails with what etcd.State.Check says of the records, with ErrTooLarge above
// FormatLimits, as Records does, and as the writer does. Only if begin has been called may
// a part of the file have been written: then it must not look whole to who reads it.
func (s *Stream) Write(begin func(size int64) io.Writer) error {
	how := gzipped
	if s.Bytes > quickFrom {
		how.begin = func(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(to, gzip.BestSpeed) }
	}
	return s.write(how, FormatLimits(), keptBody, begin)
}

// inMemory returns b as a Stream.
func inMemory(b *Bundle) *Stream {
	return &Stream{Bundle: b, Count: len(b.State.Records), Records: func() iter.Seq2[etcd.RecordState, error] {
		return func(yield func(etcd.RecordState, error) bool) {
			for _, r := range b.State.Records {
				if !yield(r, nil) {
					return
				}
			}
		}
	}}
}

// compression is how a body is compressed, and what it is called in the envelope.
type compression struct {
	codec string
	begin func(to io.Writer) (io.WriteCloser, error)
}

var gzipped = compression{codec, func(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(to), nil }}

// write is Write within limits, for which a compressed body of up to kept bytes is kept.
func (s *Stream) write(how compression, most Limits, kept int, begin func(size int64) io.Writer) error {
	body := &keeper{most: kept}
	size, err := s.compress(body, how, &most)
	if err != nil {
		return err
	}
	var head bytes.Buffer
	envelope := writer{msgpack.NewEncoder(&head), nil}
	envelope.fields(5)
	envelope.field("format").text(format)
	envelope.field("version").number(version)
	envelope.field("codec").text(how.codec)
	envelope.field("size").number(size)
	envelope.field("body").do(envelope.to.EncodeBytesLen(int(body.n)))
	if envelope.err != nil {
		return envelope.err
	}
	file := int64(head.Len()) + body.n
	switch {
	case size > most.Cluster:
		return fmt.Errorf("%w: %d bytes inflated, and %d are possible", ErrTooLarge, size, most.Cluster)
	case file > most.File:
		return fmt.Errorf("%w: %d bytes compressed, and %d are possible", ErrTooLarge, file, most.File)
	}
	w := begin(file)
	if _, err := w.Write(head.Bytes()); err != nil {
		return err
	}
	if body.isWhole() {
		_, err := w.Write(body.kept)
		return err
	}
	again := &counter{w: w}
	if _, err := s.compress(again, how, nil); err != nil {
		return err
	}
	if again.n != body.n {
		return fmt.Errorf("the body has %d bytes, and had %d when it was compressed before", again.n, body.n)
	}
	return nil
}

// compress writes the compressed body and returns its size before. It checks the bundle if
// there are limits for it.
func (s *Stream) compress(to io.Writer, how compression, most *Limits) (size int64, err error) {
	zip, err := how.begin(to)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", how.codec, err)
	}
	records := s.Records()
	if most != nil {
		if records, err = s.checked(records, *most); err != nil {
			return 0, err
		}
	}
	body := &counter{w: zip}
	cluster := writer{msgpack.NewEncoder(body), nil}
	if err := cluster.cluster(s.Bundle, s.Count, records); err != nil {
		return 0, err
	}
	return body.n, zip.Close()
}

// keeper keeps what is written as long as that is not more than most bytes, and counts.
type keeper struct {
	most int
	kept []byte
	n    int64
}

func (k *keeper) isWhole() bool { return k.n <= int64(k.most) }

func (k *keeper) Write(p []byte) (int, error) {
	if k.n += int64(len(p)); k.isWhole() {
		k.kept = append(k.kept, p...)
	} else {
		k.kept = nil
	}
	return len(p), nil
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

// cluster writes b with n records. It fails as records do, when they are not n, and as the
// writer does.
func (w *writer) cluster(b *Bundle, n int, records iter.Seq2[etcd.RecordState, error]) error {
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
	w.field("records").array(n)
	written := 0
	for r, err := range records {
		if w.do(err); w.err != nil {
			return w.err
		}
		written++
		w.fields(6)
		w.field("key").text(r.Key)
		w.field("create").number(r.CreateRevision)
		w.field("mod").number(r.ModRevision)
		w.field("version").number(r.Version)
		w.field("lease").number(r.Lease)
		w.field("value").bytes(r.Value)
	}
	if written != n {
		return fmt.Errorf("%d records instead of %d", written, n)
	}
	w.field("files").array(len(b.Files))
	for _, f := range b.Files {
		w.fields(2)
		w.field("path").text(f.Path)
		w.field("data").bytes(f.Data)
	}
	return w.err
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
	s := inMemory(b)
	records, err := s.checked(s.Records(), most)
	if err != nil {
		return err
	}
	for _, err := range records {
		if err != nil {
			return err
		}
	}
	return nil
}

// checked returns the records, and behind the first of which no reader would take it an
// error. It fails with what no reader would take of the rest of the bundle.
func (s *Stream) checked(records iter.Seq2[etcd.RecordState, error], most Limits) (iter.Seq2[etcd.RecordState, error], error) {
	b := s.Bundle
	checker, err := b.State.Checker()
	if err != nil {
		return nil, err
	}
	for what, n := range map[string]int{"leases": len(b.State.Leases), "records": s.Count, "files": len(b.Files)} {
		if n > most.Records {
			return nil, fmt.Errorf("%w: %d %s, and %d are possible", ErrTooLarge, n, what, most.Records)
		}
	}
	size := int64(0)
	for i, f := range b.Files {
		if size += int64(len(f.Data)); len(f.Data) > most.Value {
			return nil, fmt.Errorf("file %d, %q: %w: %d bytes, and %d are possible", i+1, f.Path, ErrTooLarge, len(f.Data), most.Value)
		}
	}
	if err := checkPaths(b.Files); err != nil {
		return nil, err
	}
	return func(yield func(etcd.RecordState, error) bool) {
		n := 0
		for r, err := range records {
			n++
			if size += int64(len(r.Value)); err == nil {
				err = checker.Next(r)
			}
			switch {
			case err != nil:
			case len(r.Value) > most.Value:
				err = fmt.Errorf("record %d, %q: %w: %d bytes, and %d are possible", n, r.Key, ErrTooLarge, len(r.Value), most.Value)
			case size > most.Cluster:
				err = fmt.Errorf("%w: %d bytes up to record %d, and %d are possible", ErrTooLarge, size, n, most.Cluster)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}, nil
}
