package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/internal/records"
	"github.com/kubetab/kubetab/core/manifests"
	"github.com/kubetab/kubetab/internal/status"
)

// Summarize returns what b holds, and what o says about opening it.
func Summarize(b *bundle.Bundle, o Opening) Summary {
	s := Summary{
		Name: b.Name, Kubernetes: b.Kubernetes, Build: b.Build, Time: b.Time, Revision: b.State.Revision, Exact: o.Exact, Settings: b.Settings,
		Kinds: []KindCount{}, Files: []File{}, LeftOut: []string{},
		Clock: Clock{b.Clock.Ahead.Seconds(), b.Clock.Paused, b.Clock.Speed},
	}
	counts := map[storedAs]int{}
	var reader records.Reader
	for _, r := range b.State.Records {
		if of, ok := reader.Type(r.Value); ok && !records.IsInternal(of.Kind) {
			counts[storedAs{of.APIVersion, of.Kind}]++
		}
	}
	for of, n := range counts {
		s.Kinds = append(s.Kinds, KindCount{of.apiVersion, of.kind, n})
	}
	slices.SortFunc(s.Kinds, func(a, b KindCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	for _, f := range b.Files {
		s.Files = append(s.Files, File{f.Path, f.Data})
	}
	for _, left := range o.LeftOut {
		s.LeftOut = append(s.LeftOut, fmt.Sprintf("%s: %v", left.Key, left.Why))
	}
	return s
}

// ServeHTTP answers a GET with the cluster as a bundle, and a POST of a bundle with what
// it holds:
//
//	GET  /kubetab/bundle?name=shop&secrets=false  bundle.MediaType
//	GET  /kubetab/bundle?as=compact               bundle.MediaType: WriteCompact's
//	GET  /kubetab/bundle?name=shop&as=manifests   application/zip: the files of Manifests
//	POST /kubetab/bundle                          Summary, or 413 or 422 with why it is refused
//
// Neither changes anything. What Save says is in it, Secrets too. An engine serves it at
// bundle.Path, as a non-resource URL that RBAC guards: system:masters may.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		c.serveBundle(w, r)
	case http.MethodPost:
		checkBundle(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		status.Refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "a bundle is made with GET and looked at with POST")
	}
}

func (c *Cluster) serveBundle(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	options := SaveOptions{Name: query.Get("name")}
	if query.Has("secrets") {
		with, err := strconv.ParseBool(query.Get("secrets"))
		if err != nil {
			status.Refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf("bundle: secrets=%s: give true or false", query.Get("secrets")))
			return
		}
		options.NoSecrets = !with
	}
	format := bundleFormat{bundle.Extension, bundle.MediaType, bundle.Write}
	switch as := query.Get("as"); as {
	case "":
	case "compact":
		format.write = bundle.WriteCompact
	case "manifests":
		format = bundleFormat{".zip", "application/zip", writeManifests}
	default:
		status.Refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf("bundle: as=%s: give compact or manifests, or nothing for a bundle", as))
		return
	}
	b, err := c.Save(r.Context(), options)
	var file bytes.Buffer // whole or not at all
	if err == nil {
		err = format.write(&file, b)
	}
	if err != nil {
		status.Refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "bundle: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", format.mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(file.Len()))
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": cmp.Or(options.Name, "cluster") + format.extension}))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(file.Bytes()) // the client has gone: nobody to tell
}

// bundleFormat is a form in which a cluster is handed out.
type bundleFormat struct {
	extension, mediaType string
	write                func(io.Writer, *bundle.Bundle) error
}

func writeManifests(w io.Writer, b *bundle.Bundle) error {
	files, err := Manifests(b)
	if err != nil {
		return err
	}
	return manifests.Zip(w, "manifests", files, b.Time)
}

func checkBundle(w http.ResponseWriter, r *http.Request) {
	b, err := bundle.Read(r.Body, bundle.DefaultLimits())
	var opening Opening
	if err == nil {
		opening, err = check(b)
	}
	switch {
	case errors.Is(err, bundle.ErrTooLarge):
		status.Refuse(w, http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, err.Error())
	case err != nil:
		status.Refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, err.Error())
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(Summarize(b, opening)) // the client has gone: nobody to tell
	}
}
