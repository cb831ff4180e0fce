package coreutils_test

import (
	"bytes"
	"flag"
	"io"
	"testing"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

const answers = "testdata/gnu.txt"

var update = flag.Bool("update", false, "write to "+answers+" what the programs of this machine print, which must be GNU's and util-linux's")

// TestGNU compares what the commands print, and exit with, with what GNU's do:
// testdata has command lines, each with its answer.
func TestGNU(t *testing.T) { machine(t).Compare(answers, *update, (*testing.T).TempDir) }

// machine runs the commands.
func machine(t *testing.T) unixtest.Machine { return unixtest.Machine{T: t, Lookup: coreutils.Lookup} }

// What watches print must not wait for their end.
func TestFiltersPassOnWhatHasCome(t *testing.T) {
	for _, argv := range [][]string{
		{"cut", "-c1-5"}, {"tr", "a-z", "A-Z"}, {"nl"}, {"rev"}, {"grep", "."}, {"sed", "s/a/b/"}, {"uniq", "-c"}, {"cat", "-n"}, {"tail", "-n", "+1"}, {"paste", "-", "-"},
	} {
		t.Run(argv[0], func(t *testing.T) {
			in, feed := io.Pipe()
			out := make(lines, 10)
			done := make(chan int)
			go func() {
				done <- coreutils.Lookup(argv[0])(&coreutils.Call{Context: t.Context(), System: machine(t), Files: &unixtest.Files{}, Name: argv[0], Args: argv[1:], Stdin: in, Stdout: out, Stderr: io.Discard})
			}()
			for _, text := range []string{"one\n", "two\n", "three\n"} {
				if _, err := io.WriteString(feed, text); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-out:
			case <-time.After(time.Minute):
				t.Error("nothing comes while there may be more")
			}
			if err := feed.Close(); err != nil {
				t.Fatal(err)
			}
			if code := <-done; code != 0 {
				t.Errorf("exits with %d", code)
			}
		})
	}
}

// lines takes what is written.
type lines chan []byte

func (l lines) Write(b []byte) (int, error) {
	l <- bytes.Clone(b)
	return len(b), nil
}
