package etcd

import (
	"github.com/tidwall/btree"
)

// keyIndex finds histories by key, in order. It is guarded by DB.mu: many readers
// or one writer.
type keyIndex struct {
	tree *btree.BTreeG[*history]
}

func newKeyIndex() *keyIndex {
	less := func(a, b *history) bool { return a.key < b.key }
	return &keyIndex{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

// get returns the history of key, or nil.
func (x *keyIndex) get(key string) *history {
	h, _ := x.tree.Get(&history{key: key})
	return h
}

// at returns what a reader at rev sees of key, or nil.
func (x *keyIndex) at(key string, rev int64) *version {
	if h := x.get(key); h != nil {
		return h.at(rev)
	}
	return nil
}

// before returns the version of v's key that v's revision replaced, or nil.
func (x *keyIndex) before(v *version) *version { return x.at(v.key, v.mod-1) }

// add appends v, which must be newer than all versions of its key.
func (x *keyIndex) add(v *version) {
	h := x.get(v.key)
	if h == nil {
		h = &history{key: v.key}
		x.tree.Set(h)
	}
	h.versions = append(h.versions, v)
}

func (x *keyIndex) remove(h *history) { x.tree.Delete(h) }

// ascend calls fn for each history within span, in key order, until it returns false.
func (x *keyIndex) ascend(s span, fn func(*history) bool) {
	if s.point() {
		if h := x.get(s.key); h != nil {
			fn(h)
		}
		return
	}
	x.tree.Ascend(&history{key: s.key}, func(h *history) bool {
		return s.contains(h.key) && fn(h)
	})
}

// visit calls fn for each key that exists at rev within span, in key order, until
// it returns false.
func (x *keyIndex) visit(s span, rev int64, fn func(*version) bool) {
	x.ascend(s, func(h *history) bool {
		if v := h.at(rev); v != nil {
			return fn(v)
		}
		return true
	})
}

// span is the set of keys that a request names.
type span struct {
	key string
	// end is the first key beyond the span; see kind.
	end  string
	kind spanKind
}

type spanKind uint8

const (
	spanPoint spanKind = iota // exactly key
	spanRange                 // [key, end)
	spanFrom                  // [key, infinity)
)

// newSpan reads a request's key and range_end: no end is one key, "\0" is
// everything from key on. See etcdserverpb.RangeRequest.
func newSpan(key, end string) span {
	switch end {
	case "":
		return span{key: key}
	case "\x00":
		return span{key: key, kind: spanFrom}
	default:
		return span{key: key, end: end, kind: spanRange}
	}
}

func (s span) point() bool { return s.kind == spanPoint }

func (s span) contains(key string) bool {
	switch s.kind {
	case spanPoint:
		return key == s.key
	case spanFrom:
		return key >= s.key
	default:
		return key >= s.key && key < s.end
	}
}
