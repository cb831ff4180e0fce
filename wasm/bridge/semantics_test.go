package bridge

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Each handler is served by net/http over a socket and by the bridge, and both answers must be the same.
// Left out of the comparison: Date and Connection, which are the socket's, and Content-Length where the
// bridge knows it and net/http, with its smaller buffer, does not.
func TestSameAsNetHTTP(t *testing.T) {
	set := func(w http.ResponseWriter, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			w.Header().Add(pairs[i], pairs[i+1])
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"nothing":      func(w http.ResponseWriter, r *http.Request) {},
		"implicit 200": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "text") },
		"sniffed html": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html><body>") },
		"not sniffed encoded": func(w http.ResponseWriter, r *http.Request) {
			set(w, "Content-Encoding", "gzip")
			io.WriteString(w, "text")
		},
		"type set to none": func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, "text")
		},
		"sniffed large":     func(w http.ResponseWriter, r *http.Request) { w.Write(bytes.Repeat([]byte("{} "), 50_000)) },
		"flush, then write": func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); io.WriteString(w, "text") },
		"write, then flush": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "text"); w.(http.Flusher).Flush() },
		"404":               http.NotFound,
		"redirect":          func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/else", http.StatusFound) },
		"duplicate headers": func(w http.ResponseWriter, r *http.Request) {
			set(w, "Warning", "299 - \"a\"", "Warning", "299 - \"b\"")
		},
		"dirty headers": func(w http.ResponseWriter, r *http.Request) {
			set(w, "X-Newline", "a\r\nInjected: b", "X-Space", "  c ", "Bad Name", "d", "", "e")
		},
		"late headers": func(w http.ResponseWriter, r *http.Request) {
			set(w, "X-A", "1")
			w.WriteHeader(201)
			set(w, "X-A", "2", "X-B", "3")
			io.WriteString(w, "text")
		},
		"superfluous":        func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404); w.WriteHeader(200) },
		"write, then status": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "text"); w.WriteHeader(404) },
		"informational":      func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(103); w.WriteHeader(202) },
		"length given": func(w http.ResponseWriter, r *http.Request) {
			set(w, "Content-Length", "4")
			n, err := io.WriteString(w, "text")
			fmt.Fprint(w, n, err) // too much, refused
		},
		"length, HEAD or not, no body written": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "HEAD" {
				set(w, "Content-Length", "1000", "Content-Type", "text/plain")
			}
		},
		"204": func(w http.ResponseWriter, r *http.Request) {
			set(w, "Content-Type", "text/plain", "Content-Length", "5")
			w.WriteHeader(204)
			n, err := io.WriteString(w, "text")
			if n != 0 || err != http.ErrBodyNotAllowed {
				t.Errorf("204: %d %v", n, err)
			}
		},
		"304": func(w http.ResponseWriter, r *http.Request) {
			set(w, "Content-Type", "text/plain", "Etag", `"a"`)
			w.WriteHeader(304)
		},
		"transfer encoding": func(w http.ResponseWriter, r *http.Request) { set(w, "Transfer-Encoding", "identity"); w.Write(nil) },
		"echo": func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %v %q %v %d %q %v", r.Method, r.RequestURI, r.URL, body, err, r.ContentLength, r.TransferEncoding, r.Header["X-Many"])
		},
		"body limit": func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 3))
			fmt.Fprint(w, err)
		},
		"body left": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "did not read it") },
		"body closed": func(w http.ResponseWriter, r *http.Request) {
			r.Body.Close()
			_, err := r.Body.Read(make([]byte, 1))
			fmt.Fprint(w, err)
		},
		"read twice": func(w http.ResponseWriter, r *http.Request) {
			io.ReadAll(r.Body)
			_, err := r.Body.Read(make([]byte, 1))
			fmt.Fprint(w, err)
		},
		"controller": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, http.NewResponseController(w).Flush()) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			b, host := newBridge(t, handler)
			for id, q := range []struct {
				method string
				body   []byte
			}{{"GET", nil}, {"HEAD", nil}, {"POST", []byte("the body")}, {"DELETE", []byte{}}} {
				want := overSocket(t, server.URL, q.method, "/p%2Fq?a=b&a=c", q.body)
				headers := []string{"X-Many", "1", "x-many", "2"}
				if q.body != nil {
					headers = append(headers, "Content-Length", fmt.Sprint(len(q.body)))
				}
				got := do(t, b, host, id, q.method, "/p%2Fq?a=b&a=c", q.body, headers...)
				compare(t, q.method, got, want)
			}
		})
	}
}

func overSocket(t *testing.T, base, method, target string, body []byte) answer {
	t.Helper()
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	r, err := http.NewRequest(method, base+target, reader)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["X-Many"] = []string{"1", "2"}
	transport := http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	if _, err := a.body.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return a
}

func compare(t *testing.T, method string, got, want answer) {
	t.Helper()
	if got.status != want.status || got.body.String() != want.body.String() {
		t.Errorf("%s: got %d %.200q, want %d %.200q", method, got.status, got.body.String(), want.status, want.body.String())
	}
	if want.header.Get("Content-Length") == "" {
		got.header.Del("Content-Length")
	}
	want.header.Del("Date")
	want.header.Del("Connection")
	if !maps.EqualFunc(got.header, want.header, slices.Equal) {
		t.Errorf("%s: got  %v\nwant %v", method, got.header, want.header)
	}
}

// What net/http refuses before a handler is asked, the bridge refuses with the same code and text.
func TestRefusedAsNetHTTP(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "host ", r.Host) })
	server := httptest.NewServer(handler)
	defer server.Close()
	b, host := newBridge(t, handler)
	for id, q := range []struct {
		name, method, target string
		headers              []string
	}{
		{"control character in the path", "GET", "/api/v1/\x01", nil},
		{"bad escape", "GET", "/%zz", nil},
		{"no path", "GET", "x", nil},
		{"header name", "GET", "/", []string{"A(b", "c"}},
		{"header value", "GET", "/", []string{"Ab", "c\x00"}},
		{"host header", "GET", "/", []string{"Host", "a b\x01"}},
		{"expectation", "GET", "/", []string{"Expect", "miracle"}},
		{"kept expectation", "GET", "/", []string{"Expect", "100-Continue"}},
		{"absolute", "GET", "http://elsewhere/x", nil},
		{"asterisk", "GET", "*", nil},
		{"large", "GET", "/", []string{"Large", strings.Repeat("x", 1<<20+1<<14)}},
		{"length", "POST", "/", []string{"Content-Length", "-1"}},
		{"lengths", "POST", "/", []string{"Content-Length", "3", "Content-Length", "4"}},
	} {
		t.Run(q.name, func(t *testing.T) {
			a := do(t, b, host, id, q.method, q.target, nil, q.headers...)
			code, text := rawRequest(t, server.URL, q.method, q.target, q.headers)
			if a.status != code {
				t.Errorf("got %d, net/http %d", a.status, code)
			}
			if got := a.body.String(); got != text && !strings.HasPrefix(text, "400") {
				t.Errorf("got %q, net/http %q", got, text)
			}
		})
	}
	for id, q := range [][]string{{"BAD METHOD"}, {""}, {"GET", "a name without a value"}} {
		if a := do(t, b, host, 100+id, q[0], "/", nil, q[1:]...); a.status != 400 {
			t.Errorf("%q: %d", q, a.status)
		}
	}
}

// rawRequest sends what net/http's client would not.
func rawRequest(t *testing.T, base, method, target string, headers []string) (int, string) {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\n", method, target)
	if !slices.Contains(headers, "Host") {
		text.WriteString("Host: localhost\r\n")
	}
	for i := 0; i < len(headers); i += 2 {
		fmt.Fprintf(&text, "%s: %s\r\n", headers[i], headers[i+1])
	}
	go io.WriteString(conn, text.String()+"Connection: close\r\n\r\n")
	answer, err := io.ReadAll(conn)
	if len(answer) == 0 {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	var code int
	if _, err := fmt.Sscanf(head, "HTTP/1.1 %d", &code); err != nil {
		t.Fatalf("%v in %q", err, head)
	}
	return code, body
}

func TestInvalidStatusPanics(t *testing.T) {
	for _, code := range []int{0, 99, 1000} {
		b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) })
		if a := do(t, b, host, 1, "GET", "/", nil); !a.aborted || !strings.Contains(a.message, "invalid WriteHeader code") {
			t.Errorf("%d: %+v", code, a)
		}
	}
}

func TestInvalidLengthIsDropped(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "many")
		io.WriteString(w, "text")
	})
	if a := do(t, b, host, 1, "GET", "/", nil); a.body.String() != "text" || a.header.Get("Content-Length") != "4" {
		t.Errorf("%+v", a)
	}
}

func TestWriteAfterReturn(t *testing.T) {
	kept := make(chan http.ResponseWriter, 1)
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) { kept <- w })
	do(t, b, host, 1, "GET", "/", nil)
	w := <-kept
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("a write after the end was taken")
	}
	w.(http.Flusher).Flush()
	w.WriteHeader(500)
}
