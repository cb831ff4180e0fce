package resume

import (
	"context"
	"fmt"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/identity"
	"github.com/kubetab/kubetab/core/internal/informerset"
)

// Restore is Renew for an engine that is to be what another copy has become: with
// the identity that Renew returned there, and the entries that Config.Tap was told
// of since. Objects keep their UIDs, resource versions and times, and reach all who
// watch as ordinary events; a client that watched there goes on from where it was.
//
// It fails on an identity or an entry that is damaged, and with etcd.ErrBase for
// entries of an engine that was copied from another original, and for an engine that
// was not frozen; nothing has happened then, and Renew can follow. It fails
// otherwise as Renew does.
func (p *Point) Restore(ctx context.Context, kept []byte, entries []etcd.Entry) error {
	id, err := identity.Unmarshal(kept)
	if err != nil {
		return fmt.Errorf("restore the identity: %w", err)
	}
	err = p.leap(func(h *etcd.Hold) (informerset.News, error) {
		from := h.Revision()
		err := h.Replay(nil, entries)
		return newsSince(h, from), err
	})
	if err != nil {
		return fmt.Errorf("restore the objects: %w", err)
	}
	if err := p.identify(ctx, id); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// TakeOver is Restore for entries of an engine that went on from another original,
// as a build of another version has it: base is what Base returned there. The
// cluster keeps its identity, and its objects their UIDs and times; they have new
// resource versions, and reach all who watch as ordinary events. What this build's
// own cluster is born with stays where the other had nothing of that name, and
// roles and the like that were never changed there are this build's.
//
// It returns what is left out because this build cannot read it, and fails as
// Restore does.
func (p *Point) TakeOver(ctx context.Context, kept []byte, base, entries []etcd.Entry) ([]etcd.LeftOut, error) {
	id, err := identity.Unmarshal(kept)
	if err != nil {
		return nil, fmt.Errorf("restore the identity: %w", err)
	}
	var left []etcd.LeftOut
	err = p.leap(func(h *etcd.Hold) (news informerset.News, err error) {
		from := h.Revision()
		left, err = h.Adopt(base, entries, adoption)
		return newsSince(h, from), err
	})
	if err != nil {
		return nil, fmt.Errorf("restore the objects: %w", err)
	}
	if err := p.identify(ctx, id); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return left, nil
}
