package transcripts

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Target is the server that transcripts run against. Safe for concurrent use.
type Target struct {
	base   *url.URL
	token  string
	client *http.Client
	// deadline bounds every wait for a condition.
	deadline time.Duration
	compact  func(context.Context) error
	lacks    map[string]string
}

// Options say where a server is and how to talk to it.
type Options struct {
	// URL of the server, with an optional path in front of /api.
	URL string
	// Token is the bearer token of an administrator; "" where requests without credentials are the administrator's.
	Token string
	// CA holds the certificates (PEM) that the server is verified with; nil for those of the system.
	CA []byte
	// Insecure accepts any certificate.
	Insecure bool
	// Etcd is the client URL of the etcd beneath the server; it must serve etcd's JSON gateway. It makes the
	// capability "compaction".
	Etcd string
	// Compact is a URL; a POST to it by the administrator compacts the history of the server up to now. "" is
	// /kubetab/compact of the server itself, if it has that.
	Compact string
	// Deadline bounds every wait for a condition; 0 is three minutes.
	Deadline time.Duration
}

// Connect waits until the server is ready and finds out what it offers. Errors: the options are wrong, or the server
// is not ready when the deadline has passed.
func Connect(ctx context.Context, o Options) (*Target, error) {
	t, err := newTarget(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.deadline)
	defer cancel()
	if err := t.poll(ctx, func() (bool, error) {
		status, _, err := t.do(ctx, http.MethodGet, "/readyz", nil, true)
		return status == http.StatusOK, err
	}); err != nil {
		return nil, fmt.Errorf("%s is not ready: %w", o.URL, err)
	}
	return t, t.probe(ctx, o)
}

func newTarget(o Options) (*Target, error) {
	base, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil {
		return nil, err
	}
	conf := &tls.Config{InsecureSkipVerify: o.Insecure}
	if o.CA != nil {
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(o.CA) {
			return nil, fmt.Errorf("no certificate in the given CA")
		}
	}
	t := &Target{base: base, token: o.Token, deadline: o.Deadline, lacks: map[string]string{}}
	if t.deadline == 0 {
		t.deadline = 3 * time.Minute
	}
	t.client = &http.Client{
		// DisableCompression: a transcript asks for gzip itself and shows that it got it. Connections are kept for
		// all transcripts at once: hundreds of handshakes would cost more than the requests.
		Transport: &http.Transport{TLSClientConfig: conf, DisableCompression: true, MaxIdleConnsPerHost: 16, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return t, nil
}

// compactPath compacts the history of a Kubetab when something is posted to it (core.CompactPath, written out here
// because nothing but the wire connects the two).
const compactPath = "/kubetab/compact"

// Lacks returns why the server does not offer what a transcript needs, or "". Capabilities are:
//
//	compaction   history can be compacted on demand
//	anonymous    a request without credentials is not an administrator's
//	tokens       a false bearer token is refused
//	impersonation  an administrator can act as somebody else
//	methods      a request with any method reaches the server
//	controllers  namespaces terminate, owners cascade, service accounts and their namespaces' root CA appear
func (t *Target) Lacks(capability string) string { return t.lacks[capability] }

func (t *Target) probe(ctx context.Context, o Options) error {
	if err := t.probeCompaction(ctx, o); err != nil {
		return err
	}
	status, _, err := t.do(ctx, http.MethodGet, "/api/v1/namespaces/default", nil, false)
	if err != nil {
		return err
	}
	if status == http.StatusOK {
		t.lacks["anonymous"] = "requests without credentials are answered as the administrator's"
	}
	for _, p := range []struct{ capability, name, value, why string }{
		{"tokens", "Authorization", "Bearer made-up", "a bearer token is not looked at"},
		{"impersonation", "Impersonate-User", "nobody", "an impersonated user has the rights of the administrator"},
	} {
		status, err := t.get(ctx, "/api/v1/namespaces/default", p.name, p.value)
		if err != nil {
			return err
		}
		if status == http.StatusOK {
			t.lacks[p.capability] = p.why
		}
	}
	if status, _, err := t.do(ctx, "BREW", "/version", nil, true); err != nil || status != http.StatusMethodNotAllowed {
		t.lacks["methods"] = fmt.Sprintf("something in front of the server refuses a method that it does not know (%d, %v)", status, err)
	}
	// Every controller manager runs the service account controller; it is the first to be seen.
	short, cancel := context.WithTimeout(ctx, t.deadline/2)
	defer cancel()
	if err := t.poll(short, func() (bool, error) {
		status, _, err := t.do(short, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", nil, true)
		return status == http.StatusOK, err
	}); err != nil {
		t.lacks["controllers"] = "no service account appeared in the namespace default: no controllers run"
	}
	return nil
}

func (t *Target) probeCompaction(ctx context.Context, o Options) error {
	if o.Etcd != "" {
		t.compact = func(ctx context.Context) error { return t.compactEtcd(ctx, o.Etcd) }
		return nil
	}
	if o.Compact == "" {
		o.Compact = t.base.String() + compactPath
		// GET does not compact: the path is there if it minds the method.
		if status, _, err := t.do(ctx, http.MethodGet, compactPath, nil, true); err != nil {
			return err
		} else if status != http.StatusMethodNotAllowed {
			t.lacks["compaction"] = "the server has no " + compactPath + ", and -etcd does not name the etcd beneath it"
			return nil
		}
	}
	t.compact = func(ctx context.Context) error {
		_, err := t.post(ctx, o.Compact, nil)
		return err
	}
	return nil
}

// poll calls ok until it is true, with pauses that grow from 10 to 250 ms. Errors: the last one of ok, or that of
// the context.
func (t *Target) poll(ctx context.Context, ok func() (bool, error)) error {
	pause := 10 * time.Millisecond
	for {
		done, err := ok()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			if err != nil {
				return err
			}
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, 250*time.Millisecond)
	}
}

// do sends a request of the runner itself. body is sent as JSON.
func (t *Target) do(ctx context.Context, method, path string, body any, asAdmin bool) (int, []byte, error) {
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, t.base.String()+path, r)
	if err != nil {
		return 0, nil, err
	}
	if asAdmin && t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, data, err
}

// get asks as the administrator, with one header more.
func (t *Target) get(ctx context.Context, path, header, value string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base.String()+path, nil)
	if err != nil {
		return 0, err
	}
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	req.Header.Set(header, value)
	resp, err := t.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// compactEtcd compacts through the JSON gateway of a real etcd:
// https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/
func (t *Target) compactEtcd(ctx context.Context, etcd string) error {
	data, err := t.post(ctx, etcd+"/v3/kv/range", map[string]any{"key": "AA=="})
	if err != nil {
		return err
	}
	var found struct{ Header struct{ Revision string } }
	if err := json.Unmarshal(data, &found); err != nil {
		return err
	}
	_, err = t.post(ctx, etcd+"/v3/kv/compaction", map[string]any{"revision": found.Header.Revision, "physical": true})
	return err
}

func (t *Target) post(ctx context.Context, addr string, body any) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, addr, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if t.token != "" && strings.HasPrefix(addr, t.base.String()+"/") {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("POST %s: %s: %s", addr, resp.Status, data)
	}
	return data, err
}
