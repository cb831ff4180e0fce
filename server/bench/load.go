package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sample is what is known of one kind of request.
type sample struct {
	What    string  `json:"what"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	PerSec  float64 `json:"per_second,omitempty"` // of all clients together; 0 where it says nothing
	Samples int     `json:"samples"`
}

const (
	listSize    = 1000 // objects in the list
	lists       = 100
	watchEvents = 300
	manyClients = 16
)

// measureHTTP measures t with ops requests of each kind, in namespaces of its own that it deletes.
func measureHTTP(ctx context.Context, t target, ops int) (version string, samples []sample, err error) {
	c := t.dial()
	defer c.close()
	if version, err = c.version(ctx); err != nil {
		return "", nil, err
	}
	ns := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	if _, err := c.do(ctx, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+ns+`"}}`); err != nil {
		return "", nil, err
	}
	defer func() {
		if _, deleteErr := c.do(context.WithoutCancel(ctx), http.MethodDelete, "/api/v1/namespaces/"+ns, ""); err == nil {
			err = deleteErr
		}
	}()
	b := bench{target: t, path: "/api/v1/namespaces/" + ns + "/configmaps"}
	if err := b.warmUp(ctx, c); err != nil {
		return "", nil, err
	}
	steps := []func(context.Context) (sample, error){
		func(ctx context.Context) (sample, error) { return b.create(ctx, 1, ops) },
		func(ctx context.Context) (sample, error) { return b.get(ctx, 1, ops) },
		func(ctx context.Context) (sample, error) { return b.create(ctx, manyClients, ops) },
		func(ctx context.Context) (sample, error) { return b.get(ctx, manyClients, ops) },
		b.list,
		b.watch,
	}
	for _, step := range steps {
		s, err := step(ctx)
		if err != nil {
			return "", nil, err
		}
		samples = append(samples, s)
	}
	long, err := b.longLists(ctx)
	return version, append(samples, long...), err
}

type bench struct {
	target
	path  string // of the ConfigMaps
	names atomic.Int64
}

// object is a ConfigMap of an ordinary size: about half a kilobyte.
func (b *bench) object(name string, labels string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","labels":{` + labels + `}},"data":{"settings":"` + strings.Repeat("key=value ", 30) + `"}}`
}

func (b *bench) nextName() string { return fmt.Sprintf("c%d", b.names.Add(1)) }

// warmUp makes the objects of the list, 1000 in all, and opens what is opened once: connections, caches, code pages.
func (b *bench) warmUp(ctx context.Context, c *client) error {
	for i := range listSize {
		if _, err := c.do(ctx, http.MethodPost, b.path, b.object(fmt.Sprintf("list-%d", i), `"bench":"list"`)); err != nil {
			return err
		}
	}
	_, err := c.do(ctx, http.MethodGet, b.path+"?labelSelector=bench%3Dlist", "")
	return err
}

// repeat runs request ops times in all on n clients at once, and times each.
func (b *bench) repeat(ctx context.Context, what string, n, ops int, request func(ctx context.Context, c *client) error) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	times := make([][]time.Duration, n)
	var clients sync.WaitGroup
	var ready sync.WaitGroup
	ready.Add(n)
	begin := make(chan struct{})
	for i := range n {
		clients.Go(func() {
			c := b.dial()
			defer c.close()
			_, err := c.do(ctx, http.MethodGet, "/version", "") // the handshake is no part of it
			ready.Done()
			if err != nil {
				cancel(err)
				return
			}
			<-begin
			for range ops / n {
				sent := time.Now()
				if err := request(ctx, c); err != nil {
					cancel(err)
					return
				}
				times[i] = append(times[i], time.Since(sent))
			}
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	clients.Wait()
	took := time.Since(start)
	if err := context.Cause(ctx); err != nil {
		return sample{}, err
	}
	all := slices.Concat(times...)
	s := summarise(what, all)
	s.PerSec = float64(len(all)) / took.Seconds()
	return s, nil
}

func clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

func (b *bench) create(ctx context.Context, n, ops int) (sample, error) {
	return b.repeat(ctx, "create, "+clients(n), n, ops, func(ctx context.Context, c *client) error {
		_, err := c.do(ctx, http.MethodPost, b.path, b.object(b.nextName(), ""))
		return err
	})
}

func (b *bench) get(ctx context.Context, n, ops int) (sample, error) {
	var next atomic.Int64
	return b.repeat(ctx, "get, "+clients(n), n, ops, func(ctx context.Context, c *client) error {
		_, err := c.do(ctx, http.MethodGet, fmt.Sprintf("%s/list-%d", b.path, next.Add(1)%listSize), "")
		return err
	})
}

func (b *bench) list(ctx context.Context) (sample, error) {
	what := fmt.Sprintf("list of %d, 1 client", listSize)
	return b.repeat(ctx, what, 1, lists, func(ctx context.Context, c *client) error {
		size, err := c.do(ctx, http.MethodGet, b.path+"?labelSelector=bench%3Dlist", "")
		if err == nil && size < listSize*300 {
			err = fmt.Errorf("a list of %d bytes cannot hold %d objects", size, listSize)
		}
		return err
	})
}

// watch measures from the moment a create is sent until its event has arrived at a watch on another connection.
func (b *bench) watch(ctx context.Context) (sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watcher, writer := b.dial(), b.dial()
	defer watcher.close()
	defer writer.close()
	res, err := watcher.open(ctx, http.MethodGet, b.path+"?watch=true&labelSelector=bench%3Dwatch", "")
	if err != nil {
		return sample{}, err
	}
	defer res.Body.Close()
	events := bufio.NewReaderSize(res.Body, 1<<20)
	var times []time.Duration
	for range watchEvents {
		name := b.nextName()
		arrived := make(chan error, 1)
		var at time.Time
		go func() {
			line, err := events.ReadString('\n')
			at = time.Now()
			if err == nil && !strings.Contains(line, `"name":"`+name+`"`) {
				err = fmt.Errorf("waited for the event of %s and got %.200s", name, line)
			}
			arrived <- err
		}()
		sent := time.Now()
		if _, err := writer.do(ctx, http.MethodPost, b.path, b.object(name, `"bench":"watch"`)); err != nil {
			return sample{}, err
		}
		if err := <-arrived; err != nil {
			return sample{}, err
		}
		times = append(times, at.Sub(sent))
	}
	return summarise("write to watch event", times[watchEvents/10:]), nil // the first tenth warms the connections up
}

func summarise(what string, times []time.Duration) sample {
	slices.Sort(times)
	return sample{What: what, P50: quantile(times, 0.50), P99: quantile(times, 0.99), Samples: len(times)}
}

// quantile returns the q-th quantile of sorted in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Microseconds()) / 1000
}
