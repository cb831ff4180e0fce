// Package headers knows the HTTP headers of the page's files. Every server of the page sends these: bin/kubetab, the
// edge Worker, static hosts by the file _headers that headers.mjs writes, and the servers of tests.
//
// headers.json is the one source, for Go and for JavaScript. It is a list of rules. A rule has a regular expression for
// names of files and the headers of the files that match. A later rule overrides an earlier one, header by header; an empty
// value takes a header away. Names are relative to the folder of the page and have no slash at the beginning.
package headers

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

//go:embed headers.json
var source []byte

//go:embed fetch-from.json
var usual []byte

// FetchFrom returns the origins of other sites that a host which says nothing lets the page fetch from: the one with the
// manifests of Kubernetes' documentation.
func FetchFrom() (origins []string) {
	if err := json.Unmarshal(usual, &origins); err != nil {
		panic(err) // broken build: a test parses the file
	}
	return origins
}

type rule struct {
	files   *regexp.Regexp
	headers map[string]string
}

var rules = parse(source)

func parse(source []byte) []rule {
	var list []struct {
		Files   string            `json:"files"`
		Headers map[string]string `json:"headers"`
	}
	if err := json.Unmarshal(source, &list); err != nil {
		panic(err) // broken build: a test parses the file
	}
	rules := make([]rule, 0, len(list))
	for _, each := range list {
		rules = append(rules, rule{regexp.MustCompile(each.Files), each.Headers})
	}
	return rules
}

// Set sets the headers of the file name: its content type, how long it may be kept, and what browsers may do with it. The
// content type is that of the file itself, whatever the content coding of the answer. The name of the page is index.html.
// An error, which is no file of the page, has the name "".
//
// fetchFrom are the origins of other sites from which the page may fetch files: bundles, and what a command of its terminal asks
// for. [CheckOrigin] accepts each. Nothing but the page itself asks them.
//
// Content-Encoding, Vary, ETag and Content-Length are the server's.
func Set(h http.Header, name string, fetchFrom ...string) {
	for _, r := range rules {
		if !r.files.MatchString(name) {
			continue
		}
		for key, value := range r.headers {
			if value == "" {
				h.Del(key)
			} else {
				h.Set(key, value)
			}
		}
	}
	if name == "index.html" && len(fetchFrom) > 0 {
		h.Set(policy, strings.Replace(h.Get(policy), ownSite, ownSite+" "+strings.Join(fetchFrom, " "), 1))
	}
}

const (
	policy  = "Content-Security-Policy"
	ownSite = "connect-src 'self'"
)

var origin = regexp.MustCompile(`^https?://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// CheckOrigin returns an error unless s is an origin as RFC 6454 writes it: scheme, host and port, without a path. A
// wildcard is none, because a policy with one would let any script in the page send what it finds to anybody.
func CheckOrigin(s string) error {
	if !origin.MatchString(s) {
		return fmt.Errorf("%q is no origin: give scheme and host, such as https://files.example", s)
	}
	return nil
}
