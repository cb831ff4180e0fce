//go:build !linux

package main

import "errors"

// exchange is not possible in one step here; swap then does it in two.
func exchange(a, b string) error { return errors.ErrUnsupported }
