//go:build !js

package shell

// hook does nothing: upstream's code is unmodified here, and uses the terminal,
// the editor and the diff of the machine.
func (s *Shell) hook() {}
