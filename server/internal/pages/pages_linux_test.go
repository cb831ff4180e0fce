package pages

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDropKeepsWhatIsNotInTheFile: the dynamic linker writes addresses into pages of the program and makes them read-only.
// From the file they would come without them, and the program would end at the next call through one.
func TestDropKeepsWhatIsNotInTheFile(t *testing.T) {
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	page, err := unix.Mmap(int(program.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(page); err != nil {
			t.Error(err)
		}
	})
	was := page[0]
	page[0] = was + 1
	if err := unix.Mprotect(page, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
	found := OfProgram()
	if len(found) == 0 {
		t.Fatal("no pages of the program are found")
	}
	found.Drop()
	if page[0] != was+1 {
		t.Error("what was written is gone")
	}
}
