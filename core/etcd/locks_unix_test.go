//go:build unix

package etcd

const locksFiles = true
