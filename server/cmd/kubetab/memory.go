package main

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/server/internal/memory"
	"github.com/kubetab/kubetab/server/internal/pages"
)

const (
	startLook     = time.Second     // how often to look whether the server has come to rest after its start
	restLook      = 5 * time.Second // and how often later
	restAllocates = 400 << 10       // bytes a second at rest; heartbeats and their like need a hundred kilobytes
	workGarbage   = 96 << 20        // bytes of garbage that may gather while there is work
	workPercent   = 75              // and at least, in percent of the data
	restGarbage   = 8 << 20         // bytes allocated since the last time, for which it is worth a collection
)

const (
	// leastMemory is the smallest limit of memory in bytes: half of it is what a server has to which nobody has written.
	leastMemory = 256 << 20
	// mostNodeStorage is how many bytes the files of all nodes may take where there is memory enough.
	mostNodeStorage = 1 << 30
)

// limitMemory has an engine refuse what would add to its store before the process has more memory than it may: as many
// bytes as --memory-limit says, or memory.Limit. The shares are those of a tab, which has 4 GiB (wasm/settings.go): five
// eighths for live objects; the collector of garbage keeps all of the heap below thirteen sixteenths as far as that can be
// had, unless GOMEMLIMIT says otherwise; an eighth for files of nodes, and one for scripts of containers, which are live objects,
// too. What is left is for
// stacks, the program, and what is written while the collector works.
func (o *options) limitMemory(config *core.Config) {
	of := o.memoryBytes()
	if of == 0 {
		return
	}
	config.Memory = of / 8 * 5
	config.NodeStorage = int64(min(of/8, mostNodeStorage))
	coreutils.LimitMemory(of)
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT is not set
		debug.SetMemoryLimit(int64(of / 16 * 13))
	}
}

// memoryBytes returns how many bytes of memory the process may take, 0 for no limit.
func (o *options) memoryBytes() uint64 {
	if o.memoryLimitGiven {
		return uint64(o.memoryLimit.Value())
	}
	if found := memory.Limit(); found > 0 {
		return max(found, leastMemory)
	}
	return 0
}

// giveBack gives memory that is not needed back to the system: once at once, because a start leaves as much garbage as
// it leaves data, and then whenever the server rests after work, until ctx ends. Go by itself keeps a tenth more than
// what its heap may grow to, twice the data; and the pages of the program stay for good, of which a quarter is used.
// While there is work, memory for garbage is speed: see collectSeldom.
//
// The kernel maps nearly all 100 MB of the program during a start. With all of this the server has 100 to 115 MB resident
// from three seconds after its start on; without it, 200 MB (make bench prints both moments). Go never moves objects, so a
// page of the heap that still holds one live object cannot be returned to the system: right after a heavy load some 50 MB
// stay for that reason.
func giveBack(ctx context.Context) {
	program := pages.OfProgram()
	give := func() {
		debug.FreeOSMemory() // collects first
		program.Drop()
	}
	give()
	if os.Getenv("GOGC") == "" { // whoever sets it has the last word
		collectSeldom(ctx, 0)
	}
	before := counter("/gc/heap/allocs:bytes")
	given := uint64(0) // controllers go on starting after this: the first rest is one after work, too
	every := startLook
	look := time.NewTicker(every)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now := counter("/gc/heap/allocs:bytes")
		if now-before < restAllocates*uint64(every/time.Second) && now-given > restGarbage {
			give()
			given = now
			every = restLook
			look.Reset(every)
		}
		before = now
	}
}

// collectSeldom lets workGarbage gather before the next collection, which is more than Go does by itself where there is
// little data: each collection goes over what upstream's servers hold, 55 MB, for which a fifth of the processor time of
// a create went. What is right follows the data, which work makes more of: it is set again after every collection, until
// ctx ends. set is what was set last, in percent of the data.
func collectSeldom(ctx context.Context, set int) {
	if ctx.Err() != nil {
		return
	}
	percent := int(max(workPercent, 100*workGarbage/max(1, counter("/gc/heap/live:bytes"))))
	if 10*max(set-percent, percent-set) > set { // the world stops for it
		debug.SetGCPercent(percent)
		set = percent
	}
	// What nobody holds is cleaned up after the next collection: by itself, because it has a pointer, and is not put
	// together with other small things.
	runtime.AddCleanup(new(struct{ _ *byte }), func(set int) { collectSeldom(ctx, set) }, set)
}

// counter reads a metric of Go's runtime.
func counter(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
