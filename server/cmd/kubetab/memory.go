package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	restLook      = 10 * time.Second // how often to look whether the server is at rest
	restAllocates = 4 << 20          // bytes in that time; heartbeats and their like need one megabyte
	workGarbage   = 128 << 20        // bytes of garbage that may gather while there is work
	restGarbage   = 8 << 20          // bytes allocated since the last time, for which it is worth a collection
)

// giveBack gives memory that is not needed back to the system: once at once, because a start leaves as much garbage as
// it leaves data, and then whenever the server rests after work, until ctx ends. Go by itself keeps a tenth more than
// what its heap may grow to, twice the data; and the pages of the program stay for good, of which a quarter is used.
// While there is work, memory for garbage is speed: see collectSeldom.
func giveBack(ctx context.Context) {
	pages := programPages()
	give := func() {
		debug.FreeOSMemory() // collects first
		pages.drop()
	}
	give()
	collectSeldom()
	given := counter("/gc/heap/allocs:bytes")
	before := given
	look := time.NewTicker(restLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now := counter("/gc/heap/allocs:bytes")
		if now-before < restAllocates && now-given > restGarbage {
			give()
			given = now
		}
		before = now
		collectSeldom()
	}
}

// collectSeldom lets as much garbage gather as there is data, which is what Go does by itself, and workGarbage where
// there is little data: each collection goes over what upstream's servers hold, 55 MB, for which a fifth of the
// processor time of a create went. Whoever sets GOGC has the last word.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(int(max(100, 100*workGarbage/max(1, counter("/gc/heap/live:bytes")))))
	}
}

// counter reads a metric of Go's runtime.
func counter(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
