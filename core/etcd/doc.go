// Package etcd is an etcd that lives in the process: revisions, history, watch,
// leases, transactions and compaction, for one or many clients of one process,
// without a socket and without raft. It runs natively and as js/wasm.
//
// It is not a cluster member and speaks no network protocol: [DB.Client] returns
// the ordinary client types (clientv3.Client inside kubernetes.Client), so code
// written for etcd cannot tell the difference. Calls of etcd that make no sense
// in one process - authentication, membership, raft - fail with Unimplemented.
//
//	Client (clientv3.KV, Watcher, Lease, Maintenance; kubernetes.Interface)
//	   |
//	   v
//	DB --- writer ---> journal      one record per revision, kept in buntdb
//	   \-- reader ---> key index    key -> every version of it, oldest first
//	    \- watcher --> commit log   revision -> the versions it made
//
// A write is decided while no other write can happen, put into the journal,
// and only then shown to readers and watchers, all of it at once. Nothing that a
// client was told, or could have read, is missing after the process is killed.
//
// # Locks
//
// writeMu, then mu; never the other way round.
//
//   - writeMu admits one writer and is held while the journal is written. Readers
//     never wait for it.
//   - mu guards what readers see. Its write lock is taken only to publish a commit
//     that is already in the journal, and so is held for memory operations alone.
//     Nothing is sent on a channel that could block while it is held.
//
// # What a crash can take
//
// A write is answered when its record is in the file, that is, when the operating
// system has it. Killing the process takes nothing that was answered; a record cut
// short is removed at the next start, and anything else that is wrong with the file
// is an error that names the place. A loss of power can take the writes of the last
// Options.SyncDelay (100 ms, etcd's own batch interval), or none with
// Options.SyncAlways. For a record of 1 kB the journal takes 0.2 µs in memory, 2 µs
// with a file and 140 µs with a sync on the disk of the machine it was written on:
// that is why the first is the default (go test -bench Set ./internal/journal).
//
// # Who owns which bytes
//
// Keys and values are held once: versions in the index, events in the log and
// records in buntdb are strings over the same bytes. A string cannot be changed,
// so they are passed around freely inside the package. At the edge each request's
// bytes are copied once, into its journal record, and each answer's bytes are
// copied once, into memory that belongs to the caller.
//
// # Invariants
//
// They run after every commit, compaction and start when the package is built
// with -race or -tags invariants (see invariants.go).
package etcd
