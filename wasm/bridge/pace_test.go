package bridge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A host that is behind sees each response flushed more rarely than it gathers: it is helped all the same.
func TestFlushesOfManyAreGatheredWhereEachIsRare(t *testing.T) {
	const watches = 4 * busy
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			time.Sleep(3 * gathering / 2)
			io.WriteString(w, "event")
			w.(http.Flusher).Flush()
			<-over
		})
		for id := range watches {
			b.Request(id, "GET", "/", nil, false)
			b.Credit(id, plenty)
		}
		arrived := func() (n int) {
			host.mu.Lock()
			defer host.mu.Unlock()
			for id := range watches {
				if host.answers[id].body.String() == "event" {
					n++
				}
			}
			return n
		}
		time.Sleep(3 * gathering / 2)
		synctest.Wait()
		if n := arrived(); n > busy {
			t.Errorf("%d of %d events went one by one", n, watches)
		}
		time.Sleep(gathering)
		synctest.Wait()
		if n := arrived(); n != watches {
			t.Errorf("%d of %d events arrived", n, watches)
		}
		close(over)
		for id := range watches {
			host.waitOver(t, id)
		}
	})
}

// What many watches flush at once goes to the host in fewer chunks; all of it, in its order, and without another flush.
// A response that has been quiet is not held up by them.
func TestFlushesOfManyAreGathered(t *testing.T) {
	const watches, events = 50, 100
	const quiet = watches                 // its id
	synctest.Test(t, func(t *testing.T) { // where nothing takes time but waiting
		flood, speak, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
			flush := w.(http.Flusher).Flush
			flush()
			if r.URL.Path == "/quiet" {
				<-speak
				io.WriteString(w, "now")
				flush()
			} else {
				<-flood
				for i := range events {
					fmt.Fprintf(w, "%d,", i)
					flush()
				}
			}
			<-over
		})
		for id := range watches + 1 {
			path := "/busy"
			if id == quiet {
				path = "/quiet"
			}
			b.Request(id, "GET", path, nil, false)
			b.Credit(id, plenty)
		}
		time.Sleep(seldom) // since their heads
		close(flood)
		synctest.Wait()
		close(speak)
		synctest.Wait()
		// As it is at this moment: to wait for an answer would let time pass.
		seen := func(id int) (body string, chunks int) {
			host.mu.Lock()
			defer host.mu.Unlock()
			a := host.answers[id]
			return a.body.String(), len(a.chunks)
		}
		if body, _ := seen(quiet); body != "now" {
			t.Errorf("%q of the quiet one when Flush had returned", body)
		}
		var want strings.Builder
		for i := range events {
			fmt.Fprintf(&want, "%d,", i)
		}
		complete := 0 // who was first had all of the flushes that go at once
		for id := range watches {
			if body, _ := seen(id); body == want.String() {
				complete++
			}
		}
		if complete == watches {
			t.Error("nothing was held back when the quiet one spoke")
		}
		time.Sleep(gathering)
		synctest.Wait()
		all := 0
		for id := range watches {
			body, chunks := seen(id)
			if body != want.String() {
				t.Errorf("watch %d: %s", id, body)
			}
			all += chunks
		}
		if all > watches*events/10 {
			t.Errorf("%d events came in %d chunks", watches*events, all)
		}
		close(over)
		for id := range watches + 1 {
			host.waitOver(t, id)
		}
	})
}
