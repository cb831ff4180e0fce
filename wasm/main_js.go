package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/core/resume"
	"github.com/kubetab/kubetab/tutorials/evaluate"
	"github.com/kubetab/kubetab/wasm/boundary"
	"github.com/kubetab/kubetab/wasm/bridge"
)

// closeLimit is how long close() waits for handlers that do not heed their context.
const closeLimit = 10 * time.Second

// maxStack is how far a goroutine's stack may grow. An endless recursion then ends with a message, instead
// of taking memory until the browser ends the worker. Request bodies of the depth that upstream allows need
// a fraction of it.
const maxStack = 256 << 20

// frozenGCPercent is for an engine that will be frozen. All memory that it takes while it starts is in every page that
// resumes the snapshot, and no visitor waits for its garbage collections.
const frozenGCPercent = 4

func main() {
	start := time.Now()
	host, err := boundary.FindHost()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubetab:", err)
		os.Exit(1)
	}
	if err := run(host, start); err != nil {
		host.Fatal(err.Error())
		fmt.Fprintln(os.Stderr, "kubetab:", err)
		os.Exit(1)
	}
}

// run starts an engine, serves the host until it asks to close, and ends the engine. It is long because it connects
// everything with everything else: parts of it would hand a dozen values to each other.
func run(host *boundary.Host, start time.Time) error {
	text, err := host.Config()
	if err != nil {
		return err
	}
	s, err := parseSettings(text)
	if err != nil {
		return err
	}
	debug.SetGCPercent(s.GCPercent)
	debug.SetMemoryLimit(memoryLimit)
	if s.ToBeFrozen {
		debug.SetGCPercent(frozenGCPercent)
		boundary.Tighten(true)
	}
	debug.SetMaxStack(maxStack)
	logWarningsOnly(s.Verbosity)

	b := bridge.New(host)
	closing := make(chan struct{})
	var once sync.Once
	freezing, thawed := make(chan struct{}, 1), make(chan struct{}, 1)
	tell := func(c chan struct{}) {
		select {
		case c <- struct{}{}:
		default: // one is enough
		}
	}
	c := s.engine()
	keep := &keeping{host: host, clock: c.Clock, verbosity: s.Verbosity}
	functions := boundary.Functions{
		Bridge: b,
		Start:  start,
		Close:  func() { once.Do(func() { close(closing) }) },
		Kept:   keep.kept,
		Freeze: func() { tell(freezing) },
		Thawed: func() { tell(thawed) },
	}
	if err := boundary.Publish(functions); err != nil {
		return err
	}
	if err := host.Started(); err != nil {
		return err
	}

	requests := requestlog.New(requestlog.Options{})
	c.Resume.Tap = keep.tap
	c.Requests = requests
	if !s.Anonymous {
		c.Workspace = func() ([]bundle.File, error) { return cluster.ReadFiles(home) }
	}
	c.OnStage = func(stage core.Stage) { host.Stage(string(stage), time.Since(start)) }
	tokens := peopleTokens()
	c.Admit(tokens)
	if err := keep.begin(&c); err != nil {
		return err
	}
	core.QuietWorkQueues()
	engine, err := core.New(context.Background(), c)
	if errors.Is(err, resume.ErrKept) {
		if err := keep.without(&c, err); err != nil {
			return err
		}
		engine, err = core.New(context.Background(), c)
	}
	if err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	keep.begun()
	handler := engine.Handler()
	endLesson := func() {}
	if !s.Anonymous { // the terminal is the administrator's
		with, terminals, err := withShell(handler, engine.Outside(), tokens)
		if err != nil {
			return errors.Join(fmt.Errorf("start the terminal: %w", err), engine.Close())
		}
		defer terminals.Close() // what it may return is of no interest any more
		handler = withSettings(with, s, engine)
		lesson := evaluate.New(evaluate.Config{
			Client: engine.RESTConfig(), Requests: requests, Clock: c.Clock, Namespace: terminals.SetNamespace, Log: log.Printf,
		})
		endLesson = lesson.Close
		handler = withLesson(handler, lesson.Handler())
	}
	b.SetHandler(withRequestLog(handler, requests))

	for running := true; running; {
		select {
		case <-freezing:
			requests.Forget() // what nobody will read need not be in the snapshot
			if err := engine.ResumePoint().Freeze(); err != nil {
				return errors.Join(err, engine.Close())
			}
			host.Stage("frozen", time.Since(start))
		case <-thawed:
			start = time.Now()
			debug.SetGCPercent(s.GCPercent)
			boundary.Tighten(false)
			requests.Forget() // what the start asked of itself is nobody's history
			if err := keep.goOn(context.Background(), engine.ResumePoint()); err != nil {
				return errors.Join(err, engine.Close())
			}
			host.Stage(string(core.StageReady), time.Since(start))
		case <-closing:
			running = false
		case <-engine.Done(): // by itself: Close tells why
			return errors.Join(errors.New("the API server has ended"), engine.Close())
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := b.Close(ctx); err != nil {
		return err
	}
	endLesson() // its watches end before the server does
	return engine.Close()
}

// withLesson serves the lesson that somebody works on beside the API, to the page as well.
func withLesson(api, lesson http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == evaluate.Path {
			lesson.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// withRequestLog serves the log beside the API, to the page whose engine this is. Not by an http.ServeMux, which would
// redirect paths that the API server answers itself.
func withRequestLog(api http.Handler, requests *requestlog.Log) http.Handler {
	own := requests.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == requestlog.Prefix || strings.HasPrefix(r.URL.Path, requestlog.Prefix+"/") {
			own.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
