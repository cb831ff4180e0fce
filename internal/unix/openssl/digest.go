package openssl

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// digest is an algorithm of digests.
type digest struct {
	name string // as it is printed
	id   crypto.Hash
	new  func() hash.Hash
}

// digests are the algorithms by the names of their options and commands.
var digests = map[string]digest{
	"md5": {"MD5", crypto.MD5, md5.New}, "sha1": {"SHA1", crypto.SHA1, sha1.New},
	"sha224": {"SHA2-224", crypto.SHA224, sha256.New224}, "sha256": {"SHA2-256", crypto.SHA256, sha256.New},
	"sha384": {"SHA2-384", crypto.SHA384, sha512.New384}, "sha512": {"SHA2-512", crypto.SHA512, sha512.New},
	"sha512-224": {"SHA2-512/224", crypto.SHA512_224, sha512.New512_224}, "sha512-256": {"SHA2-512/256", crypto.SHA512_256, sha512.New512_256},
	"sha3-224": {"SHA3-224", crypto.SHA3_224, func() hash.Hash { return sha3.New224() }},
	"sha3-256": {"SHA3-256", crypto.SHA3_256, func() hash.Hash { return sha3.New256() }},
	"sha3-384": {"SHA3-384", crypto.SHA3_384, func() hash.Hash { return sha3.New384() }},
	"sha3-512": {"SHA3-512", crypto.SHA3_512, func() hash.Hash { return sha3.New512() }},
}

var dgstCommand = command{
	usage: "dgst [options] [file...]", flags: "hex binary r c", values: "out hmac sign verify prverify signature keyform passin",
	digest: true, free: true, do: dgst,
}

// dgst prints digests of files, signs them, or verifies a signature.
func dgst(r *run) error {
	files, sole := r.rest, len(r.rest) < 2
	if len(files) == 0 {
		files = []string{""}
	}
	switch {
	case r.has("verify", "prverify"):
		return r.verifyFile(files[0])
	case r.has("sign"):
		return r.signFiles(files, sole)
	}
	name, algorithm := "SHA256", digests["sha256"]
	if r.digest != "" {
		algorithm = digests[r.digest]
		name = algorithm.name
	}
	make := algorithm.new
	if key := r.value("hmac"); r.has("hmac") {
		make = func() hash.Hash { return hmac.New(algorithm.new, []byte(key)) }
	}
	failed := error(nil)
	for _, file := range files {
		sum, err := r.sum(file, make())
		if err != nil {
			fmt.Fprintln(r.Stderr, err)
			failed = status(1)
			continue
		}
		label := name
		if r.has("hmac") && file != "" {
			label = "HMAC-" + name
		}
		r.putSum(label, file, sum)
	}
	return failed
}

// sum returns the digest of a file. The error says which file cannot be read.
func (r *run) sum(file string, h hash.Hash) ([]byte, error) {
	f, err := r.open(file)
	if err == nil {
		_, err = io.Copy(h, f)
		f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", file, coreutils.Reason(err))
	}
	return h.Sum(nil), nil
}

// putSum prints a digest or a signature as the options say.
func (r *run) putSum(label, file string, sum []byte) {
	if isStandard(file) {
		file = "stdin"
	}
	switch {
	case r.has("binary"):
		r.out.Write(sum)
	case r.has("r"):
		fmt.Fprintf(&r.out, "%x *%s\n", sum, file)
	case r.has("c"):
		fmt.Fprintf(&r.out, "%s(%s)= %s\n", label, file, strings.ToLower(colons(sum)))
	default:
		fmt.Fprintf(&r.out, "%s(%s)= %x\n", label, file, sum)
	}
}

// signing returns the digest that a key signs, and an error for a key that signs no digests.
func (r *run) signing(key crypto.PublicKey) (digest, error) {
	name := r.digest
	if name == "" {
		name = "sha256"
	}
	if kind := keyKind(key); kind != "rsa" && kind != "ec" {
		return digest{}, saidf("Key type not supported for this operation")
	}
	return digests[name], nil
}

// signFiles prints the signature of a file with the key of -sign: its bytes, or with -hex in hexadecimal.
func (r *run) signFiles(files []string, sole bool) error {
	key, err := r.privateKey(r.value("sign"), "private key")
	if err != nil {
		return err
	}
	algorithm, err := r.signing(key.Public())
	if err != nil {
		return err
	}
	if !sole && !r.has("hex") {
		return saidf("dgst: Can only sign or verify one file.")
	}
	for _, file := range files {
		sum, err := r.sum(file, algorithm.new())
		if err != nil {
			return err
		}
		signature, err := key.Sign(rand.Reader, sum, algorithm.id)
		if err != nil {
			return fmt.Errorf("Error signing data\n%w", err)
		}
		if !r.has("hex", "r", "c") {
			r.out.Write(signature)
			continue
		}
		kind := map[string]string{"rsa": "RSA", "ec": "EC"}[keyKind(key.Public())]
		r.putSum(kind+"-"+algorithm.name, file, signature)
	}
	return nil
}

// verifyFile verifies the signature of -signature with the key of -verify. The status is 1 if it is none.
func (r *run) verifyFile(file string) error {
	key, err := r.verifier()
	if err != nil {
		return err
	}
	algorithm, err := r.signing(key)
	if err != nil {
		return err
	}
	if !r.has("signature") {
		return saidf("No signature to verify: use the -signature option")
	}
	signature, err := r.read(r.value("signature"))
	if err != nil {
		return fmt.Errorf("Error opening signature file %s\n%w", r.value("signature"), err)
	}
	sum, err := r.sum(file, algorithm.new())
	if err != nil {
		return err
	}
	valid := false
	switch key := key.(type) {
	case *rsa.PublicKey:
		valid = rsa.VerifyPKCS1v15(key, algorithm.id, sum, signature) == nil
	case *ecdsa.PublicKey:
		valid = ecdsa.VerifyASN1(key, sum, signature)
	}
	if !valid {
		r.out.WriteString("Verification failure\n")
		return status(1)
	}
	r.out.WriteString("Verified OK\n")
	return nil
}

// verifier returns the public key of -verify, or that of the private one of -prverify.
func (r *run) verifier() (crypto.PublicKey, error) {
	if r.has("verify") {
		return r.publicKey(r.value("verify"), "public key")
	}
	key, err := r.privateKey(r.value("prverify"), "private key")
	if err != nil {
		return nil, err
	}
	return key.Public(), nil
}
