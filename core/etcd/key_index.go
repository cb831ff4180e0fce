package etcd

import (
	"sort"
)

// history is everything the store remembers of one key, oldest first.
//
// A key is born with a put, grows a version with each further put, and dies with
// a tombstone; a later put starts a new life. In
//
//	revision   2     5     6     8     9
//	put(a)   --o-----o-----------o-----o-->
//	delete(a)--------------x-------------->
//
//	version    1     2     0     1     2
//	create     2     2     -     8     8
//
// "a" has five versions in two lives. A reader at revision 7 finds the newest
// version at or below 7, the tombstone of 6, and sees no key.
//
// Compaction at C keeps what readers at C and later can still see: the newest
// version at or below C and everything above. A tombstone below C goes, and with
// it the life it ended; a tombstone exactly at C stays, so that a watcher that
// starts at C sees the delete (as etcd does since 3.6).
//
//	compact(5)       o-----x-----o-----o-->     version 1 is gone
//	compact(6)             x-----o-----o-->     tombstone kept: it is at C
//	compact(7)                   o-----o-->     first life is gone
//
// One transaction may touch a key twice (a put and a delete in two nested
// transactions); then two versions have the same mod, in the order of execution,
// and the second is what every reader sees.
type history struct {
	key      string
	versions []*version
}

// after returns the position of the first version above rev.
func (h *history) after(rev int64) int {
	vs := h.versions
	// Nearly every read is for the newest revision.
	if n := len(vs); n == 0 || vs[n-1].mod <= rev {
		return n
	}
	return sort.Search(len(vs), func(i int) bool { return vs[i].mod > rev })
}

// at returns what a reader at rev sees of the key: nil when it does not exist then.
func (h *history) at(rev int64) *version {
	if v := h.last(rev); v != nil && !v.deleted() {
		return v
	}
	return nil
}

// last returns the newest version at or below rev, a tombstone included, or nil.
func (h *history) last(rev int64) *version {
	if i := h.after(rev); i > 0 {
		return h.versions[i-1]
	}
	return nil
}

// compact forgets what no reader at rev or later can see, and returns it. The
// caller removes a history that has become empty.
func (h *history) compact(rev int64) (dropped []*version) {
	keep := h.after(rev)
	if keep > 0 && (!h.versions[keep-1].deleted() || h.versions[keep-1].mod == rev) {
		keep--
	}
	if keep == 0 {
		return nil
	}
	dropped = h.versions[:keep:keep]
	// A fresh slice, so that the dropped versions are not kept alive behind it.
	h.versions = append([]*version(nil), h.versions[keep:]...)
	return dropped
}

// replace puts fresh where old is.
func (h *history) replace(old, fresh *version) {
	for i := h.after(old.mod) - 1; i >= 0; i-- {
		if h.versions[i] == old {
			h.versions[i] = fresh
			return
		}
	}
}
