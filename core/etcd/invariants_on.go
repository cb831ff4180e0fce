//go:build race || invariants

package etcd

const invariants = true
