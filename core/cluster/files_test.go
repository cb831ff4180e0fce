package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/bundle"
)

// TestFilesOfAWorkspace: what is written is read again, and what is nobody else's is not.
func TestFilesOfAWorkspace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "workspace")
	if found, err := ReadFiles(dir); err != nil || len(found) > 0 {
		t.Errorf("of a folder that is not there: %v, %v", found, err)
	}
	want := []bundle.File{
		{Path: ".hidden", Data: []byte("shown to nobody\n")},
		{Path: "notes.d/a", Data: []byte{0xff, 0}},
		{Path: "notes/deep/b", Data: []byte{}},
		{Path: "notes/" + strings.Repeat("n", 255), Data: []byte("long")},
	}
	if err := WriteFiles(dir, want); err != nil {
		t.Fatal(err)
	}
	own := []bundle.File{
		{Path: ".kube/config", Data: []byte("kind: Config\n")},
		{Path: "notes/.cache/x", Data: []byte("x")},
		{Path: "notes/copied.txt", Data: []byte("{apiVersion: v1, kind: Config, users: [{name: me, user: {token: t}}]}")},
	}
	if err := WriteFiles(dir, own); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFiles(dir)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if err := bundle.Write(&bytes.Buffer{}, &bundle.Bundle{State: large(t, 1, 0).State, Files: got}); err != nil {
		t.Errorf("no bundle can hold them: %v", err)
	}
}

// TestFilesStayInTheWorkspace: bundle.Read refuses such paths, and so does what writes them.
func TestFilesStayInTheWorkspace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "workspace")
	for _, path := range []string{"../x", "/x", "a/../../x", "a\x00b", ""} {
		if err := WriteFiles(dir, []bundle.File{{Path: path}}); err == nil {
			t.Errorf("%q has been written", path)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
