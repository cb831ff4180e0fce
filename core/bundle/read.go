package bundle

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/kubetab/kubetab/core/etcd"
)

// Read reads a bundle to its end. What it returns holds only what a store can hold:
// etcd.State.Check has passed. Whether an API server can read the values is not
// looked at.
//
// It fails with ErrInvalid, ErrNewer or ErrTooLarge, each with the place, and as r
// does.
func Read(r io.Reader, most Limits) (*Bundle, error) {
	file, err := io.ReadAll(io.LimitReader(r, most.File+1))
	if err != nil {
		return nil, fmt.Errorf("read the bundle: %w", err)
	}
	if int64(len(file)) > most.File {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, most.File)
	}
	size, how, body, err := readEnvelope(file, most)
	if err != nil {
		return nil, err
	}
	b, err := readBody(size, how, body, most)
	if err != nil {
		return nil, err
	}
	if err := b.check(most); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return b, nil
}

// readEnvelope returns the size that the body will have, its codec, and the body.
func readEnvelope(file []byte, most Limits) (size int64, how string, body []byte, err error) {
	r := newReader(bytes.NewReader(file), most)
	r.from.first = max(len(file), firstPiece) // more than the file has cannot follow
	kind, of := "", int64(0)
	r.fields("the envelope", func(name string) bool {
		switch name {
		case "format":
			kind = r.text()
			if r.err == nil && kind != format {
				r.fail(fmt.Errorf("its format is %q and not %q", kind, format))
			}
		case "version":
			if of = r.number(); r.err == nil && of > version {
				r.fail(fmt.Errorf("%w: format %d, and this build reads %d", ErrNewer, of, version))
			}
		case "codec":
			how = r.text()
		case "size":
			if size = r.number(); size > most.Cluster {
				r.fail(fmt.Errorf("%w: %d bytes inflated, and %d are possible", ErrTooLarge, size, most.Cluster))
			}
		case "body":
			body = r.bytes(most.File)
		default:
			return false
		}
		return true
	})
	switch {
	case r.err != nil:
	case kind == "" || of < 1:
		r.err = errors.New("the envelope names no format and version")
	case how != codec && how != compact:
		r.err = fmt.Errorf("the body is compressed with %q and not with %q or %q", how, codec, compact)
	case r.from.n < int64(len(file)):
		r.err = fmt.Errorf("%d bytes follow the bundle", int64(len(file))-r.from.n)
	}
	return size, how, body, r.failure("")
}

// inflate returns what a codec has compressed.
func inflate(how string, body []byte) (io.ReadCloser, error) {
	if how == compact {
		return inflateCompact(body)
	}
	return gzip.NewReader(bytes.NewReader(body))
}

func readBody(size int64, how string, body []byte, most Limits) (*Bundle, error) {
	zip, err := inflate(how, body)
	if err != nil {
		return nil, fmt.Errorf("%w: the body: %w", ErrInvalid, err)
	}
	defer zip.Close()
	r := newReader(io.LimitReader(zip, size), most)
	b := r.cluster()
	if err := r.failure("the cluster: "); err != nil {
		return nil, err
	}
	// The end has the codec's checksum, too.
	rest, err := io.Copy(io.Discard, io.LimitReader(zip, 1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: the body: %w", ErrInvalid, err)
	case rest > 0 || r.from.n != size:
		return nil, fmt.Errorf("%w: the cluster does not have the %d bytes that the envelope says", ErrInvalid, size)
	}
	return b, nil
}

// firstPiece is what is allocated for a value because the file says that it is as large.
const firstPiece = 64 << 10

// take returns the next n bytes. A value of up to first bytes has memory of the right size from the start; beyond it,
// there is memory for twice of what has been read.
func (p *position) take(n int) ([]byte, error) {
	b := make([]byte, 0, min(n, p.first))
	for {
		read, err := io.ReadFull(p, b[len(b):cap(b)])
		b = b[:len(b)+read]
		if err != nil || len(b) == n {
			return b, err
		}
		more := make([]byte, len(b), min(n, 2*len(b)))
		copy(more, b)
		b = more
	}
}

// reader reads fields of msgpack; err is the first failure, and what comes after it
// is zero.
type reader struct {
	from *position
	msg  *msgpack.Decoder
	most Limits
	path []step // to what is being read
	err  error

	letters [mostText]byte    // what text has read last
	names   map[string]string // some names of fields, which come again and again
}

// step is a name, or the number of an entry that has one.
type step struct {
	name  string
	entry int // from 1; 0 for none
}

// position counts. msgpack reads from it without a buffer of its own.
type position struct {
	r     *bufio.Reader
	first int // see take
	n     int64
	back  bool // last has been given back
	last  byte
}

func newReader(from io.Reader, most Limits) *reader {
	p := &position{r: bufio.NewReaderSize(from, 32<<10), first: firstPiece}
	return &reader{from: p, msg: msgpack.NewDecoder(p), most: most, names: map[string]string{}}
}

func (p *position) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if p.back {
		b[0], p.back = p.last, false
		p.n++
		return 1, nil
	}
	n, err := p.r.Read(b)
	p.n += int64(n)
	return n, err
}

func (p *position) ReadByte() (byte, error) {
	if p.back {
		p.back = false
	} else {
		b, err := p.r.ReadByte()
		if err != nil {
			return 0, err
		}
		p.last = b
	}
	p.n++
	return p.last, nil
}

func (p *position) UnreadByte() error {
	p.back = true
	p.n--
	return nil
}

func (r *reader) fail(err error) {
	if r.err != nil || err == nil {
		return
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends early")
	}
	var where strings.Builder
	for _, s := range r.path {
		where.WriteString(s.name)
		if s.entry > 0 {
			fmt.Fprintf(&where, " %d", s.entry)
		}
		where.WriteString(": ")
	}
	r.err = fmt.Errorf("%sat byte %d: %w", &where, r.from.n, err)
}

// failure is what Read returns, or nil.
func (r *reader) failure(where string) error {
	switch {
	case r.err == nil:
		return nil
	case errors.Is(r.err, ErrNewer), errors.Is(r.err, ErrTooLarge):
		return r.err
	}
	return fmt.Errorf("%w: %s%w", ErrInvalid, where, r.err)
}

// in reads something that has a name of its own in what is told of a failure.
func (r *reader) in(name string, entry int, read func()) {
	r.path = append(r.path, step{name, entry})
	read()
	r.path = r.path[:len(r.path)-1]
}

// fields reads a map with each field once at most. read returns false for a name
// that it does not know.
func (r *reader) fields(what string, read func(name string) bool) {
	r.each(what, mostEntries, func(name string) {
		if !read(name) {
			r.fail(fmt.Errorf("%s has no field %q", what, name))
		}
	})
}

// each reads a map with each name once at most.
func (r *reader) each(what string, most int, read func(name string)) {
	n := r.length(what, most, r.msg.DecodeMapLen)
	var few [8]string
	seen := few[:0]
	for i := 0; i < n && r.err == nil; i++ {
		name := r.name()
		if r.err == nil && slices.Contains(seen, name) {
			r.fail(fmt.Errorf("%s has the field %q twice", what, name))
		}
		seen = append(seen, name)
		if r.err == nil {
			r.in(name, 0, func() { read(name) })
		}
	}
}

func (r *reader) array(what string, most int, read func(i int)) {
	n := r.length(what, most, r.msg.DecodeArrayLen)
	for i := 0; i < n && r.err == nil; i++ {
		read(i)
	}
}

func (r *reader) length(what string, most int, decode func() (int, error)) int {
	if r.err != nil {
		return 0
	}
	n, err := decode()
	switch {
	case err != nil:
		r.fail(err)
	case n < 0:
		r.fail(fmt.Errorf("%s is nil", what))
	case n > most:
		r.fail(fmt.Errorf("%w: %s has %d entries, and %d are possible", ErrTooLarge, what, n, most))
	default:
		return n
	}
	return 0
}

func (r *reader) text() string { return string(r.characters()) }

// name is text for what is there often.
func (r *reader) name() string {
	b := r.characters()
	if known, is := r.names[string(b)]; is {
		return known
	}
	name := string(b)
	if r.err == nil && len(r.names) < mostNames {
		r.names[name] = name
	}
	return name
}

// mostNames is above how many fields the format has.
const mostNames = 64

// characters returns what is good until the next text is read.
func (r *reader) characters() []byte {
	n := r.size(mostText)
	if r.err != nil {
		return nil
	}
	read, err := io.ReadFull(r.from, r.letters[:n])
	r.fail(err)
	b := r.letters[:read]
	if r.err == nil && !utf8.Valid(b) {
		r.fail(errors.New("it is no text in UTF-8"))
	}
	return b
}

func (r *reader) bytes(most int64) []byte {
	n := r.size(most)
	if r.err != nil {
		return nil
	}
	b, err := r.from.take(n)
	r.fail(err)
	return b
}

// size reads how many bytes follow.
func (r *reader) size(most int64) int {
	if r.err != nil {
		return 0
	}
	n, err := r.msg.DecodeBytesLen()
	switch {
	case err != nil:
		r.fail(err)
	case n < 0:
		r.fail(errors.New("it is nil"))
	case int64(n) > most:
		r.fail(fmt.Errorf("%w: %d bytes, and %d are possible", ErrTooLarge, n, most))
	default:
		return n
	}
	return 0
}

func (r *reader) number() int64 {
	if r.err != nil {
		return 0
	}
	n, err := r.msg.DecodeInt64()
	if err == nil && n < 0 {
		err = fmt.Errorf("%d is below zero", n)
	}
	r.fail(err)
	return n
}

func (r *reader) float() float64 {
	if r.err != nil {
		return 0
	}
	f, err := r.msg.DecodeFloat64()
	if err == nil && (math.IsNaN(f) || f < 0) {
		err = fmt.Errorf("%v is no number from 0 on", f)
	}
	r.fail(err)
	return f
}

func (r *reader) bool() bool {
	if r.err != nil {
		return false
	}
	is, err := r.msg.DecodeBool()
	r.fail(err)
	return is
}

func (r *reader) cluster() *Bundle {
	b := &Bundle{}
	r.fields("the cluster", func(name string) bool {
		switch name {
		case "kubernetes":
			b.Kubernetes = r.text()
		case "build":
			b.Build = r.text()
		case "time":
			text := r.text()
			if r.err == nil {
				var err error
				b.Time, err = time.Parse(time.RFC3339Nano, text)
				r.fail(err)
			}
		case "name":
			b.Name = r.text()
		case "revision":
			b.State.Revision = r.number()
		case "settings":
			b.Settings = r.settings()
		case "clock":
			b.Clock = r.clock()
		case "leases":
			r.array("leases", r.most.Records, func(i int) { b.State.Leases = append(b.State.Leases, r.lease(i)) })
		case "records":
			r.array("records", r.most.Records, func(i int) { b.State.Records = append(b.State.Records, r.record(i)) })
		case "files":
			r.array("files", r.most.Records, func(i int) { b.Files = append(b.Files, r.file(i)) })
		default:
			return false
		}
		return true
	})
	return b
}

func (r *reader) settings() (s Settings) {
	r.fields("settings", func(name string) bool {
		switch name {
		case "emulatedVersion":
			s.EmulatedVersion = r.text()
		case "runtimeConfig":
			r.each(name, mostEntries, func(name string) {
				if s.RuntimeConfig == nil {
					s.RuntimeConfig = map[string]string{}
				}
				s.RuntimeConfig[name] = r.text()
			})
		case "featureGates":
			r.each(name, mostEntries, func(name string) {
				if s.FeatureGates == nil {
					s.FeatureGates = map[string]bool{}
				}
				s.FeatureGates[name] = r.bool()
			})
		case "nodes":
			if n := r.number(); n > mostEntries {
				r.fail(fmt.Errorf("%d nodes, and %d are possible", n, mostEntries))
			} else {
				s.Nodes = new(int(n))
			}
		case "controllers":
			r.array(name, mostEntries, func(int) { s.Controllers = append(s.Controllers, r.text()) })
		case "noScheduler":
			s.NoScheduler = r.bool()
		default:
			return false
		}
		return true
	})
	return s
}

// mostAhead is how far a clock may be ahead: what time.Duration has room for, and
// times that Kubernetes can show.
const mostAhead = 200 * 365 * 24 * time.Hour

func (r *reader) clock() (c Clock) {
	r.fields("clock", func(name string) bool {
		switch name {
		case "aheadSeconds":
			if ahead := r.float(); ahead > mostAhead.Seconds() {
				r.fail(fmt.Errorf("%v seconds ahead, and %.0f are possible", ahead, mostAhead.Seconds()))
			} else {
				c.Ahead = time.Duration(ahead * float64(time.Second))
			}
		case "paused":
			c.Paused = r.bool()
		case "speed":
			c.Speed = r.float()
		default:
			return false
		}
		return true
	})
	return c
}

func (r *reader) lease(i int) (l etcd.LeaseState) {
	r.in("lease", i+1, func() {
		r.fields("a lease", func(name string) bool {
			switch name {
			case "id":
				l.ID = r.number()
			case "ttl":
				l.TTL = r.number()
			default:
				return false
			}
			return true
		})
	})
	return l
}

func (r *reader) record(i int) (record etcd.RecordState) {
	r.in("record", i+1, func() {
		r.fields("a record", func(name string) bool {
			switch name {
			case "key":
				record.Key = r.text()
			case "create":
				record.CreateRevision = r.number()
			case "mod":
				record.ModRevision = r.number()
			case "version":
				record.Version = r.number()
			case "lease":
				record.Lease = r.number()
			case "value":
				record.Value = r.bytes(int64(r.most.Value))
			default:
				return false
			}
			return true
		})
	})
	return record
}

func (r *reader) file(i int) (f File) {
	r.in("file", i+1, func() {
		r.fields("a file", func(name string) bool {
			switch name {
			case "path":
				f.Path = r.text()
			case "data":
				f.Data = r.bytes(int64(r.most.Value))
			default:
				return false
			}
			return true
		})
	})
	return f
}
