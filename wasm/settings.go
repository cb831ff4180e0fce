package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/core/resume"
)

// settings is kubetabHost.config. All fields are optional.
type settings struct {
	RuntimeConfig   map[string]string `json:"runtimeConfig"`   // as --runtime-config
	FeatureGates    map[string]bool   `json:"featureGates"`    // as --feature-gates
	EmulatedVersion string            `json:"emulatedVersion"` // such as "1.36"
	Host            string            `json:"host"`            // host:port in discovery
	Nodes           int               `json:"nodes"`           // how many simulated nodes
	Controllers     []string          `json:"controllers"`     // as --controllers of kube-controller-manager
	NoScheduler     bool              `json:"noScheduler"`     // Pods stay where they are put
	Verbosity       int               `json:"verbosity"`       // of the log on stderr: 0 is warnings and errors, n is klog's V(n-1)
	GCPercent       int               `json:"gcPercent"`       // as GOGC
	Memory          uint64            `json:"memory"`          // bytes of live objects beyond which requests that add are refused
	ToBeFrozen      bool              `json:"toBeFrozen"`      // the engine will go on from a snapshot, see wasm/snapshot
	Anonymous       bool              `json:"anonymous"`       // requests without credentials are anonymous, not the administrator's
}

// defaultGCPercent trades time for memory, which a tab has less of.
const defaultGCPercent = 50

// defaultNodes are enough to see Pods spread and move.
const defaultNodes = 2

// nodeStorage is how many bytes the files of Pods may take: a tab has 4 GB for everything.
const nodeStorage = 256 << 20

// A module has 4 GB of memory, and ends when it needs more. defaultMemory of it is for live objects. The collector lets no
// more than memoryLimit gather, garbage included, as far as that can be had: what is left is for what is being done.
const (
	defaultMemory = 2560 << 20
	memoryLimit   = 3328 << 20
)

// parseSettings reads text; empty text means the defaults.
// Errors: text that is not one JSON object of known fields.
func parseSettings(text string) (settings, error) {
	s := settings{GCPercent: defaultGCPercent, Nodes: defaultNodes, Memory: defaultMemory}
	if text == "" {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	err := d.Decode(&s)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return s, nil
		}
		err = fmt.Errorf("more than one value")
	}
	return s, fmt.Errorf("kubetabHost.config: %w", err)
}

// engine returns the settings as a configuration of core. A page has no way to log in and no other
// users to keep out, so a request without credentials is the administrator's, who is also the user of
// the terminal.
func (s settings) engine() core.Config {
	c := core.Config{
		RuntimeConfig:   s.RuntimeConfig,
		FeatureGates:    s.FeatureGates,
		EmulatedVersion: s.EmulatedVersion,
		Host:            s.Host,
		Nodes:           s.Nodes,
		NodeStorage:     nodeStorage,
		Memory:          s.Memory,
		FixedHeap:       true, // a WebAssembly memory never shrinks
		Controllers:     s.Controllers,
		NoScheduler:     s.NoScheduler,
		Clock:           clock.New(nil),
		Resume:          resume.Config{AwaitIdentity: s.ToBeFrozen},
	}
	if !s.Anonymous {
		c.DefaultUser = people.All[0].User()
	}
	return c
}
