package openssl

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"fmt"
)

var (
	rsaCommand = command{
		usage: "rsa [options]", flags: "pubin pubout noout text check modulus traditional", values: keyValues, cipher: true, do: rsaKey,
	}
	ecCommand   = command{usage: "ec [options]", flags: "pubin pubout noout text check", values: keyValues, cipher: true, do: ecKey}
	pkeyCommand = command{
		usage: "pkey [options]", flags: "pubin pubout noout text text_pub check pubcheck traditional", values: keyValues, cipher: true, do: anyKey,
	}
)

const keyValues = "in out inform outform passin passout"

// load reads the key of -in: a crypto.Signer or, with -pubin, a public key.
func (r *run) load() (any, error) {
	if r.has("pubin") {
		return r.publicKey(r.value("in"), "public key")
	}
	return r.privateKey(r.value("in"), "private key")
}

// public returns the public part of a key.
func public(key any) crypto.PublicKey {
	if s, is := key.(crypto.Signer); is {
		return s.Public()
	}
	return key
}

// putKey prints a key, or with -pubin or -pubout its public part.
func (r *run) putKey(key any, traditional bool) error {
	s, is := key.(crypto.Signer)
	if is && !r.has("pubout") {
		return r.putPrivate(s, traditional)
	}
	b, err := publicBlock(public(key))
	if err != nil {
		return err
	}
	return r.put(b)
}

// rsaKey converts and shows keys of RSA.
func rsaKey(r *run) error {
	key, err := r.load()
	if err != nil {
		return err
	}
	pub, is := public(key).(*rsa.PublicKey)
	if !is {
		return saidf("Not an RSA key")
	}
	private, isPrivate := key.(*rsa.PrivateKey)
	if r.has("text") {
		r.out.WriteString(keyText(key))
	}
	if r.has("modulus") {
		fmt.Fprintf(&r.out, "Modulus=%X\n", pub.N)
	}
	if r.has("check") {
		if !isPrivate {
			return saidf("Only private keys can be checked")
		}
		if err := private.Validate(); err != nil {
			return fmt.Errorf("RSA key error: %w", err)
		}
		r.out.WriteString("RSA key ok\n")
	}
	if r.has("noout") {
		return nil
	}
	fmt.Fprintln(r.Stderr, "writing RSA key")
	return r.putKey(key, r.has("traditional"))
}

// ecKey converts and shows keys of elliptic curves.
func ecKey(r *run) error {
	fmt.Fprintln(r.Stderr, "read EC key")
	key, err := r.load()
	if err != nil {
		return err
	}
	if _, is := public(key).(*ecdsa.PublicKey); !is {
		return saidf("Not an EC key")
	}
	if r.has("text") {
		r.out.WriteString(keyText(key))
	}
	if r.has("check") {
		r.out.WriteString("EC Key valid.\n") // what is read has been checked
	}
	if r.has("noout") {
		return nil
	}
	fmt.Fprintln(r.Stderr, "writing EC key")
	return r.putKey(key, true)
}

// anyKey converts and shows keys of any kind.
func anyKey(r *run) error {
	key, err := r.load()
	if err != nil {
		return err
	}
	if r.has("check", "pubcheck") {
		r.out.WriteString("Key is valid\n") // what is read has been checked
	}
	if !r.has("noout") {
		if err := r.putKey(key, r.has("traditional") || r.isDER()); err != nil {
			return err
		}
	}
	switch {
	case r.has("text_pub"), r.has("text") && r.has("pubout"):
		r.out.WriteString(keyText(public(key)))
	case r.has("text"):
		r.out.WriteString(keyText(key))
	}
	return nil
}
