// Package borrow converts between bytes and strings without copying them: values of the store are large, and most
// requests only compare them. The caller must know how long the bytes stay unchanged: the bytes of a request until it is
// answered.
package borrow

import "unsafe"

// String returns b as a string over the same bytes, which must not change as long as the
// string is used.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes returns the bytes of s, which nobody may change.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
