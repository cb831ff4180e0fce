package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

// Entries returns what a store that is empty has to Replay to become as this one
// is. States that others have followed are left out where nothing else was written
// with them. Whoever keeps the entries has these, and then what Options.Tap is told of
// from now on. The error is that of a damaged journal.
func (h *Hold) Entries() ([]Entry, error) {
	db := h.db
	db.setBase(db.rev)
	var entries []Entry
	err := db.journal.Load(func(key, payload string) error {
		switch {
		case strings.HasPrefix(key, prefixLease):
		case strings.HasPrefix(key, prefixRevision):
			rev, err := parseNumberedKey(key)
			if err != nil {
				return err
			}
			versions, revokes, err := decodeOps(rev, payload)
			if err != nil {
				return err
			}
			if len(versions) == 0 && len(revokes) == 0 || db.isPast(versions, revokes) {
				return nil
			}
		default:
			return nil // the store's own facts
		}
		entries = append(entries, Entry{Name: entryName(key), Record: []byte(journal.Seal(key, []byte(payload)))})
		return nil
	})
	return entries, err
}

// isPast reports whether a revision did nothing but write one state of an object
// that another one has followed.
func (db *DB) isPast(versions []*version, revokes []int64) bool {
	if len(versions) != 1 || len(revokes) > 0 || versions[0].deleted() {
		return false
	}
	now := db.index.at(versions[0].key, db.rev)
	return now == nil || now.mod != versions[0].mod
}

// packFormat is the first byte of what Pack makes.
const packFormat = 1

// Pack makes one record of many entries, or none, without what they supersede:
//
//	byte     packFormat, then for each:
//	uvarint  length of the name, name, length of the record, record
func Pack(entries []Entry) []byte {
	size := 1
	for _, e := range entries {
		size += 2*binary.MaxVarintLen32 + len(e.Name) + len(e.Record)
	}
	b := append(make([]byte, 0, size), packFormat)
	for _, e := range entries {
		b = binary.AppendUvarint(b, uint64(len(e.Name)))
		b = append(b, e.Name...)
		b = binary.AppendUvarint(b, uint64(len(e.Record)))
		b = append(b, e.Record...)
	}
	return b
}

// Unpack returns what Pack was given. It fails on bytes of another format and on
// those that end early; that their records are whole is checked by Replay.
func Unpack(packed []byte) ([]Entry, error) {
	if len(packed) == 0 || packed[0] != packFormat {
		return nil, errors.New("these are no packed entries")
	}
	packed = packed[1:]
	var failed error
	next := func() []byte {
		n, size := binary.Uvarint(packed)
		if failed != nil || size <= 0 || n > uint64(len(packed)-size) {
			failed = errors.New("packed entries end early")
			return nil
		}
		part := packed[size : size+int(n)]
		packed = packed[size+int(n):]
		return part
	}
	var entries []Entry
	for len(packed) > 0 {
		name := string(next())
		record := next()
		if failed != nil {
			return nil, fmt.Errorf("after %d entries: %w", len(entries), failed)
		}
		entries = append(entries, Entry{Name: name, Record: record})
	}
	return entries, nil
}
