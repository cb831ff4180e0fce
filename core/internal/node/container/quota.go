package container

import (
	"math"
	"syscall"
)

// fileBytes is what a file costs beside what it holds, so that files without
// content have a bound, too.
const fileBytes = 512

// Quota counts the bytes of the files of one directory tree, such as a volume or
// the writable layer of a container. Its fields are guarded by the disk's lock.
type Quota struct {
	disk   *Disk
	parent *Quota // counts them as well; nil: none
	limit  int64  // writes beyond it fail; 0: there is none
	used   int64
	over   int64  // notice is called when used goes beyond it; 0: never
	notice func() // called under the lock
	ended  bool   // nothing can be written any more
}

// NewQuota returns a quota that parent, if it is not nil, counts as well. Writes
// that would take it beyond limit bytes fail with ENOSPC, as on a tmpfs of that
// size; 0 is no limit. When it holds more than over bytes, notice is called, which
// must not block and not use the disk; 0 is never.
func (d *Disk) NewQuota(parent *Quota, limit, over int64, notice func()) *Quota {
	return &Quota{disk: d, parent: parent, limit: limit, over: over, notice: notice}
}

// Used returns how many bytes the quota's files take.
func (q *Quota) Used() int64 {
	q.disk.mu.RLock()
	defer q.disk.mu.RUnlock()
	return q.used
}

// roomLocked returns how many bytes more q's files may take.
func (d *Disk) roomLocked(q *Quota) int64 {
	room := int64(math.MaxInt64)
	if d.limit > 0 {
		room = d.limit - d.used
	}
	for ; q != nil; q = q.parent {
		switch {
		case q.ended:
			return 0
		case q.limit > 0:
			room = min(room, q.limit-q.used)
		}
	}
	return max(room, 0)
}

// chargeLocked counts n bytes of f; a negative n gives them back. Who charges has
// looked for room.
func (d *Disk) chargeLocked(f *File, n int64) {
	f.charged += n
	if f.quota != nil && f.quota.ended {
		return // all of it has been given back
	}
	d.used += n
	for q := f.quota; q != nil; q = q.parent {
		was := q.used
		q.used += n
		if q.notice != nil && q.over > 0 && was <= q.over && q.used > q.over {
			q.notice()
		}
	}
}

// addLocked puts a new file into a directory, whose quota it has. It fails with
// ENOSPC.
func (d *Disk) addLocked(dir *File, name string, f *File) error {
	f.quota = dir.quota
	if d.roomLocked(f.quota) < fileBytes {
		return syscall.ENOSPC
	}
	d.chargeLocked(f, fileBytes)
	dir.entries[name] = f
	return nil
}

// eachLocked calls do with f and what is below it of the same quota: not with
// what is mounted there.
func eachLocked(f *File, do func(*File)) {
	seen := map[*File]bool{}
	var walk func(*File)
	walk = func(g *File) {
		if seen[g] {
			return
		}
		seen[g] = true
		for _, below := range g.entries {
			if below.quota == f.quota {
				walk(below)
			}
		}
		do(g)
	}
	walk(f)
}

// dropLocked gives back what f takes, and all below it: for good, or when the last
// handle of a file is closed.
func (d *Disk) dropLocked(f *File) {
	eachLocked(f, func(g *File) {
		g.removed = true
		if g.open == 0 {
			d.chargeLocked(g, -g.charged)
		}
	})
}

// moveLocked makes f, with all below it, count for another quota. It fails with
// ENOSPC.
func (d *Disk) moveLocked(f *File, to *Quota) error {
	if f.quota == to {
		return nil
	}
	total := int64(0)
	eachLocked(f, func(g *File) { total += g.charged })
	if d.roomLocked(to) < total && total > 0 {
		return syscall.ENOSPC
	}
	var all []*File
	eachLocked(f, func(g *File) { all = append(all, g) })
	for _, g := range all {
		n := g.charged
		d.chargeLocked(g, -n)
		g.quota = to
		d.chargeLocked(g, n)
	}
	return nil
}

// Own makes an empty directory that is in no tree yet count for q, with all that
// will be made in it.
func (d *Disk) Own(dir *File, q *Quota) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir.quota = q
}

// Own makes what will be written in t count for q. What is there does not: it is
// of the image.
func (t *Tree) Own(q *Quota) {
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	var all []*File
	eachLocked(t.root, func(f *File) { all = append(all, f) })
	for _, f := range all {
		t.disk.chargeLocked(f, -f.charged)
		f.quota = q
	}
}

// Discard frees what the files of t take, if it has a quota. Nothing can be written
// to them any more.
func (t *Tree) Discard() { t.disk.Discard(t.root) }

// Discard frees what is in a directory that has a quota. Nothing can be written
// there any more.
func (d *Disk) Discard(dir *File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := dir.quota
	if q == nil || q.ended {
		return
	}
	q.ended = true
	eachLocked(dir, func(f *File) { f.data = content{} })
	// Of files that have been removed and are open, too.
	d.used -= q.used
	for above := q.parent; above != nil; above = above.parent {
		above.used -= q.used
	}
	q.used = 0
}
