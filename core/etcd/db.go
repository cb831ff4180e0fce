package etcd

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

// Version is what Status reports: the etcd release whose behaviour this package has.
const (
	Version        = "3.7.0"
	storageVersion = "3.7.0"
)

const (
	// defaultMaxRequestBytes and defaultMaxTxnOps are etcd's --max-request-bytes
	// and --max-txn-ops.
	defaultMaxRequestBytes = 1.5 * 1024 * 1024
	defaultMaxTxnOps       = 128
	// defaultProgressInterval is etcd's --watch-progress-notify-interval.
	defaultProgressInterval = 10 * time.Minute
	// defaultSyncDelay is etcd's --backend-batch-interval.
	defaultSyncDelay = 100 * time.Millisecond
	// firstRev is the revision of an empty store.
	firstRev = 1
)

// Options configure Open. The zero value is an empty store in memory.
type Options struct {
	// Path is the file that keeps the records, created when it does not exist.
	// "" keeps them in memory only.
	Path string

	// SyncAlways makes every write wait until it is on the disk, and nobody sees it
	// before. Otherwise a write is acknowledged when the operating system has it:
	// then killing the process loses nothing, and a loss of power may take what was
	// written in the last SyncDelay. 0 is defaultSyncDelay. Neither concerns a store
	// in memory.
	SyncAlways bool
	SyncDelay  time.Duration

	// Clock drives leases and periodic progress notifications. nil is the real clock.
	Clock clock.WithTicker

	// MaxRequestBytes limits the encoded size of one request. 0 is etcd's 1.5 MiB.
	MaxRequestBytes int
	// MaxTxnOps limits the operations of one transaction. 0 is etcd's 128.
	MaxTxnOps int

	// ProgressInterval is how often a watch opened with WithProgressNotify that
	// saw no event is told the current revision. 0 is etcd's 10 minutes.
	ProgressInterval time.Duration

	// Tap, when set, is called with each record that is added to the journal or
	// removed from it, in order, while no other write can happen: it must be quick
	// and not write. Compaction is not told: whoever keeps the entries can do
	// without those that are superseded, which are told: see Entry and Replay.
	Tap func(Entry)

	// Observe, when set, is called with the duration of each request made through
	// kubernetes.Client.Kubernetes. kube-apiserver's own client wraps KV to the
	// same end (etcd3.NewETCDLatencyTracker), which does not reach those requests.
	Observe func(ctx context.Context, took time.Duration)
}

// DB is one store. All methods are safe for concurrent use. Any number of DBs may
// be open in one process; they share nothing.
type DB struct {
	opts      Options
	clock     clock.WithTicker
	clusterID uint64
	endpoint  string
	journal   *journal.Journal

	// done is closed when Close begins; goroutines counted by running end then.
	done    chan struct{}
	running sync.WaitGroup

	// compactMu admits one compaction. Taken before writeMu.
	compactMu turn
	// writeMu admits one writer; see the package comment for the order of locks.
	writeMu turn
	outage  outage

	mu     sync.RWMutex // guards all below
	closed bool
	// rev is the newest revision, compactRev the one below which history is gone
	// (-1 before the first compaction, as in etcd).
	rev, compactRev int64
	// droppedRev is the compaction whose history has been removed completely.
	droppedRev int64
	// replayedRev is the last revision of a Replay: up to it, states of objects
	// may be missing that later ones have superseded.
	replayedRev int64
	// gap has the revisions of which states of objects are missing, from the first one
	// to the one before the last. Readers in it are told of a compaction.
	gap struct{ from, to int64 }
	// missed are the revisions after the first one, up to the last, between which objects
	// have come and gone whose entries were forgotten: a client that has seen one of these
	// revisions may have seen such an object.
	missed struct{ after, to int64 }
	// base is the revision up to which whoever keeps the entries has the content from
	// elsewhere. ended are the last deletions of what has come after it, in order, for
	// forget; mostEnded limits them. Guarded by writeMu.
	base      int64
	ended     []ending
	mostEnded int
	index     *keyIndex
	log       commitLog
	watchers  watcherSet
	leases    lessor
}

// Open opens the store at opts.Path, or an empty one in memory.
//
// A last record that a crash left incomplete is cut off; see Repaired. Open fails
// with ErrLocked when another process has the file open. If the file is damaged
// anywhere else, the error names the file and the place. If the file has a newer
// format or is another program's, the error says so. If the file cannot be read
// or written, the error is the operating system's. When Open fails, it has
// changed nothing.
func Open(opts Options) (*DB, error) {
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	if opts.MaxRequestBytes == 0 {
		opts.MaxRequestBytes = defaultMaxRequestBytes
	}
	if opts.MaxTxnOps == 0 {
		opts.MaxTxnOps = defaultMaxTxnOps
	}
	if opts.ProgressInterval == 0 {
		opts.ProgressInterval = defaultProgressInterval
	}
	if opts.SyncDelay == 0 {
		opts.SyncDelay = defaultSyncDelay
	}
	j, err := journal.Open(journal.Options{Path: opts.Path, SyncAlways: opts.SyncAlways, SyncDelay: opts.SyncDelay})
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	db := &DB{
		opts:       opts,
		clock:      opts.Clock,
		journal:    j,
		done:       make(chan struct{}),
		compactMu:  newTurn(),
		writeMu:    newTurn(),
		rev:        firstRev,
		compactRev: -1,
		mostEnded:  defaultMostEnded,
		index:      newKeyIndex(),
	}
	db.watchers.init()
	db.leases.init()
	if err := db.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("etcd: %w", err), j.Close())
	}
	db.base = db.rev
	// Unique per DB, because upstream keeps process-wide maps keyed by endpoint
	// (etcd3.StartCompactorPerEndpoint, the feature support checker).
	db.endpoint = fmt.Sprintf("in-process://%016x", randomID())
	db.running.Add(1)
	go db.expireLeases()
	return db, nil
}

// Close ends all watches and goroutines of the store and closes the file. Requests
// fail with rpctypes.ErrStopped from then on, those that wait for a Hold, too; the
// Hold itself must be released before Close returns. A second Close does nothing.
//
// It returns the error of closing the file, if any.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	close(db.done)
	db.mu.Unlock()

	db.running.Wait()
	// Wait for the compaction and the write under way, if any.
	db.compactMu.Lock()
	defer db.compactMu.Unlock()
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	return db.journal.Close()
}

// Revision returns the newest revision; an empty store is at 1.
func (db *DB) Revision() int64 {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.rev
}

// CompactRevision returns the revision below which history is gone, or -1.
func (db *DB) CompactRevision() int64 {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.compactRev
}

// Missed returns between which revisions a client cannot begin to watch because entries
// were replayed without objects that had come and gone there: after the first one and
// before the second one. Both are 0 where nothing is missing.
func (db *DB) Missed() (after, to int64) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.missed.after, db.missed.to
}

// Repaired returns how many bytes Open cut off from the end of the file, because a
// crash had left the last record incomplete. It had not been acknowledged.
func (db *DB) Repaired() int64 { return db.journal.Repaired() }

// Size returns the bytes that the store takes - of the file, or in memory - and
// how many of them are in use by records that are not superseded.
func (db *DB) Size() (size, inUse int64, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return 0, 0, rpctypes.ErrStopped
	}
	size, inUse = db.journal.Size()
	return size, inUse, nil
}

// start counts a goroutine that ends when done is closed; the goroutine calls
// running.Done. It returns false after Close.
func (db *DB) start() bool {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return false
	}
	db.running.Add(1)
	return true
}

// header returns a response header for an answer at revision rev.
func (db *DB) header(rev int64) *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: db.clusterID, MemberId: db.clusterID, Revision: rev, RaftTerm: 1}
}

// ErrLocked is returned by Open when another process, or another DB of this one,
// has the file open.
var ErrLocked = journal.ErrLocked

// errStopped answers requests after Close.
var errStopped = rpctypes.ErrGRPCStopped

// randomID returns a positive random number.
func randomID() int64 {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails: see crypto/rand
		if id := int64(binary.BigEndian.Uint64(b[:]) >> 1); id != 0 {
			return id
		}
	}
}
