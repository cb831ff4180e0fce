package coreutils

import (
	"bufio"
	"errors"
	"io"
)

// mostMemory is how many bytes a program may hold of what it reads: the engine
// needs the rest of the process. perLine is what a line takes beside its text.
const (
	mostMemory = 64 << 20
	perLine    = 32
)

// ErrMemory is GNU's word for memory that there is none of.
var ErrMemory = errors.New("memory exhausted")

// ReadAll is io.ReadAll up to what a program may hold; then the error is ErrMemory.
func ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostMemory+1))
	if len(data) > mostMemory {
		return nil, ErrMemory
	}
	return data, err
}

// ReadLine is r.ReadString up to what a program may hold; then the error is
// ErrMemory.
func ReadLine(r *bufio.Reader, end byte) (string, error) {
	var text []byte
	for {
		part, err := r.ReadSlice(end)
		if text == nil && !errors.Is(err, bufio.ErrBufferFull) {
			return string(part), err
		}
		if len(text)+len(part) > mostMemory {
			return "", ErrMemory
		}
		if text = append(text, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return string(text), err
		}
	}
}

// held is how much a program holds, in bytes.
type held int

// add counts a line, and reports whether the program may hold it.
func (h *held) add(text string) bool {
	*h += held(len(text) + perLine)
	return *h <= mostMemory
}

func (h *held) remove(text string) { *h -= held(len(text) + perLine) }
