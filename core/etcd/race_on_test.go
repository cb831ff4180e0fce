//go:build race

package etcd

// randomOperations is how many operations TestRandomOperations makes. There are fewer under the race detector, which makes
// each several times slower: the detector needs to see each kind of operation beside each other, and a model more of them.
const randomOperations = 1500
