// Command revisions ages a cluster: it replays the entries that an engine has left, writes to the store as a cluster does
// that is left alone for weeks, and prints the entries that are kept then. An engine under Node would need an hour for a
// million revisions.
//
//	go run -tags grpcnotrace ./wasm/snapshot/revisions -n 1000000 <entries >aged
//
// Entries are JSON: an object with a record in base64 for each name, as the host keeps them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubetab/kubetab/core/etcd"
)

// What is kept beside entries of the store: see wasm/journal_js.go.
var others = []string{"identity", "base"}

// Of the objects, leases are renewed, and one comes and goes.
const (
	renewed = "/registry/leases/kube-node-lease/"
	passing = "/registry/configmaps/default/passing"
)

func main() {
	n := flag.Int("n", 1_000_000, "how many revisions")
	flag.Parse()
	if err := run(context.Background(), os.Stdin, os.Stdout, *n); err != nil {
		fmt.Fprintln(os.Stderr, "revisions:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer, n int) error {
	var kept map[string][]byte
	if err := json.NewDecoder(in).Decode(&kept); err != nil {
		return err
	}
	base, err := etcd.Unpack(kept["base"])
	if err != nil {
		return err
	}
	var entries []etcd.Entry
	for name, record := range kept {
		if !slices.Contains(others, name) {
			entries = append(entries, etcd.Entry{Name: name, Record: record})
		}
	}
	slices.SortFunc(entries, func(a, b etcd.Entry) int { return strings.Compare(a.Name, b.Name) })
	began := false // what is replayed is kept already, and the base elsewhere
	db, err := etcd.Open(etcd.Options{Tap: func(e etcd.Entry) {
		if !began {
			return
		}
		for _, name := range e.Supersedes {
			delete(kept, name)
		}
		if kept[e.Name] = e.Record; len(e.Record) == 0 {
			delete(kept, e.Name)
		}
	}})
	if err != nil {
		return err
	}
	defer db.Close() // in memory: nothing to lose
	hold := db.Hold()
	if err = hold.Replay(nil, base); err == nil { // as the copy of the snapshot's store
		err = hold.Replay(nil, entries)
	}
	hold.Release()
	if err != nil {
		return err
	}
	began = true
	if err := age(ctx, db.Client().KV, n); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(kept)
}

// age makes n revisions: eight of ten renew a lease.
func age(ctx context.Context, store clientv3.KV, n int) error {
	leases, err := store.Get(ctx, renewed, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	other, err := store.Get(ctx, passing)
	if err != nil {
		return err
	}
	if len(leases.Kvs) == 0 || len(other.Kvs) == 0 {
		return errors.New("the entries have no " + renewed + ", or no " + passing)
	}
	for i := range n {
		switch lease := leases.Kvs[i%len(leases.Kvs)]; i % 10 {
		case 8:
			_, err = store.Delete(ctx, passing)
		case 9:
			_, err = store.Put(ctx, passing, string(other.Kvs[0].Value))
		default:
			_, err = store.Put(ctx, string(lease.Key), string(lease.Value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
