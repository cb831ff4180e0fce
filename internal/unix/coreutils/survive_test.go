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

// The value of a panic can be as large as what a script has made: it is not all told.
func TestLargeFault(t *testing.T) {
	err := Survive(func() { panic(strings.Repeat("x", 1<<20)) })
	if text := err.Error(); len(text) > 2*mostSaid || !strings.Contains(text, "xxx... (") {
		t.Errorf("it is told in %d bytes: %.1000s", len(text), text)
	}
}

var three = 3
