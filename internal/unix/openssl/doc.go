// Package openssl is the program of that name: keys, certificate signing requests, certificates and their verification,
// digests and random bytes, with the options, defaults, file formats and messages of OpenSSL 3.0. The cryptography is Go's.
// What is written to files and what is printed of them is OpenSSL's, which the tests compare.
//
//	arguments --> options --> a command: files --> keys, requests, certificates (crypto/x509) --> text, PEM or DER
//	                               \-> openssl.cnf, -addext --> extensions --> ASN.1 --> signed
//
// It is not all of OpenSSL: nothing is encrypted, keys included, there is no TLS, and there are no formats but PEM and DER.
// What is missing says so. Text of the command line is UTF-8 also without -utf8.
package openssl
