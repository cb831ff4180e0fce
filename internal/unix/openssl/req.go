package openssl

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var reqCommand = command{
	usage: "req [options]",
	flags: "new x509 nodes noenc noout text subject pubkey modulus verify batch utf8 newhdr verbose multivalue-rdn",
	values: "in inform out outform key keyform newkey pkeyopt keyout subj addext config extensions reqexts days set_serial CA CAkey nameopt " +
		"copy_extensions passin passout",
	digest: true, do: req,
}

// req is `openssl req`: it makes a request or, with -x509, a certificate, or shows a request.
func req(r *run) error {
	style, err := r.nameStyle()
	if err != nil {
		return err
	}
	if r.has("days") && !r.has("x509") {
		fmt.Fprintln(r.Stderr, "Ignoring -days without -x509; not generating a certificate")
	}
	if !r.has("x509") && !r.has("new", "newkey") {
		c, err := r.readRequest(r.value("in"))
		if err != nil {
			return err
		}
		return r.showRequest(c, style)
	}
	settings, err := r.settings()
	if err != nil {
		return err
	}
	if r.has("x509") {
		der, err := r.newCertificate(settings)
		if err != nil {
			return err
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("Error making certificate: %w", err)
		}
		return r.showMade(style.text(c.RawSubject), certificateText(c, style), c.PublicKey, certificateBlock(der))
	}
	der, err := r.newRequest(settings)
	if err != nil {
		return err
	}
	c, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return fmt.Errorf("Error making certificate request: %w", err)
	}
	return r.showRequest(c, style)
}

// settings returns the configuration of -config, or OpenSSL's own.
func (r *run) settings() (config, error) {
	if r.has("config") {
		return r.config(r.value("config"))
	}
	return parseConfig(defaultConfig, nil)
}

func requestBlock(der []byte) *pem.Block { return &pem.Block{Type: pemRequest, Bytes: der} }

// showRequest prints what the options ask for of a request. The status is 1 if -verify finds that its signature is none.
func (r *run) showRequest(c *x509.CertificateRequest, style nameStyle) error {
	if r.has("verify") {
		if err := c.CheckSignature(); err != nil {
			return saidf("Certificate request self-signature verify failure\n%w", err)
		}
		fmt.Fprintln(r.Stderr, "Certificate request self-signature verify OK")
	}
	b := requestBlock(c.Raw)
	if r.has("newhdr") {
		b.Type = "NEW CERTIFICATE REQUEST"
	}
	return r.showMade(style.text(c.RawSubject), requestText(c, style), c.PublicKey, b)
}

// showMade prints what the options ask for of a request or of a certificate.
func (r *run) showMade(subject, text string, key crypto.PublicKey, b *pem.Block) error {
	if r.has("pubkey") {
		public, err := publicBlock(key)
		if err != nil {
			return fmt.Errorf("Error getting public key\n%w", err)
		}
		r.out.Write(pem.EncodeToMemory(public))
	}
	if r.has("text") {
		r.out.WriteString(text)
	}
	if r.has("subject") {
		fmt.Fprintf(&r.out, "subject=%s\n", subject)
	}
	if r.has("modulus") {
		if key, is := key.(*rsa.PublicKey); is {
			fmt.Fprintf(&r.out, "Modulus=%X\n", key.N)
		} else {
			r.out.WriteString("Modulus=Wrong Algorithm type\n")
		}
	}
	if r.has("noout") {
		return nil
	}
	return r.put(b)
}

// requestKey returns the key of -key, or a new one, which it writes to the file of -keyout.
func (r *run) requestKey(c config) (crypto.Signer, error) {
	if r.has("key") {
		return r.privateKey(r.value("key"), "private key")
	}
	if encrypts, _ := c.get("req", "encrypt_key"); !r.has("nodes", "noenc") && encrypts != "no" {
		return nil, errors.New("req: the new key would be encrypted, and nothing is encrypted here: -noenc (or -nodes) leaves the key as it is")
	}
	from, err := r.requestRecipe(c)
	if err != nil {
		return nil, err
	}
	key, err := r.generate(from)
	if err != nil {
		return nil, fmt.Errorf("req: Error generating %s key\n%w", from.algorithm, err)
	}
	b, err := privateBlock(key, false)
	if err != nil {
		return nil, err
	}
	file := r.value("keyout")
	if file == "" {
		file, _ = c.get("req", "default_keyfile")
	}
	fmt.Fprintln(r.Stderr, "-----")
	return key, r.write(file, pem.EncodeToMemory(b), 0o600)
}

// requestRecipe returns what -newkey and -pkeyopt say of the new key: one of RSA if they say nothing.
func (r *run) requestRecipe(c config) (recipe, error) {
	from := recipe{algorithm: "rsa", bits: defaultBits}
	if text, is := c.get("req", "default_bits"); is {
		n, err := strconv.Atoi(text)
		if err != nil {
			return from, saidf("Can't parse default_bits %q as a number", text)
		}
		from.bits = n
	}
	algorithm, more, _ := strings.Cut(r.value("newkey"), ":")
	if algorithm != "" {
		from.algorithm = algorithm
	}
	switch n, err := strconv.Atoi(more); {
	case more == "":
	case err != nil || !strings.EqualFold(algorithm, "rsa"):
		return from, fmt.Errorf("Error reading parameter file %s\nparameters are options here: -newkey ec -pkeyopt ec_paramgen_curve:P-256", more)
	default:
		from.bits = n
	}
	for _, option := range r.all("pkeyopt") {
		if err := from.set(option); err != nil {
			return from, fmt.Errorf("req: %w", err)
		}
	}
	return from, nil
}

// newRequest returns a request in DER.
func (r *run) newRequest(c config) ([]byte, error) {
	key, err := r.requestKey(c)
	if err != nil {
		return nil, err
	}
	subject, more, err := r.subject(c)
	if err != nil {
		return nil, err
	}
	value, err := subject.encode()
	if err != nil {
		return nil, err
	}
	public, err := publicValue(key.Public())
	if err != nil {
		return nil, err
	}
	added, err := r.requested(&origin{config: c, subject: subject, key: keyBits(public)}, "reqexts", "req_extensions")
	if err != nil {
		return nil, err
	}
	attributes, err := requestAttributes(added)
	if err != nil {
		return nil, err
	}
	return signRequest(value, append(more, attributes...), key, r.requestDigest(c))
}

// requestDigest returns the digest of the options or else of the configuration, "" if neither has one.
func (r *run) requestDigest(c config) string {
	name, _ := c.get("req", "default_md")
	if r.digest == "" && digests[name].new != nil {
		return name
	}
	return r.digest
}

// newCertificate returns a certificate in DER: one signed with its own key or, with -CA, by that.
func (r *run) newCertificate(c config) ([]byte, error) {
	days, err := r.days()
	if err != nil {
		return nil, err
	}
	made, from, key, err := r.certified(c)
	if err != nil {
		return nil, err
	}
	if r.has("set_serial") {
		made.serial, err = parseSerial(r.value("set_serial"))
	} else {
		made.serial, err = randomSerial()
	}
	if err != nil {
		return nil, err
	}
	from.issuer = &issuer{name: made.subject, serial: made.serial}
	if from.isSelf = !r.has("CA"); !from.isSelf {
		var ca *x509.Certificate
		if ca, key, err = r.readAuthority(); err != nil {
			return nil, err
		}
		from.issuer = issuerOf(ca)
	}
	added, err := r.requested(from, "extensions", "x509_extensions")
	if err != nil {
		return nil, err
	}
	for _, e := range added {
		made.extensions = put(made.extensions, e)
	}
	made.begin = r.System.Clock().Now().UTC()
	made.end = made.begin.AddDate(0, 0, days)
	if err := made.complete(from, from.isSelf); err != nil {
		return nil, err
	}
	return made.sign(from.issuer.name, key, r.requestDigest(c))
}

// certified returns what the certificate is for, and its own key: of the request of -in, or of the options and the configuration.
func (r *run) certified(c config) (made certificate, from *origin, key crypto.Signer, err error) {
	from = &origin{config: c}
	if r.has("in") {
		if r.has("key") {
			key, err = r.privateKey(r.value("key"), "private key")
		} else if !r.has("CA") {
			err = errors.New("req: -key or -CA says who signs")
		}
		var request *x509.CertificateRequest
		if err == nil {
			request, err = r.readRequest(r.value("in"))
		}
		if err != nil {
			return made, from, nil, err
		}
		if made.extensions, err = r.copied(request.Extensions); err != nil {
			return made, from, nil, err
		}
		made.subject, made.key = asn1.RawValue{FullBytes: request.RawSubject}, asn1.RawValue{FullBytes: request.RawSubjectPublicKeyInfo}
		from.subject, err = decodeName(request.RawSubject)
	} else {
		if key, err = r.requestKey(c); err != nil {
			return made, from, nil, err
		}
		if from.subject, _, err = r.subject(c); err != nil {
			return made, from, nil, err
		}
		if made.subject, err = from.subject.encode(); err != nil {
			return made, from, nil, err
		}
		made.key, err = publicValue(key.Public())
	}
	from.key = keyBits(made.key)
	return made, from, key, err
}
