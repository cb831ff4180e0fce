package requestlog

import "net/http"

// Subscriber is told of requests as they pass, with bounds of its own: what it wants is delivered whether the log still
// has it or not.
type Subscriber struct {
	// Want decides at the beginning of a request whether Deliver is told of it. It must not keep r. Nil means all.
	Want func(r *http.Request, from string, internal bool) bool
	// BodyBytes is how much of each body, and of each event of a watch, is delivered: 256 KiB if 0.
	BodyBytes int
	// Deliver is called in the order in which things happen, while the log is locked: it must neither block nor call the
	// log. What it is given is its own and must not be changed.
	Deliver func(Passing)
}

// Part says how far a request has come.
type Part int

const (
	// PartHead: the status and the headers of the answer have been sent.
	PartHead Part = iota
	// PartEvent: a watch has sent an event.
	PartEvent
	// PartEnd: the answer is complete, or broken off.
	PartEnd
)

// Passing is a request in one moment of its course: each field has what is known of it by then.
type Passing struct {
	Part Part
	Record
	RequestHeader  http.Header // without credentials
	ResponseHeader http.Header // nil before the head
	RequestBody    Bytes       // as far as the handler has read it
	ResponseBody   Bytes       // with PartEnd; empty for a watch
	WatchEvent     []byte      // with PartEvent; nil when it was too large
}

// Bytes are the beginning of a body.
type Bytes struct {
	Data []byte
	Size int64 // of the whole
}

// Whole reports whether nothing is missing.
func (b Bytes) Whole() bool { return int64(len(b.Data)) == b.Size }

// Decode turns bytes into text by what the headers that came with them say. It is nil for no body.
func (b Bytes) Decode(h http.Header) *Body { return decode(kept{b.Data, b.Size}, h) }

// DecodeEvent turns an event of a watch into text.
func (p Passing) DecodeEvent() Body { return decodeEvent(p.WatchEvent, p.ContentType) }

// Subscribe tells s of the requests that begin from now on, until stop is called. After stop has returned, Deliver is not
// called any more.
func (l *Log) Subscribe(s Subscriber) (stop func()) {
	if s.BodyBytes <= 0 {
		s.BodyBytes = 256 << 10
	}
	sub := &s
	l.mu.Lock()
	l.subscribers[sub] = struct{}{}
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		delete(l.subscribers, sub)
		l.mu.Unlock()
	}
}

// subscribed is what one subscriber has of a request.
type subscribed struct {
	to       *Subscriber
	request  body
	response body
	frames   *frames
}

// offer asks the subscribers about a request that begins. The caller holds the lock.
func (l *Log) offer(e *entry, r *http.Request) {
	for s := range l.subscribers {
		if s.Want == nil || s.Want(r, e.From, e.Internal) {
			e.subscribed = append(e.subscribed, &subscribed{to: s})
		}
	}
}

// deliver tells the subscribers of a request. The caller holds the lock.
func (l *Log) deliver(e *entry, part Part) {
	for _, s := range e.subscribed {
		l.deliverTo(e, s, part, nil)
	}
}

func (l *Log) deliverTo(e *entry, s *subscribed, part Part, event []byte) {
	if _, stays := l.subscribers[s.to]; !stays {
		return
	}
	p := Passing{
		Part:           part,
		Record:         e.record(),
		RequestHeader:  e.requestHeader,
		ResponseHeader: e.responseHeader,
		RequestBody:    Bytes{s.request.kept, s.request.size},
		WatchEvent:     event,
	}
	if part == PartEnd {
		p.ResponseBody = Bytes{s.response.kept, s.response.size}
	}
	s.to.Deliver(p)
}

// deliverBytes takes in what an answer has sent, and delivers the events that are complete with it.
func (l *Log) deliverBytes(e *entry, data []byte, at int64) {
	for _, s := range e.subscribed {
		if e.frames == nil {
			s.response.add(data, s.to.BodyBytes)
			continue
		}
		if s.frames == nil {
			s.frames = newFrames(e.frames.by, s.to.BodyBytes, true, &l.latest)
			s.frames.deliver = func(event []byte) { l.deliverTo(e, s, PartEvent, event) }
		}
		s.frames.add(data, at)
	}
}
