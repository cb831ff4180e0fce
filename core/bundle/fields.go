package bundle

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
)

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

func newReader(from io.Reader, most Limits) *reader {
	p := newPosition(from)
	return &reader{from: p, msg: msgpack.NewDecoder(p), most: most, names: map[string]string{}}
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
