package core

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	restful "github.com/emicklei/go-restful/v3"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler3"
)

// lazyOpenAPI serves the OpenAPI documents of kube-apiserver's own groups and
// builds each when it is first asked for. Upstream's PrepareRun builds all of
// them, v2 and v3, before the server is ready: 370 ms of a native start, and a
// quarter of one on js/wasm, for documents that most clients never read.
//
// It takes the place of what PrepareRun installs (SkipOpenAPIInstallation is
// set on that server) and sits on the same paths of the same mux, so that the
// aggregator merges it with CRDs and aggregated APIs as always. What is built
// is built by upstream's own routes.OpenAPI, one group version at a time.
//
// The v3 index must name a hash for each document, and upstream takes it from
// the document. Here it is taken from what determines the document: the group
// version and the identity of the build with its gates and runtime-config. A
// client that quotes it gets the document as immutable, and one that quotes
// anything else is redirected by upstream's handler, as always.
type lazyOpenAPI struct {
	v2       func() http.Handler
	v3       map[string]func() openAPIDocument // by "apis/apps/v1"
	index    []byte
	identity string
	started  time.Time
}

// openAPIDocument is a built v3 document behind upstream's handler for it.
type openAPIDocument struct {
	http.Handler
	etag string // the hash of the document itself, which that handler accepts
}

// installLazyOpenAPI registers the documents of server's registered web
// services on its mux. It must be called after every API group is installed
// and before PrepareRun. identity names the build and everything else that
// changes the documents.
func installLazyOpenAPI(server *genericapiserver.GenericAPIServer, v2 *common.Config, v3 *common.OpenAPIV3Config, identity string) error {
	container := server.Handler.GoRestfulContainer
	o := &lazyOpenAPI{identity: identity, started: time.Now(), v3: map[string]func() openAPIDocument{}}
	o.v2 = sync.OnceValue(func() http.Handler {
		m := mux.NewPathRecorderMux("openapi-v2")
		routes.OpenAPI{Config: v2}.InstallV2(container, m)
		return m
	})

	next := nextServices(server)
	index := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	for _, ws := range container.RegisteredWebServices() {
		if next[ws.RootPath()] {
			continue
		}
		gv := strings.TrimPrefix(ws.RootPath(), "/")
		o.v3[gv] = sync.OnceValue(func() openAPIDocument {
			m := mux.NewPathRecorderMux("openapi-v3")
			one := restful.NewContainer()
			one.Add(ws)
			routes.OpenAPI{V3Config: v3}.InstallV3(one, m)
			return openAPIDocument{Handler: m, etag: etagOf(m, "/openapi/v3/"+gv)}
		})
		index.Paths[gv] = handler3.OpenAPIV3DiscoveryGroupVersion{
			ServerRelativeURL: "/openapi/v3/" + gv + "?hash=" + o.hash(gv),
		}
	}
	var err error
	if o.index, err = json.Marshal(&index); err != nil {
		return fmt.Errorf("encode the OpenAPI v3 index: %w", err)
	}

	m := server.Handler.NonGoRestfulMux
	m.Handle("/openapi/v2", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.v2().ServeHTTP(w, r)
	}))
	m.Handle("/openapi/v3", http.HandlerFunc(o.serveIndex))
	m.HandlePrefix("/openapi/v3/", http.HandlerFunc(o.serveGroupVersion))
	return nil
}

// nextServices returns the root paths of the web services that the server behind
// server has. Those that both have are every generic API server's own, like
// /version, with the same document. The aggregator takes its address from one of
// the servers and asks any of them, so all must name one hash: the document of the
// server behind is left to it.
func nextServices(server *genericapiserver.GenericAPIServer) map[string]bool {
	roots := map[string]bool{}
	if next, ok := server.NextDelegate().(*genericapiserver.GenericAPIServer); ok {
		for _, ws := range next.Handler.GoRestfulContainer.RegisteredWebServices() {
			roots[ws.RootPath()] = true
		}
	}
	return roots
}

// forgetDefinitions drops the definitions of all types, 8 MB that upstream keeps
// for as long as the server lives. Installing the API groups needed them; a
// document makes them again, in 20 ms. The schemas that upstream made of them for
// its groups, and holds in APIGroupInfo.StaticOpenAPISpec for nobody, share their
// properties. It must be called before installLazyOpenAPI.
func forgetDefinitions(config *common.OpenAPIV3Config) {
	for _, definition := range config.Definitions {
		clear(definition.Schema.Properties)
	}
	config.Definitions = nil // upstream's builder then calls GetDefinitions
}

func (o *lazyOpenAPI) hash(gv string) string {
	return fmt.Sprintf("%X", sha512.Sum512([]byte(o.identity+"\x00"+gv)))
}

func (o *lazyOpenAPI) serveIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, "", o.started, strings.NewReader(string(o.index)))
}

func (o *lazyOpenAPI) serveGroupVersion(w http.ResponseWriter, r *http.Request) {
	gv := strings.TrimPrefix(r.URL.Path, "/openapi/v3/")
	build, ok := o.v3[gv]
	if !ok {
		http.NotFound(w, r)
		return
	}
	doc := build()
	if query := r.URL.Query(); doc.etag != "" && query.Get("hash") == o.hash(gv) {
		// The caller quotes the index: to upstream's handler that is the
		// document's own hash, and it answers with an immutable document.
		query.Set("hash", doc.etag)
		r = r.Clone(r.Context())
		r.URL.RawQuery = query.Encode()
	}
	doc.ServeHTTP(indexRedirect{w, "/openapi/v3/" + gv + "?hash=" + o.hash(gv)}, r)
}

// indexRedirect sends a client that quotes an old hash to the address that the
// index has, where upstream's handler would name the document's own hash.
type indexRedirect struct {
	http.ResponseWriter
	address string
}

func (w indexRedirect) WriteHeader(status int) {
	if status == http.StatusMovedPermanently {
		w.Header().Set("Location", w.address)
	}
	w.ResponseWriter.WriteHeader(status)
}

// etagOf returns the entity tag that h answers with at path, without quotes.
func etagOf(h http.Handler, path string) string {
	r, err := http.NewRequest(http.MethodHead, path, nil)
	if err != nil {
		return ""
	}
	header := headerWriter{}
	h.ServeHTTP(header, r)
	return strings.Trim(http.Header(header).Get("Etag"), `"`)
}

// headerWriter is a response writer that keeps the header and nothing else.
type headerWriter http.Header

func (w headerWriter) Header() http.Header         { return http.Header(w) }
func (w headerWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w headerWriter) WriteHeader(int)             {}
