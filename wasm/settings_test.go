package main

import (
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	s, err := parseSettings("")
	if err != nil || s.GCPercent != defaultGCPercent || s.Verbosity != 0 {
		t.Errorf("%+v %v", s, err)
	}
	if u := s.engine().DefaultUser; u == nil || u.GetName() != "admin" || u.GetGroups()[0] != "system:masters" {
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
