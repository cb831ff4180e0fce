//go:build resumable

package coreutils

import (
	"runtime"
	_ "unsafe"

	"github.com/kubetab/kubetab/internal/absent"
)

// setLimit is wasm/patch's addition to the runtime: see runtime/malloc.go in its list.
//
//go:linkname setLimit runtime.kubetabLimit
func setLimit(most uint64, ask func(size uintptr) bool)

func init() {
	ask := process.ask
	process.limit = func(most uint64) { setLimit(most, ask) }
}

// ask is what the runtime asks when the calling goroutine allocates size bytes. It reports whether the goroutine may do so
// whatever the others have taken since; otherwise the runtime looks again, and may ask again. It does not return to a
// program that has to end.
func (a *account) ask(size uintptr) bool {
	m, _ := absent.Account().(*Memory)
	if m == nil || m.account != a {
		return true // a request of the page, or nobody's
	}
	may, again := a.claim(m, uint64(size))
	if may {
		return !again
	}
	m.tell()
	runtime.Goexit()
	return false
}
