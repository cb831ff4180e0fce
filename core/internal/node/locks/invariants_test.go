//go:build race || invariants

package locks

import (
	"fmt"
	"sync"
	"testing"
)

func TestOrder(t *testing.T) {
	var pod Mutex[Pod]
	var part, otherPart Mutex[Part]
	var inbox Mutex[Inbox]
	for _, c := range []struct {
		take []sync.Locker
		want string // what the last panics with; empty: it does not
	}{
		{[]sync.Locker{&pod, &part, &inbox}, ""},
		{[]sync.Locker{&pod, &inbox}, ""},
		{[]sync.Locker{&part, &inbox}, ""},
		{[]sync.Locker{&part, &pod}, "locks: a goroutine that holds Nodes.mu, kubelet.state or volumes.mu takes Pod.mu"},
		{[]sync.Locker{&inbox, &pod}, "locks: a goroutine that holds Pod.inbox takes Pod.mu"},
		{[]sync.Locker{&pod, &inbox, &part}, "locks: a goroutine that holds Pod.inbox takes Nodes.mu, kubelet.state or volumes.mu"},
		{[]sync.Locker{&part, &otherPart}, "locks: a goroutine that holds Nodes.mu, kubelet.state or volumes.mu takes Nodes.mu, kubelet.state or volumes.mu"},
		{[]sync.Locker{&pod, &pod}, "locks: a goroutine that holds Pod.mu takes Pod.mu"},
	} {
		last := len(c.take) - 1
		for _, l := range c.take[:last] {
			l.Lock()
		}
		got := taken(c.take[last])
		if got != c.want {
			t.Errorf("it panics with %q, want %q", got, c.want)
		}
		if got == "" {
			c.take[last].Unlock()
		}
		for _, l := range c.take[:last] {
			l.Unlock()
		}
	}
	if len(held.by) != 0 {
		t.Errorf("%d goroutines hold what was given back", len(held.by))
	}
}

// What one goroutine holds does not hinder another, and another may unlock it.
func TestOtherGoroutines(t *testing.T) {
	var pod Mutex[Pod]
	var inbox Mutex[Inbox]
	inbox.Lock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pod.Lock()
		inbox.Unlock()
		inbox.Lock()
		pod.Unlock()
		inbox.Unlock()
	}()
	<-ended
	// The inbox was given back for this goroutine, which had locked it.
	if message := taken(&pod); message != "" {
		t.Error(message)
	}
	pod.Unlock()
}

// taken locks l, and returns what that panics with.
func taken(l sync.Locker) (message string) {
	defer func() {
		if p := recover(); p != nil {
			message = fmt.Sprint(p)
		}
	}()
	l.Lock()
	return ""
}
