// Package journal keeps records in buntdb: in memory, or in memory and in an
// append-only file.
//
// It knows nothing of what the records mean. A record has a name and a payload,
// both any bytes. Setting or deleting one is atomic and ordered: after a crash the
// file holds what the first n calls made of it, for some n, and n counts at least
// every call that returned before the process was killed. What a loss of power can
// take is said by Options.Sync.
//
// buntdb appends commands in RESP, the protocol of Redis, to its file:
//
//	*3 $3 set $<n> <name> <checksum of name> $<n> <payload> <checksum of both>
//	*2 $3 del $<n> <name> <checksum of name>
//
// Each item is followed by CR LF. The checksums (CRC-32C) are this package's, so
// that every byte of the file is either checked or the only one that could be in
// its place. The first command of a file sets the header.
//
// buntdb reads its own file trustingly: it takes a damaged length for the end of
// the file and cuts off everything after it, and skips zero bytes but then writes
// over the end. So the file is examined before buntdb sees it (see scan.go). Nor is
// buntdb's own compaction used, which replaces the file by one that may not have
// reached the disk (see rewrite.go), or its way to sync, which ignores errors (see
// sync.go).
package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tidwall/buntdb"
)

// Options configure Open.
type Options struct {
	// Path is the file, created when it does not exist; beside it are kept
	// Path.lock and, for moments, Path.new. "" keeps the records in memory only.
	Path string
	// SyncAlways makes every call wait until its record is on the disk. Otherwise a
	// record is on its way to the disk SyncDelay after the call, and only a crash of
	// the whole machine within that time can take it.
	SyncAlways bool
	SyncDelay  time.Duration
}

// ErrLocked is returned by Open when another Journal, of this process or another,
// has the file open.
var ErrLocked = errors.New("in use by another process")

// Journal is an ordered set of records. All methods are safe for concurrent use.
type Journal struct {
	opts Options
	lock *fileLock
	// repaired is how many bytes of a torn tail Open cut off.
	repaired int64

	mu sync.Mutex // guards all below
	db *buntdb.DB
	// next is the file that a Rewrite is filling, or nil.
	next *buntdb.DB
	sync *syncer // nil in memory
	// size is the length of the file, live that of a file without superseded
	// records. In memory they are the same.
	size, live int64
}

// Open opens the journal.
//
// It cuts off the last record of the file if a crash left it incomplete. It fails
// with ErrLocked, with a *DamageError when the file is damaged anywhere else, a
// *FormatError when it was not written by this package or by a newer version of
// it, and with the error of opening or reading it. The file is unchanged then.
func Open(opts Options) (j *Journal, err error) {
	if opts.Path == "" {
		db, err := buntdb.Open(":memory:")
		if err != nil {
			return nil, err
		}
		return &Journal{opts: opts, db: db}, nil
	}
	lock, err := acquire(opts.Path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.release()
		}
	}()
	// What a crash during Rewrite left behind; the rename had not happened.
	if err := os.Remove(opts.Path + newSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	j = &Journal{opts: opts, lock: lock}
	end, err := examine(opts.Path)
	if err != nil {
		return nil, err
	}
	if j.repaired, err = truncate(opts.Path, end); err != nil {
		return nil, fmt.Errorf("repair %s: %w", opts.Path, err)
	}
	if j.db, err = openFile(opts.Path); err != nil {
		return nil, err
	}
	if j.sync, err = newSyncer(opts); err != nil {
		return nil, errors.Join(err, j.db.Close())
	}
	if end == 0 {
		err = j.Set(headerName, Seal(headerName, []byte(headerPayload)))
		if err == nil {
			err = syncDir(opts.Path)
		}
	} else {
		j.size = end
		err = j.measure()
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// openFile opens a file in buntdb, with everything turned off that this package
// does better. It makes the file first if need be, because buntdb would let
// everybody read it, and there are Secrets in it.
func openFile(path string) (*buntdb.DB, error) {
	f, err := os.OpenFile(path, os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := buntdb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Never, AutoShrinkDisabled: true}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// measure computes live.
func (j *Journal) measure() error {
	return j.db.View(func(tx *buntdb.Tx) error {
		return tx.Ascend("", func(key, record string) bool {
			j.live += setSize(key, record)
			return true
		})
	})
}

// Name is the path, or "memory".
func (j *Journal) Name() string {
	if j.opts.Path == "" {
		return "memory"
	}
	return j.opts.Path
}

// Repaired returns how many bytes of a torn tail Open cut off.
func (j *Journal) Repaired() int64 { return j.repaired }

// Size returns the length of the file in bytes, and how much of it is taken by
// records that are not superseded. In memory both are the size of the records.
func (j *Journal) Size() (size, inUse int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.opts.Path == "" {
		return j.live, j.live
	}
	return j.size, j.live
}

// Set stores a record that Seal made for name. When it fails the record is not
// there, unless the error says that the file is in doubt: after a failed sync
// nobody knows what is on the disk, and every further call returns that error.
func (j *Journal) Set(name, record string) error {
	key := keyOf(name)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.sync.failed(); err != nil {
		return err
	}
	old, replaced, err := set(j.db, key, record)
	if err != nil {
		return fmt.Errorf("write %s: %w", j.Name(), err)
	}
	n := setSize(key, record)
	j.size += n
	j.live += n
	if replaced {
		j.live -= setSize(key, old)
	}
	j.mirror(func(db *buntdb.DB) error {
		_, _, err := set(db, key, record)
		return err
	})
	return j.sync.wrote()
}

// Delete removes a record; it is no error when there is none. It fails as Set does.
func (j *Journal) Delete(name string) error {
	key := keyOf(name)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.sync.failed(); err != nil {
		return err
	}
	old, existed, err := remove(j.db, key)
	if err != nil {
		return fmt.Errorf("write %s: %w", j.Name(), err)
	}
	if !existed {
		return nil
	}
	j.size += deleteSize(key)
	j.live -= setSize(key, old)
	j.mirror(func(db *buntdb.DB) error {
		_, _, err := remove(db, key)
		return err
	})
	return j.sync.wrote()
}

// Get returns the payload of a record, and whether there is one. It fails with
// the reason why the record cannot be trusted.
func (j *Journal) Get(name string) (payload string, ok bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err = j.db.View(func(tx *buntdb.Tx) error {
		record, err := tx.Get(keyOf(name))
		if errors.Is(err, buntdb.ErrNotFound) {
			return nil
		}
		if err == nil {
			ok = true
			payload, err = Unseal(name, record)
		}
		return err
	})
	return payload, ok, err
}

// Load calls fn for each record, in the order of the names. The payloads are
// substrings of what the journal holds, so keeping them costs no memory. It stops
// at the first error and returns it. Changes wait meanwhile, so fn
// must not use the journal.
func (j *Journal) Load(fn func(name, payload string) error) (err error) {
	// Begun with mu held: a Rewrite exchanges db, and closes the former one when
	// those who read it have ended.
	j.mu.Lock()
	tx, err := j.db.Begin(false)
	j.mu.Unlock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	var failed error
	err = tx.Ascend("", func(key, record string) bool {
		name, payload, err := open(key, record)
		if err == nil && name != headerName {
			err = fn(name, payload)
		}
		failed = err
		return err == nil
	})
	return errors.Join(failed, err)
}

// Close brings everything to the disk and closes the file. It returns the first
// error of doing so. The journal must not be used after it.
//
// buntdb runs a goroutine that looks once a second whether its database was
// closed; it is gone a second later at most.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := errors.Join(j.sync.close(), j.db.Close())
	if j.lock != nil {
		j.lock.release()
	}
	return err
}

func set(db *buntdb.DB, key, record string) (old string, replaced bool, err error) {
	err = db.Update(func(tx *buntdb.Tx) (err error) {
		old, replaced, err = tx.Set(key, record, nil)
		return err
	})
	return old, replaced, err
}

func remove(db *buntdb.DB, key string) (old string, existed bool, err error) {
	err = db.Update(func(tx *buntdb.Tx) (err error) {
		old, err = tx.Delete(key)
		return err
	})
	if errors.Is(err, buntdb.ErrNotFound) {
		return "", false, nil
	}
	return old, err == nil, err
}
