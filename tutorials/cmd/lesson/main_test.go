package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubetab/kubetab/tutorials/load"
)

// TestTemplateIsSound begins a lesson and reads it; whether it can be played, -once says.
func TestTemplateIsSound(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "reference.yaml"), []byte("- {number: 0-1, title: t}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := begin(filepath.Join(root, "shop", "boats"), "shop/boats"); err != nil {
		t.Fatal(err)
	}
	l, err := load.One(os.DirFS(root), "shop/boats")
	if err != nil {
		t.Fatal(err)
	}
	if l.Namespace != "shop-boats" || len(l.Start) != 1 {
		t.Errorf("%+v", l)
	}
}
