#!/bin/bash
# Makes the keys, requests and certificates of testdata/files anew, with OpenSSL 3.0. Run `go test -run TestOpenSSL -update` then.
set -eu
cd "$(dirname "$0")/files"
openssl genrsa -out rsa.key 2048
openssl genrsa -out ca.key 2048
openssl ecparam -name prime256v1 -genkey -out ec.key
openssl genpkey -algorithm ed25519 -out ed.key
openssl req -x509 -new -nodes -key ca.key -subj "/CN=kubernetes-ca/O=Example" -days 36500 -out ca.crt
openssl req -new -key rsa.key -subj "/CN=web/O=A+OU=B/O=Second" -addext "subjectAltName=DNS:web,DNS:web.default.svc" \
	-addext keyUsage=critical,digitalSignature -out web.csr
openssl x509 -req -in web.csr -CA ca.crt -CAkey ca.key -days 36500 -extfile ext.cnf -extensions v3_ext -out web.crt
openssl req -new -key ec.key -subj /CN=ec/emailAddress=e@example.com -out ec.csr
openssl x509 -req -in ec.csr -CA ca.crt -CAkey ca.key -set_serial 4660 -days 36500 -extfile ext.cnf -extensions all -out ec.crt
openssl req -x509 -key ed.key -subj '/C=DE/CN=ed "x"; y' -days 36500 -set_serial 0x8000000000000001 -out ed.crt
openssl x509 -req -in ec.csr -signkey ec.key -days 36500 -out v1.crt
openssl genrsa -aes256 -passout pass:abcd -out secret.key 1024
openssl genrsa -traditional -aes256 -passout pass:abcd -out secret1.key 1024
sed '10,$d' web.crt >torn.crt
