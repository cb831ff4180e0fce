package server

import "testing"

func TestChooseCoding(t *testing.T) {
	all := codings
	plain := codings[2:]
	for _, c := range []struct {
		accept  string
		offered []coding
		want    string // "" for none acceptable
	}{
		{"", all, "identity"},
		{"br", all, "br"},
		{"gzip", all, "gzip"},
		{"x-gzip", all, "gzip"},
		{"gzip, deflate, br, zstd", all, "br"},
		{"GZIP;Q=0.5", all, "gzip"},
		{"gzip;q=1.0, br;q=0.8", all, "gzip"},
		{"br;q=0, gzip", all, "gzip"},
		{"br;q=0", all, "identity"},
		{"br;q=0.2, identity;q=0.9", all, "identity"},
		{"*", all, "br"},
		{"*;q=0", all, ""},
		{"*;q=0, gzip;q=0.1", all, "gzip"},
		{"identity;q=0", plain, ""},
		{"identity;q=0, br", all, "br"},
		{"br;q=nonsense, gzip", all, "gzip"},
		{"br;q=7, gzip", all, "gzip"},
		{"br;q=NaN, gzip", all, "gzip"},
		{"zstd", all, "identity"},
		{"br", plain, "identity"},
		{" ,, br ,", all, "br"},
	} {
		got, ok := chooseCoding([]string{c.accept}, c.offered)
		if got.name != c.want || ok != (c.want != "") {
			t.Errorf("Accept-Encoding %q: got %q (%v), want %q", c.accept, got.name, ok, c.want)
		}
	}
	// Two header lines are one list.
	if got, _ := chooseCoding([]string{"gzip", "br"}, all); got.name != "br" {
		t.Errorf("two header lines: got %q, want br", got.name)
	}
}
