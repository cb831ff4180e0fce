package openssl

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

// held is a machine that calculates nothing until it is asked to.
type held struct {
	unixtest.Machine
	waiting chan func()
}

func (h held) Go(f func()) { h.waiting <- f }

// TestKeysEndWithTheirCommand: a key of 8192 bits takes a browser minutes, and nothing interrupts the calculation.
func TestKeysEndWithTheirCommand(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"genrsa", "-out", "k", "8192"}, {"genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:8192", "-out", "k"},
		{"req", "-newkey", "rsa:8192", "-nodes", "-keyout", "k", "-subj", "/CN=a", "-out", "k"},
	} {
		c, out, errs := call(t, dir, args...)
		system := held{machine(t), make(chan func(), 1)}
		ctx, cancel := context.WithCancel(t.Context())
		c.Context, c.System = ctx, system
		code := make(chan int)
		go func() { code <- Command(c) }()
		<-system.waiting
		cancel()
		if got := <-code; got != 130 || out.Len()+errs.Len() > 0 {
			t.Errorf("%q exits with %d and prints %s%s", args, got, out, errs)
		}
		if _, err := os.Stat(filepath.Join(dir, "k")); err == nil {
			t.Errorf("%q has written its file", args)
		}
	}
}

// endless is text without an end.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte{byte(e)}, len(b)))
	return len(b), nil
}

// TestInputWithoutAnEnd is not held: the memory is the API server's as well.
func TestInputWithoutAnEnd(t *testing.T) {
	for _, line := range []string{
		"rsa -noout", "ec -noout", "pkey", "pkey -pubin", "req -noout", "x509 -noout", "x509 -req -signkey -", "verify", "verify -CAfile -", "passwd -stdin",
		"req -new -key rsa.key", "req -new -key rsa.key -config -", "dgst -prverify rsa.key -signature - hi.txt",
	} {
		c, out, errs := call(t, "testdata/files", strings.Fields(line)...)
		c.Dir = inputs(t)
		c.Stdin = endless('x')
		code := Command(c)
		said := strings.Contains(errs.String(), "memory exhausted") || strings.Contains(errs.String(), "Error making certificate request")
		if code == 0 || out.Len() > 0 || !said {
			t.Errorf("openssl %s: exits with %d: %s%s", line, code, out, errs)
		}
	}
}

// TestAnyAmountGoesThrough: what only passes is not held.
func TestAnyAmountGoesThrough(t *testing.T) {
	const much = 96 << 20
	for line, printed := range map[string]int64{
		"base64": (much + 2) / 3 * 4 * 65 / 64, "base64 -A": (much + 2) / 3 * 4, "base64 -d": much / 4 * 3, "dgst -sha256": 82, "md5": 45,
	} {
		c, _, errs := call(t, t.TempDir(), strings.Fields(line)...)
		var n counter
		c.Stdin, c.Stdout = io.LimitReader(endless('x'), much), &n
		if code := Command(c); code != 0 || errs.Len() > 0 || int64(n) != printed {
			t.Errorf("openssl %s: exits with %d after %d bytes, which are %d: %s", line, code, n, printed, errs)
		}
	}
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// closed is a pipe that nobody reads any more.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestNobodyReads: as with `| head -n 1`, the program ends and says nothing.
func TestNobodyReads(t *testing.T) {
	for _, line := range []string{"x509 -in web.crt -text", "base64 -in web.crt", "rand -hex 9", "verify -CAfile ca.crt web.crt"} {
		c, _, errs := call(t, inputs(t), strings.Fields(line)...)
		c.Stdout = closed{}
		if code := Command(c); code != 1 || errs.Len() > 0 {
			t.Errorf("openssl %s: exits with %d: %s", line, code, errs)
		}
	}
}

// TestWhatIsNotThere says so, and what to do instead.
func TestWhatIsNotThere(t *testing.T) {
	dir := inputs(t)
	for line, want := range map[string]string{
		"s_client -connect a:443":       "curl -v asks a server",
		"pkcs12 -export":                "openssl pkcs12 is not there",
		"ocsp":                          "openssl ocsp is not there; type \"openssl help\" for a list.",
		"nonsense":                      "Invalid command 'nonsense'; type \"help\" for a list.",
		"help nonsense":                 "Invalid command 'nonsense'; type \"help\" for a list.",
		"genrsa -aes256":                "nothing is encrypted here, keys included: leave -aes256 out",
		"genrsa -des3 2048":             "leave -des3 out",
		"enc -aes-256-cbc -in hi.txt":   "nothing is encrypted here",
		"enc -in hi.txt":                "enc -base64 encodes",
		"req -new -newkey rsa:2048":     "-noenc (or -nodes) leaves the key as it is",
		"rsa -in secret.key":            "the key is encrypted",
		"rsa -in secret1.key":           "the key is encrypted",
		"req -new -key secret.key":      "the key is encrypted",
		"genrsa 512":                    "key size too small: 512 bits; the least are 1024",
		"genrsa 16384":                  "key size too large: 16384 bits; the most are 8192",
		"x509 -in torn.crt":             "the PEM is torn",
		"x509 -in web.csr":              "it has no CERTIFICATE but CERTIFICATE REQUEST",
		"x509 -in hi.txt":               "no start line, Expecting: CERTIFICATE",
		"x509 -in .":                    "Is a directory",
		"x509 -in web.crt -out no/file": `Can't open "no/file" for writing, No such file or directory`,
		"x509 -req -in web.csr":         "We need a private key to sign with",
		"req -new -newkey rsa -nodes -subj /CN=a -config ext.cnf -keyout no/k": `Can't open "no/k" for writing`,
		"req -newkey ec -nodes -subj /CN=a":                                    "-pkeyopt ec_paramgen_curve:P-256 sets the curve",
		"req -newkey dsa -nodes -subj /CN=a":                                   "there are RSA, EC and ED25519",
		"genpkey -algorithm EC":                                                "-pkeyopt ec_paramgen_curve:P-256",
		"genpkey":                                                              "No algorithm given",
		"ecparam -name secp256k1 -genkey":                                      "there are prime256v1 (P-256)",
		"x509 -in web.crt extra":                                               `Extra option: "extra"`,
		"x509 -in web.crt -days 1 -signkey rsa.key -md5":                       "certificates are not signed with md5 here",
		"x509 -in web.crt -days 9999999 -signkey rsa.key":                      "beyond the year 9999",
		"x509 -in web.crt -days 99999999999 -signkey rsa.key":                  "beyond the year 9999",
		"x509 -in web.crt -signkey rsa.key -set_serial x":                      "Unable to parse serial number",
		"req -new -key rsa.key -subj /CN=a -addext subjectAltName=IP:1.2":      "bad ip address: value=1.2",
		"req -new -key rsa.key -subj /CN=a -addext keyUsage=foo":               "unknown bit string argument: foo",
		"req -new -key rsa.key -subj /CN=a -addext extendedKeyUsage=foo":       "invalid object identifier: foo",
		"req -new -key rsa.key -subj /CN=a -addext basicConstraints=CA:maybe":  "invalid boolean string: maybe",
		"req -new -key rsa.key -subj /CN=a -addext subjectAltName=@alt":        "invalid extension string: section=@alt",
	} {
		c, out, errs := call(t, dir, strings.Fields(line)...)
		if code := Command(c); code != 1 || out.Len() > 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("openssl %s: exits with %d: %s%s\nwant: %s", line, code, out, errs, want)
		}
	}
}

// TestHelp lists what there is, and each command's options.
func TestHelp(t *testing.T) {
	c, out, _ := call(t, t.TempDir(), "help")
	if code := Command(c); code != 0 {
		t.Error(code)
	}
	for name, known := range commands {
		if !strings.Contains(out.String(), name) {
			t.Errorf("%s is not listed", name)
		}
		c, shown, errs := call(t, t.TempDir(), name, "-help")
		if code := Command(c); code != 0 || !strings.HasPrefix(shown.String(), "Usage: openssl "+known.usage+"\n") {
			t.Errorf("openssl %s -help: exits with %d: %s%s", name, code, shown, errs)
		}
	}
	for name := range missing {
		if _, is := commands[name]; is {
			t.Errorf("%s is said not to be there", name)
		}
	}
}

// TestSettingsThatGrow: a variable of a variable of a variable does not take the memory.
func TestSettingsThatGrow(t *testing.T) {
	text := "a = " + strings.Repeat("x", 1000) + "\n"
	for range 100 {
		text += "a = $a$a\n"
	}
	if _, err := parseConfig(text, nil); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}

// FuzzConfig reads settings that anybody wrote.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{defaultConfig, "a=$b\n[x", "a='\\", "[a]\nb::c=${a::b}$(x)\\\n", "\\"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig(text, func(string) (string, bool) { return "", false })
		if err != nil {
			return
		}
		from := &origin{config: c, issuer: &issuer{}}
		for section := range c {
			_, _ = from.section(section)
			if n, err := c.name(section); err == nil {
				_, _ = n.encode()
			}
		}
	})
}

// FuzzExtension shows extensions that anybody made.
func FuzzExtension(f *testing.F) {
	from := &origin{key: []byte("key"), issuer: &issuer{}, config: config{"dn": {{"CN", "x"}}}}
	for _, s := range []setting{
		{"subjectAltName", "DNS:a,IP:::1,dirName:dn,RID:1.2.3,otherName:1.2.3;UTF8:x"}, {"basicConstraints", "CA:TRUE,pathlen:3"}, {"keyUsage", "cRLSign"},
		{"nameConstraints", "permitted;IP:1.2.3.4/255.0.0.0"}, {"certificatePolicies", "1.2.3"}, {"crlDistributionPoints", "URI:x"}, {"authorityInfoAccess", "OCSP;URI:x"},
	} {
		e, err := from.extension(s.name, s.value)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(e.Value)
	}
	f.Fuzz(func(_ *testing.T, der []byte) {
		for _, e := range extensions {
			_, _ = e.text(der)
		}
		_ = oneline.text(der)
		_ = rfc2253.text(der)
		_ = compat.text(der)
	})
}
