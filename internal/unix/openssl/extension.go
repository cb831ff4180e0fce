package openssl

import (
	"crypto/sha1"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// extension is one that certificates and requests may have.
type extension struct {
	short, long string
	oid         asn1.ObjectIdentifier
	// build returns the value in DER of a text such as -addext has. The errors are OpenSSL's, and errNothing.
	build func(c *origin, text string) ([]byte, error)
	// text shows a value in lines. The error is that of what is none.
	text func(der []byte) (string, error)
}

// origin is what extensions are made from.
type origin struct {
	config  config
	subject name
	key     []byte   // the bits of the subject's public key
	issuer  *issuer  // nil for a request
	isSelf  bool     // the issuer is the subject
	without []string // extensions that are to be left out
}

// issuer is who signs a certificate.
type issuer struct {
	name   asn1.RawValue
	serial *big.Int
	keyID  []byte // nil if its certificate has none
}

// errNothing leaves an extension out.
var errNothing = errors.New("none")

// add adds the extension that a setting says, in the place of one of the same kind if there is one. The errors are OpenSSL's.
func (c *origin) add(all []pkix.Extension, s setting) ([]pkix.Extension, error) {
	made, err := c.extension(s.name, s.value)
	if errors.Is(err, errNothing) {
		c.without = append(c.without, s.name)
		return slices.DeleteFunc(all, func(e pkix.Extension) bool { return e.Id.Equal(made.Id) }), nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w\nerror in extension: name=%s, value=%s", err, s.name, s.value)
	}
	if c.isSelf && made.Id.Equal(oidSubjectKeyID) {
		_ = decode(made.Value, &c.issuer.keyID) // it has just been made
	}
	return put(all, made), nil
}

func (c *origin) extension(name, value string) (made pkix.Extension, err error) {
	text := strings.TrimSpace(value)
	if rest, is := strings.CutPrefix(text, "critical,"); is {
		made.Critical, text = true, strings.TrimSpace(rest)
	}
	known := slices.IndexFunc(extensions, func(e extension) bool { return e.short == name || e.oid.String() == name })
	digits, isDER := strings.CutPrefix(text, "DER:")
	switch {
	case known >= 0:
		made.Id = extensions[known].oid
	case isDER:
		if made.Id, err = parseOID(name); err != nil {
			return made, err
		}
	default:
		return made, errors.New("unknown extension name")
	}
	switch {
	case isDER:
		made.Value, err = hex.DecodeString(strings.ReplaceAll(digits, ":", ""))
	case strings.HasPrefix(text, "ASN1:"):
		err = errors.New("ASN1: is not there: DER: takes the bytes")
	default:
		made.Value, err = extensions[known].build(c, text)
	}
	return made, err
}

// section returns the extensions of a section. The errors are those of add, and one for a section that there is not.
func (c *origin) section(name string) ([]pkix.Extension, error) {
	if c.config[name] == nil {
		return nil, errors.New("there is no such section")
	}
	var all []pkix.Extension
	for _, s := range c.config[name] {
		var err error
		if all, err = c.add(all, s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// put adds an extension, in the place of one of the same kind if there is one.
func put(all []pkix.Extension, e pkix.Extension) []pkix.Extension {
	return append(slices.DeleteFunc(all, func(one pkix.Extension) bool { return one.Id.Equal(e.Id) }), e)
}

// list takes a text such as CA:TRUE,pathlen:0 apart, or returns the section that @NAME names. The error is that of a section that
// there is not.
func (c *origin) list(text string) ([]setting, error) {
	if section, is := strings.CutPrefix(text, "@"); is {
		if c.config[section] == nil {
			return nil, fmt.Errorf("invalid extension string: section=%s", text)
		}
		return c.config[section], nil
	}
	var all []setting
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, ":")
		if name = strings.TrimSpace(name); name == "" {
			return nil, errors.New("invalid null name")
		}
		all = append(all, setting{name, strings.TrimSpace(value)})
	}
	return all, nil
}

type basicConstraints struct {
	CA      bool `asn1:"optional"`
	PathLen int  `asn1:"optional,default:-1"`
}

func buildBasicConstraints(c *origin, text string) ([]byte, error) {
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	made := basicConstraints{PathLen: -1}
	for _, s := range all {
		switch s.name {
		case "CA":
			if made.CA, err = truth(s.value); err != nil {
				return nil, err
			}
		case "pathlen":
			if made.PathLen, err = strconv.Atoi(s.value); err != nil || made.PathLen < 0 {
				return nil, fmt.Errorf("invalid number: pathlen:%s", s.value)
			}
		default:
			return nil, fmt.Errorf("invalid name: %s", s.name)
		}
	}
	return asn1.Marshal(made)
}

// truth is what OpenSSL takes for a boolean.
func truth(text string) (bool, error) {
	switch text {
	case "TRUE", "true", "Y", "y", "YES", "yes":
		return true, nil
	case "FALSE", "false", "N", "n", "NO", "no":
		return false, nil
	}
	return false, fmt.Errorf("invalid boolean string: %s", text)
}

func buildKeyUsage(c *origin, text string) ([]byte, error) {
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	var bits asn1.BitString
	for _, s := range all {
		at := slices.IndexFunc(keyUsages, func(u struct{ short, long string }) bool { return u.short == s.name || u.long == s.name })
		if at < 0 {
			return nil, fmt.Errorf("unknown bit string argument: %s", s.name)
		}
		for len(bits.Bytes) <= at/8 {
			bits.Bytes = append(bits.Bytes, 0)
		}
		bits.Bytes[at/8] |= 0x80 >> (at % 8)
		bits.BitLength = max(bits.BitLength, at+1)
	}
	return asn1.Marshal(bits)
}

func buildExtendedKeyUsage(c *origin, text string) ([]byte, error) {
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	var made []asn1.ObjectIdentifier
	for _, s := range all {
		name := s.name
		if s.value != "" {
			name = s.value // of a section
		}
		oid, err := named(usages, name)
		if err != nil {
			return nil, err
		}
		made = append(made, oid)
	}
	return asn1.Marshal(made)
}

func buildSubjectKeyID(c *origin, text string) ([]byte, error) {
	switch text {
	case "none":
		return nil, errNothing
	case "hash":
		return asn1.Marshal(keyID(c.key))
	}
	id, err := hex.DecodeString(strings.ReplaceAll(text, ":", ""))
	if err != nil {
		return nil, fmt.Errorf("illegal hex digit: %s", text)
	}
	return asn1.Marshal(id)
}

// keyID is the identifier of a public key, of whose bits it is the digest.
func keyID(bits []byte) []byte {
	sum := sha1.Sum(bits)
	return sum[:]
}

type authorityKeyID struct {
	KeyID  []byte          `asn1:"optional,tag:0"`
	Names  []asn1.RawValue `asn1:"optional,tag:1,omitempty"`
	Serial *big.Int        `asn1:"optional,tag:2"`
}

func buildAuthorityKeyID(c *origin, text string) ([]byte, error) {
	if text == "none" {
		return nil, errNothing
	}
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	if c.issuer == nil {
		return nil, errors.New("no issuer certificate")
	}
	var made authorityKeyID
	var named, always bool
	for _, s := range all {
		switch s.name {
		case "keyid":
			if made.KeyID = c.issuer.keyID; made.KeyID == nil && s.value == "always" {
				return nil, errors.New("unable to get issuer keyid")
			}
		case "issuer":
			named, always = true, s.value == "always"
		default:
			return nil, fmt.Errorf("unknown option: %s", s.name)
		}
	}
	if named && (always || made.KeyID == nil) {
		made.Names = []asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: tagDirectory, IsCompound: true, Bytes: c.issuer.name.FullBytes}}
		made.Serial = c.issuer.serial
	}
	return asn1.Marshal(made)
}

func buildComment(_ *origin, text string) ([]byte, error) {
	return asn1.MarshalWithParams(text, "ia5")
}
