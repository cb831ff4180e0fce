package openssl

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// How many bits a key of RSA may have. Go makes none of fewer than 1024, which are insecure; one of more than 8192 would take
// a browser minutes.
const (
	leastBits   = 1024
	mostBits    = 8192
	defaultBits = 2048
)

var (
	genrsaCommand = command{
		usage: "genrsa [options] [numbits]", flags: "traditional verbose F4 f4", values: "out", free: true, cipher: true, do: genrsa,
	}
	genpkeyCommand = command{
		usage: "genpkey -algorithm RSA|EC|ED25519 [options]", flags: "text quiet", values: "algorithm pkeyopt out outform", cipher: true, do: genpkey,
	}
	ecparamCommand = command{
		usage: "ecparam -name curve [options]", flags: "genkey noout text list_curves", values: "name out outform", do: ecparam,
	}
)

// recipe is what a key is made from.
type recipe struct {
	algorithm string // rsa, ec or ed25519, in any case
	bits      int    // of RSA
	curve     string // of EC
}

// set takes in an option of -pkeyopt, NAME:VALUE. Errors: one that the algorithm does not have.
func (m *recipe) set(option string) error {
	name, value, _ := strings.Cut(option, ":")
	algorithm := strings.ToLower(m.algorithm)
	var err error
	switch {
	case name == "rsa_keygen_bits" && algorithm == "rsa":
		if m.bits, err = strconv.Atoi(value); err != nil {
			err = saidf("Can't parse %q as a number", value)
		} else {
			err = checkBits(m.bits)
		}
	case name == "ec_paramgen_curve" && algorithm == "ec", name == "group" && algorithm == "ec":
		m.curve = value // which is looked at when the key is made
	case name == "ec_param_enc" && value == "named_curve" && algorithm == "ec":
	case name == "rsa_keygen_pubexp" && value == "65537" && algorithm == "rsa":
	default:
		err = errors.New("command not supported")
	}
	if err != nil {
		return fmt.Errorf("Error setting %s parameter:\n%w", option, err)
	}
	return nil
}

func checkBits(n int) error {
	switch {
	case n < leastBits:
		return fmt.Errorf("key size too small: %d bits; the least are %d", n, leastBits)
	case n > mostBits:
		return fmt.Errorf("key size too large: %d bits; the most are %d", n, mostBits)
	}
	return nil
}

// generate makes a key. It returns at once when the command has ended; the calculation, which nothing interrupts, then goes on
// by itself. The errors are those of what the recipe has wrong, and the cause of the command's end.
func (r *run) generate(from recipe) (crypto.Signer, error) {
	var calculate func() (crypto.Signer, error)
	switch strings.ToLower(from.algorithm) {
	case "rsa":
		if err := checkBits(from.bits); err != nil {
			return nil, err
		}
		calculate = func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, from.bits) }
	case "ec":
		if from.curve == "" {
			return nil, errors.New("no parameters set: -pkeyopt ec_paramgen_curve:P-256 sets the curve")
		}
		c, err := curveOf(from.curve)
		if err != nil {
			return nil, err
		}
		calculate = func() (crypto.Signer, error) { return ecdsa.GenerateKey(c.Curve, rand.Reader) }
	case "ed25519":
		calculate = func() (crypto.Signer, error) {
			_, key, err := ed25519.GenerateKey(rand.Reader)
			return key, err
		}
	default:
		return nil, saidf("Algorithm %s not found: there are RSA, EC and ED25519", from.algorithm)
	}
	return r.beside(calculate)
}

// beside runs f on a goroutine of its own and returns what that returns, or the cause of the command's end. A panic is an
// error, too.
func (r *run) beside(f func() (crypto.Signer, error)) (crypto.Signer, error) {
	type outcome struct {
		key crypto.Signer
		err error
	}
	done := make(chan outcome, 1)
	r.System.Go(func() {
		defer close(done)
		var o outcome
		if fault := coreutils.Survive(func() { o.key, o.err = f() }); fault != nil {
			o.err = fault
		}
		done <- o
	})
	select {
	case o, is := <-done:
		if !is { // the goroutine was ended because there is no memory
			return nil, coreutils.ErrMemory
		}
		return o.key, o.err
	case <-r.Done():
		return nil, context.Cause(r)
	}
}

// genrsa makes a key of RSA.
func genrsa(r *run) error {
	bits := defaultBits
	if len(r.rest) > 0 {
		var err error
		if bits, err = integer(r.rest[0]); err != nil {
			return fmt.Errorf("genrsa: %w", err)
		}
	}
	if len(r.rest) > 1 {
		return r.misused("Extra option: %q", r.rest[1])
	}
	key, err := r.generate(recipe{algorithm: "rsa", bits: bits})
	if err != nil {
		return fmt.Errorf("Error setting RSA length\n%w", err)
	}
	return r.putPrivate(key, r.has("traditional"))
}

// putPrivate prints a private key.
func (r *run) putPrivate(key crypto.Signer, traditional bool) error {
	b, err := privateBlock(key, traditional)
	if err != nil {
		return err
	}
	r.secret = true
	return r.put(b)
}

// genpkey makes a key of any kind.
func genpkey(r *run) error {
	from := recipe{algorithm: r.value("algorithm"), bits: defaultBits}
	if from.algorithm == "" {
		return r.misused("No algorithm given: -algorithm RSA, EC or ED25519")
	}
	for _, option := range r.all("pkeyopt") {
		if err := from.set(option); err != nil {
			return fmt.Errorf("genpkey: %w", err)
		}
	}
	key, err := r.generate(from)
	if err != nil {
		return fmt.Errorf("genpkey: Error generating %s key\n%w", from.algorithm, err)
	}
	if err := r.putPrivate(key, r.isDER()); err != nil {
		return err
	}
	if r.has("text") {
		r.out.WriteString(keyText(key))
	}
	return nil
}

// ecparam makes a key of an elliptic curve, behind the parameters that say which.
func ecparam(r *run) error {
	if r.has("list_curves") {
		for _, c := range curves {
			fmt.Fprintf(&r.out, "  %-10s: curve over a %d bit prime field, %s\n", c.name, c.Params().BitSize, c.nist)
		}
		return nil
	}
	if r.value("name") == "" {
		return saidf("Unable to load parameters: -name says the curve")
	}
	c, err := curveOf(r.value("name"))
	if err != nil {
		return fmt.Errorf("unable to generate key\n%w", err)
	}
	der, err := asn1.Marshal(curveOIDs[c.nist])
	if err != nil {
		return err
	}
	if r.has("text") {
		fmt.Fprintf(&r.out, "EC-Parameters: (%d bit)\nASN1 OID: %s\nNIST CURVE: %s\n", c.Params().BitSize, c.name, c.nist)
	}
	if !r.has("noout") {
		if err := r.put(&pem.Block{Type: pemECParams, Bytes: der}); err != nil {
			return err
		}
	}
	if !r.has("genkey") {
		return nil
	}
	key, err := r.generate(recipe{algorithm: "ec", curve: c.name})
	if err != nil {
		return fmt.Errorf("unable to generate key\n%w", err)
	}
	return r.putPrivate(key, true)
}
