package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// syncer brings a file to the disk.
//
// buntdb has written a record to the file (to the system, not to the disk) when
// its transaction ends, so killing the process takes nothing; syncing is about
// loss of power. It is done here and on a file handle of our own, for two reasons:
// buntdb ignores the error, and holds its lock meanwhile. An error must not be
// ignored: the system forgets what it could not write, and says so only once. So
// after the first one nothing more is written.
//
// A nil syncer, that of a journal in memory, has nothing to do.
type syncer struct {
	always bool
	delay  time.Duration

	mu    sync.Mutex // guards all below
	file  *os.File
	dirty bool
	err   error
	// fsync is (*os.File).Sync; tests make it fail.
	fsync func(*os.File) error

	wake, done chan struct{}
	stopped    sync.WaitGroup
}

func newSyncer(opts Options) (*syncer, error) {
	f, err := os.Open(opts.Path)
	if err != nil {
		return nil, err
	}
	s := &syncer{
		always: opts.SyncAlways,
		delay:  opts.SyncDelay,
		file:   f,
		fsync:  (*os.File).Sync,
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
	}
	if !s.always {
		s.stopped.Add(1)
		go s.run()
	}
	return s, nil
}

// failed returns why the file can no longer be trusted, or nil.
func (s *syncer) failed() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// wrote notes that the file has grown; with always it returns when that is on the disk.
func (s *syncer) wrote() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.dirty
	s.dirty = true
	if s.always {
		return s.syncLocked()
	}
	if first {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

func (s *syncer) syncLocked() error {
	if s.err == nil && s.dirty {
		s.dirty = false
		if err := s.fsync(s.file); err != nil {
			s.failLocked(err)
		}
	}
	return s.err
}

func (s *syncer) failLocked(err error) {
	s.err = fmt.Errorf("sync %s: %w; what is on the disk is in doubt, so nothing more is written", s.file.Name(), err)
}

func (s *syncer) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failLocked(err)
}

// run syncs delay after a write, and again delay after the next.
func (s *syncer) run() {
	defer s.stopped.Done()
	for {
		select {
		case <-s.wake:
		case <-s.done:
			return
		}
		t := time.NewTimer(s.delay)
		select {
		case <-t.C:
		case <-s.done:
			t.Stop()
			return
		}
		s.syncBehind()
	}
}

// syncBehind syncs without holding up writers. What they write meanwhile is dirty
// again and gets its own turn.
func (s *syncer) syncBehind() {
	s.mu.Lock()
	f, fsync, dirty := s.file, s.fsync, s.dirty && s.err == nil
	s.dirty = false
	s.mu.Unlock()
	if !dirty {
		return
	}
	err := fsync(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	// A file that Rewrite has replaced and closed meanwhile is nobody's concern.
	if err != nil && f == s.file && s.err == nil {
		s.failLocked(err)
	}
}

// replace goes on with another file, which is on the disk already.
func (s *syncer) replace(f *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.file.Close()
	s.file, s.dirty = f, false
}

// close brings the rest to the disk.
func (s *syncer) close() error {
	if s == nil {
		return nil
	}
	close(s.done)
	s.stopped.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.syncLocked(), s.file.Close())
}
