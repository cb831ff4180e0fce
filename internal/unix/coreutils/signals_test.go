package coreutils_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

func TestSignals(t *testing.T) {
	for word, want := range map[string]string{"15": "TERM", "SIGTERM": "TERM", "term": "TERM", "0": "0", "kill": "KILL", "": "", "99": "", "EXIT": "", "-1": ""} {
		if got, err := coreutils.Signal(word); got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v", word, got, err)
		}
	}
	if names := strings.Join(coreutils.SignalNames(), " "); !strings.HasPrefix(names, "HUP INT QUIT ABRT KILL ") || !strings.HasSuffix(names, " WINCH") {
		t.Error(names)
	}
	for args, want := range map[string]string{"7": "TERM [7]", "-9 7 8": "KILL [7 8]", "-s int 7": "INT [7]", "-n 1 7": "HUP [7]", "-- -7": "TERM [-7]", "-l": "l []", "-TERM": "TERM []"} {
		signal, words, err := bash.ParseKill(strings.Fields(args))
		if got := fmt.Sprint(signal, " ", words); got != want || err != nil {
			t.Errorf("kill %s: %s, %v", args, got, err)
		}
	}
}
