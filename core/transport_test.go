package core

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func roundTrip(ctx context.Context, t *testing.T, h http.HandlerFunc) (*http.Response, error) {
	t.Helper()
	tr := newTransport(time.Minute)
	tr.serve(h)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, loopbackHost+"/path?q=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	return client{transport: tr}.RoundTrip(r)
}

func TestTransportWaitsForTheHandler(t *testing.T) {
	request := func(ctx context.Context, tr *transport) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, loopbackHost, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client{transport: tr}.RoundTrip(r)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	if err := request(t.Context(), newTransport(time.Millisecond)); !errors.Is(err, errNotServing) {
		t.Errorf("no handler in time: %v, want errNotServing", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := request(canceled, newTransport(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller gives up: %v, want Canceled", err)
	}
	tr := newTransport(time.Hour)
	answered := make(chan error)
	go func() { answered <- request(t.Context(), tr) }()
	tr.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err := <-answered; err != nil {
		t.Errorf("the handler comes: %v", err)
	}
	tr.stop()
	if err := request(t.Context(), tr); !errors.Is(err, errNotServing) {
		t.Errorf("after stop: %v, want errNotServing", err)
	}
}

func TestTransportStreamsWhatIsFlushed(t *testing.T) {
	next := make(chan struct{})
	res, err := roundTrip(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != "/path?q=1" || r.RemoteAddr == "" {
			t.Errorf("RequestURI %q, RemoteAddr %q", r.RequestURI, r.RemoteAddr)
		}
		w.Header().Set("X-Sent", "yes")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Late", "not sent")
		<-next
		io.WriteString(w, "first")
		<-next
		io.WriteString(w, "second")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || res.Header.Get("X-Sent") != "yes" || res.Header.Get("X-Late") != "" {
		t.Errorf("status %d, header %v", res.StatusCode, res.Header)
	}
	buf := make([]byte, 16)
	for _, want := range []string{"first", "second"} {
		next <- struct{}{}
		n, err := res.Body.Read(buf)
		if err != nil || string(buf[:n]) != want {
			t.Fatalf("read %q, %v; want %q before the handler goes on", buf[:n], err, want)
		}
	}
	if _, err := res.Body.Read(buf); err != io.EOF {
		t.Errorf("read after the end: %v, want EOF", err)
	}
}

func TestTransportClosingTheBodyEndsTheRequest(t *testing.T) {
	ended := make(chan error, 1)
	res, err := roundTrip(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		_, err := w.Write([]byte("too late"))
		ended <- err
	})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if err := <-ended; err == nil {
		t.Error("a write after the client has gone succeeded")
	}
}

func TestTransportCancelBeforeTheHeader(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := roundTrip(ctx, t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("RoundTrip: %v, want DeadlineExceeded", err)
	}
}

func TestTransportReportsAPanic(t *testing.T) {
	_, err := roundTrip(t.Context(), t, func(http.ResponseWriter, *http.Request) { panic("broken") })
	if err == nil || !strings.Contains(err.Error(), "broken") || !strings.Contains(err.Error(), "transport_test.go") {
		t.Errorf("before the header: %v, want the panic and its stack", err)
	}

	res, err := roundTrip(t.Context(), t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		panic(http.ErrAbortHandler)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("after the header: the body ended as if it were complete")
	}
}
