package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/kubetab/kubetab/core/etcd"
)

// file is what a Stream writes, and the size that it says first.
func (s *Stream) file(t *testing.T) (file []byte, size int64) {
	t.Helper()
	var to bytes.Buffer
	if err := s.Write(func(n int64) io.Writer { size = n; return &to }); err != nil {
		t.Fatal(err)
	}
	return to.Bytes(), size
}

// A bundle whose records come one after another has the bytes of one that is in memory.
func TestStreamHasTheSameBytes(t *testing.T) {
	b := sample()
	s := inMemory(b)
	rest := *b
	rest.State.Records = nil
	s.Bundle = &rest
	file, size := s.file(t)
	if want := written(t, b); !bytes.Equal(file, want) || size != int64(len(want)) {
		t.Errorf("%d bytes, said to be %d, want %d", len(file), size, len(want))
	}
}

// random is a Stream of n records of size bytes that cannot be compressed, none of which is in memory before it is read.
func random(n, size int) *Stream {
	return &Stream{
		Bundle: &Bundle{Kubernetes: "v1", State: etcd.State{Revision: int64(n) + 1}},
		Count:  n, Bytes: int64(n) * int64(size),
		Records: func() iter.Seq2[etcd.RecordState, error] {
			return func(yield func(etcd.RecordState, error) bool) {
				source := rand.NewChaCha8([32]byte{})
				value := make([]byte, size)
				for i := range n {
					source.Read(value)
					rev := int64(i) + 2
					if !yield(etcd.RecordState{Key: fmt.Sprintf("k%08d", i), Value: value, CreateRevision: rev, ModRevision: rev, Version: 1}, nil) {
						return
					}
				}
			}
		},
	}
}

// One whose body is not kept is whole, has the size that was said, and is read.
func TestStreamThatIsCompressedTwice(t *testing.T) {
	s := random(20, 1<<20)
	file, size := s.file(t)
	if int64(len(file)) != size || size < 20<<20 {
		t.Fatalf("%d bytes, said to be %d", len(file), size)
	}
	b, err := Read(bytes.NewReader(file), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for want := range s.Records() {
		if got := b.State.Records[i]; got.Key != want.Key || !bytes.Equal(got.Value, want.Value) {
			t.Errorf("%s is read as %s", want.Key, got.Key)
		}
		i++
	}
}

// sizes counts, and has the garbage collected once in a while, so that what is live then is known.
type sizes struct {
	n, looked int64
	most      uint64 // bytes of live objects
}

func (s *sizes) Write(p []byte) (int, error) {
	if s.n += int64(len(p)); s.n-s.looked > 64<<20 {
		s.looked = s.n
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		s.most = max(s.most, m.HeapAlloc)
	}
	return len(p), nil
}

// A bundle that is larger than what was possible before is written with little memory.
func TestStreamTakesLittleMemory(t *testing.T) {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	s := random(300, 1<<20)
	to := &sizes{}
	if err := s.Write(func(int64) io.Writer { return to }); err != nil {
		t.Fatal(err)
	}
	if to.n < 300<<20 || to.most == 0 {
		t.Errorf("%d bytes were written, with %d live", to.n, to.most)
	}
	if taken := int64(to.most) - int64(before.HeapAlloc); taken > 16<<20 {
		t.Errorf("%d bytes more were live", taken)
	}
}

// What fails before a byte is written, does: begin is not called. What fails later is an error, too.
func TestStreamThatFails(t *testing.T) {
	broken := errors.New("broken")
	failing := func(s *Stream, pass, at int) *Stream {
		whole, passes := s.Records, 0
		s.Records = func() iter.Seq2[etcd.RecordState, error] {
			passes++
			fails := passes == pass
			return func(yield func(etcd.RecordState, error) bool) {
				i := 0
				for r := range whole() {
					if i++; fails && i > at {
						yield(etcd.RecordState{}, broken)
						return
					}
					if !yield(r, nil) {
						return
					}
				}
			}
		}
		return s
	}
	fewer := func(s *Stream) *Stream { s.Count++; return s }
	unsorted := random(3, 10)
	unsorted.Bundle.State.Revision = 2
	for name, c := range map[string]struct {
		s      *Stream
		begins bool
		is     error
	}{
		"the first time":             {failing(random(10, 1<<20), 1, 5), false, broken},
		"the second time":            {failing(random(10, 1<<20), 2, 5), true, broken},
		"fewer records than counted": {fewer(random(3, 10)), false, nil},
		"what no store holds":        {unsorted, false, nil},
		"a large value":              {random(1, DefaultLimits().Value+1), false, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			begun := false
			err := c.s.Write(func(int64) io.Writer { begun = true; return io.Discard })
			if err == nil || begun != c.begins || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("begun: %t, %v", begun, err)
			}
		})
	}
	if err := random(10, 1<<20).Write(func(int64) io.Writer { return &short{3 << 20} }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a writer that fails: %v", err)
	}
}

// short takes so many bytes.
type short struct{ left int }

func (s *short) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}
