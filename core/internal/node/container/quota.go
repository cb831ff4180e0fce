package container

import (
	"cmp"
	"io/fs"
	"math"
	"sync/atomic"
	"syscall"
)

// fileBytes is what a file costs beside what it holds, so that files without
// content have a bound, too.
const fileBytes = 512

// Quota counts the bytes of the files of one directory tree, such as a volume or
// the writable layer of a container, and of what Count adds. Its fields are guarded by
// the disk's lock, but for used and those that never change.
type Quota struct {
	disk   *Disk
	parent *Quota // counts them as well; nil: none
	limit  int64  // writes beyond it fail; 0: there is none
	used   atomic.Int64
	over   int64  // notice is called when used goes beyond it; 0: never
	notice func() // called under locks
	ended  bool   // nothing can be written any more
	// inMemory says that it is that of a tmpfs.
	inMemory bool
}

// NewQuota returns a quota that parent, if it is not nil, counts as well. Writes
// that would take it beyond limit bytes fail with ENOSPC, as on a tmpfs of that
// size; 0 is no limit. When it holds more than over bytes, notice is called, which
// must not block and not use the disk; 0 is never.
func (d *Disk) NewQuota(parent *Quota, limit, over int64, notice func()) *Quota {
	return &Quota{disk: d, parent: parent, limit: limit, over: over, notice: notice}
}

// NewTmpfs returns the quota of a file system in memory of a size in bytes.
func (d *Disk) NewTmpfs(size int64) *Quota {
	return &Quota{disk: d, limit: size, inMemory: true}
}

// Used returns how many bytes the quota's files take, and those of Count.
func (q *Quota) Used() int64 { return q.used.Load() }

// Count adds n bytes that no file of the disk holds, such as those of a log, to q and
// to what counts for q. A negative n gives them back. They take no room of the disk, and
// do not wait for its lock: a process may read a file whose content is made by a request,
// and what answers the request may write to its log. No directory may have q for its own.
func (q *Quota) Count(n int64) {
	for ; q != nil; q = q.parent {
		q.add(n)
	}
}

// add counts n bytes in q alone.
func (q *Quota) add(n int64) {
	now := q.used.Add(n)
	if was := now - n; q.notice != nil && q.over > 0 && was <= q.over && now > q.over {
		q.notice()
	}
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
			room = min(room, q.limit-q.used.Load())
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
		q.add(n)
	}
	f.memory.Count(n)
}

// touchLocked makes what a file of a tmpfs takes count for the memory of who writes to it, unless it
// counts for somebody's: the kernel charges a page to the cgroup that first touches it.
func touchLocked(f *File, memory *Quota) {
	if f.memory == nil && f.quota != nil && f.quota.inMemory {
		f.memory = memory
		memory.Count(f.charged)
	}
}

// Space is what there is on a node's disk, in bytes.
type Space struct {
	Size, Used, Available int64
	// Room is how many bytes all files of the disk may take, and Low says that less than a
	// tenth of them are left. As long as it is not low, Available does not tell of Room: the
	// disk is as large as the Node says. Room is zero if there is no limit.
	Room int64
	Low  bool
}

// systemShare is the part of a node's disk that its system and images are said to take.
const systemShare = 8

// Space returns what there is on a node's disk of so many bytes; zero means 100 GiB. All
// nodes have the same files on it.
func (d *Disk) Space(size int64) Space {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.spaceLocked(size)
}

func (d *Disk) spaceLocked(size int64) Space {
	size = cmp.Or(size, 100<<30)
	s := Space{Size: size, Used: min(size/systemShare+d.used, size)}
	s.Available = size - s.Used
	if s.Room = d.limit; s.Room > 0 && s.Room-d.used < s.Room/10 {
		s.Low, s.Available = true, min(s.Available, max(s.Room-d.used, 0))
	}
	return s
}

// Usage returns how many bytes the files below dir take, and how many files that are, dir among them:
// not what is mounted there. What has been removed and is open does not count, as du has it.
func (d *Disk) Usage(dir *File) (bytes, files int64) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	eachLocked(dir, func(f *File) { bytes, files = bytes+f.charged, files+1 })
	return bytes, files
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
		g.quota, g.memory = to, nil
		d.chargeLocked(g, n)
	}
	return nil
}

// Own makes an empty directory that is in no tree yet count for q, with all that
// will be made in it. That of a tmpfs has the mode that the kernel gives it.
func (d *Disk) Own(dir *File, q *Quota) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir.quota = q
	if q.inMemory {
		dir.mode = fs.ModeDir | fs.ModeSticky | 0o777
	}
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
	used := q.used.Swap(0)
	d.used -= used
	for above := q.parent; above != nil; above = above.parent {
		above.used.Add(-used)
	}
}
