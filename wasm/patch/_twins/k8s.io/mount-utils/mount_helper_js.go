package mount

import (
	"errors"
	"io/fs"
	"os"
)

// IsCorruptedMnt is always false: nothing can be mounted on js/wasm.
func IsCorruptedMnt(err error) bool { return false }

// PathExists reports whether path exists. The error is any other reason for which it cannot be read.
func PathExists(path string) (bool, error) {
	switch _, err := os.Stat(path); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	default:
		return false, err
	}
}

func isMountPointMatch(mp MountPoint, dir string) bool { return mp.Path == dir }
