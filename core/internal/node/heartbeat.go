package node

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// heartbeats renews the leases of all nodes every ten seconds and writes their
// statuses every five minutes, and looks whether the disk is nearly full, until ctx ends. One goroutine does it for all,
// and only the clock wakes it.
//
// The node lifecycle controller measures by the process's time whether leases
// change. So while the clock stands still or runs slowly, leases are renewed by
// the process's time as well, and however fast it runs, not more often than
// that controller could see.
func (n *Nodes) heartbeats(ctx context.Context) {
	next := n.clock.NewTimer(leasePeriod)
	defer next.Stop()
	real := time.NewTimer(leasePeriod)
	defer real.Stop()
	written, looked := n.clock.Now(), n.clock.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C():
		case <-real.C:
		}
		started := time.Now()
		due := n.clock.Since(written) >= statusPeriod
		if due {
			written = n.clock.Now()
		}
		if n.clock.Since(looked) >= evictionPeriod {
			looked = n.clock.Now()
			n.reclaim()
		}
		for _, k := range n.kubelets {
			if ctx.Err() != nil {
				return
			}
			if k.stopped() {
				continue
			}
			if err := k.renew(ctx); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "Failed to renew the lease", "node", k.name)
			}
			// A node that has been deleted stays so until its kubelet starts again.
			if err := k.writeStatus(ctx, due); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "Failed to write the status", "node", k.name)
			}
		}
		if rest := leaseInterval - time.Since(started); rest > 0 && n.clock.State().Rate > 1 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(rest):
			}
		}
		next.Reset(leasePeriod)
		real.Reset(leasePeriod)
	}
}

// renew writes the node's lease, and creates it if it is missing. Like upstream's
// k8s.io/component-helpers/apimachinery/lease it writes over what it wrote last,
// and reads the lease only when somebody else has written it since. Only the
// goroutine of Run calls it.
func (k *kubelet) renew(ctx context.Context) error {
	leases := k.cluster.config.Client.CoordinationV1().Leases(v1.NamespaceNodeLease)
	now := metav1.NewMicroTime(k.cluster.clock.Now())
	if last := k.lease; last != nil {
		k.lease = nil
		last.Spec.RenewTime = &now
		written, err := leases.Update(ctx, last, metav1.UpdateOptions{})
		switch {
		case err == nil:
			k.lease = written
			return nil
		case !apierrors.IsConflict(err) && !apierrors.IsNotFound(err):
			return err
		}
	}
	have, err := leases.Get(ctx, k.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: k.name, Namespace: v1.NamespaceNodeLease},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To(k.name), LeaseDurationSeconds: ptr.To(int32(leaseSeconds)), RenewTime: &now},
		}
		k.state.Lock()
		if k.node != nil {
			lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: k.name, UID: k.node.UID}}
		}
		k.state.Unlock()
		lease, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		switch {
		case err == nil:
			k.lease = lease
			return nil
		case apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err): // the namespace is made soon after the start
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	have.Spec.RenewTime = &now
	have.Spec.HolderIdentity = ptr.To(k.name)
	written, err := leases.Update(ctx, have, metav1.UpdateOptions{})
	switch {
	case err == nil:
		k.lease = written
		return nil
	case apierrors.IsConflict(err):
		return nil // somebody else has just written it; the next beat is soon enough
	}
	return err
}
