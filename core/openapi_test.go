package core

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/handler3"
)

func TestOpenAPIIsServedByGroup(t *testing.T) {
	e := sharedEngine(t)
	_, body := get(t, e, "/openapi/v3")
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(body, &index); err != nil {
		t.Fatal(err)
	}
	for _, gv := range []string{"api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1"} {
		if index.Paths[gv].ServerRelativeURL == "" {
			t.Fatalf("%s is not in the index", gv)
		}
	}
	const gv = "apis/apps/v1"
	url := index.Paths[gv].ServerRelativeURL
	res, body := get(t, e, url)
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(body, &doc); err != nil || res.StatusCode != 200 {
		t.Fatalf("GET %s: %d %v", url, res.StatusCode, err)
	}
	if _, ok := doc.Components.Schemas["io.k8s.api.apps.v1.Deployment"]; !ok {
		t.Error("the document of apps/v1 has no Deployment")
	}
	if cc := res.Header.Get("Cache-Control"); cc != "public, immutable" {
		t.Errorf("the hash of the index: Cache-Control %q, want an immutable answer", cc)
	}
	if res, _ := get(t, e, "/openapi/v3/"+gv+"?hash=old"); res.StatusCode != http.StatusMovedPermanently || res.Header.Get("Location") != url {
		t.Errorf("another hash: %d to %q, want 301 to the address in the index", res.StatusCode, res.Header.Get("Location"))
	}
	if res, _ := get(t, e, "/openapi/v3/"+gv, "If-None-Match", res.Header.Get("Etag")); res.StatusCode != http.StatusNotModified {
		t.Errorf("If-None-Match with the tag: %d, want 304", res.StatusCode)
	}
	if res, _ := get(t, e, url, "Accept", "text/html"); res.StatusCode != http.StatusNotAcceptable {
		t.Errorf("Accept text/html: %d, want 406", res.StatusCode)
	}
	if res, _ := get(t, e, "/openapi/v3/apis/nosuch/v1"); res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown group: %d, want 404", res.StatusCode)
	}
	res, body = get(t, e, "/openapi/v2", "Accept", "application/json")
	if res.StatusCode != 200 || !strings.Contains(string(body), "io.k8s.api.apps.v1.Deployment") || !strings.Contains(string(body), "CustomResourceDefinition") {
		t.Errorf("OpenAPI v2: %d, %d bytes", res.StatusCode, len(body))
	}
}

// Every generic API server has documents of /version and the like. The aggregator takes
// their addresses from one server, in a map's order, and asks another one.
func TestOpenAPIOfSeveralServersHasOneAddress(t *testing.T) {
	e := sharedEngine(t)
	for range 100 {
		var index handler3.OpenAPIV3Discovery
		_, body := get(t, e, "/openapi/v3")
		if err := json.Unmarshal(body, &index); err != nil {
			t.Fatal(err)
		}
		for _, root := range []string{"version", "apis"} {
			address := index.Paths[root].ServerRelativeURL
			if res, _ := get(t, e, address); res.StatusCode != http.StatusOK {
				t.Fatalf("GET %s: %d to %q", address, res.StatusCode, res.Header.Get("Location"))
			}
		}
	}
}
