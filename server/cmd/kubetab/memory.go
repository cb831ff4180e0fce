package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	restLook      = 10 * time.Second // how often to look whether the server is at rest
	restAllocates = 4 << 20          // bytes in that time; heartbeats and their like need one megabyte
	restGarbage   = 8 << 20          // bytes allocated since the last time, for which it is worth a collection
)

// giveBack gives memory that is not needed back to the system: once at once, because a start leaves as much garbage as
// it leaves data, and then whenever the server rests after work, until ctx ends. Go by itself keeps a tenth more than
// what its heap may grow to, twice the data; and the pages of the program stay for good, of which a quarter is used.
// While there is work nothing is done: memory for garbage is speed then.
func giveBack(ctx context.Context) {
	pages := programPages()
	give := func() {
		debug.FreeOSMemory() // collects first
		pages.drop()
	}
	give()
	given := allocated()
	before := given
	look := time.NewTicker(restLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now := allocated()
		if now-before < restAllocates && now-given > restGarbage {
			give()
			given = now
		}
		before = now
	}
}

// allocated returns how many bytes of the heap have ever been allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
