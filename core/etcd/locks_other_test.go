//go:build !unix

package etcd

// In a tab there is no second process, and so no lock.
const locksFiles = false
