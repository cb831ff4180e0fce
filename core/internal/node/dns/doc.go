// Package dns has the records of the DNS as the nodes' programs see them, and CoreDNS, which answers with those of the
// cluster as its Corefile says.
package dns
