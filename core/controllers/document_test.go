package controllers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of controllers in docs/cluster.md anew")

// The table of controllers in docs/cluster.md is this package's.
func TestTheTableInTheDocument(t *testing.T) {
	const file = "../../docs/cluster.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- controllers -->\n"), []byte("<!-- end of controllers -->\n")
	before, rest, ok := bytes.Cut(text, begin)
	have, after, ends := bytes.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no lines %q and %q", file, begin, end)
	}
	want := []byte(markdown())
	if *update {
		if err := os.WriteFile(file, bytes.Join([][]byte{before, begin, want, end, after}, nil), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(have)); diff != "" {
		t.Errorf("%s differs from the table (-table +file); run with -update if the table is right:\n%s", file, diff)
	}
}

// markdown is the table for people.
func markdown() string {
	var b bytes.Buffer
	b.WriteString("| controller | runs | |\n|---|---|---|\n")
	for _, c := range table {
		runs, note := "yes", c.note
		switch {
		case c.absent != "":
			runs, note = "no", c.absent
		case c.descriptor != nil && c.descriptor().IsDisabledByDefault():
			runs = "when asked for"
		}
		if c.timed != nil {
			note = "goes by the cluster's clock"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.name, runs, note)
	}
	return b.String()
}
