package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

// What the journal holds. Every record is atomic: after a crash it is there or it
// is not. So everything that must be true together is in one record, and a
// transaction of any size is one record.
//
//	"l" lease id (8 bytes, big endian)   ->  a lease
//	"m" name                             ->  a number: the cluster id, the compaction revision
//	"r" revision (8 bytes, big endian)   ->  the operations of that revision
//
// A revision's record, in the notation of encoding/binary:
//
//	uvarint  number of operations, then each of them:
//	byte     opPut | opDelete | opRevoke
//	uvarint  length of the key, key                             (opPut, opDelete)
//	uvarint  create revision, version, lease id                 (opPut)
//	uvarint  length of the value, value                         (opPut)
//	uvarint  lease id                                           (opRevoke)
//
// What cannot be read by an older program needs a new version of the journal's header.
const (
	prefixLease    = "l"
	prefixMeta     = "m"
	prefixRevision = "r"

	keyCluster = prefixMeta + "cluster"
	keyCompact = prefixMeta + "compact"
)

const (
	opPut    = 1
	opDelete = 2
	opRevoke = 3
)

var errShortRecord = errors.New("record ends early")

func revisionKey(rev int64) string { return numberedKey(prefixRevision, rev) }
func leaseKey(id int64) string     { return numberedKey(prefixLease, id) }

func numberedKey(prefix string, n int64) string {
	var b [9]byte
	b[0] = prefix[0]
	binary.BigEndian.PutUint64(b[1:], uint64(n))
	return string(b[:])
}

func parseNumberedKey(key string) (int64, error) {
	if len(key) != 9 {
		return 0, fmt.Errorf("key %q has %d bytes, not 9", key, len(key))
	}
	return int64(binary.BigEndian.Uint64([]byte(key[1:]))), nil
}

// op is one operation of a transaction that is being decided. Its strings are
// borrowed from the request and are copied by encodeOps.
type op struct {
	kind        byte
	key, value  string
	create, ver int64
	lease       int64
}

func (o *op) encodedSize() int {
	return 1 + 5*binary.MaxVarintLen64 + len(o.key) + len(o.value)
}

// encodeOps returns the record of a revision and the versions it makes; their
// strings are over the bytes of the record.
func encodeOps(rev int64, ops []op) (record string, versions []*version) {
	n := 0
	for i := range ops {
		if ops[i].kind != opRevoke {
			n++
		}
	}
	var few [4]slot
	record, slots := sealOps(rev, ops, few[:0])

	made := make([]version, n)
	versions = make([]*version, n)
	j := 0
	for i := range ops {
		o := &ops[i]
		if o.kind == opRevoke {
			continue
		}
		s := slots[j]
		made[j] = version{
			key:    record[s.key:s.keyEnd],
			value:  record[s.value:s.valueEnd],
			create: o.create,
			mod:    rev,
			ver:    o.ver,
			lease:  o.lease,
			alone:  len(ops) == 1,
		}
		versions[j] = &made[j]
		j++
	}
	return record, versions
}

// slot is where key and value of an op are in a record.
type slot struct{ key, keyEnd, value, valueEnd int }

// sealOps returns the record of a revision, and appends the slots of all ops but
// revocations to slots.
func sealOps(rev int64, ops []op, slots []slot) (string, []slot) {
	size := binary.MaxVarintLen64 + journal.SealSize
	for i := range ops {
		size += ops[i].encodedSize()
	}
	buf := make([]byte, 0, size)
	buf = binary.AppendUvarint(buf, uint64(len(ops)))
	for i := range ops {
		o := &ops[i]
		var s slot
		buf = append(buf, o.kind)
		if o.kind == opRevoke {
			buf = binary.AppendUvarint(buf, uint64(o.lease))
			continue
		}
		buf = binary.AppendUvarint(buf, uint64(len(o.key)))
		s.key = len(buf)
		buf = append(buf, o.key...)
		s.keyEnd = len(buf)
		s.value, s.valueEnd = s.keyEnd, s.keyEnd
		if o.kind == opPut {
			buf = binary.AppendUvarint(buf, uint64(o.create))
			buf = binary.AppendUvarint(buf, uint64(o.ver))
			buf = binary.AppendUvarint(buf, uint64(o.lease))
			buf = binary.AppendUvarint(buf, uint64(len(o.value)))
			s.value = len(buf)
			buf = append(buf, o.value...)
			s.valueEnd = len(buf)
		}
		slots = append(slots, s)
	}
	return journal.Seal(revisionKey(rev), buf), slots
}

// decodeOps reads the record of revision rev. The result is over record's bytes.
func decodeOps(rev int64, record string) (versions []*version, revoked []int64, err error) {
	r := recordReader{rest: record}
	n := r.uvarint()
	for i := uint64(0); i < n && r.err == nil; i++ {
		switch kind := r.byte(); kind {
		case opPut:
			v := &version{mod: rev, key: r.bytes()}
			v.create, v.ver, v.lease = int64(r.uvarint()), int64(r.uvarint()), int64(r.uvarint())
			v.value = r.bytes()
			versions = append(versions, v)
		case opDelete:
			versions = append(versions, &version{mod: rev, key: r.bytes()})
		case opRevoke:
			revoked = append(revoked, int64(r.uvarint()))
		default:
			if r.err == nil {
				r.err = fmt.Errorf("unknown operation %d", kind)
			}
		}
	}
	if n == 1 && len(versions) == 1 {
		versions[0].alone = true
	}
	if r.err == nil && r.rest != "" {
		r.err = fmt.Errorf("%d bytes after the last operation", len(r.rest))
	}
	return versions, revoked, r.err
}

// opOf is the inverse of what encodeOps does to one operation.
func opOf(v *version) op {
	if v.deleted() {
		return op{kind: opDelete, key: v.key}
	}
	return op{kind: opPut, key: v.key, value: v.value, create: v.create, ver: v.ver, lease: v.lease}
}

// recordReader reads the fields of a record; err is the first failure.
type recordReader struct {
	rest string
	err  error
}

func (r *recordReader) byte() byte {
	if r.err != nil || r.rest == "" {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *recordReader) uvarint() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.fail()
	return 0
}

func (r *recordReader) bytes() string {
	n := r.uvarint()
	if r.err != nil || n > uint64(len(r.rest)) {
		r.fail()
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *recordReader) fail() {
	if r.err == nil {
		r.err = errShortRecord
	}
}
