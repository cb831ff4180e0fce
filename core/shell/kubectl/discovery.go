package kubectl

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
)

// Discovery is what the server offers, kept between commands. It may be used by
// several at once.
type Discovery struct {
	cluster *Cluster

	mu    sync.Mutex
	cache discovery.CachedDiscoveryInterface
	etag  string           // of the answer to /apis that cache is at least as new as
	pages map[string]*page // OpenAPI documents by URL and media type

	documents documents

	asking sync.Mutex
	asker  http.RoundTripper // of the command that asks; guarded by asking
}

// ask runs f, which may ask the server, for the command whose requests go through
// asker: what it has to ask for bears that command's name, and ends with it.
func (d *Discovery) ask(asker http.RoundTripper, f func()) {
	d.asking.Lock()
	defer d.asking.Unlock()
	d.asker = asker
	defer func() { d.asker = nil }()
	f()
}

// forAsker sends the requests of the client that all commands share. They are
// made within ask only.
type forAsker struct{ d *Discovery }

func (t forAsker) RoundTrip(r *http.Request) (*http.Response, error) { return t.d.asker.RoundTrip(r) }

// page is a document whose URL holds its hash.
type page struct {
	header http.Header
	body   []byte
}

// aggregated is how clients ask for all groups with their resources at once.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// current returns the shared cache, emptied if the server's answer has changed,
// for a command such as "kubectl get".
//
// The error is that of a configuration which makes no client.
func (d *Discovery) current(ctx context.Context, command string) (discovery.CachedDiscoveryInterface, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cache == nil {
		client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{
			Host: d.cluster.Server, BearerToken: d.cluster.Token, Transport: forAsker{d},
			UserAgent: rest.DefaultKubernetesUserAgent(), QPS: -1,
		})
		if err != nil {
			return nil, err
		}
		d.cache = memory.NewMemCacheClient(client)
	}
	now, err := d.serverETag(ctx, command)
	if err != nil {
		return d.cache, nil // the command's own request will tell what is wrong
	}
	if now != d.etag {
		d.cache.Invalidate()
		d.etag = now
	}
	return d.cache, nil
}

// checkerAgent is the user agent of the question whether discovery has changed.
const checkerAgent = "kubetab-discovery-check"

// serverETag asks for the ETag of /apis, which changes with every resource.
// Only when it is another one does the server send more than headers.
func (d *Discovery) serverETag(ctx context.Context, command string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.cluster.Server+"/apis", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", aggregated)
	r.Header.Set("Authorization", "Bearer "+d.cluster.Token)
	r.Header.Set("User-Agent", checkerAgent)
	// For the list of requests: kubectl itself would not make this request, but
	// one of its commands has caused it.
	r.Header.Set("Kubetab-Client", "discovery-check")
	r.Header.Set("Kubectl-Command", command)
	if d.etag != "" {
		r.Header.Set("If-None-Match", d.etag)
	}
	response, err := d.cluster.Client().RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return "", err
	}
	if response.StatusCode == http.StatusNotModified {
		return d.etag, nil
	}
	return response.Header.Get("ETag"), nil
}

// keep remembers OpenAPI documents. Their URLs hold a hash of what they are
// made from, so that one can never be out of date.
func (d *Discovery) keep(next http.RoundTripper) http.RoundTripper { return keeper{d, next} }

// mostPages bounds what keeper remembers: each CRD that changes makes a new one.
const mostPages = 64

type keeper struct {
	d    *Discovery
	next http.RoundTripper
}

func (k keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/openapi/v3/") || r.URL.Query().Get("hash") == "" {
		return k.next.RoundTrip(r)
	}
	key := r.URL.RequestURI() + " " + r.Header.Get("Accept")
	k.d.mu.Lock()
	p := k.d.pages[key]
	k.d.mu.Unlock()
	if p == nil {
		response, err := k.next.RoundTrip(r)
		if err != nil || response.StatusCode != http.StatusOK {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, err
		}
		p = &page{response.Header, body}
		k.d.mu.Lock()
		if k.d.pages == nil || len(k.d.pages) >= mostPages {
			k.d.pages = map[string]*page{}
		}
		k.d.pages[key] = p
		k.d.mu.Unlock()
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: p.header.Clone(), Body: io.NopCloser(strings.NewReader(string(p.body))), ContentLength: int64(len(p.body)), Request: r,
	}, nil
}
