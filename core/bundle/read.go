package bundle

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
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
