// Package bundle reads and writes clusters as files, NAME.kubetab. docs/bundle.md
// describes the format for other programs.
//
// It is not the engine: what goes into a bundle, and whether records can be read by
// an API server, is decided by package cluster. Here a cluster is a set of records.
//
//	envelope   msgpack: format, version, codec, size, body
//	   body    gzip
//	      cluster   msgpack: what made it, settings, clock, leases, records, files
//
// # Invariants
//
//   - A file comes from anybody. Nothing is allocated because the file says how large
//     something is: sizes are compared with Limits first, and inflating stops at the
//     size that the envelope names.
//   - A file that is refused is refused with the place of what is wrong in it.
//   - Two writes of the same Bundle make the same bytes.
package bundle

import (
	"errors"
	"math"
	"time"

	"github.com/kubetab/kubetab/core/etcd"
)

// Extension ends the names of files with a bundle.
const Extension = ".kubetab"

// MediaType is that of a bundle over HTTP.
const MediaType = "application/vnd.kubetab.bundle"

// Path is where an engine answers with its cluster as a bundle: see cluster.Cluster.ServeHTTP.
const Path = "/kubetab/bundle"

const (
	format  = "kubetab.bundle"
	version = 1
	codec   = "gzip"
)

// Bundle is a cluster at one revision.
type Bundle struct {
	// Kubernetes is the version of the API server that made the bundle, as
	// "v1.37.2+kubetab"; Build is its commit.
	Kubernetes, Build string
	// Time is when it was made, by the real clock.
	Time time.Time
	// Name is what the cluster is called, for people. It may be empty.
	Name     string
	Settings Settings
	Clock    Clock
	// State holds the values that upstream's codecs have stored.
	State etcd.State
	Files []File
}

// Settings are what the engine was started with and what differs from the defaults,
// but for Nodes, of which a server and a page may have other defaults. What a bundle does
// not say is as in a new cluster of whoever opens it.
type Settings struct {
	EmulatedVersion string            `json:"emulatedVersion,omitempty"` // as "1.36"
	RuntimeConfig   map[string]string `json:"runtimeConfig,omitempty"`   // as --runtime-config of kube-apiserver
	FeatureGates    map[string]bool   `json:"featureGates,omitempty"`
	Nodes           *int              `json:"nodes,omitempty"`       // how many are simulated; nil is not said
	Controllers     []string          `json:"controllers,omitempty"` // as --controllers of kube-controller-manager
	NoScheduler     bool              `json:"noScheduler,omitempty"`
}

// Clock is the cluster's clock beside the real one.
type Clock struct {
	// Ahead is by how much it was ahead of Bundle.Time; never negative.
	Ahead  time.Duration
	Paused bool
	Speed  float64 // seconds of the clock in one of the real time
}

// File is one of the workspace.
type File struct {
	Path string // names with slashes between them, none at the start
	Data []byte
}

// Limits say what a bundle may have. The zero value is of no use: see DefaultLimits.
type Limits struct {
	File    int64 // bytes of the file
	Cluster int64 // bytes of the cluster, inflated
	Records int   // leases, records and files: so many of each
	Value   int   // bytes of one value, and of one file of the workspace
}

// DefaultLimits are for who opens a file in 4 GB of memory, where all of it is there several
// times. A value may be larger than etcd's usual 1.5 MiB because etcd's limit is an option.
func DefaultLimits() Limits {
	return Limits{File: 64 << 20, Cluster: 256 << 20, Records: 1_000_000, Value: 16 << 20}
}

// FormatLimits are what the format has room for, and what is written: a cluster that has
// filled an engine's memory can be saved, too, and opened where there is more of it.
func FormatLimits() Limits {
	l := DefaultLimits()
	l.File = math.MaxUint32 // bytes of a bin of msgpack
	l.Cluster = 16 << 30
	l.Records = 10_000_000
	return l
}

const (
	mostText    = 4 << 10 // bytes of a key, a path, a name
	mostEntries = 1_000   // of a setting
)

var (
	// ErrInvalid is in the error of Read for a file that is no bundle, is torn or
	// holds what no cluster can.
	ErrInvalid = errors.New("the file cannot be read as a bundle")
	// ErrNewer is in the error of Read for a bundle of a later version of the format.
	ErrNewer = errors.New("the bundle has a later format than this build reads")
	// ErrTooLarge is in the errors of Read and Write for what is above the Limits.
	ErrTooLarge = errors.New("the bundle is too large")
)
