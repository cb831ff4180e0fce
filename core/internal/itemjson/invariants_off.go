//go:build !race && !invariants

package itemjson

const invariants = false
