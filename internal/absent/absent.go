// Package absent fails requests and commands that wait for a part of the module when that part cannot be
// downloaded. A goroutine waits when it calls a function of a part before the part has arrived. See
// wasm/split.
//
// The goroutine is parked in the middle of a call until the part has arrived, and nothing else ends its wait: it may hold
// locks, and may be half way through a sync.Once. Instead, the owner of the goroutine - the request or the command that it
// works for - is told as soon as a download has failed, and ends without the goroutine: a request with an error, a command
// with a message. The goroutine ends its work later, and its result is dropped.
//
// A goroutine has the owner of the goroutine that started it, unless it calls Own. Controllers have no owner, and wait
// as long as it takes.
//
// Natively all functions are there, and no owner is ever told.
package absent

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Error is the error that owners are told.
type Error struct {
	Why string // in the words of the browser
}

func (e *Error) Error() string {
	return fmt.Sprintf("a part of the API server that this needs is not here, and could not be downloaded: %s Try again when there is a connection", e.Why)
}

type owner struct {
	// mark is the first field, because the runtime looks at it: goroutines of behind run behind all others, and those of ahead
	// before them.
	mark uint64
	// none has runtime/pprof, which takes the label of a goroutine for a slice of labels, see an empty one.
	none    [2]uint
	fail    func(error)
	account any // what the goroutine's memory counts for, see Account
	// Of a program:
	isProgram bool
	hurries   *hurry      // how long it runs among all others, see Hurry; nil when it does not
	slows     *time.Timer // ends that
}

// hurry is that of a program and of those that it starts.
type hurry struct {
	until time.Time
	steps atomic.Int64 // that are left, see Step
}

// behind is kubetabBehindMark of runtime/lock_js.go, of wasm/patch, and ahead is its kubetabAheadMark.
const (
	behind = 0x6b756265746162
	ahead  = 0x6b75626561686561
)

// owners are those that Own has registered. The runtime knows them by address, and their goroutines may have labels of
// runtime/pprof in the same place.
var owners = struct {
	mu sync.Mutex
	at map[unsafe.Pointer]*owner
}{at: map[unsafe.Pointer]*owner{}}

// Own gives the calling goroutine, and those that it starts from now on, a new owner, which takes the place of a former one.
// They work for a request, and run before those of programs. fail is called with an *Error, once for each download that fails
// while one of them waits, possibly by several goroutines; it must not wait for them. release is to be called by the same
// goroutine, and leaves it without an owner.
//
// The new owner has no account, see OwnFor: a call from JavaScript runs on whichever goroutine has called JavaScript, and
// the request that it begins is not of that goroutine's line.
func Own(fail func(error)) (release func()) { return own(&owner{fail: fail}) }

// Ahead starts a goroutine that calls f, with a new owner as Own gives one. It works for a request that somebody waits for: until
// f calls answered, it and those that it starts run before all others when they begin, and when they are woken, which is every
// other time that the scheduler chooses. Who calculates for long has no more of the time than others. answered may be called
// more than once, and by several goroutines.
//
// Without it, a request would wait for all that can run each time one of its goroutines hands it to another. Natively, and where
// nothing else can run, it makes no difference.
func Ahead(fail func(error), f func(answered func())) {
	if !resumable {
		go f(func() {})
		return
	}
	o := &owner{mark: ahead, fail: fail}
	former := label()
	o.register()
	go func() {
		defer o.release()
		f(o.answered)
	}()
	setLabel(former)
}

// answered ends what Ahead gives.
func (o *owner) answered() { o.mark = 0 }

// Account returns what the owner of the calling goroutine was given by OwnFor; nil when there is none, and natively.
func Account() any {
	if !resumable {
		return nil
	}
	owners.mu.Lock()
	defer owners.mu.Unlock()
	if o := owners.at[label()]; o != nil {
		return o.account
	}
	return nil
}

// Serve gives the calling goroutine, and those that it starts from now on, an owner that is told what the present one is
// told, and is no program: they are the API server's part of what a program asks for, may hold locks, and run before
// programs. What they allocate is not the program's, and must not end them. They have no owner where the program has ended
// by now. It does nothing where the present owner is no program. release is that of Own.
func Serve() (release func()) {
	if !resumable {
		return func() {}
	}
	owners.mu.Lock()
	o := owners.at[label()]
	owners.mu.Unlock()
	switch {
	case o == nil: // the program has ended
		setLabel(nil)
		return func() {}
	case !o.isProgram:
		return func() {}
	}
	return Own(o.fail)
}

// Hurry has the program that owns the calling goroutine, and those that it starts, run among all others until a time, and not
// behind them: somebody waits for it, and it is new. They do so no longer when they have made so many steps together ([Step]):
// a program that makes thousands is a loop, or a fork bomb. It does nothing natively, and where the owner is no program.
func Hurry(until time.Time, steps int64) {
	if o := program(); o != nil {
		h := &hurry{until: until}
		h.steps.Store(steps)
		o.hurry(h)
	}
}

// Step counts a step of the program that owns the calling goroutine, as long as it hurries. It does nothing natively.
func Step() {
	if o := program(); o != nil && o.hurries != nil && o.hurries.steps.Add(-1) < 0 {
		o.hurry(nil)
	}
}

// program returns the owner of the calling goroutine if it is a program, and nil otherwise.
func program() *owner {
	if !resumable {
		return nil
	}
	owners.mu.Lock()
	defer owners.mu.Unlock()
	if o := owners.at[label()]; o != nil && o.isProgram {
		return o
	}
	return nil
}

// hurry is for the goroutine that has made o the owner, and for Step. It must not hold owners.mu: what it calls may have to be
// waited for. h is nil where the program does not hurry.
func (o *owner) hurry(h *hurry) {
	if o.slows != nil {
		o.slows.Stop()
	}
	o.hurries, o.mark = h, behind
	if h == nil || h.steps.Load() < 0 {
		return
	}
	if left := time.Until(h.until); left > 0 {
		o.mark = 0
		o.slows = time.AfterFunc(left, func() { o.mark = behind })
	}
}

// OwnFor is Own for a program, which may have an account of its own. Programs run behind all other goroutines: they calculate
// for as long as they like, and share what time the API server leaves them, which is a third where it has always something to
// do. A program of one that hurries hurries, too.
func OwnFor(fail func(error), account any) (release func()) {
	return own(&owner{mark: behind, fail: fail, account: account, isProgram: true})
}

func own(o *owner) (release func()) {
	if !resumable {
		return func() {}
	}
	if o.isProgram {
		owners.mu.Lock()
		former := owners.at[label()]
		owners.mu.Unlock()
		if former != nil {
			o.hurry(former.hurries)
		}
	}
	o.register()
	return o.release
}

// register makes o the owner of the calling goroutine.
func (o *owner) register() {
	owners.mu.Lock()
	owners.at[unsafe.Pointer(o)] = o
	owners.mu.Unlock()
	setLabel(unsafe.Pointer(o))
}

// release leaves the calling goroutine without an owner, and makes o one that runs like all others where it was ahead: it may have
// started goroutines that stay.
func (o *owner) release() {
	owners.mu.Lock()
	delete(owners.at, unsafe.Pointer(o))
	owners.mu.Unlock()
	if o.slows != nil {
		o.slows.Stop()
	}
	if o.mark == ahead {
		o.answered()
	}
	setLabel(nil)
}

// CanEnd is false where the functions that Ender returns do nothing.
const CanEnd = resumable

// Ender returns a function that ends the goroutines which have the calling goroutine's owner now, as runtime.Goexit does. Each
// ends as soon as it has calculated for some milliseconds in a function that knows no context and holds no lock, such as a
// search for a regular expression: kubetabEndable in runtime/lock_js.go, of wasm/patch, has the list. A goroutine that
// never does so is not ended. end may be called when the owner has been released, and does nothing natively, where threads
// that are left behind keep nobody from anything.
func Ender() (end func()) {
	if !resumable {
		return func() {}
	}
	of := label()
	return func() { endLabelled(of) }
}

// Attempt runs f and returns its result. Where f may wait for a part of the module, f has a goroutine of its own, and err is an
// *Error as soon as f waits and a download has failed. f then goes on, and its result is dropped.
func Attempt[T any](f func() T) (result T, err error) {
	if !resumable {
		return f(), nil
	}
	done := make(chan T, 1)
	missing := make(chan error, 1)
	go func() {
		defer Own(func(err error) {
			select {
			case missing <- err:
			default: // the first is enough
			}
		})()
		done <- f()
	}()
	select {
	case result = <-done:
		return result, nil
	case err = <-missing:
		return result, err
	}
}

// Fail tells every owner that has a goroutine which waits.
func Fail(why string) {
	labels := make([]unsafe.Pointer, waiting(nil))
	labels = labels[:min(waiting(labels), len(labels))]
	waiting := map[*owner]bool{}
	owners.mu.Lock()
	for _, label := range labels {
		if o, ok := owners.at[label]; ok {
			waiting[o] = true
		}
	}
	owners.mu.Unlock()
	for o := range waiting {
		o.fail(&Error{why})
	}
}

// Arrived lets all goroutines go on that wait: the functions are there.
func Arrived() { arrived() }
