package container

import (
	"slices"
	"strings"
)

// endless are files that a program reads as fast as it can.
var endless = []string{"/dev/zero", "/dev/urandom", "/dev/random"}

// spins reports whether a program does nothing but use a processor until somebody ends it: people run such ones to see
// what usage, limits and autoscaling do. What a shell does by itself is counted: see session.rest.
func (k *call) spins() bool {
	switch k.Name {
	case "yes":
		return true
	case "awk":
		return len(k.Args) == 1 && strings.HasPrefix(strings.TrimSpace(k.Args[0]), "BEGIN")
	}
	return slices.ContainsFunc(k.Args, func(arg string) bool { return slices.Contains(endless, strings.TrimPrefix(arg, "if=")) })
}
