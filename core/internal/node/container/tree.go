package container

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

const maxLinks = 40 // symbolic links followed in one path, as Linux does

// Tree is the file system as one container sees it. Errors of its methods are
// *fs.PathError with the usual fs or syscall error inside.
type Tree struct {
	disk     *Disk
	root     *File
	readOnly map[*File]bool // mount points that must not be written below
	frozen   bool           // the root file system is read-only
	mounts   []mounted      // in their order
	user     User           // as whom the container's processes run
	lacks    uint64         // capabilities that root does not have here
	stdout   io.Writer      // what /dev/stdout and /dev/stderr reach
	stderr   io.Writer
	outputs  *File  // both, as /proc/1/fd
	memory   *Quota // counts what the container writes to file systems in memory; may be nil
	grown    func() // called when that may have grown, without locks; may be nil
}

// NewTree returns a tree with the folders and devices that every image has.
func (d *Disk) NewTree() *Tree {
	t := &Tree{disk: d, root: d.NewDir(0o755), readOnly: map[*File]bool{}, stdout: io.Discard, stderr: io.Discard}
	for _, dir := range []string{"bin", "dev", "etc", "home", "mnt", "opt", "proc", "root", "run", "sys/fs/cgroup", "tmp", "usr/bin", "usr/share", "var/log"} {
		d.Sub(t.root, dir)
	}
	d.Sub(t.root, "tmp").mode = fs.ModeDir | fs.ModeSticky | 0o777
	d.Sub(t.root, "root").mode = fs.ModeDir | 0o700
	dev := d.Sub(t.root, "dev")
	now := d.clock.Now()
	d.Sub(t.root, "var").entries["run"] = &File{mode: fs.ModeSymlink | 0o777, changed: now, target: "/run"}
	for name, kind := range map[string]device{"null": devNull, "zero": devZero, "random": devRandom, "urandom": devRandom, "full": devFull, "stdin": devStdin, "stdout": devStdout, "stderr": devStderr} {
		dev.entries[name] = &File{mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, changed: now, device: kind}
	}
	own := d.Sub(dev, "fd")
	own.entries["0"], own.entries["1"], own.entries["2"] = dev.entries["stdin"], dev.entries["stdout"], dev.entries["stderr"]
	d.Sub(dev, "shm").mode = fs.ModeDir | fs.ModeSticky | 0o777
	t.outputs = d.Sub(t.root, "proc/1/fd")
	for name, kind := range map[string]device{"0": devNull, "1": devLog, "2": devErrors} {
		t.outputs.entries[name] = &File{mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, changed: now, device: kind}
	}
	return t
}

// Within returns the file system with the directory at p as its root. The errors are those of the path.
func (t *Tree) Within(p string) (*Tree, error) {
	t.disk.mu.RLock()
	defer t.disk.mu.RUnlock()
	at, err := t.foundLocked(p, true)
	if err == nil && at.file.entries == nil {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, pathError("chroot", p, err)
	}
	below := *t
	below.root = at.file
	return &below, nil
}

// Root is the directory at the top.
func (t *Tree) Root() *File { return t.root }

// Mount hangs a file or directory into the tree, over what may be there: where a link leads, over what is there.
func (t *Tree) Mount(at string, f *File, readOnly bool) {
	to := clean(at)
	if link, mode := t.disk.Find(t.root, to); mode&fs.ModeSymlink != 0 && path.IsAbs(link.target) {
		to = clean(link.target)
	}
	parent := t.disk.Sub(t.root, path.Dir(to))
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	if parent == nil || parent.entries == nil {
		return
	}
	if name := path.Base(to); name == "/" {
		t.root = f
	} else {
		parent.entries[name] = f
	}
	if readOnly {
		t.readOnly[f] = true
	}
	t.mounts = append(t.mounts, mounted{clean(at), f, readOnly})
}

// Freeze makes the root file system read-only; mounts keep what they are.
func (t *Tree) Freeze() { t.frozen = true }

func clean(p string) string { return path.Clean("/" + p) }

func splitPath(p string) []string {
	return strings.FieldsFunc(path.Clean("/"+p), func(r rune) bool { return r == '/' })
}

// place is where a path leads: a file, or the hole where one could be.
type place struct {
	parent   *File
	name     string
	file     *File // nil if nothing is there
	readOnly bool
}

// findLocked walks to p. With follow, a symbolic link at the end is followed.
func (t *Tree) findLocked(p string, follow bool) (place, error) {
	at := place{file: t.root, readOnly: t.frozen}
	parts := splitPath(p)
	links := 0
	var walked []string // where at is
	for i := 0; i < len(parts); i++ {
		if at.file == nil {
			return at, fs.ErrNotExist
		}
		if at.file.entries == nil {
			return at, syscall.ENOTDIR
		}
		if !t.user.may(at.file, mayEnter) {
			return at, syscall.EACCES
		}
		next := place{parent: at.file, name: parts[i], file: at.file.entry(parts[i]), readOnly: at.readOnly}
		if f := next.file; f != nil && f.mode&fs.ModeSymlink != 0 && (follow || i < len(parts)-1) {
			if links++; links > maxLinks {
				return at, syscall.ELOOP
			}
			target := f.target
			if !path.IsAbs(target) {
				target = "/" + strings.Join(walked, "/") + "/" + target
			}
			parts = append(splitPath(target), parts[i+1:]...)
			at, walked, i = place{file: t.root, readOnly: t.frozen}, nil, -1
			continue
		}
		if next.file != nil && next.file.entries != nil && t.mountedLocked(next.file) {
			next.readOnly = t.readOnly[next.file]
		} else if t.readOnly[next.file] {
			next.readOnly = true
		}
		at = next
		walked = append(walked, parts[i])
	}
	return at, nil
}

// foundLocked is findLocked for what must be there: it fails with fs.ErrNotExist.
func (t *Tree) foundLocked(p string, follow bool) (place, error) {
	at, err := t.findLocked(p, follow)
	if err == nil && at.file == nil {
		err = fs.ErrNotExist
	}
	return at, err
}

// mountedLocked reports whether f is a mount that is known to be read-only.
// Writable mounts under a frozen root are marked with false.
func (t *Tree) mountedLocked(f *File) bool {
	_, ok := t.readOnly[f]
	return ok
}

// MountWritable marks a mount as writable under a read-only root.
func (t *Tree) MountWritable(f *File) {
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	t.readOnly[f] = false
}

func pathError(op, p string, err error) error { return &fs.PathError{Op: op, Path: p, Err: err} }

// Open opens the file at p as os.OpenFile does. Directories cannot be opened.
func (t *Tree) Open(p string, flag int, perm fs.FileMode) (*Handle, error) {
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	at, err := t.findLocked(p, true)
	if err != nil {
		return nil, pathError("open", p, err)
	}
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	if writes || flag&os.O_CREATE != 0 {
		t.settleLocked(&at)
	}
	made := false // who makes a file may write to it whatever its mode
	if at.file == nil {
		switch {
		case flag&os.O_CREATE == 0:
			return nil, pathError("open", p, fs.ErrNotExist)
		case at.readOnly:
			return nil, pathError("open", p, syscall.EROFS)
		}
		if err := t.changesLocked(at); err != nil {
			return nil, pathError("open", p, err)
		}
		at.file = t.ownedLocked(at.parent, &File{mode: perm.Perm(), changed: t.disk.clock.Now()})
		made = true
		if err := t.disk.addLocked(at.parent, at.name, at.file); err != nil {
			return nil, pathError("open", p, err)
		}
		at.parent.changed = at.file.changed
	}
	switch {
	case at.file.entries != nil:
		switch {
		case writes:
			return nil, pathError("open", p, syscall.EISDIR)
		case !t.user.may(at.file, mayRead):
			return nil, pathError("open", p, syscall.EACCES)
		}
	case writes && at.readOnly && at.file.device == noDevice:
		return nil, pathError("open", p, syscall.EROFS)
	case !made && (writes && !t.user.may(at.file, mayWrite) || flag&os.O_WRONLY == 0 && !t.user.may(at.file, mayRead)):
		return nil, pathError("open", p, syscall.EACCES)
	case flag&os.O_TRUNC != 0 && at.file.device == noDevice:
		if size := int64(at.file.data.size); size > 0 {
			t.disk.chargeLocked(at.file, -min(size, at.file.charged))
		}
		at.file.data, at.file.lazy, at.file.changed = content{}, nil, t.disk.clock.Now()
	}
	at.file.open++
	return &Handle{tree: t, file: at.file, path: p, appends: flag&os.O_APPEND != 0}, nil
}

// info is a file's fs.FileInfo and fs.DirEntry, a copy taken under the lock.
type info struct {
	name    string
	size    int64
	mode    fs.FileMode
	changed time.Time
	target  string
	uid     int64
	gid     int64
	file    *File
}

// Owner returns the numbers of the user and the group that the file belongs to.
func (i info) Owner() (uid, gid int64) { return i.uid, i.gid }

// Target is where a symbolic link leads.
func (i info) Target() string             { return i.target }
func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) Mode() fs.FileMode          { return i.mode }
func (i info) ModTime() time.Time         { return i.changed }
func (i info) IsDir() bool                { return i.mode.IsDir() }
func (i info) Sys() any                   { return i.file } // which tells files apart
func (i info) Type() fs.FileMode          { return i.mode.Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

func infoOf(name string, f *File) info {
	i := info{name: name, size: int64(f.data.size), mode: f.mode, changed: f.changed, target: f.target, uid: f.uid, gid: f.gid, file: f}
	switch {
	case f.lazy != nil:
		i.size = int64(len(f.lazy()))
	case f.entries != nil:
		i.size = 4096
	case f.target != "":
		i.size = int64(len(f.target))
	}
	return i
}

// Stat describes the file at p, or the link itself unless follow is set.
func (t *Tree) Stat(p string, follow bool) (fs.FileInfo, error) {
	t.disk.mu.RLock()
	defer t.disk.mu.RUnlock()
	at, err := t.foundLocked(p, follow)
	if err != nil {
		return nil, pathError("stat", p, err)
	}
	return infoOf(path.Base(clean(p)), at.file), nil
}

// ReadDir lists the directory at p by name.
func (t *Tree) ReadDir(p string) ([]fs.DirEntry, error) {
	t.disk.mu.RLock()
	defer t.disk.mu.RUnlock()
	at, err := t.foundLocked(p, true)
	switch {
	case err != nil:
	case at.file.entries == nil:
		err = syscall.ENOTDIR
	case !t.user.may(at.file, mayRead):
		err = syscall.EACCES
	}
	if err != nil {
		return nil, pathError("open", p, err)
	}
	entries := make([]fs.DirEntry, 0, len(at.file.entries))
	for name, f := range at.file.all() {
		entries = append(entries, infoOf(name, f))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// ReadFile returns what the file at p holds.
func (t *Tree) ReadFile(p string) ([]byte, error) {
	h, err := t.Open(p, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return h.all()
}

// WriteFile makes the file at p hold data.
func (t *Tree) WriteFile(p string, data []byte, perm fs.FileMode) error {
	h, err := t.Open(p, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	defer h.Close()
	_, err = h.Write(data)
	return err
}

// change runs f on the place that p leads to, which may be written to.
func (t *Tree) change(op, p string, f func(place) error) error {
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	at, err := t.findLocked(p, false)
	switch {
	case err != nil:
	case at.parent == nil:
		err = syscall.EBUSY // the root
	case at.readOnly:
		err = syscall.EROFS
	default:
		t.settleLocked(&at)
		if err = f(at); err == nil {
			at.parent.changed = t.disk.clock.Now()
		}
	}
	if err != nil {
		return pathError(op, p, err)
	}
	return nil
}

// Mkdir makes one directory.
func (t *Tree) Mkdir(p string, perm fs.FileMode) error {
	return t.change("mkdir", p, func(at place) error {
		if at.file != nil {
			return fs.ErrExist
		}
		if err := t.changesLocked(at); err != nil {
			return err
		}
		return t.disk.addLocked(at.parent, at.name, t.ownedLocked(at.parent, t.disk.NewDir(perm)))
	})
}

// MkdirAll makes a directory and those above it that are missing.
func (t *Tree) MkdirAll(p string, perm fs.FileMode) error {
	parts := splitPath(p)
	for i := range parts {
		dir := "/" + strings.Join(parts[:i+1], "/")
		if have, err := t.Stat(dir, true); err == nil && have.IsDir() {
			continue
		}
		if err := t.Mkdir(dir, perm); err != nil {
			return err
		}
	}
	return nil
}

// Symlink makes p a link to target.
func (t *Tree) Symlink(target, p string) error {
	return t.change("symlink", p, func(at place) error {
		if at.file != nil {
			return fs.ErrExist
		}
		if err := t.changesLocked(at); err != nil {
			return err
		}
		link := &File{mode: fs.ModeSymlink | 0o777, changed: t.disk.clock.Now(), target: target}
		return t.disk.addLocked(at.parent, at.name, t.ownedLocked(at.parent, link))
	})
}

// Remove removes a file or, with all, a directory with what is in it. An empty
// directory is removed in any case.
func (t *Tree) Remove(p string, all bool) error {
	return t.change("remove", p, func(at place) error {
		switch {
		case at.file == nil:
			return fs.ErrNotExist
		case t.mountedLocked(at.file):
			return syscall.EBUSY
		case len(at.file.all()) > 0 && !all:
			return syscall.ENOTEMPTY
		}
		if err := t.removableLocked(at); err != nil {
			return err
		}
		delete(at.parent.entries, at.name)
		t.disk.dropLocked(at.file)
		return nil
	})
}

// Rename moves a file or directory. It fails with ENOSPC where there is no room for
// it in another volume.
func (t *Tree) Rename(from, to string) error {
	var moved *File
	same := false
	if err := t.change("rename", from, func(at place) error {
		if at.file == nil {
			return fs.ErrNotExist
		}
		moved = at.file
		return t.changesLocked(at)
	}); err != nil {
		return err
	}
	if err := t.change("rename", to, func(at place) error {
		if at.file != nil && at.file.entries != nil {
			return fs.ErrExist
		}
		if same = at.file == moved; same {
			return nil
		}
		if err := t.changesLocked(at); err != nil {
			return err
		}
		if err := t.disk.moveLocked(moved, at.parent.quota); err != nil {
			return err
		}
		if at.file != nil {
			t.disk.dropLocked(at.file)
		}
		at.parent.entries[at.name] = moved
		return nil
	}); err != nil {
		return err
	}
	return t.change("rename", from, func(at place) error {
		if at.file == moved && !same {
			delete(at.parent.entries, at.name)
		}
		return nil
	})
}

// Touch sets the time of the file at p to now, and makes it if it is missing.
func (t *Tree) Touch(p string) error {
	h, err := t.Open(p, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer h.Close()
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	h.file.changed = t.disk.clock.Now()
	return nil
}

// FileSystem says what kind of file system the file at p is on, as statfs tells it: tmpfs, or that of the node.
func (t *Tree) FileSystem(p string) (string, error) {
	t.disk.mu.RLock()
	defer t.disk.mu.RUnlock()
	at, err := t.foundLocked(p, true)
	if err != nil {
		return "", pathError("statfs", p, err)
	}
	if q := at.file.quota; q != nil && q.inMemory {
		return "tmpfs", nil
	}
	return "overlay", nil
}
