package bundle

import (
	"fmt"
	"time"

	"github.com/kubetab/kubetab/core/etcd"
)

func (r *reader) cluster() *Bundle {
	b := &Bundle{}
	r.fields("the cluster", func(name string) bool {
		switch name {
		case "kubernetes":
			b.Kubernetes = r.text()
		case "build":
			b.Build = r.text()
		case "time":
			text := r.text()
			if r.err == nil {
				var err error
				b.Time, err = time.Parse(time.RFC3339Nano, text)
				r.fail(err)
			}
		case "name":
			b.Name = r.text()
		case "revision":
			b.State.Revision = r.number()
		case "settings":
			b.Settings = r.settings()
		case "clock":
			b.Clock = r.clock()
		case "leases":
			r.array("leases", r.most.Records, func(i int) { b.State.Leases = append(b.State.Leases, r.lease(i)) })
		case "records":
			r.array("records", r.most.Records, func(i int) { b.State.Records = append(b.State.Records, r.record(i)) })
		case "files":
			r.array("files", r.most.Records, func(i int) { b.Files = append(b.Files, r.file(i)) })
		default:
			return false
		}
		return true
	})
	return b
}

func (r *reader) settings() (s Settings) {
	r.fields("settings", func(name string) bool {
		switch name {
		case "emulatedVersion":
			s.EmulatedVersion = r.text()
		case "runtimeConfig":
			r.each(name, mostEntries, func(name string) {
				if s.RuntimeConfig == nil {
					s.RuntimeConfig = map[string]string{}
				}
				s.RuntimeConfig[name] = r.text()
			})
		case "featureGates":
			r.each(name, mostEntries, func(name string) {
				if s.FeatureGates == nil {
					s.FeatureGates = map[string]bool{}
				}
				s.FeatureGates[name] = r.bool()
			})
		case "nodes":
			if n := r.number(); n > mostEntries {
				r.fail(fmt.Errorf("%d nodes, and %d are possible", n, mostEntries))
			} else {
				s.Nodes = new(int(n))
			}
		case "controllers":
			r.array(name, mostEntries, func(int) { s.Controllers = append(s.Controllers, r.text()) })
		case "noScheduler":
			s.NoScheduler = r.bool()
		default:
			return false
		}
		return true
	})
	return s
}

// mostAhead is how far a clock may be ahead: what time.Duration has room for, and
// times that Kubernetes can show.
const mostAhead = 200 * 365 * 24 * time.Hour

func (r *reader) clock() (c Clock) {
	r.fields("clock", func(name string) bool {
		switch name {
		case "aheadSeconds":
			if ahead := r.float(); ahead > mostAhead.Seconds() {
				r.fail(fmt.Errorf("%v seconds ahead, and %.0f are possible", ahead, mostAhead.Seconds()))
			} else {
				c.Ahead = time.Duration(ahead * float64(time.Second))
			}
		case "paused":
			c.Paused = r.bool()
		case "speed":
			c.Speed = r.float()
		default:
			return false
		}
		return true
	})
	return c
}

func (r *reader) lease(i int) (l etcd.LeaseState) {
	r.in("lease", i+1, func() {
		r.fields("a lease", func(name string) bool {
			switch name {
			case "id":
				l.ID = r.number()
			case "ttl":
				l.TTL = r.number()
			default:
				return false
			}
			return true
		})
	})
	return l
}

func (r *reader) record(i int) (record etcd.RecordState) {
	r.in("record", i+1, func() {
		r.fields("a record", func(name string) bool {
			switch name {
			case "key":
				record.Key = r.text()
			case "create":
				record.CreateRevision = r.number()
			case "mod":
				record.ModRevision = r.number()
			case "version":
				record.Version = r.number()
			case "lease":
				record.Lease = r.number()
			case "value":
				record.Value = r.bytes(int64(r.most.Value))
			default:
				return false
			}
			return true
		})
	})
	return record
}

func (r *reader) file(i int) (f File) {
	r.in("file", i+1, func() {
		r.fields("a file", func(name string) bool {
			switch name {
			case "path":
				f.Path = r.text()
			case "data":
				f.Data = r.bytes(int64(r.most.Value))
			default:
				return false
			}
			return true
		})
	})
	return f
}
