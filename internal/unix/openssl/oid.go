package openssl

import (
	"crypto"
	"encoding/asn1"
	"errors"
	"strconv"
	"strings"
)

// attribute is one that names have, such as CN.
type attribute struct {
	short, long string
	oid         asn1.ObjectIdentifier
	tag         int // of the strings that are its values; 0 is UTF8String
	least, most int // characters, if most is not 0
}

var attributes = []attribute{
	{"C", "countryName", asn1.ObjectIdentifier{2, 5, 4, 6}, asn1.TagPrintableString, 2, 2},
	{"ST", "stateOrProvinceName", asn1.ObjectIdentifier{2, 5, 4, 8}, 0, 1, 128},
	{"L", "localityName", asn1.ObjectIdentifier{2, 5, 4, 7}, 0, 1, 128},
	{"street", "streetAddress", asn1.ObjectIdentifier{2, 5, 4, 9}, 0, 1, 128},
	{"postalCode", "postalCode", asn1.ObjectIdentifier{2, 5, 4, 17}, 0, 0, 0},
	{"O", "organizationName", asn1.ObjectIdentifier{2, 5, 4, 10}, 0, 1, 64},
	{"OU", "organizationalUnitName", asn1.ObjectIdentifier{2, 5, 4, 11}, 0, 1, 64},
	{"CN", "commonName", asn1.ObjectIdentifier{2, 5, 4, 3}, 0, 1, 64},
	{"SN", "surname", asn1.ObjectIdentifier{2, 5, 4, 4}, 0, 1, 32768},
	{"GN", "givenName", asn1.ObjectIdentifier{2, 5, 4, 42}, 0, 1, 32768},
	{"initials", "initials", asn1.ObjectIdentifier{2, 5, 4, 43}, 0, 1, 32768},
	{"serialNumber", "serialNumber", asn1.ObjectIdentifier{2, 5, 4, 5}, asn1.TagPrintableString, 1, 64},
	{"title", "title", asn1.ObjectIdentifier{2, 5, 4, 12}, 0, 1, 64},
	{"description", "description", asn1.ObjectIdentifier{2, 5, 4, 13}, 0, 1, 1024},
	{"name", "name", asn1.ObjectIdentifier{2, 5, 4, 41}, 0, 1, 32768},
	{"dnQualifier", "dnQualifier", asn1.ObjectIdentifier{2, 5, 4, 46}, asn1.TagPrintableString, 0, 0},
	{"pseudonym", "pseudonym", asn1.ObjectIdentifier{2, 5, 4, 65}, 0, 0, 0},
	{"businessCategory", "businessCategory", asn1.ObjectIdentifier{2, 5, 4, 15}, 0, 0, 0},
	{"organizationIdentifier", "organizationIdentifier", asn1.ObjectIdentifier{2, 5, 4, 97}, 0, 0, 0},
	{"emailAddress", "emailAddress", oidEmail, asn1.TagIA5String, 1, 128},
	{"unstructuredName", "unstructuredName", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 2}, 0, 1, 0},
	{"challengePassword", "challengePassword", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 7}, 0, 1, 0},
	{"DC", "domainComponent", asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 25}, asn1.TagIA5String, 1, 0},
	{"UID", "userId", asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, 0, 1, 256},
}

var (
	oidEmail            = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}
	oidExtensionRequest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 14}
	oidCPS              = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 2, 1}
)

// attributeNamed returns the attribute of a name, short or long.
func attributeNamed(name string) (attribute, bool) {
	for _, a := range attributes {
		if name == a.short || name == a.long {
			return a, true
		}
	}
	return attribute{}, false
}

// attributeOf returns the attribute of an OID. One that is not known has the OID for its name.
func attributeOf(oid asn1.ObjectIdentifier) attribute {
	for _, a := range attributes {
		if a.oid.Equal(oid) {
			return a
		}
	}
	return attribute{short: oid.String(), long: oid.String(), oid: oid}
}

// parseOID parses a dotted OID. The error is that of a text that is none.
func parseOID(text string) (asn1.ObjectIdentifier, error) {
	var oid asn1.ObjectIdentifier
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil, errors.New("invalid object identifier: " + text)
		}
		oid = append(oid, int(n))
	}
	if _, err := asn1.Marshal(oid); err != nil {
		return nil, errors.New("invalid object identifier: " + text)
	}
	return oid, nil
}

var curveOIDs = map[string]asn1.ObjectIdentifier{
	"P-224": {1, 3, 132, 0, 33}, "P-256": {1, 2, 840, 10045, 3, 1, 7}, "P-384": {1, 3, 132, 0, 34}, "P-521": {1, 3, 132, 0, 35},
}

// keyAlgorithms are the names of those of public keys, by OID.
var keyAlgorithms = map[string]string{
	"1.2.840.113549.1.1.1": "rsaEncryption", "1.2.840.113549.1.1.10": "rsassaPss", "1.2.840.10045.2.1": "id-ecPublicKey",
	"1.3.101.112": "ED25519", "1.3.101.113": "ED448", "1.3.101.110": "X25519", "1.2.840.10040.4.1": "dsaEncryption",
}

// signature is an algorithm of signatures.
type signature struct {
	name string
	oid  asn1.ObjectIdentifier
	key  string // rsa, ec or ed25519; "" for what is not used for signing here
	hash crypto.Hash
}

var signatures = []signature{
	{"sha256WithRSAEncryption", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}, "rsa", crypto.SHA256},
	{"sha384WithRSAEncryption", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}, "rsa", crypto.SHA384},
	{"sha512WithRSAEncryption", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}, "rsa", crypto.SHA512},
	{"sha224WithRSAEncryption", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 14}, "rsa", crypto.SHA224},
	{"sha1WithRSAEncryption", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 5}, "rsa", crypto.SHA1},
	{"md5WithRSAEncryption", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 4}, "", 0},
	{"rsassaPss", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}, "", 0},
	{"ecdsa-with-SHA256", asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}, "ec", crypto.SHA256},
	{"ecdsa-with-SHA384", asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}, "ec", crypto.SHA384},
	{"ecdsa-with-SHA512", asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}, "ec", crypto.SHA512},
	{"ecdsa-with-SHA224", asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 1}, "ec", crypto.SHA224},
	{"ecdsa-with-SHA1", asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 1}, "ec", crypto.SHA1},
	{"ED25519", asn1.ObjectIdentifier{1, 3, 101, 112}, "ed25519", 0},
	{"ED448", asn1.ObjectIdentifier{1, 3, 101, 113}, "", 0},
}

// signatureName returns the name of an algorithm, or its OID.
func signatureName(oid asn1.ObjectIdentifier) string {
	for _, s := range signatures {
		if s.oid.Equal(oid) {
			return s.name
		}
	}
	return oid.String()
}

// object is something that has an OID and names: a short one to be written, a long one to be read.
type object struct {
	short, long string
	oid         asn1.ObjectIdentifier
}

// named returns the OID of the object that text names, or that text is. The error is that of parseOID.
func named(all []object, text string) (asn1.ObjectIdentifier, error) {
	for _, o := range all {
		if text == o.short || text == o.long {
			return o.oid, nil
		}
	}
	return parseOID(text)
}

// nameOf returns the long name of an object, or its OID.
func nameOf(all []object, oid asn1.ObjectIdentifier) string {
	for _, o := range all {
		if o.oid.Equal(oid) {
			return o.long
		}
	}
	return oid.String()
}

// usages are the values of extendedKeyUsage.
var usages = []object{
	{"serverAuth", "TLS Web Server Authentication", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 1}},
	{"clientAuth", "TLS Web Client Authentication", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 2}},
	{"codeSigning", "Code Signing", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 3}},
	{"emailProtection", "E-mail Protection", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 4}},
	{"timeStamping", "Time Stamping", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 8}},
	{"OCSPSigning", "OCSP Signing", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 9}},
	{"anyExtendedKeyUsage", "Any Extended Key Usage", asn1.ObjectIdentifier{2, 5, 29, 37, 0}},
	{"ipsecEndSystem", "IPSec End System", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 5}},
	{"ipsecTunnel", "IPSec Tunnel", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 6}},
	{"ipsecUser", "IPSec User", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 7}},
	{"msSmartcardLogin", "Microsoft Smartcard Login", asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 20, 2, 2}},
}

// methods are those of authorityInfoAccess.
var methods = []object{
	{"OCSP", "OCSP", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1}},
	{"caIssuers", "CA Issuers", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 2}},
}

// policies are those of certificatePolicies that have a name.
var policies = []object{{"anyPolicy", "X509v3 Any Policy", asn1.ObjectIdentifier{2, 5, 29, 32, 0}}}

// keyUsages are the bits of keyUsage in their order.
var keyUsages = []struct{ short, long string }{
	{"digitalSignature", "Digital Signature"}, {"nonRepudiation", "Non Repudiation"}, {"keyEncipherment", "Key Encipherment"},
	{"dataEncipherment", "Data Encipherment"}, {"keyAgreement", "Key Agreement"}, {"keyCertSign", "Certificate Sign"},
	{"cRLSign", "CRL Sign"}, {"encipherOnly", "Encipher Only"}, {"decipherOnly", "Decipher Only"},
}
