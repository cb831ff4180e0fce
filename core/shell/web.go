package shell

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// download is a file of another site that the page fetches while a command waits.
type download struct {
	address string
	done    chan downloaded // has room for one
}

type downloaded struct {
	response *http.Response
	err      error
}

// mostDownloaded is how large a file of another site may be, in bytes. Programs take such files as a whole.
const mostDownloaded = 16 << 20

// web sends a request to another site, for a command of the terminal id. It is the page that asks, for a tab's network is its
// browser's: the policy of the page's host and the site itself must let it read the answer. What known sites only send on is sent
// on here. web returns neither an answer nor an error for what is no name of a site, and where no page can be asked. Errors:
// [NotFetchedError], and ctx's.
func (s *Shell) web(ctx context.Context, r *http.Request, id string) (*http.Response, error) {
	if id == "" || !isSite(r.URL.Hostname()) || r.URL.Scheme != "https" && r.URL.Scheme != "http" {
		return nil, nil
	}
	refuse := func(why string) error { return &NotFetchedError{URL: r.URL, Why: why} }
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, refuse("files of other sites can be read from here, and nothing can be sent there")
	}
	for key := range r.Header {
		if !impliedHeaders[key] {
			return nil, refuse("other sites are asked without headers from here, and this request has " + key)
		}
	}
	at, code := forwarded(r.URL)
	if code != 0 {
		moved := answer(code, http.Header{"Location": {at}, "Content-Length": {"0"}}, nil)
		moved.Request = r
		return moved, nil
	}
	d := &download{address: at, done: make(chan downloaded, 1)}
	t, token, forget := await(s, s.downloads, id, d)
	if t == nil {
		return nil, nil
	}
	defer func() {
		forget()
		t.tell("over", token)
	}()
	t.tell("download", token)
	select {
	case got := <-d.done:
		if got.err != nil {
			return nil, refuse(got.err.Error())
		}
		got.response.Request = r
		if r.Method == http.MethodHead {
			got.response.Body = http.NoBody
		}
		return got.response, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// isSite reports whether a name may be that of a site of the web: none of the cluster's, nor of those that RFC 6761 and RFC 6762
// have set aside.
func isSite(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && net.ParseIP(name) == nil && !setAside[name[dot+1:]]
}

var setAside = map[string]bool{"svc": true, "local": true, "localhost": true, "internal": true, "example": true, "test": true, "invalid": true}

// impliedHeaders are those that say nothing which the browser does not say, too, or is free to say otherwise.
var impliedHeaders = map[string]bool{"Accept": true, "Accept-Encoding": true, "Kubetab-Client": true, "Referer": true, "User-Agent": true}

// forwarded returns where the file at u is to be asked for, and a status if its server sends clients there. Pages of other sites
// can read neither what k8s.io and github.com answer nor, as far as is known, kubernetes.io: its examples are files of a repository.
func forwarded(u *url.URL) (address string, code int) {
	const raw = "https://raw.githubusercontent.com"
	if u.Scheme != "https" {
		return u.String(), 0
	}
	switch u.Host {
	case "k8s.io":
		return "https://kubernetes.io" + u.RequestURI(), http.StatusMovedPermanently
	case "kubernetes.io":
		if file, ok := strings.CutPrefix(u.EscapedPath(), "/examples/"); ok {
			return raw + "/kubernetes/website/main/content/en/examples/" + file, 0
		}
	case "github.com":
		// OWNER/REPOSITORY/raw/REVISION/PATH
		if parts := strings.SplitN(u.EscapedPath(), "/", 5); len(parts) == 5 && parts[3] == "raw" {
			return raw + "/" + parts[1] + "/" + parts[2] + "/" + parts[4], http.StatusFound
		}
	}
	return u.String(), 0
}

// NotFetchedError says why a file of another site was not fetched.
type NotFetchedError struct {
	URL *url.URL
	Why string
}

func (e *NotFetchedError) Error() string {
	return e.URL.Hostname() + ": " + e.Why + ". Paste the text of the file: kubectl apply -f - <<'EOF'"
}

// Unwrap has the error be what programs tell of a name that nobody knows.
func (e *NotFetchedError) Unwrap() error {
	return &net.DNSError{Err: "no such host", Name: e.URL.Hostname(), IsNotFound: true}
}

// Advice is what curl and wget say besides.
func (e *NotFetchedError) Advice() string { return e.URL.String() + ": " + e.Why }

// terminalKey is the context key of the terminal whose command a context is of.
type terminalKey struct{}

// showDownload is GET /kubetab/downloads/{token}: a Download, as long as a command waits for it. A page that is reloaded
// meanwhile asks once more.
func (s *Shell) showDownload(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	d := s.downloads[r.PathValue("token")]
	s.mu.Unlock()
	if d == nil {
		http.Error(w, lateDownload, http.StatusNotFound)
		return
	}
	respond(w, http.StatusOK, Download{Address: d.address, Most: mostDownloaded})
}

// finishDownload is POST /kubetab/downloads/{token}: the file, and in the query the status and the Content-Type with which the
// site has answered it; or in place of them why there is none, which is a key of notFetched or other words.
func (s *Shell) finishDownload(w http.ResponseWriter, r *http.Request) {
	var got downloaded
	query := r.URL.Query()
	if why := query.Get("why"); why != "" {
		got.err = errors.New(cmp.Or(notFetched[why], why))
	} else {
		status, err := strconv.Atoi(query.Get("status"))
		if err != nil || status < 200 || status > 599 {
			http.Error(w, fmt.Sprintf("status=%s is no status of an answer", query.Get("status")), http.StatusBadRequest)
			return
		}
		file, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostDownloaded))
		if err != nil {
			http.Error(w, "the file: "+err.Error(), http.StatusBadRequest)
			return
		}
		header := http.Header{"Content-Length": {strconv.Itoa(len(file))}}
		if kind := query.Get("type"); kind != "" {
			header.Set("Content-Type", kind)
		}
		got.response = answer(status, header, file)
	}
	token := r.PathValue("token")
	s.mu.Lock()
	d := s.downloads[token]
	delete(s.downloads, token)
	s.mu.Unlock()
	if d == nil {
		http.Error(w, lateDownload, http.StatusNotFound)
		return
	}
	d.done <- got
	w.WriteHeader(http.StatusNoContent)
}

const lateDownload = "nobody waits for this download any more"

// notFetched has the reasons that the page tells from each other: see web/src/page/elsewhere/fetch.ts.
var notFetched = map[string]string{
	"elsewhere": "the host of this page does not let it fetch from that site",
	"unshared":  "that site does not answer, or does not let pages of other sites read its files",
	"too-large": fmt.Sprintf("it is larger than %d MiB", mostDownloaded>>20),
}

func answer(code int, header http.Header, body []byte) *http.Response {
	return &http.Response{
		Status: strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code))), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
