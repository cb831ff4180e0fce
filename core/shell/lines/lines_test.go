package lines

import (
	"strings"
	"testing"
)

func TestFileIsFormatted(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 80 {
		t.Errorf("%d command lines: there have to be 80", len(all))
	}
	if Format(all) != text {
		t.Error("lines.txt is not as Format writes it: go test ./core/shell -run TestLines -update")
	}
}

func TestEndlessLinesCanBeRead(t *testing.T) {
	all, err := Endless()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Errorf("%d lines: there have to be 100", len(all))
	}
}

// A watch that a command itself canceled is no part of what it prints; another that ended is.
func TestNormalLeavesOutCanceledWatches(t *testing.T) {
	const (
		met   = "deployment.apps/web condition met\n"
		watch = `I1121 01:41:54.501416   32589 reflector.go:664] "Warning: watch ended with error" reflector="client-go/tools/cache/reflector.go:343" type="*unstructured.Unstructured" err="an error on the server (\"unable to decode an event from the watch stream: `
		end   = "\\\") has prevented the request from succeeding\"\n"
	)
	if got := Normal(watch + "context canceled" + end + met); got != met {
		t.Errorf("%q", got)
	}
	if got := Normal(met + watch + "unexpected EOF" + end); !strings.Contains(got, "unexpected EOF") {
		t.Errorf("%q", got)
	}
}
