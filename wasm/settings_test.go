package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core"
)

func TestSettings(t *testing.T) {
	s, err := parseSettings("")
	if err != nil || s.GCPercent != defaultGCPercent || s.Verbosity != 0 {
		t.Errorf("%+v %v", s, err)
	}
	if u := s.engine().DefaultUser; u == nil || u.GetName() != "kubetab-admin" || u.GetGroups()[0] != "system:masters" {
		t.Errorf("the page is %v", u)
	}
	s, err = parseSettings(`{"runtimeConfig":{"batch/v1":"false"},"featureGates":{"A":true},"emulatedVersion":"1.36","host":"h:1","gcPercent":100,"verbosity":2,"anonymous":true}`)
	if err != nil || s.GCPercent != 100 || s.Verbosity != 2 {
		t.Errorf("%+v %v", s, err)
	}
	if c := s.engine(); c.RuntimeConfig["batch/v1"] != "false" || !c.FeatureGates["A"] || c.EmulatedVersion != "1.36" || c.Host != "h:1" || c.DefaultUser != nil {
		t.Errorf("%+v", c)
	}
}

func TestSettingsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{":                     "unexpected EOF",
		`{"runtimeconfigs":{}}`: "runtimeconfigs",
		`{} {}`:                 "more than one value",
		`[]`:                    "cannot unmarshal array",
	} {
		if _, err := parseSettings(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "kubetabHost.config") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSettingsAreTriedBeforeAnEngineIs(t *testing.T) {
	engine, err := core.New(t.Context(), core.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := engine.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	handler := withSettings(http.NotFoundHandler(), settings{}, engine)
	ask := func(method, query, body string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, settingsPath+query, strings.NewReader(body))
		if len(header) > 0 {
			r.Header.Set(header[0], header[1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	var answer Offer
	w := ask(http.MethodGet, "", "")
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Nodes != defaultNodes || len(answer.Choices.Versions) < 2 || len(answer.Unserved) > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	older := answer.Choices.Versions[1]
	w = ask(http.MethodGet, "?emulated-version="+older, "")
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Choices.Version != older {
		t.Errorf("of %s: %d %s", older, w.Code, w.Body)
	}
	for _, tc := range []struct {
		method, query, body string
		code                int
		words               string
	}{
		{http.MethodGet, "?emulated-version=1.1", "", http.StatusUnprocessableEntity, "is not between"},
		{http.MethodPost, "", `{"emulatedVersion":"` + older + `","runtimeConfig":{"api/all":"true"},"nodes":3,"controllers":["*","-job-controller"]}`, http.StatusNoContent, ""},
		{http.MethodPost, "", `{"featureGates":{"Nope":true}}`, http.StatusUnprocessableEntity, "unrecognized feature gate: Nope"},
		{http.MethodPost, "", `{"nodes":-1}`, http.StatusUnprocessableEntity, "from 0 to 100"},
		{http.MethodPost, "", `{"nope":1}`, http.StatusBadRequest, "unknown field"},
		{http.MethodPost, "", ``, http.StatusBadRequest, "empty"},
		{http.MethodDelete, "", ``, http.StatusMethodNotAllowed, "GET"},
	} {
		if w := ask(tc.method, tc.query, tc.body); w.Code != tc.code || !strings.Contains(w.Body.String(), tc.words) {
			t.Errorf("%s %s %s: %d %s", tc.method, tc.query, tc.body, w.Code, w.Body)
		}
	}
	if w := ask(http.MethodGet, "", "", "Authorization", "Bearer x"); w.Code != http.StatusForbidden {
		t.Errorf("with credentials: %d", w.Code)
	}
}
