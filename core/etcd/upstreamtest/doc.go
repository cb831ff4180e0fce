// Package upstreamtest runs the tests of upstream's storage - those of the packages
// k8s.io/apiserver/pkg/storage/etcd3 and .../cacher, which between them call every
// function of the suite in .../storage/testing - on this store.
//
// They are upstream's tests, unchanged. One file is exchanged, in a copy of the
// module below build/: the test server, which opens a store of this project where
// upstream's starts an etcd.
//
//	go test -tags grpcnotrace ./core/etcd/upstreamtest
package upstreamtest
