package container

import (
	"io/fs"
	"slices"
	"syscall"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// User is as whom a container's processes run: root is the zero User.
type User struct {
	UID, GID int64
	Groups   []int64 // supplementary groups; the GID is one whether or not it is among them
}

func (u User) isRoot() bool { return u.UID == 0 }

// in reports whether the user is in a group.
func (u User) in(gid int64) bool { return u.GID == gid || slices.Contains(u.Groups, gid) }

// AllGroups returns the GID and the supplementary groups, each once.
func (u User) AllGroups() []int64 {
	all := []int64{u.GID}
	for _, g := range u.Groups {
		if !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

// kernelGroups are all groups as the kernel keeps them: sorted.
func (u User) kernelGroups() []int64 { return slices.Sorted(slices.Values(u.AllGroups())) }

// owns reports whether the user may change what is said of f.
func (u User) owns(f *File) bool { return u.isRoot() || u.UID == f.uid }

// What a user may do with a file, as bits of its mode for others.
const (
	mayRead  fs.FileMode = 4
	mayWrite fs.FileMode = 2
	mayEnter fs.FileMode = 1 // a directory
)

// may reports whether the user may do something with a file, as the kernel decides
// it: by the bits of the owner, of the group or of others, the first that apply.
func (u User) may(f *File, what fs.FileMode) bool {
	if u.isRoot() {
		return true
	}
	bits := f.mode
	switch {
	case u.UID == f.uid:
		bits >>= 6
	case u.in(f.gid):
		bits >>= 3
	}
	return bits&what == what
}

// Access fails with EACCES unless the user may do with the file at p what the bits of
// mayRead, mayWrite and mayEnter say, as access(2) has it: root may run only what
// somebody may.
func (t *Tree) Access(p string, what fs.FileMode) error {
	t.disk.mu.RLock()
	defer t.disk.mu.RUnlock()
	at, err := t.foundLocked(p, true)
	switch {
	case err != nil:
	case what&mayWrite != 0 && at.readOnly && at.file.device == noDevice:
		err = syscall.EROFS
	case !t.user.may(at.file, what), what&mayEnter != 0 && at.file.mode&0o111 == 0:
		err = syscall.EACCES
	}
	if err != nil {
		return pathError("access", p, err)
	}
	return nil
}

// userName is what bash's prompt says of a user.
func (t *Tree) userName(uid int64) string {
	if name, ok := (&coreutils.Call{Files: files{Tree: t}}).UserName(uid); ok {
		return name
	}
	return "I have no name!"
}

// changesLocked fails with EACCES unless the user may add something to the directory of
// a place or take something out of it, and with EPERM for what is somebody else's in a
// directory with the sticky bit.
func (t *Tree) changesLocked(at place) error {
	switch {
	case !t.user.may(at.parent, mayWrite|mayEnter):
		return syscall.EACCES
	case at.file != nil && at.parent.mode&fs.ModeSticky != 0 && !t.user.owns(at.file) && !t.user.owns(at.parent):
		return syscall.EPERM
	}
	return nil
}

// removableLocked fails unless the user may remove what is at a place, with all below it.
func (t *Tree) removableLocked(at place) error {
	if err := t.changesLocked(at); err != nil {
		return err
	}
	for name, f := range at.file.entries {
		if err := t.removableLocked(place{parent: at.file, name: name, file: f}); err != nil {
			return err
		}
	}
	return nil
}

// ownedLocked makes a new file the user's: of his group, or of that of a directory
// with the bit for setgid, which a directory in it has as well.
func (t *Tree) ownedLocked(in, f *File) *File {
	f.uid, f.gid = t.user.UID, t.user.GID
	if in.mode&fs.ModeSetgid != 0 {
		f.gid = in.gid
		if f.mode.IsDir() {
			f.mode |= fs.ModeSetgid
		}
	}
	return f
}

// Chmod sets the permissions of the file at p, and its bits for setuid, setgid and
// sticky. Who does not own it gets EPERM.
func (t *Tree) Chmod(p string, mode fs.FileMode) error {
	return t.alter("chmod", p, func(f *File) error {
		if !t.user.owns(f) {
			return syscall.EPERM
		}
		f.mode = f.mode.Type() | mode&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)
		return nil
	})
}

// Chown gives the file at p to a user and a group; -1 leaves what is there. It fails
// with EPERM for all but root who has the capability, and who gives a file of his own to a group of his.
func (t *Tree) Chown(p string, uid, gid int64) error {
	return t.alter("chown", p, func(f *File) error {
		if (!t.user.isRoot() || t.lacks&capChown != 0) && (uid != -1 && uid != f.uid || !t.user.owns(f) || gid != -1 && !t.user.in(gid)) {
			return syscall.EPERM
		}
		if uid != -1 {
			f.uid = uid
		}
		if gid != -1 {
			f.gid = gid
		}
		return nil
	})
}

// alter runs f on the file at p, which may be changed.
func (t *Tree) alter(op, p string, f func(*File) error) error {
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	at, err := t.foundLocked(p, true)
	switch {
	case err != nil:
	case at.readOnly:
		err = syscall.EROFS
	default:
		t.settleLocked(&at)
		err = f(at.file)
	}
	if err != nil {
		return pathError(op, p, err)
	}
	return nil
}

// What a kubelet adds to the modes of a volume's files for a group
// (k8s.io/kubernetes/pkg/volume, volume_linux.go).
const (
	groupReads  fs.FileMode = 0o440
	groupWrites fs.FileMode = 0o660
	groupEnters fs.FileMode = 0o110
)

// Share makes the files of a volume a group's, as a kubelet does for fsGroup: they can
// be read by it, and written unless the volume is read-only, and what is made in a
// directory is the group's, too.
func (d *Disk) Share(dir *File, gid int64, readOnly bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	shareLocked(dir, gid, readOnly)
}

func shareLocked(f *File, gid int64, readOnly bool) {
	if f.mode.Type() == fs.ModeSymlink {
		return
	}
	f.gid = gid
	if readOnly {
		f.mode |= groupReads
	} else {
		f.mode |= groupWrites
	}
	if f.mode.IsDir() {
		f.mode |= fs.ModeSetgid | groupEnters
	}
	for _, below := range f.entries {
		shareLocked(below, gid, readOnly)
	}
}
