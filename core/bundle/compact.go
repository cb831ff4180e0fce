package bundle

import (
	"bytes"
	_ "embed"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

// compact is the codec of WriteCompact: zstd (RFC 8878) with the content of dictionary1 as a raw dictionary.
const compact = "zstd-1"

// dictionary1 is the cluster of a new cluster's bundle, in zstd: most of what a small cluster has. See
// core/bundle/internal/dictionary.
//
//go:embed dictionary1.zst
var dictionary1 []byte

const (
	dictionaryID = 1
	// window is how far back compressed data refers, in bytes. Who inflates needs as much memory, and has mostWindow.
	window     = 1 << 20
	mostWindow = 8 << 20
)

// WriteCompact is Write for where bytes count, as in the address of a link: a new cluster takes a third. Programs without the
// dictionary cannot read it.
func WriteCompact(w io.Writer, b *Bundle) error {
	how := compression{compact, func(to io.Writer) (io.WriteCloser, error) {
		dictionary, err := dictionary()
		if err != nil {
			return nil, err
		}
		return zstd.NewWriter(to, zstd.WithEncoderDictRaw(dictionaryID, dictionary), zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
			zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	}}
	return inMemory(b).write(how, DefaultLimits(), math.MaxInt, func(int64) io.Writer { return w })
}

// inflateCompact returns what WriteCompact has compressed.
func inflateCompact(body []byte) (io.ReadCloser, error) {
	dictionary, err := dictionary()
	if err != nil {
		return nil, err
	}
	return inflateZstd(body, zstd.WithDecoderDictRaw(dictionaryID, dictionary))
}

func dictionary() ([]byte, error) {
	inflating, err := inflateZstd(dictionary1)
	if err != nil {
		return nil, err
	}
	defer inflating.Close()
	return io.ReadAll(inflating)
}

// inflateZstd reads as it is asked to: without goroutines, and with no more memory than a window.
func inflateZstd(data []byte, more ...zstd.DOption) (io.ReadCloser, error) {
	of := append([]zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow)}, more...)
	inflating, err := zstd.NewReader(bytes.NewReader(data), of...)
	if err != nil {
		return nil, err
	}
	return inflating.IOReadCloser(), nil
}
