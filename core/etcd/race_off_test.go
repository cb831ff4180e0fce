//go:build !race

package etcd

// randomOperations is how many operations TestRandomOperations makes.
const randomOperations = 4000
