package coreutils

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// endless is text without an end.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte{byte(e)}, len(b)))
	return len(b), nil
}

// TestProgramsThatHoldWhatTheyReadSayThatItIsTooMuch: the memory is the API
// server's as well.
func TestProgramsThatHoldWhatTheyReadSayThatItIsTooMuch(t *testing.T) {
	for _, test := range []struct {
		text    byte
		command string
	}{
		{'\n', "sort"}, {'x', "sort"}, {'\n', "tac"}, {'x', "grep y"}, {'x', "sed s/x/y/"}, {'\n', "column"}, {'x', "xargs"}, {'x', "tail -c 1T"},
		{'\n', "tail -n 1000000000000"}, {'\n', "head -n -1000000000000"}, {'x', "head -c -1"}, {'x', "base64 -d"}, {'x', "od"}, {'x', "rev"}, {'x', "uniq"},
	} {
		words := strings.Fields(test.command)
		var errs bytes.Buffer
		call := &Call{Context: context.Background(), Name: words[0], Args: words[1:], Stdin: endless(test.text), Stdout: io.Discard, Stderr: &errs}
		if code := Lookup(words[0])(call); code == 0 || errs.String() != words[0]+": memory exhausted\n" {
			t.Errorf("%s of endless %q: %d %q", test.command, test.text, code, errs.String())
		}
	}
}

// TestProgramsThatHoldNothingReadAnyAmount: what is more than
// memory goes through.
func TestProgramsThatHoldNothingReadAnyAmount(t *testing.T) {
	const much = 96 << 20
	for _, command := range []string{"wc -c", "base64", "sha256sum", "tail -c 5", "head -c 1G", "cat"} {
		words := strings.Fields(command)
		var errs bytes.Buffer
		call := &Call{Context: context.Background(), Name: words[0], Args: words[1:], Stdin: io.LimitReader(endless('x'), much), Stdout: io.Discard, Stderr: &errs}
		if code := Lookup(words[0])(call); code != 0 || errs.Len() > 0 {
			t.Errorf("%s: %d %s", command, code, &errs)
		}
	}
}

func TestReadLineIsThatOfBufio(t *testing.T) {
	for _, text := range []string{"", "\n", "a\nb", "long " + strings.Repeat("x", 100) + "\nend\n"} {
		mine, theirs := bufio.NewReaderSize(strings.NewReader(text), 16), bufio.NewReaderSize(strings.NewReader(text), 16)
		for {
			line, err := ReadLine(mine, '\n')
			want, wantErr := theirs.ReadString('\n')
			if line != want || !errors.Is(err, wantErr) {
				t.Fatalf("%q: %q %v, want %q %v", text, line, err, want, wantErr)
			}
			if err != nil {
				break
			}
		}
	}
}
