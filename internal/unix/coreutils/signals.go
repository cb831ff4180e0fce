package coreutils

import (
	"fmt"
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
