package container

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/kubetab/kubetab/core/clock"
)

// A log counts for what its files would take on a real node: as many bytes as five files of
// 10 MiB hold at most, of which the oldest is deleted when a new one begins.
func TestLogsCount(t *testing.T) {
	disk := NewDisk(clock.New(nil), 1)
	notices := 0
	pod := disk.NewQuota(nil, 0, 45<<20, func() { notices++ })
	l := NewLog(clock.New(nil))
	l.counts = disk.NewQuota(pod, 0, 0, nil)
	most, written := int64(0), int64(0)
	line := append(bytes.Repeat([]byte("x"), 8<<10-1-int(linePrefix)), '\n')
	for range 100 << 20 / (8 << 10) {
		if _, err := l.Writer(Stderr).Write(line); err != nil {
			t.Fatal(err)
		}
		if written += 8 << 10; written <= 40<<20 && l.Size() != written {
			t.Fatalf("%d bytes count of %d", l.Size(), written)
		}
		if l.Size() != l.counts.Used() || l.Size() != pod.Used() {
			t.Fatalf("%d bytes, of which %d count in the container and %d in the Pod", l.Size(), l.counts.Used(), pod.Used())
		}
		most = max(most, l.Size())
	}
	if most >= 50<<20 || most < 49<<20 || l.Size() != 40<<20 {
		t.Errorf("at most %d bytes, and %d at the end", most, l.Size())
	}
	if notices != 6 || disk.used != 0 {
		t.Errorf("told %d times, %d bytes of the disk", notices, disk.used)
	}
	l.End()
	for range 2 {
		l.Discard()
	}
	if l.Size() != 0 || pod.Used() != 0 {
		t.Errorf("%d bytes when discarded, %d in the Pod", l.Size(), pod.Used())
	}
}

func TestLogLimits(t *testing.T) {
	l := NewLog(clock.New(nil))
	l.limit = 100
	w := l.Writer(Stdout)
	for range 100 {
		if _, err := io.WriteString(w, "0123456789\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(l.Writer(Stderr), "part"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	read := func(o ReadOptions) string {
		out.Reset()
		if err := l.Read(context.Background(), &out, o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := read(ReadOptions{Tail: -1}); len(got) > 100 || len(got) < 80 {
		t.Errorf("%d bytes are kept of a log of 100", len(got))
	}
	l.End()
	if got := read(ReadOptions{Tail: 2}); got != "0123456789\npart" {
		t.Errorf("the end is %q", got)
	}
	if got := read(ReadOptions{Tail: -1, Stream: Stderr}); got != "part" {
		t.Errorf("stderr is %q", got)
	}
	if got := read(ReadOptions{Tail: 2, LimitBytes: 3}); got != "012" {
		t.Errorf("three bytes are %q", got)
	}
}
