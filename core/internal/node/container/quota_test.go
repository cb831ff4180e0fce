package container

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/kubetab/kubetab/core/clock"
)

// What is written in pieces is there in one, over the borders of blocks, too.
func TestContentIsWhatWasWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c content
	var want []byte
	for range 200 {
		piece := make([]byte, random.IntN(3*blockBytes/2))
		for i := range piece {
			piece[i] = byte(random.Uint32())
		}
		at := random.IntN(len(want) + 1)
		if random.IntN(2) == 0 {
			at = len(want)
		}
		if end := at + len(piece); end > len(want) {
			want = append(want, make([]byte, end-len(want))...)
		}
		copy(want[at:], piece)
		c.writeAt(piece, at)
	}
	if !bytes.Equal(c.bytes(), want) {
		t.Error("what is read is not what was written")
	}
	some := make([]byte, blockBytes)
	if n := c.readAt(some, len(want)-10); n != 10 || !bytes.Equal(some[:n], want[len(want)-10:]) {
		t.Errorf("%d bytes at the end, want 10", n)
	}
}

// A full disk takes what there is room for and no more, and again when files are
// removed, truncated or closed.
func TestAFullDisk(t *testing.T) {
	const limit = 1 << 20
	disk := NewDisk(clock.New(nil), limit)
	tree := disk.NewTree()
	half := make([]byte, limit/2)
	full := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, syscall.ENOSPC) || err.Error() != what+": no space left on device" {
			t.Errorf("%v, want %s: no space left on device", err, what)
		}
	}
	write := func(p string, data []byte) error { return tree.WriteFile(p, data, 0o644) }
	if err := write("/tmp/a", half); err != nil {
		t.Fatal(err)
	}
	full("write /tmp/b", write("/tmp/b", half))
	if info, err := tree.Stat("/tmp/b", true); err != nil || info.Size() != limit/2-2*fileBytes {
		t.Errorf("%v, %v: want all that there was room for", info, err)
	}
	full("open /tmp/c", write("/tmp/c", nil))
	full("mkdir /tmp/d", tree.Mkdir("/tmp/d", 0o755))
	if err := write("/tmp/b", half[:100]); err != nil {
		t.Errorf("after it was truncated: %v", err)
	}
	open, err := tree.Open("/tmp/a", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Remove("/tmp/a", false); err != nil {
		t.Fatal(err)
	}
	full("write /tmp/e", write("/tmp/e", half))
	for range 2 {
		if err := open.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := write("/tmp/e", half); err != nil {
		t.Errorf("after the removed file was closed: %v", err)
	}
	if err := tree.Remove("/tmp", true); err != nil {
		t.Fatal(err)
	}
	if disk.used != 0 {
		t.Errorf("%d bytes are used of an empty disk", disk.used)
	}
}

// A quota counts what is in its directory, tells once when that is too much, and
// gives all of it back.
func TestQuota(t *testing.T) {
	disk := NewDisk(clock.New(nil), 0)
	tree := disk.NewTree()
	if err := tree.WriteFile("/etc/image", make([]byte, 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	notices := 0
	pod := disk.NewQuota(nil, 0, 0, nil)
	layer := disk.NewQuota(pod, 0, 10_000, func() { notices++ })
	tmpfs := disk.NewQuota(nil, 4000, 0, nil)
	tree.Own(layer)
	volume := disk.NewDir(0o777)
	disk.Own(volume, tmpfs)
	tree.Mount("/mnt", volume, false)
	write := func(p string, size int) error { return tree.WriteFile(p, make([]byte, size), 0o644) }
	expect := func(what string, inLayer, inTmpfs, told int) {
		t.Helper()
		if layer.Used() != int64(inLayer) || pod.Used() != int64(inLayer) || tmpfs.Used() != int64(inTmpfs) || notices != told {
			t.Errorf("%s: layer %d, Pod %d, tmpfs %d, told %d times; want %d, %d, %d, %d", what, layer.Used(), pod.Used(), tmpfs.Used(), notices, inLayer, inLayer, inTmpfs, told)
		}
	}
	expect("the image alone", 0, 0, 0)
	if err := write("/tmp/a", 3000); err != nil {
		t.Fatal(err)
	}
	expect("a file", 3000+fileBytes, 0, 0)
	if err := tree.Rename("/tmp/a", "/mnt/a"); err != nil {
		t.Fatal(err)
	}
	expect("moved", 0, 3000+fileBytes, 0)
	if err := write("/mnt/b", 1000); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("beyond the tmpfs: %v", err)
	}
	if err := write("/tmp/c", 20_000); err != nil {
		t.Errorf("beyond what tells only: %v", err)
	}
	if err := tree.Rename("/tmp/c", "/mnt/c"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a move beyond the tmpfs: %v", err)
	}
	expect("too much", 20_000+fileBytes, 3000+fileBytes, 1)
	tree.Discard()
	expect("discarded", 0, 3000+fileBytes, 1)
	if err := write("/tmp/d", 1); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("after Discard: %v", err)
	}
	disk.Discard(volume)
	if disk.used != 0 {
		t.Errorf("%d bytes are used of an empty disk", disk.used)
	}
}

// A file keeps its name where it is moved to itself.
func TestRenameToItself(t *testing.T) {
	tree := NewDisk(clock.New(nil), 0).NewTree()
	if err := tree.WriteFile("/tmp/a", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := tree.Rename("/tmp/a", "/tmp/../tmp/a"); err != nil {
		t.Fatal(err)
	}
	if got, err := tree.ReadFile("/tmp/a"); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}
