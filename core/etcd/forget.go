package etcd

import "slices"

// What is here keeps the number of entries at that of the objects, however many objects
// have come and gone:
//
//	entries     c1   c2   m2   d1   c3   d2   c4   d4
//	forgotten                       c3   d2*  c4   d4     d2* does nothing, and supersedes c1, c2, m2 and d1
//
// The creation, the last state and the deletion of an object are forgotten together,
// because a creation without its deletion would bring the object back. The entries of
// an object that the base has stay.

// defaultMostEnded is how many deletions keep their entries. As long as they do, clients
// that watched in an earlier program go on in the next one.
const defaultMostEnded = 64

// ending is a revision that deleted objects and did nothing else.
type ending struct {
	rev  int64   // of the deletion, or of the mark of what was forgotten before
	revs []int64 // of the other entries of these objects
}

// ends returns the entries that c makes useless together with its own. It returns false
// where c puts something, or where entries of what it deletes hold something else, too.
// Called before c is published.
func (db *DB) ends(c *commit) (ending, bool) {
	e := ending{rev: c.rev}
	for _, v := range c.versions {
		if !v.deleted() {
			return ending{}, false
		}
		prev := db.index.at(v.key, c.rev)
		if prev == nil || prev.create <= db.base || !prev.alwaysAlone {
			return ending{}, false
		}
		e.revs = append(e.revs, prev.create)
		if prev.mod != prev.create {
			e.revs = append(e.revs, prev.mod)
		}
	}
	return e, true
}

// forget tells Options.Tap to forget the older half of what has ended, when it is more
// than db.mostEnded. Called under writeMu.
func (db *DB) forget() {
	if len(db.ended) <= db.mostEnded {
		return
	}
	n := len(db.ended) - db.mostEnded/2
	mark := db.ended[n-1].rev
	var names []string
	for _, e := range db.ended[:n] {
		for _, rev := range append(e.revs, e.rev) {
			if rev != mark {
				names = append(names, entryName(revisionKey(rev)))
			}
		}
	}
	record, _ := encodeOps(mark, nil)
	db.tap(revisionKey(mark), record, names...)
	db.ended = append([]ending{{rev: mark}}, db.ended[n:]...)
}

// setBase notes that whoever keeps the entries has the content up to a revision from
// elsewhere. Called under writeMu.
func (db *DB) setBase(rev int64) {
	db.base = rev
	db.ended = slices.DeleteFunc(db.ended, func(e ending) bool { return e.rev <= rev })
}
