package server

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/internal/status"
	"github.com/kubetab/kubetab/web/headers"
)

// Site serves the built playground: plain files, nothing of the API. The page has an API server of its own inside it,
// so whatever asks this address for /api has lost its way and is told so.
//
//   - GET and HEAD; a file of the folder or 404. No listings, no hidden files, no way out of the folder, not even
//     through a symbolic link.
//   - A file with .br or .gz beside it is sent in the coding which Accept-Encoding likes best. Ranges are of the file
//     itself, never of a coding of it.
//   - Content types, the content security policy and how long a file may be kept are those of web/headers. What is asked
//     for again each time has an ETag.
//
// Safe for concurrent use.
type Site struct {
	dir       string
	api       string
	fetchFrom []string
}

// apiPaths are the roots of what a Kubernetes API server serves, as the service worker of the page claims them.
var apiPaths = []string{"/api", "/apis", "/openapi", "/openid", "/.well-known/openid-configuration", "/version",
	"/healthz", "/livez", "/readyz", "/metrics"}

// NewSite returns the site in the folder dir; api is the address of the API, named in the answer to those who look for
// it here. fetchFrom are origins of other sites from which the page may fetch a bundle, as [headers.CheckOrigin] takes
// them. Errors: dir is no folder that can be opened, or has no index.html.
func NewSite(dir, api string, fetchFrom ...string) (*Site, error) {
	const advice = "run make build, or give another with --static DIR"
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("page folder %s: %w: %s", dir, cause(err), advice)
	}
	defer root.Close()
	if _, err := root.Stat("index.html"); err != nil {
		return nil, fmt.Errorf("page folder %s: no index.html in it: %s", dir, advice)
	}
	return &Site{dir: dir, api: api, fetchFrom: fetchFrom}, nil
}

// ServeHTTP implements [http.Handler].
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers.Set(w.Header(), "")
	for _, p := range apiPaths {
		if r.URL.Path == p || strings.HasPrefix(r.URL.Path, p+"/") {
			w.Header().Set("Cache-Control", "no-store")
			status.Refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf(
				"this address serves only the page, whose API server runs inside the browser tab: the API of this process is at %s", s.api))
			return
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.fail(w, http.StatusMethodNotAllowed)
		return
	}
	name, ok := fileName(r.URL.Path)
	if !ok {
		s.fail(w, http.StatusNotFound)
		return
	}
	// Opened for each request: a build may put a new folder in the place of this one.
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		s.fail(w, http.StatusNotFound)
		return
	}
	defer root.Close()
	s.serveFile(w, r, root, name)
}

// fileName returns the name, relative to the folder, of the file at the URL path p. A path that is not in its shortest
// form names nothing: two URLs for one file are two entries in every cache, and nobody links to them.
func fileName(p string) (string, bool) {
	if p == "/" {
		return "index.html", true
	}
	if path.Clean(p) != p || !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\\\x00") || strings.Contains(p, "/.") {
		return "", false
	}
	return p[1:], true
}

// serveFile sends the file name in the best coding there is. Preconditions, ranges and HEAD are http.ServeContent's.
func (s *Site) serveFile(w http.ResponseWriter, r *http.Request, root *os.Root, name string) {
	plain, info, err := open(root, name)
	if err != nil {
		s.fail(w, http.StatusNotFound)
		return
	}
	defer plain.Close()

	files, infos, offered := map[string]*os.File{"identity": plain}, map[string]fs.FileInfo{"identity": info}, []coding{}
	for _, c := range codings {
		if c.name != "identity" {
			f, i, err := open(root, name+c.suffix)
			if err != nil {
				continue
			}
			defer f.Close()
			if i.ModTime().Before(info.ModTime()) {
				continue // left over from an earlier build
			}
			files[c.name], infos[c.name] = f, i
		}
		offered = append(offered, c)
	}
	header := w.Header()
	if len(offered) > 1 {
		header.Set("Vary", "Accept-Encoding")
	}
	chosen, ok := chooseCoding(r.Header["Accept-Encoding"], offered)
	if !ok {
		s.fail(w, http.StatusNotAcceptable)
		return
	}
	if r.Header.Get("Range") != "" {
		chosen = coding{name: "identity"}
	}
	file, info := files[chosen.name], infos[chosen.name]

	headers.Set(header, name, s.fetchFrom...)
	// Size and time of the change, and the coding: a coding is another representation and needs a tag of its own.
	header.Set("ETag", fmt.Sprintf(`"%x-%x-%s"`, info.Size(), info.ModTime().UnixNano(), chosen.name))
	if chosen.name != "identity" {
		header.Set("Content-Encoding", chosen.name)
		header.Set("Content-Length", strconv.FormatInt(info.Size(), 10)) // ServeContent leaves it out with a coding
	}
	http.ServeContent(w, r, "", info.ModTime(), file)
}

// open opens a regular file of the folder.
func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (s *Site) fail(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	io.WriteString(w, http.StatusText(code)+"\n") // net/http drops the body of a HEAD
}
