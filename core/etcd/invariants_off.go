//go:build !race && !invariants

package etcd

const invariants = false
