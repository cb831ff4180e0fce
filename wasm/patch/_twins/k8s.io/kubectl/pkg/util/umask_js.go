package util

import "errors"

// Umask always fails: file modes mean nothing on js/wasm.
func Umask(mask int) (int, error) { return 0, errors.New("umask does not exist on js/wasm") }
