package fileutil

import (
	"errors"
	"os"
)

// An engine on js/wasm keeps nothing in files, and there is no flock to build a lock on:
// who asks for one is told so instead of being given a lock that locks nothing.
var errNoFileLocks = errors.New("fileutil: file locks do not exist on js/wasm")

func flockTryLockFile(path string, flag int, perm os.FileMode) (*LockedFile, error) {
	return nil, &os.PathError{Op: "flock", Path: path, Err: errNoFileLocks}
}

func flockLockFile(path string, flag int, perm os.FileMode) (*LockedFile, error) {
	return nil, &os.PathError{Op: "flock", Path: path, Err: errNoFileLocks}
}
