package node_test

import (
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/internal/node"
)

// On the real clock a Pod with a known image runs within about a second; more is for a machine that is busy with other
// things.
func TestRealTime(t *testing.T) {
	c := start(t, func(n *node.Config) { n.Clock = nil })
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: nginx}]}}`)
	started := time.Now()
	c.until("ready", c.ready("p"))
	if took := time.Since(started); took > 30*time.Second {
		t.Errorf("the Pod was ready after %v", took)
	}
}
