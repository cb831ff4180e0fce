package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strconv"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
)

// stored returns a store with n records of size bytes that cannot be compressed, each written twice, and with one under a lease.
func stored(t *testing.T, n, size int) *etcd.DB {
	t.Helper()
	db, err := etcd.Open(etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	client := db.Client().Client
	lease, err := client.Grant(t.Context(), 3600)
	if err != nil {
		t.Fatal(err)
	}
	source := rand.NewChaCha8([32]byte{})
	value := make([]byte, size)
	for i := range n {
		source.Read(value)
		key := fmt.Sprintf("/registry/configmaps/default/m%05d", i)
		for _, value := range []string{"before", string(value)} {
			if _, err := client.Put(t.Context(), key, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	for key, options := range map[string][]clientv3.OpOption{
		"/registry/events/default/e":                     {clientv3.WithLease(lease.ID)},
		"/registry/configmaps/default/kube-root-ca.crt":  nil,
		"/registry/configmaps/default2/kube-root-ca.crt": nil,
	} {
		if _, err := client.Put(t.Context(), key, "{}", options...); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// of is the cluster of a store, whose clients change has changed.
func of(db *etcd.DB, change func(*clientv3.Client)) *Cluster {
	return New(Engine{
		Stopped: func() bool { return false },
		Dial: func() (*kubernetes.Client, error) {
			client := db.Client()
			if change != nil {
				change(client.Client)
			}
			return client, nil
		},
	})
}

// read is what c writes, read, with the time of want.
func read(t *testing.T, c *Cluster, want *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	var file bytes.Buffer
	size := int64(0)
	if err := c.Write(t.Context(), SaveOptions{}, func(n int64) io.Writer { size = n; return &file }); err != nil {
		t.Fatal(err)
	}
	if int64(file.Len()) != size {
		t.Errorf("%d bytes, said to be %d", file.Len(), size)
	}
	b, err := bundle.Read(&file, bundle.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	b.Time = want.Time
	return b
}

// withoutStreams has a client's store answer as etcd before 3.7 does.
type withoutStreams struct{ clientv3.KV }

func (withoutStreams) GetStream(context.Context, string, ...clientv3.OpOption) (clientv3.GetStreamChan, error) {
	answer := make(chan clientv3.RangeStreamResponse, 1)
	close(answer)
	return answer, status.Error(codes.Unimplemented, "unknown method RangeStream")
}

// compacting compacts the store between the request that asks for its revision and the next, so many times.
type compacting struct {
	clientv3.KV
	db    *etcd.DB
	times *int
}

func (c compacting) Get(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	answer, err := c.KV.Get(ctx, key, options...)
	if err == nil && *c.times > 0 {
		*c.times--
		if _, err := c.KV.Put(ctx, "/else", ""); err != nil {
			return nil, err
		}
		err = c.db.Compact(ctx, c.db.Revision())
	}
	return answer, err
}

// What Write writes is what Save returns, whatever the store can do and does meanwhile.
func TestWriteIsSave(t *testing.T) {
	db := stored(t, 3*pageKeys+1, 100_000) // more than bundle.Stream.Write keeps
	want, err := of(db, nil).Save(t.Context(), SaveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(want.State.Records) != 3*pageKeys+2 || len(want.State.Leases) != 1 {
		t.Fatalf("%d records, %d leases", len(want.State.Records), len(want.State.Leases))
	}
	same := func(what string, got *bundle.Bundle) {
		t.Helper()
		got.State.Revision, got.Settings, got.Clock = want.State.Revision, want.Settings, want.Clock // which grows in what follows
		got.Build, got.Kubernetes = want.Build, want.Kubernetes
		if !reflect.DeepEqual(got.State, want.State) {
			t.Errorf("%s: another state", what)
		}
	}
	same("as it is", read(t, of(db, nil), want))
	same("in pages", read(t, of(db, func(c *clientv3.Client) { c.KV = withoutStreams{c.KV} }), want))
	times := 3
	same("after compactions", read(t, of(db, func(c *clientv3.Client) { c.KV = compacting{c.KV, db, &times} }), want))
	times = 1000
	if err := of(db, func(c *clientv3.Client) { c.KV = compacting{c.KV, db, &times} }).Write(t.Context(), SaveOptions{}, nil); err == nil {
		t.Error("a store that is always compacted was read")
	}

	// All is deleted, and compacted, when the first byte is written.
	var file bytes.Buffer
	err = of(db, nil).Write(t.Context(), SaveOptions{}, func(int64) io.Writer {
		client := db.Client().Client
		if _, err := client.Delete(t.Context(), "/", clientv3.WithPrefix()); err != nil {
			t.Error(err)
		}
		if err := db.Compact(t.Context(), db.Revision()); err != nil {
			t.Error(err)
		}
		return &file
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := bundle.Read(&file, bundle.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	same("deleted meanwhile", got)
}

// measuring is a ResponseWriter that counts, and measures what is live once in a while.
type measuring struct {
	header    http.Header
	n, looked int64
	most      uint64
	code      int
}

func (m *measuring) Header() http.Header  { return m.header }
func (m *measuring) WriteHeader(code int) { m.code = code }
func (m *measuring) Write(p []byte) (int, error) {
	if m.n += int64(len(p)); m.n-m.looked > 64<<20 {
		m.looked = m.n
		m.most = max(m.most, liveBytes())
	}
	return len(p), nil
}

func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A cluster that could not be saved, because it was too large, is saved with some megabytes of memory; what is made in memory says
// that it is too large, and what to ask for.
func TestLargeClusterIsSaved(t *testing.T) {
	const n, size = 300, 1 << 20
	c := of(stored(t, n, size), nil)
	before := liveBytes()
	w := &measuring{header: http.Header{}}
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, bundle.Path, nil).WithContext(t.Context()))
	if w.n < n*size || w.header.Get("Content-Length") != strconv.FormatInt(w.n, 10) || w.code != 0 {
		t.Errorf("%d: %d bytes, said to be %s", w.code, w.n, w.header.Get("Content-Length"))
	}
	if taken := int64(w.most) - int64(before); w.most == 0 || taken > 32<<20 {
		t.Errorf("%d bytes more were live, of a store with %d", taken, n*size)
	} else {
		t.Logf("%d MB more were live", taken/1e6)
	}
	for _, as := range []string{"compact", "manifests"} {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, bundle.Path+"?as="+as, nil).WithContext(t.Context()))
		if body := w.Body.String(); w.Code != http.StatusInsufficientStorage || !bytes.Contains(w.Body.Bytes(), []byte("a bundle without as= can be larger")) {
			t.Errorf("%d %s", w.Code, body)
		}
	}
}

// breaking is a store whose answers end with an error when they have been read for the third time.
type breaking struct {
	clientv3.KV
	streams *int
}

func (b breaking) GetStream(ctx context.Context, key string, options ...clientv3.OpOption) (clientv3.GetStreamChan, error) {
	if *b.streams++; *b.streams < 3 {
		return b.KV.GetStream(ctx, key, options...)
	}
	ctx, cancel := context.WithCancel(ctx)
	whole, err := b.KV.GetStream(ctx, key, options...)
	if err != nil {
		cancel()
		return nil, err
	}
	torn := make(chan clientv3.RangeStreamResponse)
	go func() {
		defer close(torn)
		torn <- <-whole
		cancel()
		for last := range whole {
			torn <- last
		}
	}()
	return torn, nil
}

// A body that cannot be written to its end is broken off: a client is not given a part of a bundle that looks whole.
func TestSaveThatFailsIsBrokenOff(t *testing.T) {
	streams := 0
	c := of(stored(t, 20, 1<<20), func(c *clientv3.Client) { c.KV = breaking{c.KV, &streams} })
	site := httptest.NewServer(c)
	defer site.Close()
	answer, err := http.Get(site.URL + bundle.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	file, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK || !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(file)) >= answer.ContentLength {
		t.Errorf("%s: %d bytes of %d: %v", answer.Status, len(file), answer.ContentLength, err)
	}
}
