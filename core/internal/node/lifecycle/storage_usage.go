package lifecycle

import (
	v1 "k8s.io/api/core/v1"
	ephemeralvolumes "k8s.io/component-helpers/storage/ephemeral"
)

// Storage is what a Pod takes of its node's disk at one moment, in bytes.
type Storage struct {
	Rootfs    map[string]int64 // the writable layers of containers that run, by name
	Logs      map[string]int64 // the logs of the same containers: that of the run before is among them
	Volumes   []Volume         // of the types emptyDir, persistentVolumeClaim and ephemeral, in the order of the spec
	Ephemeral int64            // what counts for the limit of ephemeral storage
}

// Volume is what the files of a volume take.
type Volume struct {
	Name  string // in the Pod's spec
	Claim string // the PersistentVolumeClaim; empty for an emptyDir
	Bytes int64
	Files int64 // how many there are, directories among them
	Size  int64 // bytes that the claim's volume has, or the emptyDir in memory; 0 is all of the node's disk
}

// Storage returns what is so at this moment. It looks at every file of the volumes.
func (p *Pod) Storage() Storage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.storageLocked()
}

func (p *Pod) storageLocked() Storage {
	s := Storage{Rootfs: map[string]int64{}, Logs: map[string]int64{}}
	if p.mounts == nil {
		return s
	}
	v, obj := p.mounts, p.Latest()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range p.order {
		if !r.running() {
			continue
		}
		logs := r.now.c.Log.Size()
		if r.previous != nil && r.previous.c != nil {
			logs += r.previous.c.Log.Size()
		}
		s.Rootfs[r.spec.Name], s.Logs[r.spec.Name] = 0, logs
		if layer := v.layers[r]; layer != nil { // else no process has looked at a file yet
			s.Rootfs[r.spec.Name] = layer.Used()
		}
	}
	for i := range obj.Spec.Volumes {
		vol := &obj.Spec.Volumes[i]
		of := Volume{Name: vol.Name, Claim: claimOf(obj, vol)}
		root := v.roots[vol.Name]
		switch {
		case vol.EmptyDir != nil && vol.EmptyDir.Medium == v1.StorageMediumMemory:
			of.Size = v.tmpfsSize(obj, vol.EmptyDir)
		case vol.EmptyDir != nil:
		case of.Claim != "":
			of.Size = p.claimSize(of.Claim)
		default:
			continue
		}
		if root != nil { // else nobody has looked at a file yet
			of.Bytes, of.Files = p.cluster.Disk.Usage(root)
		}
		s.Volumes = append(s.Volumes, of)
	}
	s.Ephemeral = v.usedLocked()
	return s
}

// claimOf is the PersistentVolumeClaim of a volume, "" if it has none.
func claimOf(obj *v1.Pod, vol *v1.Volume) string {
	switch {
	case vol.PersistentVolumeClaim != nil:
		return vol.PersistentVolumeClaim.ClaimName
	case vol.Ephemeral != nil:
		return ephemeralvolumes.VolumeClaimName(obj, vol)
	}
	return ""
}

// claimSize is how many bytes the volume of a claim has, 0 if that is not known.
func (p *Pod) claimSize(name string) int64 {
	claim, err := p.cluster.Claims.PersistentVolumeClaims(p.Namespace).Get(name)
	if err != nil {
		return 0
	}
	return claim.Status.Capacity.Storage().Value()
}
