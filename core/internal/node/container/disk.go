package container

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Disk holds the files of all containers of a cluster. A directory can hang in
// several trees at once: that is a volume. One lock guards everything on it,
// since nothing is ever done under it that takes long.
type Disk struct {
	clock clock.PassiveClock
	limit int64
	mu    sync.RWMutex
	used  int64
	// shared are the programs of images, see programs.
	shared map[bool]fixed
}

// NewDisk returns an empty disk whose files get their times from clock. What is
// written takes the memory of this process: beyond limit bytes writes fail with
// ENOSPC. 0 is no limit.
func NewDisk(clock clock.PassiveClock, limit int64) *Disk {
	return &Disk{clock: clock, limit: limit}
}

// File is a file, a directory or a symbolic link on a disk. Its fields are
// guarded by the disk's lock.
type File struct {
	mode    fs.FileMode // of permissions, type, and setuid, setgid and sticky
	uid     int64
	gid     int64
	changed time.Time
	data    content          // of a regular file
	entries map[string]*File // of a directory
	layer   layer            // what a directory shows besides them; may be nil
	target  string           // of a symbolic link
	device  device           // set if mode has fs.ModeDevice
	lazy    func() []byte    // content that is made when it is read; replaces data

	quota   *Quota // nil: only the disk counts it
	charged int64  // how many bytes are counted
	memory  *Quota // counts them too: the memory of who has first written to a file of a tmpfs; nil: nobody's
	open    int    // handles
	removed bool   // from its directory
}

// device says how reads and writes of a special file behave.
type device int

const (
	noDevice device = iota
	devNull
	devZero
	devRandom
	devFull
	devStdin // of the process that opens it, as are the next two; of the container's first one where that is not known
	devStdout
	devStderr
	devLog // the standard output of the container's first process
	devErrors
)

// NewDir returns an empty directory that is in no tree yet.
func (d *Disk) NewDir(perm fs.FileMode) *File {
	return &File{mode: fs.ModeDir | perm.Perm(), changed: d.clock.Now(), entries: map[string]*File{}}
}

// NewFile returns an empty regular file that is in no tree yet and counts for q.
func (d *Disk) NewFile(perm fs.FileMode, q *Quota) *File {
	return &File{mode: perm.Perm(), changed: d.clock.Now(), quota: q}
}

// Content is what a file of a projected volume holds.
type Content struct {
	Data []byte
	Mode fs.FileMode
	UID  int64         // of the user that it belongs to
	Make func() []byte // if set, makes the data each time the file is read
}

// Project makes dir hold exactly the files given, by slash-separated path, as a
// kubelet does with ConfigMaps, Secrets and downward API items: the files are
// in a folder of their own, ..data points to it, and the names at the top are
// links into ..data, so that all of them change at once. With a group, they are that
// group's: see Share.
func (d *Disk) Project(dir *File, files map[string]Content, group *int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	stamp := now.UTC().Format("..2006_01_02_15_04_05.000000000")
	data := &File{mode: fs.ModeDir | 0o755, changed: now, entries: map[string]*File{}, quota: dir.quota}
	entries := map[string]*File{
		stamp:    data,
		"..data": {mode: fs.ModeSymlink | 0o777, changed: now, target: stamp},
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		at := data
		parts := splitPath(name)
		for i, part := range parts[:len(parts)-1] {
			next := at.entries[part]
			if next == nil {
				next = &File{mode: fs.ModeDir | 0o755, changed: now, entries: map[string]*File{}, quota: dir.quota}
				at.entries[part] = next
			}
			if i == 0 {
				entries[part] = &File{mode: fs.ModeSymlink | 0o777, changed: now, target: "..data/" + part}
			}
			at = next
		}
		last := parts[len(parts)-1]
		lazy := content.Make
		if lazy == nil {
			lazy = func() []byte { return content.Data }
		}
		at.entries[last] = &File{mode: content.Mode.Perm(), uid: content.UID, changed: now, lazy: lazy, quota: dir.quota}
		if len(parts) == 1 {
			entries[last] = &File{mode: fs.ModeSymlink | 0o777, changed: now, target: "..data/" + last}
		}
	}
	dir.entries, dir.changed = entries, now
	if group != nil {
		shareLocked(dir, *group, true)
	}
}

// Sub returns the file or directory under dir at a slash-separated path, and
// makes directories that are missing, as a subPath mount does: with the mode and the
// group of dir. It returns nil if something on the way is no directory.
func (d *Disk) Sub(dir *File, path string) *File {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := dir
	for _, part := range splitPath(path) {
		next := at.entries[part]
		for links := 0; next != nil && next.mode&fs.ModeSymlink != 0 && links < maxLinks; links++ {
			under := dir // links of projected volumes are relative to the volume
			for _, p := range splitPath(next.target) {
				if under = under.entries[p]; under == nil {
					break
				}
				if under.mode&fs.ModeSymlink != 0 {
					under = dir.entries[under.target]
				}
			}
			next = under
		}
		if next == nil {
			if !at.mode.IsDir() {
				return nil
			}
			next = &File{mode: dir.mode, gid: dir.gid, changed: d.clock.Now(), entries: map[string]*File{}, quota: at.quota}
			at.entries[part] = next
		}
		at = next
	}
	return at
}

// Data returns a copy of what a regular file holds.
func (d *Disk) Data(f *File) []byte {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return f.data.bytes()
}

// Find returns what is under dir at a slash-separated path, and its mode, or nil. It follows no
// links.
func (d *Disk) Find(dir *File, path string) (*File, fs.FileMode) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	at := dir
	for _, part := range splitPath(path) {
		if at = at.entries[part]; at == nil {
			return nil, 0
		}
	}
	return at, at.mode
}

// MakeFile makes an empty file under dir at a slash-separated path, whose directory is
// there. It fails with ENOSPC.
func (d *Disk) MakeFile(dir *File, at string, perm fs.FileMode) (*File, error) {
	parent := d.Sub(dir, path.Dir(clean(at)))
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &File{mode: perm.Perm(), changed: d.clock.Now()}
	if err := d.addLocked(parent, path.Base(at), f); err != nil {
		return nil, pathError("open", at, err)
	}
	return f, nil
}
