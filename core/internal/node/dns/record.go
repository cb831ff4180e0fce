package dns

import (
	"errors"
	"net"
	"strings"
)

// Record is one of the DNS. Names end with a dot.
type Record struct {
	Name, Type, Data string
	TTL              int // seconds
}

// Question is what a server is asked.
type Question struct {
	Name string // in full and in small letters, without a dot at its end
	Type string // such as A
}

// Answer is what a server says.
type Answer struct {
	Code          Code
	Records       []Record
	Authoritative bool
}

// Code is the response code of an answer, https://www.rfc-editor.org/rfc/rfc1035#section-4.1.1 by its usual name. It is the
// error that Answer.Result fails with.
type Code string

// The codes that are in use.
const (
	Success       Code = "NOERROR"
	NameError     Code = "NXDOMAIN"
	ServerFailure Code = "SERVFAIL"
	Refused       Code = "REFUSED"
)

func (c Code) Error() string { return string(c) }

// Result returns the records of an answer that server has given to q. It fails with a net.DNSError, as package net's resolver
// does, for a name that is not there and for a server that has none to give; the latter wraps the Code.
func (a Answer) Result(q Question, server string) ([]Record, error) {
	switch a.Code {
	case Success:
		return a.Records, nil
	case NameError:
		return nil, NotFound(q.Name)
	}
	return nil, &net.DNSError{Err: "server misbehaving", Name: q.Name, Server: server, IsTemporary: true, UnwrapErr: a.Code}
}

// NotFound is the error of a name that is not there.
func NotFound(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// IsNotFound reports whether a name is not there, other than a server that does not answer.
func IsNotFound(err error) bool {
	var d *net.DNSError
	return errors.As(err, &d) && d.IsNotFound
}

// Within reports whether a name is in a zone, both without a dot at their end. The root is the empty zone.
func Within(name, zone string) bool {
	return zone == "" || name == zone || strings.HasSuffix(name, "."+zone)
}

// IsTimeout reports whether a server has not answered.
func IsTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// ReverseName returns the name under which the DNS has an IPv4 address, false for what is none.
func ReverseName(address string) (string, bool) {
	ip := net.ParseIP(address).To4()
	if ip == nil {
		return "", false
	}
	return net.IPv4(ip[3], ip[2], ip[1], ip[0]).String() + ".in-addr.arpa", true
}
