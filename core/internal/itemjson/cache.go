package itemjson

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// unused is the shortest time for which the JSON of an item that is not
	// listed is kept; the longest is twice that.
	unused = time.Minute
	// overhead is what a kept item takes beside its JSON, in bytes: its entry,
	// and room in a map that is half full.
	overhead = 192
	// marks is how many items are remembered to have been listed once, in four
	// bytes each. Two that have one place take it from each other every other
	// time: of a list that is read again and again, all items are kept in the end.
	marks = 1 << 14
)

// identity says which JSON an item has: that of the object in memory that it
// is a copy of, in one version of the API.
//
// An item of a list is a shallow copy of an object that was decoded from the
// store, mostly one that a watch cache holds and never changes: the copy has
// the array of managed fields of the original, and conversion to a version
// hands it on with the rest of the metadata. All other bytes of the item
// follow from the original: what upstream sets when it reads (defaultOnRead of
// Services and PersistentVolumeClaims) and how it converts depends on nothing
// else while a server runs. Whatever is really another object has another
// array, even where UID and resource version are the same: a copy that was
// made to be changed (the audit log's, without managed fields), what a dry run
// answers, an object of another engine or of a store that was set back. The
// array is held as long as it is a key, so nothing else can be allocated at
// its address.
type identity struct {
	of              reflect.Type // of the item, which has one kind and version
	fields          *metav1.ManagedFieldsEntry
	resourceVersion string // should upstream ever hand on an array that did not change
}

// Cache keeps the JSON of items for the serializers that Serving returns. It is
// safe for concurrent use, and locks a few times for a list, not for an item.
// What it keeps of an item is its JSON with the comma that follows it, which
// nobody may change.
type Cache struct {
	limit int // bytes

	// Two generations: new JSON goes to young. When young is full, or after a
	// while, young becomes old, and the former old is dropped. An item of old
	// that is listed moves to young.
	mu         sync.RWMutex
	young, old map[identity][]byte
	youngBytes int
	seen       []uint32    // by mark: whose mark it is
	aging      *time.Timer // set while anything is kept
}

// New returns a Cache of at most limit bytes. What was superseded counts until
// it is dropped, and holds its object's managed fields.
func New(limit int) *Cache { return &Cache{limit: limit} }

// find sets found to the kept JSON of ids. It returns the indices of those that
// have none, and of those whose JSON is in the old generation.
func (c *Cache) find(ids []identity, found [][]byte) (missing, aged []int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for i, id := range ids {
		if found[i] = c.young[id]; found[i] != nil {
			continue
		}
		if found[i] = c.old[id]; found[i] != nil {
			aged = append(aged, i)
		} else {
			missing = append(missing, i)
		}
	}
	return missing, aged
}

// again marks those of ids that which says as listed, and reports for each
// of ids whether it was marked before: the JSON of an item that is listed once is not
// worth its memory. A mark can be lost to another item's, and be taken for
// another item's; all it decides is when an item is kept. An item without
// managed fields is never marked.
func (c *Cache) again(ids []identity, which []int) []bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = make([]uint32, marks)
	}
	was := make([]bool, len(ids))
	for _, i := range which {
		if ids[i].fields == nil {
			continue
		}
		hash := uint64(reflect.ValueOf(ids[i].fields).Pointer()) * 0x9E3779B97F4A7C15 // 2^64 by the golden ratio
		mark, slot := uint32(hash>>8), &c.seen[hash>>40%marks]
		if was[i] = *slot == mark; was[i] {
			continue
		}
		if *slot == 0 || rand.Uint32()%2 == 0 {
			*slot = mark
		}
	}
	return was
}

// keep makes those of ids that which says young, with their values.
func (c *Cache) keep(ids []identity, which []int, values [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	turned := false
	for _, i := range which {
		if _, ok := c.young[ids[i]]; ok {
			continue // somebody else's list has had it in the meantime
		}
		size := len(values[i]) + overhead
		if size > c.limit/2 {
			continue
		}
		if c.youngBytes+size > c.limit/2 {
			if turned {
				break // a list that there is no room for would push out its own beginning
			}
			turned = true
			c.turn()
		}
		if c.young == nil {
			c.young = map[identity][]byte{}
		}
		c.young[ids[i]] = values[i]
		c.youngBytes += size
		delete(c.old, ids[i])
	}
	if c.aging == nil && len(c.young) > 0 {
		c.aging = time.AfterFunc(unused, c.age)
	}
}

// turn makes what is young old. The caller holds the lock.
func (c *Cache) turn() { c.old, c.young, c.youngBytes = c.young, nil, 0 }

// age turns every now and then, until nothing is kept.
func (c *Cache) age() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn()
	if len(c.old) == 0 {
		c.seen, c.aging = nil, nil
		return
	}
	c.aging.Reset(unused)
}
