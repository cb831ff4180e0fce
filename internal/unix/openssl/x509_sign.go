package openssl

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"strings"
)

// defaultDays is for how long a certificate is valid.
const defaultDays = 30

// issue returns the certificate in DER that is made from the request or the certificate of -in. The errors are OpenSSL's.
func (r *run) issue() ([]byte, error) {
	days, err := r.days()
	if err != nil {
		return nil, err
	}
	made, from, err := r.draft()
	if err != nil {
		return nil, err
	}
	made.begin = r.System.Clock().Now().UTC()
	made.end = made.begin.AddDate(0, 0, days)
	key, err := r.issuer(&made, from)
	if err != nil {
		return nil, err
	}
	if err := r.extend(&made, from); err != nil {
		return nil, err
	}
	if err := made.complete(from, bytes.Equal(keyBits(made.key), publicBits(key))); err != nil {
		return nil, err
	}
	return made.sign(from.issuer.name, key, r.digest)
}

// mostDays are more than there are until the year 9999, the last one that a certificate can have.
const mostDays = 9999 * 366

// errTooLong is the error of a certificate whose end cannot be written.
var errTooLong = errors.New("the certificate would be valid beyond the year 9999")

// days returns the value of -days. Errors: a number that is negative, and errTooLong.
func (r *run) days() (int, error) {
	days, err := r.number("days", defaultDays)
	if err == nil && days < -1 {
		err = fmt.Errorf("%s: -days parameter arg must be >= -1", r.name)
	}
	if days > mostDays {
		err = errTooLong
	}
	return days, err
}

// publicBits returns the bits of a key's public part.
func publicBits(key crypto.Signer) []byte {
	v, err := publicValue(key.Public())
	if err != nil {
		return nil
	}
	return keyBits(v)
}

// draft returns what -in says of the certificate that is to be signed, with the extensions that are copied.
func (r *run) draft() (certificate, *origin, error) {
	var made certificate
	if r.has("req") {
		c, err := r.readRequest(r.value("in"))
		if err != nil {
			return made, nil, err
		}
		if err := c.CheckSignature(); err != nil {
			return made, nil, saidf("Certificate request self-signature did not match the contents\n%w", err)
		}
		fmt.Fprintf(r.Stderr, "Certificate request self-signature ok\nsubject=%s\n", oneline.text(c.RawSubject))
		made.subject, made.key = asn1.RawValue{FullBytes: c.RawSubject}, asn1.RawValue{FullBytes: c.RawSubjectPublicKeyInfo}
		made.extensions, err = r.copied(c.Extensions)
		if err != nil {
			return made, nil, err
		}
	} else {
		c, err := r.readCertificate(r.value("in"), "certificate")
		if err != nil {
			return made, nil, err
		}
		made.subject, made.key = asn1.RawValue{FullBytes: c.RawSubject}, asn1.RawValue{FullBytes: c.RawSubjectPublicKeyInfo}
		made.serial = c.SerialNumber
		if !r.has("clrext") {
			made.extensions = c.Extensions
		}
	}
	if r.has("subj") {
		n, err := parseSubject(r.value("subj"), r.warn)
		if err == nil {
			made.subject, err = n.encode()
		}
		if err != nil {
			return made, nil, err
		}
	}
	subject, err := decodeName(made.subject.FullBytes)
	return made, &origin{subject: subject}, err
}

// warn prints a warning.
func (r *run) warn(format string, args ...any) {
	fmt.Fprintf(r.Stderr, "req warning: "+format+"\n", args...)
}

// copied returns those extensions of a request that -copy_extensions takes over. The error is a misuse.
func (r *run) copied(requested []pkix.Extension) ([]pkix.Extension, error) {
	switch how := r.value("copy_extensions"); how {
	case "", "none":
		return nil, nil
	case "copy":
		var all []pkix.Extension
		for _, e := range requested {
			if !e.Id.Equal(oidSubjectKeyID) && !e.Id.Equal(oidAuthorityKeyID) {
				all = append(all, e)
			}
		}
		return all, nil
	case "copyall":
		return requested, nil
	default:
		return nil, r.misused("Invalid extension copy option: %s", how)
	}
}

// issuer returns the key that signs: that of -CA, or the certificate's own. It sets the issuer of from, and what of the
// certificate depends on the issuer: the serial number, and the public key.
func (r *run) issuer(made *certificate, from *origin) (key crypto.Signer, err error) {
	if r.has("set_serial") {
		if made.serial, err = parseSerial(r.value("set_serial")); err != nil {
			return nil, err
		}
	}
	if r.has("CA") {
		key, err = r.authority(made, from)
	} else if !r.has("signkey", "key") {
		err = saidf("We need a private key to sign with, use -key or -CAkey or -CA with private key")
	} else if key, err = r.privateKey(r.value("signkey", "key"), "private key"); err == nil {
		made.key, err = publicValue(key.Public())
		from.isSelf, from.issuer = true, &issuer{name: made.subject}
	}
	if err == nil && made.serial == nil {
		made.serial, err = randomSerial()
	}
	from.key = keyBits(made.key)
	if from.isSelf {
		from.issuer.serial = made.serial
	}
	return key, err
}

// authority returns the key of -CA and -CAkey, and sets the issuer and the serial number.
func (r *run) authority(made *certificate, from *origin) (crypto.Signer, error) {
	ca, key, err := r.readAuthority()
	if err != nil {
		return nil, err
	}
	from.issuer = issuerOf(ca)
	if !r.has("set_serial") {
		made.serial, err = r.nextSerial()
	}
	return key, err
}

func issuerOf(ca *x509.Certificate) *issuer {
	return &issuer{name: asn1.RawValue{FullBytes: ca.RawSubject}, serial: ca.SerialNumber, keyID: ca.SubjectKeyId}
}

// readAuthority returns the certificate and the key of -CA and -CAkey. The errors are those of their files, and one for a key
// that is another's.
func (r *run) readAuthority() (*x509.Certificate, crypto.Signer, error) {
	ca, err := r.readCertificate(r.value("CA"), "CA certificate")
	if err != nil {
		return nil, nil, err
	}
	file := r.value("CAkey")
	if file == "" {
		file = r.value("CA")
	}
	key, err := r.privateKey(file, "CA private key")
	if err != nil {
		return nil, nil, err
	}
	if !sameKey(ca.PublicKey, key.Public()) {
		return nil, nil, errors.New("CA certificate and CA private key do not match\nkey values mismatch")
	}
	return ca, key, nil
}

// nextSerial returns the serial number that the file of the CA says comes next, or a random one if there is no such file. It
// writes the file, except where there is none and -CAcreateserial does not ask for it.
func (r *run) nextSerial() (*big.Int, error) {
	file := r.value("CAserial")
	if file == "" {
		ca := r.value("CA")
		file = strings.TrimSuffix(ca, path.Ext(ca)) + ".srl"
	}
	var serial *big.Int
	_, err := r.Files.Stat(r.Path(file), true)
	switch {
	case err == nil:
		text, err := r.read(file)
		if err != nil {
			return nil, err
		}
		digits := strings.TrimSpace(string(text))
		n, is := new(big.Int), false
		if len(digits) < 100 {
			n, is = n.SetString(digits, 16)
		}
		if !is || n.Sign() < 0 {
			return nil, saidf("Unable to load number from %s", file)
		}
		serial = n.Add(n, big.NewInt(1))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		if serial, err = randomSerial(); err != nil {
			return nil, err
		}
		if !r.has("CAcreateserial") {
			return serial, nil
		}
	}
	return serial, r.write(file, fmt.Appendf(nil, "%X\n", serialBytes(serial)), 0o644)
}

// extend adds the extensions of -extfile to the certificate.
func (r *run) extend(made *certificate, from *origin) error {
	if !r.has("extfile") {
		return nil
	}
	var err error
	if from.config, err = r.config(r.value("extfile")); err != nil {
		return err
	}
	section := r.value("extensions")
	if section == "" {
		if section, _ = from.config.get(defaultSection, "extensions"); section == "" {
			section = defaultSection
		}
	}
	if section == defaultSection && from.config[section] == nil {
		return nil
	}
	added, err := from.section(section)
	if err != nil {
		return fmt.Errorf("Error checking extension section %s\n%w", section, err)
	}
	for _, e := range added {
		made.extensions = put(made.extensions, e)
	}
	return nil
}

// toRequest prints a request for the certificate, signed with -signkey.
func (r *run) toRequest(c *x509.Certificate) error {
	if !r.has("signkey", "key") {
		return saidf("Must specify request key using -key")
	}
	key, err := r.privateKey(r.value("signkey", "key"), "request key")
	if err != nil {
		return err
	}
	kept, err := r.copied(c.Extensions)
	if err != nil {
		return err
	}
	attributes, err := requestAttributes(kept)
	if err != nil {
		return err
	}
	der, err := signRequest(asn1.RawValue{FullBytes: c.RawSubject}, attributes, key, r.digest)
	if err != nil {
		return err
	}
	return r.put(requestBlock(der))
}
