package bash

import (
	"slices"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// ParseKill reads the arguments of kill: the signal's name, "0" for none and "l" for a list of them, and whom to send it to.
// It fails for a signal that there is not.
func ParseKill(args []string) (signal string, words []string, err error) {
	signal = "TERM"
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		word := args[0][1:]
		args = args[1:]
		switch {
		case word == "-":
			return signal, args, nil
		case word == "l" || word == "L":
			return "l", args, nil
		case (word == "s" || word == "n") && len(args) > 0:
			word, args = args[0], args[1:]
		}
		if signal, err = coreutils.Signal(word); err != nil {
			return "", nil, err
		}
	}
	return signal, slices.Clone(args), nil
}
