package coreutils

import (
	"errors"
	"strings"
	"testing"
)

func TestSurvive(t *testing.T) {
	if err := Survive(func() {}); err != nil {
		t.Errorf("what does not panic has a fault: %v", err)
	}
	for name, f := range map[string]func(){
		"a word":                 func() { panic("a word") },
		"index out of range [3]": func() { none := []int(nil); none[three]++ },
		"nil pointer":            func() { var k *Call; _ = k.Name },
	} {
		var fault *Fault
		if err := Survive(f); !errors.As(err, &fault) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(fault.Place, "TestSurvive") || !strings.Contains(fault.Place, "survive_test.go:") {
			t.Errorf("%s: it is said to be at %s", name, fault.Place)
		}
	}
}

var three = 3
