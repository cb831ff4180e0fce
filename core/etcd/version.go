package etcd

import (
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// version is one state of one key: what a put made of it, or the tombstone that
// a delete left. It is immutable once it is in the index, so pointers to it are
// followed without a lock.
//
// key and value are strings over the bytes of the journal record of revision mod.
type version struct {
	key   string
	value string
	// create is the revision of the put that brought the key to life, mod the
	// revision of this version.
	create, mod int64
	// ver counts the puts since create, from 1. A tombstone has 0.
	ver   int64
	lease int64
	// alone: the revision did nothing else; alwaysAlone: nor did any since create.
	alone, alwaysAlone bool
}

func (v *version) deleted() bool { return v.ver == 0 }

// size is what the version costs in payload bytes; used to bound answers.
func (v *version) size() int { return len(v.key) + len(v.value) }

// keyValue returns v in bytes that belong to the caller. Key and value share one
// allocation; both are full slices, so appending to one leaves the other alone.
func (v *version) keyValue(withValue bool) *mvccpb.KeyValue {
	n := len(v.key)
	size := n
	if withValue {
		size += len(v.value)
	}
	buf := make([]byte, size)
	copy(buf, v.key)
	kv := &mvccpb.KeyValue{
		Key:            buf[:n:n],
		CreateRevision: v.create,
		ModRevision:    v.mod,
		Version:        v.ver,
		Lease:          v.lease,
	}
	if withValue && len(v.value) > 0 {
		copy(buf[n:], v.value)
		kv.Value = buf[n:]
	}
	return kv
}

// event returns v as watchers see it. As etcd does, a delete carries only the key
// and the revision. prev may be nil.
func (v *version) event(prev *version) *mvccpb.Event {
	ev := &mvccpb.Event{Type: mvccpb.Event_PUT}
	if v.deleted() {
		ev.Type = mvccpb.Event_DELETE
		ev.Kv = &mvccpb.KeyValue{Key: []byte(v.key), ModRevision: v.mod}
	} else {
		ev.Kv = v.keyValue(true)
	}
	if prev != nil {
		ev.PrevKv = prev.keyValue(true)
	}
	return ev
}
