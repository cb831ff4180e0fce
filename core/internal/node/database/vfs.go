package database

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// disk is a vfs.VFS of the files of a container. Journals are in memory: what a database would need after its machine has lost
// power is of no use where no write is cut off.
type disk struct {
	files Files
	mu    sync.Mutex
	locks map[string]*lock // by name, of files that are open
}

// lock is who uses a file: https://sqlite.org/lockingv3.html.
type lock struct {
	mu                sync.Mutex
	opened, shared    int
	reserved, pending bool
}

func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if flags&vfs.OPEN_MAIN_DB == 0 {
		return &vfsutil.SliceFile{}, flags | vfs.OPEN_MEMORY, nil
	}
	file, err := d.files.OpenFile(name, flags&vfs.OPEN_CREATE != 0)
	if err != nil {
		return nil, flags, vfs.SystemError(err, sqlite3.CANTOPEN)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.locks[name]
	if l == nil {
		l = &lock{}
		d.locks[name] = l
	}
	l.opened++
	return &openFile{File: file, disk: d, name: name, lock: l}, flags, nil
}

// still runs f while nobody writes to a file and, if alone is set, nobody reads it. It reports false where somebody does.
func (d *disk) still(name string, alone bool, f func() error) (done bool, err error) {
	d.mu.Lock()
	l := d.locks[name]
	if l == nil {
		defer d.mu.Unlock()
		return true, f()
	}
	d.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending || alone && (l.shared > 0 || l.reserved) {
		return false, nil
	}
	return true, f()
}

func (d *disk) Delete(name string, _ bool) error {
	if err := d.files.Remove(name, false); errors.Is(err, fs.ErrNotExist) {
		return sqlite3.IOERR_DELETE_NOENT
	} else if err != nil {
		return vfs.SystemError(err, sqlite3.IOERR_DELETE)
	}
	return nil
}

// Access is asked for journals, of which there are no files.
func (*disk) Access(string, vfs.AccessFlag) (bool, error) { return false, nil }

func (*disk) FullPathname(name string) (string, error) { return name, nil }

// sessionDisk is the disk as one session has it.
type sessionDisk struct {
	*disk
	name string // by which SQLite knows it
	open map[*openFile]bool
}

func (d *sessionDisk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, flags, err := d.disk.Open(name, flags)
	if f, ok := file.(*openFile); ok && err == nil {
		f.session = d
		d.open[f] = true
	}
	return file, flags, err
}

// abandon closes what SQLite does not close any more.
func (d *sessionDisk) abandon() {
	for f := range d.open {
		_ = f.Close() // what it has written is there
	}
}

// openFile is a file that one session has opened.
type openFile struct {
	session *sessionDisk
	File
	disk  *disk
	name  string
	lock  *lock
	level vfs.LockLevel
}

func (f *openFile) Close() error {
	_ = f.Unlock(vfs.LOCK_NONE) // never fails
	f.disk.mu.Lock()
	if f.lock.opened--; f.lock.opened == 0 && f.disk.locks[f.name] == f.lock {
		delete(f.disk.locks, f.name)
	}
	f.disk.mu.Unlock()
	if f.session != nil {
		delete(f.session.open, f)
	}
	return f.File.Close()
}

// WriteAt fills what is between the end and the place: SQLite writes its pages in any order.
func (f *openFile) WriteAt(b []byte, at int64) (int, error) {
	for size := f.File.Size(); size < at; size = f.File.Size() {
		if _, err := f.File.WriteAt(make([]byte, min(at-size, 64<<10)), size); err != nil {
			return 0, full(err)
		}
	}
	n, err := f.File.WriteAt(b, at)
	return n, full(err)
}

// full is SQLite's error for a disk without room.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, io.ErrShortWrite) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}

// Truncate is asked for where a change is undone that has made the file larger.
func (f *openFile) Truncate(size int64) error {
	if size >= f.File.Size() {
		return nil
	}
	return f.File.Truncate(size)
}

func (*openFile) Sync(vfs.SyncFlag) error    { return nil }
func (f *openFile) Size() (int64, error)     { return f.File.Size(), nil }
func (*openFile) SectorSize() int            { return 4096 }
func (f *openFile) LockState() vfs.LockLevel { return f.level }

func (*openFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return vfs.IOCAP_ATOMIC | vfs.IOCAP_SEQUENTIAL | vfs.IOCAP_SAFE_APPEND | vfs.IOCAP_POWERSAFE_OVERWRITE
}

func (f *openFile) Lock(level vfs.LockLevel) error {
	if f.level >= level {
		return nil
	}
	l := f.lock
	l.mu.Lock()
	defer l.mu.Unlock()
	switch level {
	case vfs.LOCK_SHARED:
		if l.pending {
			return sqlite3.BUSY
		}
		l.shared++
	case vfs.LOCK_RESERVED:
		if l.reserved {
			return sqlite3.BUSY
		}
		l.reserved = true
	case vfs.LOCK_EXCLUSIVE:
		f.level, l.pending = vfs.LOCK_PENDING, true
		if l.shared > 1 {
			return sqlite3.BUSY // who reads is waited for by SQLite's handler
		}
	}
	f.level = level
	return nil
}

func (f *openFile) Unlock(level vfs.LockLevel) error {
	if f.level <= level {
		return nil
	}
	l := f.lock
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.level >= vfs.LOCK_RESERVED {
		l.reserved = false
	}
	if f.level >= vfs.LOCK_PENDING {
		l.pending = false
	}
	if level < vfs.LOCK_SHARED {
		l.shared--
	}
	f.level = level
	return nil
}

func (f *openFile) CheckReservedLock() (bool, error) {
	f.lock.mu.Lock()
	defer f.lock.mu.Unlock()
	return f.lock.reserved, nil
}
