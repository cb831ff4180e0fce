package openssl

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

// keys are lines that make a key of each kind as key.pem.
var keys = map[string]string{
	"RSA":          "openssl genrsa -out key.pem 1024",
	"RSA PKCS#1":   "openssl genrsa -traditional -out key.pem 1024",
	"P-256":        "openssl ecparam -name prime256v1 -genkey -noout -out key.pem",
	"P-384":        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out key.pem",
	"P-521":        "openssl ecparam -name secp521r1 -genkey -out key.pem",
	"P-224":        "openssl ecparam -name secp224r1 -genkey -out key.pem",
	"Ed25519":      "openssl genpkey -algorithm ED25519 -out key.pem",
	"RSA of req":   "openssl req -newkey rsa:1024 -noenc -keyout key.pem -subj /CN=x -out x",
	"P-256 in DER": "openssl ecparam -name prime256v1 -genkey -noout | openssl pkey -outform der -out key.pem",
}

// made are lines that make files from key.pem.
var made = []string{
	"openssl req -new -key key.pem -subj '/C=DE/O=a+OU=b/CN=who' -addext subjectAltName=DNS:a,IP:::1 -addext keyUsage=digitalSignature -out a.csr",
	"openssl req -x509 -key key.pem -days 10 -subj /CN=authority -out ca.pem",
	"openssl x509 -req -in a.csr -CA ca.pem -CAkey key.pem -CAcreateserial -days 5 -copy_extensions copy -out a.pem",
	"openssl x509 -req -in a.csr -signkey key.pem -extfile ext.cnf -extensions all -out self.pem",
	"openssl pkey -in key.pem -pubout -out public.pem",
}

// read are lines that show and verify these files, without what is random.
var read = []string{
	"openssl pkey -in key.pem -noout -check",
	"openssl pkey -in key.pem -noout -text",
	"openssl pkey -in key.pem",
	"openssl pkey -in key.pem -outform der | sha256sum",
	"openssl pkey -pubin -in public.pem -noout -text",
	"openssl req -in a.csr -noout -verify -text 2>&1",
	"openssl req -in a.csr -noout -pubkey | cat - public.pem",
	"openssl x509 -in ca.pem -noout -text",
	"openssl x509 -in a.pem -noout -text",
	"openssl x509 -in self.pem -noout -text",
	"openssl verify -CAfile ca.pem ca.pem a.pem",
	"openssl verify a.pem self.pem 2>&1",
	"cat ca.srl",
}

// needsTheirs skips the test where there is no OpenSSL of the version that this one follows. TestOpenSSL compares everywhere with what one has
// printed.
func needsTheirs(t *testing.T) {
	t.Helper()
	if !isOurs(t) {
		t.Skip("this machine has no OpenSSL 3.0 that could read what is made here, and others print names in another way")
	}
}

// TestWhatIsMadeHereIsReadThere has the machine's OpenSSL and this one read the same keys, requests and certificates: those that the one has
// made, and those that the other has. Both print the same of them.
func TestWhatIsMadeHereIsReadThere(t *testing.T) {
	needsTheirs(t)
	for kind, line := range keys {
		for maker, run := range map[string]func(unixtest.Machine, string, string) string{"ours": unixtest.Machine.Ours, "theirs": unixtest.Machine.Theirs} {
			t.Run(kind+" of "+maker, func(t *testing.T) {
				dir := inputs(t)
				for _, line := range append([]string{line}, made...) {
					if out := run(machine(t), dir, line+" 2>/dev/null"); out != "" {
						t.Fatalf("$ %s\n%s", line, out)
					}
				}
				for _, line := range read {
					if diff := cmp.Diff(machine(t).Theirs(dir, line), machine(t).Ours(dir, line)); diff != "" {
						t.Errorf("$ %s\n-OpenSSL's +ours\n%s", line, diff)
					}
				}
			})
		}
	}
}

// TestSignaturesOfFiles has each verify what the other has signed.
func TestSignaturesOfFiles(t *testing.T) {
	needsTheirs(t)
	dir := inputs(t)
	for _, key := range []string{"rsa", "ec"} {
		for name, sign := range map[string]func(unixtest.Machine, string, string) string{"ours": unixtest.Machine.Ours, "theirs": unixtest.Machine.Theirs} {
			for _, digest := range []string{"sha1", "sha256", "sha384", "sha512"} {
				line := "openssl dgst -" + digest + " -sign " + key + ".key -out s hi.txt; openssl pkey -in " + key + ".key -pubout -out p"
				if out := sign(machine(t), dir, line); out != "" {
					t.Fatalf("%s: $ %s\n%s", name, line, out)
				}
				line = "openssl dgst -" + digest + " -verify p -signature s hi.txt; openssl dgst -" + digest + " -verify p -signature s ca.crt 2>/dev/null"
				const want = "Verified OK\nVerification failure\n[exit 1]\n"
				if got, theirs := machine(t).Ours(dir, line), machine(t).Theirs(dir, line); got != want || theirs != want {
					t.Errorf("%s, made by %s: $ %s\nours: %s\ntheirs: %s", key, name, line, got, theirs)
				}
			}
		}
	}
}
