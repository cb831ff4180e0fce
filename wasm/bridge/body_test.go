package bridge

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
)

func TestBodyPullsOncePerChunk(t *testing.T) {
	pulls := 0
	b := newRequestBody(func() { pulls++ })
	b.push([]byte("abc"))
	p := make([]byte, 2)
	for i, want := range []struct {
		text  string
		pulls int
	}{{"ab", 0}, {"c", 1}} {
		if n, err := b.Read(p); string(p[:n]) != want.text || err != nil || pulls != want.pulls {
			t.Errorf("read %d: %q %v after %d pulls", i, p[:n], err, pulls)
		}
	}
	b.push([]byte{}) // counts as read
	b.push([]byte("de"))
	if n, err := b.Read(p[:1]); string(p[:n]) != "d" || err != nil || pulls != 2 {
		t.Errorf("%q %v after %d pulls", p[:n], err, pulls)
	}
	b.push(nil)
	b.push([]byte("after the end"))
	if rest, err := io.ReadAll(b); string(rest) != "e" || err != nil || pulls != 2 { // none wanted after the end
		t.Errorf("%q %v after %d pulls", rest, err, pulls)
	}
}

func TestBodyReadsAsAnyReader(t *testing.T) {
	b := newRequestBody(func() {})
	for _, s := range []string{"several ", "chunks ", "of text"} {
		b.push([]byte(s))
	}
	b.push(nil)
	if err := iotest.TestReader(b, []byte("several chunks of text")); err != nil {
		t.Error(err)
	}
}

func TestBodyKeepsToContentLength(t *testing.T) {
	long := newRequestBody(func() {})
	long.left = 3
	long.push([]byte("abcdef"))
	if got, err := io.ReadAll(long); string(got) != "abc" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	short := newRequestBody(func() {})
	short.left = 9
	short.push([]byte("abcdef"))
	short.push(nil)
	if got, err := io.ReadAll(short); string(got) != "abcdef" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q %v", got, err)
	}
}

func TestBodyErrors(t *testing.T) {
	b := newRequestBody(func() {})
	b.push([]byte("x"))
	b.Close()
	if _, err := b.Read(make([]byte, 1)); err != http.ErrBodyReadAfterClose {
		t.Errorf("got %v", err)
	}
	b = newRequestBody(func() {})
	b.push([]byte("x"))
	b.fail(ErrCancelled)
	if _, err := b.Read(make([]byte, 1)); err != ErrCancelled {
		t.Errorf("got %v", err)
	}
}
