package bundle

import (
	"bufio"
	"io"
)

// position counts. msgpack reads from it without a buffer of its own.
type position struct {
	r     *bufio.Reader
	first int // see take
	n     int64
	back  bool // last has been given back
	last  byte
}

func newPosition(from io.Reader) *position {
	return &position{r: bufio.NewReaderSize(from, 32<<10), first: firstPiece}
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
