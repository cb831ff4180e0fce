package etcd

import "sort"

// commit is one revision: the versions it made, in the order of execution.
type commit struct {
	rev      int64
	versions []*version
}

// commitLog holds the revisions that watchers may still ask for, oldest first.
// It is guarded by DB.mu.
//
// A position is always found by binary search on the revision. It is never
// computed from a remembered first revision: such a base has to be moved in step
// with every compaction, and when it is not, watchers see revisions twice or
// miss them without an error.
type commitLog struct {
	commits []*commit
}

func (l *commitLog) add(c *commit) { l.commits = append(l.commits, c) }

// from returns the commits at rev and above. The result is valid while DB.mu is held.
func (l *commitLog) from(rev int64) []*commit {
	i := sort.Search(len(l.commits), func(i int) bool { return l.commits[i].rev >= rev })
	return l.commits[i:]
}

// compact forgets the revisions below rev.
func (l *commitLog) compact(rev int64) {
	// A fresh slice, so that the forgotten commits are not kept alive behind it.
	l.commits = append([]*commit(nil), l.from(rev)...)
}
