package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// model is what the store must be, said in the simplest way: every state it was
// ever in.
type model struct {
	compacted int64
	// states and changes of revision n are at index n; nothing is at 0.
	states  []map[string]modelKV
	changes [][]modelChange
}

type modelKV struct {
	value            string
	create, mod, ver int64
	lease            int64
}

type modelChange struct {
	key     string
	deleted bool
	kv      modelKV
	prev    *modelKV
}

func newModel() *model {
	return &model{compacted: -1, states: make([]map[string]modelKV, 2), changes: make([][]modelChange, 2)}
}

func (m *model) rev() int64 { return int64(len(m.states)) - 1 }

func (m *model) now() map[string]modelKV { return m.states[m.rev()] }

// commit makes a revision of what fn does to the state, if it does anything.
func (m *model) commit(fn func(put func(key, value string, lease int64), del func(key string))) {
	state, rev := maps.Clone(m.now()), m.rev()+1
	if state == nil {
		state = map[string]modelKV{}
	}
	before := m.now()
	var changes []modelChange
	prevOf := func(key string) *modelKV {
		if kv, ok := before[key]; ok {
			return &kv
		}
		return nil
	}
	fn(func(key, value string, lease int64) {
		kv := modelKV{value: value, create: rev, mod: rev, ver: 1, lease: lease}
		if old, ok := state[key]; ok {
			kv.create, kv.ver = old.create, old.ver+1
		}
		state[key] = kv
		changes = append(changes, modelChange{key: key, kv: kv, prev: prevOf(key)})
	}, func(key string) {
		if _, ok := state[key]; ok {
			delete(state, key)
			changes = append(changes, modelChange{key: key, deleted: true, kv: modelKV{mod: rev}, prev: prevOf(key)})
		}
	})
	if len(changes) > 0 {
		m.states, m.changes = append(m.states, state), append(m.changes, changes)
	}
}

// within returns the keys of a state in [key, end), sorted.
func within(state map[string]modelKV, key, end string) (keys []string) {
	s := newSpan(key, end)
	for k := range state {
		if s.contains(k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

func (kv modelKV) is(got *mvccpb.KeyValue) bool {
	return got != nil && kv == modelKV{string(got.Value), got.CreateRevision, got.ModRevision, got.Version, got.Lease}
}

// modelWatch is a watch and what it has seen.
type modelWatch struct {
	key, end string
	from     int64
	prevKV   bool
	stop     context.CancelFunc
	done     chan struct{}
	// pace holds the consumer up, so that it falls behind.
	pace chan struct{}
	free bool

	mu     sync.Mutex
	events []*clientv3.Event
	last   clientv3.WatchResponse
	upTo   int64 // of the last response
	failed error
}

func (w *modelWatch) consume(ch clientv3.WatchChan) {
	defer close(w.done)
	for r := range ch {
		w.mu.Lock()
		w.last = r
		if r.Err() == nil {
			if n := len(r.Events); n > 0 && r.Events[n-1].Kv.ModRevision > r.Header.Revision {
				w.failed = fmt.Errorf("a response of revision %d has an event of %d", r.Header.Revision, r.Events[n-1].Kv.ModRevision)
			}
			if r.Header.Revision < w.upTo {
				w.failed = fmt.Errorf("a response of revision %d follows one of %d", r.Header.Revision, w.upTo)
			}
			w.upTo = r.Header.Revision
			w.events = append(w.events, r.Events...)
		}
		w.mu.Unlock()
		<-w.pace
	}
}

func (w *modelWatch) letGo() {
	if !w.free {
		w.free = true
		close(w.pace)
	}
}

// check compares what w saw with what m says it must have seen: every change of
// its keys once and in order; or, if it fell behind a compaction, all of them up to
// a whole revision, and etcd's error.
func (w *modelWatch) check(m *model, compactions []int64) error {
	if w.failed != nil {
		return w.failed
	}
	s := newSpan(w.key, w.end)
	i := 0
	for rev := w.from; rev <= m.rev(); rev++ {
		for n, c := range m.changes[rev] {
			if !s.contains(c.key) {
				continue
			}
			if i == len(w.events) {
				err := w.last.Err()
				switch {
				case !errors.Is(err, rpctypes.ErrCompacted):
					return fmt.Errorf("revision %d of %q is missing, and the watch ended with %v", rev, c.key, err)
				case !w.last.Canceled || w.last.CompactRevision <= max(w.from, w.upTo+1):
					return fmt.Errorf("compacted at %d (canceled %v), but it was not behind: it had seen %d", w.last.CompactRevision, w.last.Canceled, w.upTo)
				case !slices.Contains(compactions, w.last.CompactRevision):
					return fmt.Errorf("there was no compaction at %d", w.last.CompactRevision)
				case n > 0 && s.contains(m.changes[rev][n-1].key):
					return fmt.Errorf("revision %d was cut in two", rev)
				}
				return nil
			}
			if err := w.same(c, w.events[i]); err != nil {
				return fmt.Errorf("event %d: %w", i, err)
			}
			i++
		}
	}
	if i < len(w.events) {
		return fmt.Errorf("event %d is too many: %v", i, w.events[i])
	}
	return nil
}

func (w *modelWatch) same(c modelChange, e *clientv3.Event) error {
	if string(e.Kv.Key) != c.key || c.deleted != (e.Type == clientv3.EventTypeDelete) || !c.kv.is(e.Kv) {
		return fmt.Errorf("got %v, want %+v", e, c)
	}
	switch {
	case !w.prevKV || c.prev == nil:
		if e.PrevKv != nil {
			return fmt.Errorf("%v has an unexpected previous value", e)
		}
	case e.PrevKv == nil:
		// It may have been compacted away; that the newest versions have theirs is
		// checked by the transcripts.
	case !c.prev.is(e.PrevKv) || string(e.PrevKv.Key) != c.key:
		return fmt.Errorf("previous value %v, want %+v", e.PrevKv, *c.prev)
	}
	return nil
}
