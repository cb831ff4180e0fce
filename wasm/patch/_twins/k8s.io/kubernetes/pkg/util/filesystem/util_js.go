package filesystem

import (
	"os"
	"path/filepath"
)

// IsUnixDomainSocket reports that no file is a socket: there are none on js/wasm.
func IsUnixDomainSocket(string) (bool, error) { return false, nil }

// Chmod changes the mode of a file as os.Chmod does.
func Chmod(name string, mode os.FileMode) error { return os.Chmod(name, mode) }

// MkdirAll makes a directory and its parents as os.MkdirAll does.
func MkdirAll(path string, perm os.FileMode) error { return os.MkdirAll(path, perm) }

// IsAbs reports whether a path is absolute as filepath.IsAbs does.
func IsAbs(path string) bool { return filepath.IsAbs(path) }
