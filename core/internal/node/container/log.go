package container

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	maxLine = 16 << 10 // bytes after which a line is cut, as container runtimes do
	maxLog  = 2 << 20  // bytes that a log keeps; older lines are dropped, as by rotation
)

// A log counts for what its files would take on a real node, although it keeps less: a
// container that writes without end is evicted after as many bytes as there. The container
// runtime writes a time, the stream and a mark before each line, and a kubelet rotates the
// files by its settings containerLogMaxSize and containerLogMaxFiles, whose defaults these
// are. That a kubelet compresses the older files is left out: it depends on what they hold.
const (
	linePrefix  = int64(len("2006-01-02T15:04:05.000000000Z stdout F "))
	logFileSize = 10 << 20
	logFiles    = 5
)

// stored returns how many bytes of so many that have been written are in the files of a log.
func stored(written int64) int64 {
	const rotated = (logFiles - 1) * logFileSize
	if written <= rotated {
		return written
	}
	return rotated + written%logFileSize
}

// Stream is where a line of a log came from.
type Stream string

const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// line is one entry of a log: a whole line with its newline, or a part of one.
type line struct {
	at     time.Time
	stream Stream
	text   []byte
}

// Log is what the first process of a container has written. It is safe for
// concurrent use.
type Log struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	lines   []line
	dropped int // lines that are gone from the front
	size    int
	partial map[Stream][]byte
	ended   bool
	news    chan struct{}     // closed when something is added, then replaced; nil while nobody follows
	taps    map[*tap]struct{} // attached clients
	limit   int               // maxLog, or less in tests
	written int64             // bytes of all whole lines as in a log's file
	counts  *Quota            // counts what the log's files take; may be nil
	heard   bool              // a client has read it, or was attached
}

// tap receives what is written, byte for byte, while a client is attached.
type tap struct{ out, err io.Writer }

// NewLog returns an empty log whose lines get their times from clock.
func NewLog(clock clock.PassiveClock) *Log {
	return &Log{clock: clock, partial: map[Stream][]byte{}, limit: maxLog}
}

// Writer returns what writes to one stream of the log. It never fails.
func (l *Log) Writer(s Stream) io.Writer { return logWriter{l, s} }

type logWriter struct {
	log    *Log
	stream Stream
}

func (w logWriter) Write(b []byte) (int, error) {
	l := w.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return len(b), nil
	}
	rest := b
	for len(rest) > 0 {
		cut := bytes.IndexByte(rest, '\n') + 1
		if cut == 0 {
			cut = len(rest)
		}
		have := append(l.partial[w.stream], rest[:cut]...)
		rest = rest[cut:]
		if have[len(have)-1] == '\n' || len(have) >= maxLine {
			l.addLocked(w.stream, have)
			have = nil
		}
		l.partial[w.stream] = have
	}
	for t := range l.taps {
		to := t.out
		if w.stream == Stderr {
			to = t.err
		}
		if to != nil {
			_, _ = to.Write(b) // a client that is gone is detached by its own context
		}
	}
	return len(b), nil
}

func (l *Log) addLocked(s Stream, text []byte) {
	l.lines = append(l.lines, line{at: l.clock.Now(), stream: s, text: text})
	l.size += len(text)
	was := stored(l.written)
	l.written += linePrefix + int64(len(text))
	l.counts.Count(stored(l.written) - was)
	for l.size > l.limit && len(l.lines) > 1 {
		l.size -= len(l.lines[0].text)
		l.lines[0].text = nil
		l.lines = l.lines[1:]
		l.dropped++
	}
	l.wakeLocked()
}

func (l *Log) wakeLocked() {
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}

// Size returns how many bytes the log's files would take on a real node, until Discard is
// called. That is more than the log keeps.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return stored(l.written)
}

// Discard makes the log, which has ended, count for nothing, as if its files were deleted. It
// may be called again.
func (l *Log) Discard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Count(-stored(l.written))
	l.written = 0
}

// End says that nothing more will be written: followers return.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range []Stream{Stdout, Stderr} {
		if len(l.partial[s]) > 0 {
			l.addLocked(s, l.partial[s])
			l.partial[s] = nil
		}
	}
	l.ended = true
	l.wakeLocked()
}

// Tap copies what is written from now on to out and err, either of which may be
// nil, until detach is called.
func (l *Log) Tap(out, err io.Writer) (detach func()) {
	t := &tap{out, err}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taps == nil {
		l.taps = map[*tap]struct{}{}
	}
	l.taps[t] = struct{}{}
	l.heard = l.heard || !l.ended
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.taps, t)
	}
}

// Hear says that a client reads the log.
func (l *Log) Hear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = true
}

// firstToHear reports whether all has been written and no client knows of it yet. The caller is one from then on.
func (l *Log) firstToHear() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	isFirst := l.ended && !l.heard
	l.heard = l.heard || isFirst
	return isFirst
}

// AwaitEnd returns when nothing more will be written, or ctx's error if that ends
// first.
func (l *Log) AwaitEnd(ctx context.Context) error {
	for {
		news, ended := l.wait()
		if ended {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wait returns a channel that is closed when there is something new.
func (l *Log) wait() (<-chan struct{}, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.news == nil {
		l.news = make(chan struct{})
	}
	return l.news, l.ended
}

// ReadOptions say which part of a log to read, as PodLogOptions do.
type ReadOptions struct {
	Follow     bool
	Since      time.Time // zero: from the start
	Tail       int64     // lines from the end; negative: all
	LimitBytes int64     // zero: no limit
	Timestamps bool
	Stream     Stream // empty: both
}

// errLimit ends a read that has written as many bytes as were asked for.
var errLimit = errors.New("the limit of bytes is reached")

// Read writes the log to w. It returns when everything that was asked for has
// been written, which with Follow is when the log ends, and ctx's error or that
// of w.
func (l *Log) Read(ctx context.Context, w io.Writer, o ReadOptions) error {
	left := o.LimitBytes
	write := func(b []byte) error {
		if o.LimitBytes > 0 && int64(len(b)) >= left {
			if _, err := w.Write(b[:left]); err != nil {
				return err
			}
			return errLimit
		}
		left -= int64(len(b))
		_, err := w.Write(b)
		return err
	}
	wanted := func(x line) bool {
		return (o.Stream == "" || x.stream == o.Stream) && !x.at.Before(o.Since)
	}

	l.mu.Lock()
	next := l.dropped // number of the next line to write, counting dropped ones
	if o.Tail >= 0 {
		next = l.dropped + len(l.lines)
		for left := o.Tail; left > 0 && next > l.dropped; {
			next--
			if wanted(l.lines[next-l.dropped]) {
				left--
			}
		}
	}
	l.mu.Unlock()

	for {
		news, ended := l.wait()
		l.mu.Lock()
		next = max(next, l.dropped)
		batch := append([]line(nil), l.lines[next-l.dropped:]...)
		next += len(batch)
		l.mu.Unlock()
		for _, x := range batch {
			if !wanted(x) {
				continue
			}
			text := x.text
			if o.Timestamps {
				text = append([]byte(x.at.UTC().Format(time.RFC3339Nano)+" "), text...)
			}
			if err := write(text); err != nil {
				if errors.Is(err, errLimit) {
					return nil
				}
				return err
			}
		}
		switch {
		case len(batch) > 0:
			continue // more may have come meanwhile
		case ended || !o.Follow:
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Tail returns the last lines of the log: at most that many, and at most that
// many bytes.
func (l *Log) Tail(lines, limit int) string {
	var b bytes.Buffer
	_ = l.Read(context.Background(), &b, ReadOptions{Tail: int64(lines)})
	text := b.Bytes()
	if len(text) > limit {
		text = text[len(text)-limit:]
	}
	return string(text)
}
