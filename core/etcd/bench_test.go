package etcd

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// objectSize is about that of a Pod in protobuf.
const objectSize = 2000

func benchStores(b *testing.B, fn func(*testing.B, *kubernetes.Client)) {
	for name, opts := range map[string]Options{
		"memory":    {},
		"file":      {Path: "store"},
		"file+sync": {Path: "store", SyncAlways: true},
	} {
		b.Run(name, func(b *testing.B) {
			if opts.Path != "" {
				opts.Path = filepath.Join(b.TempDir(), opts.Path)
			}
			db := mustOpen(b, opts)
			defer mustClose(b, db)
			b.ReportAllocs()
			fn(b, db.Client())
		})
	}
}

// fill makes n keys and returns them.
func fill(b *testing.B, c *kubernetes.Client, n int) []string {
	b.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("/registry/pods/default/pod-%06d", i)
		if _, err := c.Kubernetes.OptimisticPut(b.Context(), keys[i], make([]byte, objectSize), 0, kubernetes.PutOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	return keys
}

func BenchmarkCreate(b *testing.B) {
	benchStores(b, func(b *testing.B, c *kubernetes.Client) {
		value := make([]byte, objectSize)
		for i := 0; b.Loop(); i++ {
			key := fmt.Sprintf("/registry/pods/default/pod-%06d", i)
			if _, err := c.Kubernetes.OptimisticPut(b.Context(), key, value, 0, kubernetes.PutOptions{}); err != nil {
				b.Fatal(err)
			}
			// As often as nothing else would keep a short test from filling the memory.
			if i%10_000 == 9_999 {
				b.StopTimer()
				if _, err := c.KV.Delete(b.Context(), "/registry/", clientv3.WithPrefix()); err != nil {
					b.Fatal(err)
				}
				i = -1
				now, err := c.KV.Get(b.Context(), "x")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := c.KV.Compact(b.Context(), now.Header.Revision); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	benchStores(b, func(b *testing.B, c *kubernetes.Client) {
		keys := fill(b, c, 1000)
		at := make([]int64, len(keys))
		for i := range at {
			at[i] = int64(i + 2)
		}
		value := make([]byte, objectSize)
		b.ResetTimer()
		for i := 0; b.Loop(); i++ {
			k := i % len(keys)
			resp, err := c.Kubernetes.OptimisticPut(b.Context(), keys[k], value, at[k], kubernetes.PutOptions{GetOnFailure: true})
			if err != nil || !resp.Succeeded {
				b.Fatal(resp, err)
			}
			at[k] = resp.Revision
			if i%10_000 == 9_999 {
				b.StopTimer()
				if _, err := c.KV.Compact(b.Context(), resp.Revision); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	db := mustOpen(b, Options{})
	defer mustClose(b, db)
	c := db.Client()
	keys := fill(b, c, 10_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		resp, err := c.Kubernetes.Get(b.Context(), keys[i%len(keys)], kubernetes.GetOptions{})
		if err != nil || resp.KV == nil {
			b.Fatal(resp, err)
		}
	}
}

func BenchmarkList1000(b *testing.B) {
	db := mustOpen(b, Options{})
	defer mustClose(b, db)
	c := db.Client()
	fill(b, c, 1000)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := c.Kubernetes.List(b.Context(), "/registry/pods/", kubernetes.ListOptions{})
		if err != nil || len(resp.Kvs) != 1000 {
			b.Fatal(len(resp.Kvs), err)
		}
	}
}

func BenchmarkCount10000(b *testing.B) {
	db := mustOpen(b, Options{})
	defer mustClose(b, db)
	c := db.Client()
	fill(b, c, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := c.Kubernetes.Count(b.Context(), "/registry/pods/", kubernetes.CountOptions{}); err != nil || n != 10_000 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkWatch measures from a write until all watches of its key have it, while
// as many others look elsewhere.
func BenchmarkWatch(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db := mustOpen(b, Options{})
			defer mustClose(b, db)
			c := db.Client()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			watches := make([]clientv3.WatchChan, n)
			for i := range watches {
				watches[i] = c.Watch(ctx, "/registry/pods/", clientv3.WithPrefix(), clientv3.WithPrevKV())
				c.Watch(ctx, fmt.Sprintf("/registry/other-%d/", i), clientv3.WithPrefix())
			}
			value := make([]byte, objectSize)
			var at int64
			b.ReportAllocs()
			for b.Loop() {
				resp, err := c.Kubernetes.OptimisticPut(ctx, "/registry/pods/default/a", value, at, kubernetes.PutOptions{})
				if err != nil || !resp.Succeeded {
					b.Fatal(resp, err)
				}
				at = resp.Revision
				for _, w := range watches {
					if r := <-w; len(r.Events) != 1 {
						b.Fatal(r)
					}
				}
			}
		})
	}
}

// BenchmarkOpen measures the start with 10,000 objects in the file.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store")
	db := mustOpen(b, Options{Path: path})
	fill(b, db.Client(), 10_000)
	mustClose(b, db)
	b.ReportAllocs()
	for b.Loop() {
		mustClose(b, mustOpen(b, Options{Path: path}))
	}
}
