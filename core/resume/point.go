package resume

import (
	"context"
	"crypto"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/informerset"
	"github.com/kubetab/kubetab/core/internal/records"
)

// Point is where copies of an engine go on. Its methods are safe to call from several
// goroutines at once.
type Point struct {
	engine Engine

	mu    sync.Mutex
	state state
	hold  *etcd.Hold // in the state frozen
}

type state int

const (
	running state = iota
	frozen
	ended
)

// Engine is what core gives a Point of an engine.
type Engine struct {
	Store   *etcd.DB        // nil with a real etcd
	Started <-chan struct{} // closed when the control loops have been started, or have not
	Caches  Caches
	// Loops returns what controllers, scheduler and kubelets hear through, and the
	// context that they run in. It is called after Started.
	Loops func() (context.Context, []*informerset.Held)
	// Sign makes a key the one that signs service account tokens.
	Sign func(crypto.Signer) error
	// Identify starts the controllers that wait for an identity. It is called after
	// Started, and fails when the engine has ended.
	Identify func(controllers.Identity) error
}

// Caches are all watch caches of an engine.
type Caches interface {
	// Settle waits until each cache has the last change of each of its keys. newest
	// calls f with each key and the revision of its last change. It fails with ctx's
	// error.
	Settle(ctx context.Context, newest func(f func(key string, rev int64))) error
	// Relist fills all anew from the store, and ends the watches that they serve.
	Relist(ctx context.Context) error
}

// NewPoint is for core.New.
func NewPoint(e Engine) *Point { return &Point{engine: e} }

// Freeze holds back all writes to the store, until Renew, Restore, TakeOver, Become or
// the engine's end: what is copied from then on is at the same revision for all.
// Requests that write wait, each as long as its context. Freezing twice is harmless.
//
// It fails on an engine over etcd servers, to which others write, and on one that
// ends.
func (p *Point) Freeze() error {
	if p.engine.Store == nil {
		return errors.New("freeze: an engine over etcd servers cannot hold back what others write")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.state {
	case ended:
		return errors.New("freeze: the engine has ended")
	case running:
		p.state, p.hold = frozen, p.engine.Store.Hold()
	case frozen:
	}
	return nil
}

// Base returns what is in the store of an engine that has been frozen: together
// with what Config.Tap is told of from then on, all that Config.Entries needs. It
// must be called before Renew, Restore, TakeOver and Become. It fails with ErrNotFrozen
// and on a damaged store.
func (p *Point) Base() ([]etcd.Entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != frozen {
		return nil, ErrNotFrozen
	}
	return p.hold.Entries()
}

// thaw lets others write.
func (p *Point) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveLocked(running)
}

// End lets others write for good: core calls it when the engine is about to end, because
// a start and the server's end wait for requests.
func (p *Point) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveLocked(ended)
}

// leaveLocked ends the state frozen. A Point that has ended stays so.
func (p *Point) leaveLocked(next state) {
	if p.state == frozen {
		p.hold.Release()
		p.hold = nil
	}
	if p.state != ended {
		p.state = next
	}
}

// leapPatience bounds how long controllers hear nothing after a leap.
const leapPatience = 10 * time.Second

// leap has f change the store, which is held, and lets others write again if that
// succeeds. Controllers, scheduler and kubelets are told of the changes when all
// caches have the News that f returns. It fails with ErrNotFrozen and as f does.
func (p *Point) leap(f func(*etcd.Hold) (informerset.News, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != frozen {
		return ErrNotFrozen
	}
	var end func(informerset.News)
	select {
	case <-p.engine.Started:
		loops, views := p.engine.Loops()
		step := informerset.Begin(views)
		end = func(news informerset.News) {
			ctx, cancel := context.WithTimeout(loops, leapPatience)
			defer cancel()
			step.End(ctx, news)
		}
	default: // they will begin with all that there is
	}
	news, err := f(p.hold)
	if err == nil {
		p.leaveLocked(running)
	}
	if end != nil {
		go end(news)
	}
	return err
}

// newsSince is the last of what has been written after a revision: informers see all of
// it in its order.
func newsSince(h *etcd.Hold, rev int64) informerset.News {
	last := map[schema.GroupKind]int64{}
	h.Changed(rev, func(_, value string, rev int64) {
		if kind, ok := records.Kind([]byte(value)); ok {
			last[kind] = max(last[kind], rev)
		}
	})
	return informerset.News{Last: last}
}
