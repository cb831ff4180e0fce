package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

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
//	GET  /kubetab/bundle?name=shop&secrets=false  bundle.MediaType: what Write writes
//	GET  /kubetab/bundle?as=compact               bundle.MediaType: WriteCompact's
//	GET  /kubetab/bundle?name=shop&as=manifests   application/zip: the files of Manifests
//	POST /kubetab/bundle                          Summary, or 413 or 422 with why it is refused
//
// Neither changes anything. The first is for a cluster of whatever size; the other two are made
// in memory, and answered with 507 for one that is too large for that. A body that cannot be
// written to its end is broken off, with less than its Content-Length. What Save says is in it,
// Secrets too. An engine serves it at
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
	var form func(io.Writer, *bundle.Bundle) error // of a cluster that is in memory
	extension, mediaType := bundle.Extension, bundle.MediaType
	switch as := query.Get("as"); as {
	case "":
	case "compact":
		form = bundle.WriteCompact
	case "manifests":
		form, extension, mediaType = writeManifests, ".zip", "application/zip"
	default:
		status.Refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf("bundle: as=%s: give compact or manifests, or nothing for a bundle", as))
		return
	}
	begun := false
	begin := func(size int64) io.Writer {
		begun = true
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": cmp.Or(options.Name, "cluster") + extension}))
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		return w
	}
	err := c.write(r.Context(), options, form, begin)
	switch {
	case err == nil:
	case begun:
		if r.Context().Err() == nil {
			klog.FromContext(r.Context()).Error(err, "A bundle was broken off")
		}
		panic(http.ErrAbortHandler) // what has been sent is no bundle
	case errors.Is(err, bundle.ErrTooLarge):
		message := "bundle: " + err.Error()
		if form != nil {
			message += ": a bundle without as= can be larger"
		}
		status.Refuse(w, http.StatusInsufficientStorage, reasonNoMemory, message)
	default:
		status.Refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "bundle: "+err.Error())
	}
}

// reasonNoMemory is that of core.
const reasonNoMemory metav1.StatusReason = "InsufficientStorage"

// write writes the cluster in a form, or as Write does if form is nil.
func (c *Cluster) write(ctx context.Context, o SaveOptions, form func(io.Writer, *bundle.Bundle) error, begin func(size int64) io.Writer) error {
	if form == nil {
		return c.Write(ctx, o, begin)
	}
	b, err := c.Save(ctx, o)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := form(&file, b); err != nil {
		return err
	}
	_, err = begin(int64(file.Len())).Write(file.Bytes())
	return err
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
