// Package pages gives back the memory into which the program's own file is mapped. Pages that are needed again come from
// the system's cache. It links nothing of Kubernetes.
package pages

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// pageGroup is how many bytes of the program the kernel may map at a time. On its own it maps 64 KiB around a page that
// is touched, and newer kernels all of the large folio that the page is in: after a minute at rest that is most of the
// program. Neither crosses the border of a mapping, so the mappings are split.
const pageGroup = 16 << 10

// Pages are where code and constants of the program are mapped.
type Pages []struct{ begin, end uintptr }

// OfProgram finds the pages of the running program and has them mapped in groups. Without /proc there are none.
func OfProgram() Pages {
	executable, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	var found Pages
	var last struct{ begin, end uintptr } // that may be dropped; empty if it may not
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		var begin, end uintptr
		var access string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &begin, &end, &access); err == nil {
			last.begin, last.end = 0, 0
			// What may be written is not only in the file.
			if strings.HasSuffix(line, " "+executable) && strings.HasPrefix(access, "r-") {
				last.begin, last.end = begin, end
			}
		}
		// Nor is what was written before it was made read-only, as the dynamic linker does with what it has relocated.
		var changed int
		if _, err := fmt.Sscanf(line, "Anonymous: %d kB", &changed); err == nil && changed == 0 && last.end > 0 {
			found = append(found, last)
		}
	}
	for _, p := range found {
		// Mappings that are next to each other and alike are one. To leave every second one out of core dumps, which
		// have no use for what is in the file, makes them differ and changes nothing else.
		for group := p.begin + pageGroup; group < p.end; group += 2 * pageGroup {
			if !advise(group, min(group+pageGroup, p.end), unix.MADV_DONTDUMP) {
				break
			}
		}
	}
	return found
}

// Drop has the kernel forget what it has mapped. What is needed again comes from the file, or rather from the system's
// cache of it.
func (p Pages) Drop() {
	for _, mapped := range p {
		advise(mapped.begin, mapped.end, unix.MADV_DONTNEED)
	}
}

// advise reports whether the kernel has taken the advice. It does not take it at all on some, and then nothing is lost.
func advise(begin, end uintptr, advice uintptr) bool {
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, begin, end-begin, advice)
	return errno == 0
}
