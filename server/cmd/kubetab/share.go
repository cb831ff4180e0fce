package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/server/share"
)

const (
	mostShared   = 1 << 30 // bytes of all that visitors have sent
	mostSent     = 10      // by an address in a minute
	mostReceived = 120
	sweepEvery   = 24 * time.Hour
)

// shareStore is the store in a folder, and what sweeps it.
type shareStore struct {
	handler   *share.Handler
	directory *share.Directory
	stop      context.CancelFunc
	swept     sync.WaitGroup
}

// openShare opens the share store in o.shareDir. What is unused is removed from it once a day, until it is closed.
func (o *options) openShare(ctx context.Context) (*shareStore, error) {
	token := ""
	if o.shareTokenFile != "" {
		text, err := os.ReadFile(o.shareTokenFile)
		if err != nil {
			return nil, fmt.Errorf("--share-token-file: %w", err)
		}
		if token = strings.TrimSpace(string(text)); token == "" {
			return nil, fmt.Errorf("--share-token-file %s: there is no token in it", o.shareTokenFile)
		}
	}
	directory, err := share.OpenDirectory(o.shareDir, mostShared)
	if err != nil {
		return nil, fmt.Errorf("--share-dir: %w", err)
	}
	sweeping, stop := context.WithCancel(ctx)
	s := &shareStore{directory: directory, stop: stop, handler: share.New(share.Config{
		Storage: directory, Token: token,
		Writes: share.NewWindow(mostSent, time.Minute, nil), Reads: share.NewWindow(mostReceived, time.Minute, nil),
	})}
	s.swept.Go(func() {
		every := time.NewTicker(sweepEvery)
		defer every.Stop()
		for {
			select {
			case <-sweeping.Done():
				return
			case now := <-every.C:
				// What cannot be removed today is tomorrow, and is not served meanwhile.
				_ = directory.Sweep(now)
			}
		}
	})
	return s, nil
}

// Close ends the sweeping and closes the folder.
func (s *shareStore) Close() error {
	s.stop()
	s.swept.Wait()
	return s.directory.Close()
}
