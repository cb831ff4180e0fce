//go:build !resumable

package goroutine

import (
	"regexp"
	"runtime"
	"strconv"
)

// Go tells these numbers in stack traces only: in the first line, and in the last but one.
var (
	ownNumber    = regexp.MustCompile(`^goroutine (\d+) `)
	parentNumber = regexp.MustCompile(`\ncreated by .* in goroutine (\d+)\n`)
)

func number() uint64 { return inTrace(ownNumber, 64) }

func parent() uint64 { return inTrace(parentNumber, 64<<10) }

// inTrace returns the number that a pattern finds in so many bytes of the trace of the calling goroutine, or 0.
func inTrace(pattern *regexp.Regexp, most int) uint64 {
	text := make([]byte, most)
	m := pattern.FindSubmatch(text[:runtime.Stack(text, false)])
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseUint(string(m[1]), 10, 64) // digits
	return n
}
