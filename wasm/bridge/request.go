package bridge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/kubetab/kubetab/internal/status"
)

const (
	// defaultHost is Request.Host when the host sends none: fetch does not let a page set it.
	defaultHost = "localhost"
	// remoteAddr is Request.RemoteAddr. Upstream parses it for audit and for priority and fairness.
	remoteAddr = "127.0.0.1:0"
)

// A refusal is an answer given before any handler is asked, worded as net/http's server does.
type refusal struct {
	code   int
	text   string // after the status; may be empty
	status bool   // answer with a Status instead, because the client speaks Kubernetes
}

func (f *refusal) write(w http.ResponseWriter) {
	if f.status {
		status.Refuse(w, f.code, "", f.text)
		return
	}
	if f.code == http.StatusExpectationFailed {
		w.WriteHeader(f.code)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(f.code)
	fmt.Fprintf(w, "%d %s", f.code, http.StatusText(f.code))
	if f.text != "" {
		fmt.Fprintf(w, ": %s", f.text)
	}
}

// newRequest makes the server-side request of what the host sent, with the checks of net/http's server.
// A nil body means that there is none.
func newRequest(ctx context.Context, method, target string, headers []string, body *requestBody) (*http.Request, *refusal) {
	size := len(method) + len(target)
	for _, s := range headers {
		size += len(s)
	}
	switch {
	case size > http.DefaultMaxHeaderBytes:
		return nil, &refusal{code: http.StatusRequestHeaderFieldsTooLarge}
	case !httpguts.ValidHeaderFieldName(method): // both are tokens of RFC 9110
		return nil, &refusal{code: http.StatusBadRequest, text: "invalid method"}
	case len(headers)%2 != 0:
		return nil, &refusal{code: http.StatusBadRequest, text: "a header without a value"}
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, &refusal{code: http.StatusBadRequest}
	}
	r := &http.Request{
		Method: method, URL: u, RequestURI: target, RemoteAddr: remoteAddr, Host: defaultHost,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, len(headers)/2), Body: http.NoBody,
	}
	for i := 0; i < len(headers); i += 2 {
		name, value := headers[i], textproto.TrimString(headers[i+1])
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return nil, &refusal{code: http.StatusBadRequest, text: "invalid header name"}
		case !httpguts.ValidHeaderFieldValue(value):
			return nil, &refusal{code: http.StatusBadRequest, text: "invalid header value"}
		}
		r.Header.Add(name, value)
	}
	if h := r.Header.Values("Host"); len(h) > 0 {
		if len(h) > 1 {
			return nil, &refusal{code: http.StatusBadRequest, text: "too many Host headers"}
		}
		if !httpguts.ValidHostHeader(h[0]) {
			return nil, &refusal{code: http.StatusBadRequest, text: "malformed Host header"}
		}
		r.Host = h[0]
		r.Header.Del("Host")
	}
	if u.Host != "" { // an absolute target names the host, RFC 9112 section 3.2.2
		r.Host = u.Host
	}
	if refused := checkExpectation(r.Header); refused != nil {
		return nil, refused
	}
	if refused := checkUpgrade(r.Header); refused != nil {
		return nil, refused
	}
	r.Header.Del("Transfer-Encoding") // how the host got it; net/http's server hides it as well
	if refused := setBody(r, body); refused != nil {
		return nil, refused
	}
	return r.WithContext(ctx), nil
}

// setBody gives r its body and ContentLength: what the header says, -1 when it says nothing.
func setBody(r *http.Request, body *requestBody) *refusal {
	length := int64(-1)
	for i, s := range r.Header.Values("Content-Length") {
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil || i > 0 && int64(n) != length {
			return &refusal{code: http.StatusBadRequest, text: "bad Content-Length"}
		}
		length = int64(n)
	}
	if body == nil || length == 0 {
		if length > 0 {
			r.Body = io.NopCloser(unexpectedEOF{})
			r.ContentLength = length
		}
		return nil
	}
	body.left = length // before the handler, and thus any Read, has it
	r.Body = body
	r.ContentLength = length
	if length < 0 {
		r.TransferEncoding = []string{"chunked"}
	}
	return nil
}

// unexpectedEOF is the body of a request that announces one and has none.
type unexpectedEOF struct{}

func (unexpectedEOF) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// checkExpectation refuses what RFC 9110 section 10.1.1 does. The one expectation there is, 100-continue,
// has been met by whoever brought the body to the host.
func checkExpectation(h http.Header) *refusal {
	if e := h.Get("Expect"); e != "" && !strings.EqualFold(e, "100-continue") {
		return &refusal{code: http.StatusExpectationFailed}
	}
	return nil
}

// checkUpgrade refuses what would take over the connection, since there is none: exec, attach, port-forward
// and watches over a WebSocket. Upstream would find that it cannot hijack the response, and panic. Any
// other protocol offered in Upgrade may be ignored, and is.
func checkUpgrade(h http.Header) *refusal {
	if !httpguts.HeaderValuesContainsToken(h.Values("Connection"), "Upgrade") {
		return nil
	}
	for _, offered := range h.Values("Upgrade") {
		for protocol := range strings.SplitSeq(offered, ",") {
			switch strings.ToLower(strings.TrimSpace(protocol)) {
			case "websocket", "spdy/3.1":
				return &refusal{
					code: http.StatusNotImplemented, status: true,
					text: "this server is reached through fetch, and a connection that is upgraded to " + protocol + " cannot pass through it: use a request that is not an upgrade",
				}
			}
		}
	}
	return nil
}
