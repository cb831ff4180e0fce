package core

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
)

// TestServeBundle: who may, and what is answered.
func TestServeBundle(t *testing.T) {
	e := sharedEngine(t)
	for _, token := range []string{"", testToken} {
		if r, body := getAs(t, e, token, bundle.Path); r.StatusCode != http.StatusForbidden {
			t.Errorf("as %q: %s %s", token, r.Status, body)
		}
	}
	r, file := get(t, e, bundle.Path+"?name=shop&secrets=false")
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != bundle.MediaType || !strings.Contains(r.Header.Get("Content-Disposition"), "shop.kubetab") {
		t.Fatalf("%s %v", r.Status, r.Header)
	}
	if r, body := get(t, e, bundle.Path+"?secrets=perhaps"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("%s %s", r.Status, body)
	}
	if r, body := send(t, e.RESTConfig(), http.MethodDelete, bundle.Path); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%s %s", r.Status, body)
	}
	r, body := post(t, e, bundle.Path, bundle.MediaType, string(file))
	var summary cluster.Summary
	if err := json.Unmarshal(body, &summary); err != nil || r.StatusCode != http.StatusOK || !summary.Exact || summary.Name != "shop" || len(summary.Kinds) < 5 {
		t.Errorf("%s %s: %v", r.Status, body, err)
	}
	r, small := get(t, e, bundle.Path+"?as=compact&name=shop&secrets=false")
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != bundle.MediaType || 2*len(small) > len(file) {
		t.Errorf("%s %v: %d bytes for a link, and %d for a file", r.Status, r.Header, len(small), len(file))
	}
	if r, body := post(t, e, bundle.Path, bundle.MediaType, string(small)); r.StatusCode != http.StatusOK || !strings.Contains(string(body), `"exact":true`) {
		t.Errorf("of a link: %s %s", r.Status, body)
	}
	if r, body := get(t, e, bundle.Path+"?as=pictures"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("%s %s", r.Status, body)
	}
	if r, body := post(t, e, bundle.Path, bundle.MediaType, string(file[:len(file)/2])); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(body), "it ends early") {
		t.Errorf("half a bundle: %s %s", r.Status, body)
	}
}

// TestSavingHasTime: upstream cuts off what takes longer than a minute, and is not long-running.
func TestSavingHasTime(t *testing.T) {
	paths := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	for line, want := range map[string]bool{
		"GET /kubetab/bundle?name=shop": true, "POST /kubetab/bundle": false, "GET /kubetab/bundles": false, "GET /api/v1/pods": false, "GET /api/v1/pods?watch=true": true,
	} {
		method, path, _ := strings.Cut(line, " ")
		r := httptest.NewRequest(method, path, nil)
		info, err := paths.NewRequestInfo(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := longRunning(r, info); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
