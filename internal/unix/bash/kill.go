package bash

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// signals are those that shells are sent, by number: see signal(7).
var signals = map[int]string{
	1: "HUP", 2: "INT", 3: "QUIT", 6: "ABRT", 9: "KILL", 10: "USR1", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM",
	17: "CHLD", 18: "CONT", 19: "STOP", 20: "TSTP", 21: "TTIN", 22: "TTOU", 23: "URG", 28: "WINCH",
}

// Signal returns the name of a signal that is written as 15, TERM, term or SIGTERM. 0 is its own. It fails for others.
func Signal(word string) (string, error) {
	name := strings.TrimPrefix(strings.ToUpper(word), "SIG")
	if number, err := strconv.Atoi(name); err == nil && signals[number] != "" {
		return signals[number], nil
	}
	if _, ok := SignalNumber(name); !ok && name != "0" {
		return "", fmt.Errorf("%s: invalid signal specification", word)
	}
	return name, nil
}

// SignalNumber returns the number of a signal by its name.
func SignalNumber(name string) (number int, ok bool) {
	for number, known := range signals {
		if known == name {
			return number, true
		}
	}
	return 0, false
}

// SignalNames returns the names of all signals, by number.
func SignalNames() []string {
	var names []string
	for number := range 65 {
		if name := signals[number]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

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
		if signal, err = Signal(word); err != nil {
			return "", nil, err
		}
	}
	return signal, slices.Clone(args), nil
}
