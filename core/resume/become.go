package resume

import (
	"context"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/identity"
	"github.com/kubetab/kubetab/core/internal/informerset"
	"github.com/kubetab/kubetab/core/internal/records"
)

// Become is Restore for entries that go on from another base than this engine's, such as
// cluster.Opening.Entries. base and entries are as Config.Base and Config.Entries, and take
// the place of all that this engine's store holds. The objects have the UIDs, times and
// resource versions that they have there, also those below the resource versions that this
// engine had come to. No object of this engine stays, but for what the API server and its
// controllers make anew when it is missing.
//
// Watches end, and whoever goes on is told that its resource version is too old, as
// after a compaction of etcd: controllers, scheduler and kubelets list again, which
// takes client-go one to two seconds. The API answers with the new objects at once.
//
// It fails on an identity or an entry that is damaged and for an engine that was not
// frozen; nothing has happened then, and Renew can follow. It fails otherwise as Renew
// does.
func (p *Point) Become(ctx context.Context, kept []byte, base, entries []etcd.Entry) error {
	id, err := identity.Unmarshal(kept)
	if err != nil {
		return fmt.Errorf("become: the identity: %w", err)
	}
	err = p.leap(func(h *etcd.Hold) (informerset.News, error) {
		if err := p.engine.Caches.Settle(ctx, func(f func(string, int64)) { h.Changed(0, func(key, _ string, rev int64) { f(key, rev) }) }); err != nil {
			return informerset.News{}, err
		}
		before := map[string]int64{}
		h.Each(func(key, _ string, rev int64) { before[key] = rev })
		if err := h.Become(base, entries, func() error { return p.engine.Caches.Relist(ctx) }); err != nil {
			return informerset.News{}, err
		}
		// An informer that lists anew tells of objects whose resource version differs.
		each := map[schema.GroupKind]map[types.NamespacedName]int64{}
		h.Each(func(key, value string, rev int64) {
			kind, ok := records.Kind([]byte(value))
			if !ok || before[key] == rev {
				return
			}
			if each[kind] == nil {
				each[kind] = map[types.NamespacedName]int64{}
			}
			each[kind][placeOf(key)] = rev
		})
		return informerset.News{Each: each, Since: h.Revision()}, nil
	})
	if err != nil {
		return fmt.Errorf("become: the objects: %w", err)
	}
	if err := p.identify(ctx, id); err != nil {
		return fmt.Errorf("become: %w", err)
	}
	return nil
}

// placeOf returns the last two parts of a key: namespace and name of an object that is in
// a namespace. It reads no object, of which there can be many.
func placeOf(key string) types.NamespacedName {
	rest, name := path.Split(key)
	return types.NamespacedName{Namespace: path.Base(rest), Name: name}
}
