// Package conformance holds the same sessions with this store and with a real
// etcd and compares the answers: the transcripts of core/etcd/testdata, and random
// operations. The etcd is the one of go.mod, embedded in the test and listening on
// loopback. It is a package of its own because that etcd brings a hundred others.
package conformance
