package requestlog

import (
	"bufio"
	"compress/gzip"
	"io"
	"iter"
)

// gunzipper decompresses a stream as it arrives: when the bytes of an event have come, the event can be read. It is not
// safe to be called at once. Until it is stopped it holds the window of the decompressor, about 50 KB, whatever arrives.
//
// A client that accepts gzip gets a streaming list in it (WatchListCompression, since Kubernetes v1.37): client-go's
// informers do. kube-apiserver ends a member of gzip (RFC 1952, section 2.2) with each flush.
type gunzipper struct {
	in   []byte // not read yet
	next func() (plain []byte, ok bool)
	stop func()
}

func newGunzipper() *gunzipper {
	g := &gunzipper{}
	// Go's decompressor pulls its input. As a coroutine it can stop in the middle and go on with the next bytes.
	g.next, g.stop = iter.Pull(g.members)
	return g
}

// feed takes what has arrived and gives each what it says, in pieces that are valid during the call. A stream that is not
// gzip ends at the first fault.
func (g *gunzipper) feed(data []byte, each func(plain []byte)) {
	g.in = data
	for {
		plain, ok := g.next()
		if !ok || len(plain) == 0 {
			return
		}
		each(plain)
	}
}

// members yields what the members of the stream say, and an empty piece whenever it needs more input.
func (g *gunzipper) members(yield func([]byte) bool) {
	stopped := false
	say := func(plain []byte) bool {
		stopped = stopped || !yield(plain)
		return !stopped
	}
	in := bufio.NewReader(readFunc(func(p []byte) (int, error) {
		for len(g.in) == 0 {
			if stopped || !say(nil) {
				return 0, io.ErrUnexpectedEOF
			}
		}
		n := copy(p, g.in)
		g.in = g.in[n:]
		return n, nil
	}))
	piece := make([]byte, 4<<10)
	member, err := gzip.NewReader(in)
	for ; err == nil; err = member.Reset(in) {
		// Otherwise Read waits for the next member's head before it returns the end of this one.
		member.Multistream(false)
		for {
			n, err := member.Read(piece)
			if n > 0 && (stopped || !say(piece[:n])) {
				return
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return
			}
		}
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
