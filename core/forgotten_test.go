package core

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/resume"
)

// TestWatchOfWhatIsForgotten: entries of objects that are gone are forgotten. Who may have
// seen one, and watches on from then, is told to list anew, and nobody else is.
func TestWatchOfWhatIsForgotten(t *testing.T) {
	ctx := t.Context()
	e := toBecome(t, 0)
	if err := e.ResumePoint().Freeze(); err != nil {
		t.Fatal(err)
	}
	base, err := e.ResumePoint().Base()
	if err != nil {
		t.Fatal(err)
	}
	began := e.store.Revision()
	entries, forgotten, last := comeAndGone(t, base, began)
	identity, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ResumePoint().Restore(ctx, identity, entries); err != nil {
		t.Fatal(err)
	}

	maps := clientFor(t, e).CoreV1().ConfigMaps("default")
	// The object that stays is in the cache, and with it all that was replayed.
	if _, err := maps.Get(ctx, "stays", metav1.GetOptions{ResourceVersion: strconv.FormatInt(last, 10)}); err != nil {
		t.Fatal(err)
	}
	for rev, isTold := range map[int64]bool{began: false, began + 1: true, forgotten - 1: true, forgotten: false, last - 1: false} {
		w, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: strconv.FormatInt(rev, 10)})
		if err != nil {
			t.Fatal(err)
		}
		event := <-w.ResultChan()
		w.Stop()
		if is := event.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(event.Object)); is != isTold || !is && event.Type == watch.Error {
			t.Errorf("who has seen revision %d of %d to %d hears of %v", rev, began, forgotten, event)
		}
	}
	// Caches of which nothing was replayed have heard how far the store has come: what they
	// list can be watched.
	eventually(t, "a list of what has not changed, at a revision that a watch can begin at", func(ctx context.Context) (bool, error) {
		quiet, err := clientFor(t, e).SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return false, err
		}
		at, err := strconv.ParseInt(quiet.ResourceVersion, 10, 64)
		return at >= forgotten, err
	})
}

// comeAndGone returns the entries of a store that had base, came to a revision, and in
// which many ConfigMaps have come and gone and another one stays; the revision up to which
// they are forgotten, and the last one.
func comeAndGone(t *testing.T, base []etcd.Entry, revision int64) (entries []etcd.Entry, forgotten, last int64) {
	t.Helper()
	kept := map[string]etcd.Entry{}
	db, err := etcd.Open(etcd.Options{Tap: func(e etcd.Entry) {
		for _, name := range e.Supersedes {
			delete(kept, name)
		}
		kept[e.Name] = e
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	hold := db.Hold()
	if err := hold.Replay(base, nil); err != nil {
		t.Fatal(err)
	}
	hold.Release()
	kv, ctx := db.Client().KV, t.Context()
	for db.Revision() < revision {
		if _, err := kv.Put(ctx, "/fill", ""); err != nil {
			t.Fatal(err)
		}
	}
	hold = db.Hold()
	if _, err := hold.Entries(); err != nil { // what comes next goes on from here
		t.Fatal(err)
	}
	hold.Release()
	clear(kept)
	put := func(name string) {
		object := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"default","uid":"` + name + `"}}`
		if _, err := kv.Put(ctx, "/registry/configmaps/default/"+name, object); err != nil {
			t.Fatal(err)
		}
	}
	const gone = 300
	for range gone {
		put("gone")
		if _, err := kv.Delete(ctx, "/registry/configmaps/default/gone"); err != nil {
			t.Fatal(err)
		}
	}
	put("stays")
	entries = slices.Collect(maps.Values(kept))
	if len(entries) >= 2*gone {
		t.Fatalf("%d entries are left", len(entries))
	}
	other, err := etcd.Open(etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	hold = other.Hold()
	defer hold.Release()
	if err := hold.Replay(base, entries); err != nil {
		t.Fatal(err)
	}
	_, forgotten = other.Missed()
	return entries, forgotten, db.Revision()
}
