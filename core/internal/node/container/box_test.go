package container

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/internal/node/dns"
)

// alone is the network of a container that is alone in the world.
type alone struct{}

func (alone) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connect: connection refused")
}

func (alone) Lookup(_ context.Context, name string) ([]string, string, error) {
	return nil, name, &net.DNSError{Name: name, Err: "no such host"}
}

func (alone) Ask(context.Context, string, dns.Question) (dns.Answer, error) {
	return dns.Answer{Code: dns.NameError}, nil
}

func (alone) Cluster(dns.Question) ([]dns.Record, bool) { return nil, false }

func (alone) Resolver() Resolver { return Resolver{} }

func (alone) Answers(string) bool { return false }

func (alone) Ports() []Port { return nil }

func (alone) Connect(context.Context, string, Port) (Listener, error) {
	return Listener{}, errors.New("connect: connection refused")
}

// box is a container on a clock that stands still, and how it ended.
type box struct {
	*Container
	clock *clock.Clock
	ended chan int
}

// run starts a command in an image. The container ends with the test.
func run(t *testing.T, image string, argv ...string) *box {
	t.Helper()
	b, err := tryRun(t, image, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tryRun(t *testing.T, name string, argv ...string) (*box, error) {
	t.Helper()
	return tryRunAs(t, User{}, name, argv...)
}

// runAs is run as a user.
func runAs(t *testing.T, u User, name string, argv ...string) *box {
	t.Helper()
	b, err := tryRunAs(t, u, name, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tryRunAs(t *testing.T, u User, name string, argv ...string) (*box, error) {
	t.Helper()
	return tryRunWith(t, func(c *Config) { c.User = u }, name, argv...)
}

// tryRunWith is tryRun with another configuration.
func tryRunWith(t *testing.T, change func(*Config), name string, argv ...string) (*box, error) {
	t.Helper()
	image, err := Resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	b := &box{clock: clock.New(nil), ended: make(chan int, 1)}
	b.clock.Pause()
	disk := NewDisk(b.clock, 0)
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); running.Wait() })
	config := Config{
		Clock: b.clock, Image: image, Argv: argv, Hostname: "box", IP: "10.0.0.9", Env: []string{"COLOR=blue"},
		Files: func() *Tree { return image.Tree(disk) }, Network: alone{}, Go: running.Go, OnExit: func(code int) { b.ended <- code },
		Capabilities: Capabilities(false, nil, nil),
	}
	change(&config)
	b.Container, err = Start(ctx, config)
	return b, err
}

// output returns what the container has written, once it has ended.
func (b *box) output() string {
	<-b.ended
	var out bytes.Buffer
	_ = b.Log.Read(context.Background(), &out, ReadOptions{Tail: -1})
	return out.String()
}

// step lets time pass until the condition holds, for as long as patience: what a container does in the meantime takes real
// time, on a machine that is busy with other things.
func (b *box) step(t *testing.T, condition func() bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; {
		if condition() {
			return
		}
		if err := b.clock.Step(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // what is waited for runs in goroutines of its own
	}
	t.Fatalf("nothing has happened for %v", patience)
}
