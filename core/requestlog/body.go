package requestlog

import (
	"bytes"
	"encoding/binary"
)

// body is the beginning of a body, as far as the log keeps it.
type body struct {
	kept []byte
	size int64 // of the whole, as far as it has been seen
	// closed bodies have been given up for newer ones and take no more.
	closed bool
}

// add takes what it may of data and returns how many bytes it kept.
func (b *body) add(data []byte, limit int) int {
	b.size += int64(len(data))
	if b.closed {
		return 0
	}
	n := max(min(len(data), limit-len(b.kept)), 0)
	b.kept = append(b.kept, data[:n]...)
	return n
}

func (b *body) close() int {
	n := len(b.kept)
	b.kept, b.closed = nil, true
	return n
}

// framing is how the events of a watch are told apart.
type framing int

const (
	byLine   framing = iota // JSON: upstream ends each event with a newline and has none inside
	byLength                // protobuf: four bytes of length, big-endian, before each
)

// mostFrames is how many events of one watch are kept, in ring order.
const mostFrames = 200

// frames splits the stream of a watch into its events, counts them, and keeps the last of them.
type frames struct {
	by    framing
	limit int  // bytes kept of all events together
	keep  bool // otherwise events are only counted
	// deliver, if set, is given each event instead of last.
	deliver func([]byte)

	partial []byte // of an event that has not come to its end
	over    bool   // the event is too large to keep, or nobody wants it: partial is empty
	left    int64  // byLength: bytes that the event still lacks, -1 before its length is known
	length  []byte // byLength: of the four bytes, those that have come

	events []frame // the last of them from first on
	first  int
	held   int // bytes of these
	count  int64
	latest *latest
}

// latest is the event that was kept last. Upstream encodes an event once for all who watch, so that most of them are given the
// same bytes.
type latest struct{ data []byte }

// keep returns a copy of data, which is to be kept and not changed.
func (l *latest) keep(data []byte) []byte {
	if !bytes.Equal(l.data, data) {
		l.data = bytes.Clone(data)
	}
	return l.data
}

// frame is one event; data is nil when it was too large to keep.
type frame struct {
	seq  int64
	at   int64 // milliseconds since 1970
	data []byte
}

// newFrames returns frames of a stream of which nothing has come. Those of streams with the same events share l.
func newFrames(by framing, limit int, keep bool, l *latest) *frames {
	return &frames{by: by, limit: limit, keep: keep, left: -1, latest: l}
}

// last returns what is kept, oldest first.
func (f *frames) last() []frame { return f.events[f.first:] }

// add reads on and returns by how much the bytes that are kept have grown.
func (f *frames) add(data []byte, at int64) (grown int) {
	before := f.held + len(f.partial)
	for len(data) > 0 {
		if f.by == byLength {
			data = f.stepLength(data, at)
		} else {
			data = f.stepLine(data, at)
		}
	}
	return f.held + len(f.partial) - before
}

// stepLine consumes up to the end of one event, as stepLength does, and returns what follows.
func (f *frames) stepLine(data []byte, at int64) []byte {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		f.take(data)
		return nil
	}
	if f.keep && !f.over && len(f.partial) == 0 && end <= f.limit {
		f.partial = f.latest.keep(data[:end])
	} else {
		f.take(data[:end])
	}
	f.complete(at)
	return data[end+1:]
}

func (f *frames) stepLength(data []byte, at int64) []byte {
	if f.left < 0 {
		n := min(4-len(f.length), len(data))
		f.length = append(f.length, data[:n]...)
		data = data[n:]
		if len(f.length) < 4 {
			return nil
		}
		f.left = int64(binary.BigEndian.Uint32(f.length))
		f.length = f.length[:0]
	}
	n := min(f.left, int64(len(data)))
	f.take(data[:n])
	f.left -= n
	if f.left == 0 {
		f.complete(at)
		f.left = -1
	}
	return data[n:]
}

func (f *frames) take(data []byte) {
	f.over = f.over || !f.keep || len(f.partial)+len(data) > f.limit
	if f.over {
		f.partial = nil
		return
	}
	f.partial = append(f.partial, data...)
}

func (f *frames) complete(at int64) {
	f.count++
	switch {
	case f.deliver != nil:
		f.deliver(f.partial)
	case f.keep:
		f.events = append(f.events, frame{f.count, at, f.partial})
		f.held += len(f.partial)
	}
	f.partial, f.over = nil, false
	for len(f.events)-f.first > mostFrames || f.held > f.limit {
		f.held -= len(f.events[f.first].data)
		f.events[f.first] = frame{}
		f.first++
	}
	if f.first > len(f.events)/2 { // the place of those that are gone is used again
		n := copy(f.events, f.events[f.first:])
		clear(f.events[n:])
		f.events, f.first = f.events[:n], 0
	}
}

// close gives up what is kept and returns how much it was. What comes later is kept again.
func (f *frames) close() int {
	n := f.held + len(f.partial)
	f.over = f.over || len(f.partial) > 0
	f.events, f.first, f.held, f.partial = nil, 0, 0, nil
	return n
}
