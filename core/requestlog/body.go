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

	last  []frame
	held  int // bytes in last
	count int64
}

// frame is one event; data is nil when it was too large to keep.
type frame struct {
	seq  int64
	at   int64 // milliseconds since 1970
	data []byte
}

func newFrames(by framing, limit int, keep bool) *frames {
	return &frames{by: by, limit: limit, keep: keep, left: -1}
}

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
	f.take(data[:end])
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
		f.last = append(f.last, frame{f.count, at, f.partial})
		f.held += len(f.partial)
	}
	f.partial, f.over = nil, false
	drop := 0
	for len(f.last)-drop > mostFrames || f.held > f.limit {
		f.held -= len(f.last[drop].data)
		drop++
	}
	f.last = f.last[drop:]
}

// close gives up what is kept and returns how much it was. What comes later is kept again.
func (f *frames) close() int {
	n := f.held + len(f.partial)
	f.over = f.over || len(f.partial) > 0
	f.last, f.held, f.partial = nil, 0, nil
	return n
}
