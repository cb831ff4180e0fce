package openssl

import (
	"bytes"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// entry is an attribute of a name with its value.
type entry struct {
	attribute
	value string
	joins bool          // it belongs to the one before, as in /O=a+OU=b
	raw   asn1.RawValue // as it was read
}

// name is a distinguished name.
type name []entry

// valueSET is a part of a name in ASN.1. encoding/asn1 knows a SET by the name of its type.
type valueSET []struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

// encode returns the name in DER. The error is that of a value that its attribute cannot have.
func (n name) encode() (asn1.RawValue, error) {
	var parts [][][]byte
	for _, e := range n {
		value, err := e.encode()
		if err != nil {
			return asn1.RawValue{}, err
		}
		if e.joins && len(parts) > 0 {
			parts[len(parts)-1] = append(parts[len(parts)-1], value)
		} else {
			parts = append(parts, [][]byte{value})
		}
	}
	sequence := asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true}
	for _, values := range parts {
		slices.SortFunc(values, bytes.Compare) // DER's order of a SET
		set, err := asn1.Marshal(asn1.RawValue{Tag: asn1.TagSet, IsCompound: true, Bytes: bytes.Join(values, nil)})
		if err != nil {
			return asn1.RawValue{}, err
		}
		sequence.Bytes = append(sequence.Bytes, set...)
	}
	der, err := asn1.Marshal(sequence)
	sequence.FullBytes = der
	return sequence, err
}

// encode returns the attribute with its value in DER. The error is that of a value that it cannot have.
func (e entry) encode() ([]byte, error) {
	value, err := e.attribute.encode(e.value)
	if err != nil {
		return nil, fmt.Errorf("%w\nreq: Error adding subject name attribute \"/%s=%s\"", err, e.short, e.value)
	}
	return asn1.Marshal(struct {
		Type  asn1.ObjectIdentifier
		Value asn1.RawValue
	}{e.oid, value})
}

// encode returns a value of the attribute. Errors: it has too few or too many characters, or such as its strings do not have.
func (a attribute) encode(value string) (asn1.RawValue, error) {
	tag := a.tag
	if tag == 0 {
		tag = asn1.TagUTF8String
	}
	if err := a.fits(value); err != nil {
		return asn1.RawValue{}, err
	}
	plain := func(c rune) bool { return c < 0x80 }
	if tag == asn1.TagPrintableString {
		plain = func(c rune) bool {
			return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.ContainsRune(" '()+,-./:=?", c)
		}
	}
	if tag != asn1.TagUTF8String && strings.ContainsFunc(value, func(c rune) bool { return !plain(c) }) || !utf8.ValidString(value) {
		return asn1.RawValue{}, errors.New("illegal characters")
	}
	return asn1.RawValue{Tag: tag, Bytes: []byte(value)}, nil
}

// fits returns an error unless the value has as many characters as the attribute's may have.
func (a attribute) fits(value string) error {
	switch n := utf8.RuneCountInString(value); {
	case a.most > 0 && n > a.most:
		return fmt.Errorf("string too long: maxsize=%d", a.most)
	case n < a.least:
		return fmt.Errorf("string too short: minsize=%d", a.least)
	}
	return nil
}

// decodeName reads a name in DER. The error is that of what is none.
func decodeName(der []byte) (name, error) {
	var sets []valueSET
	if rest, err := asn1.Unmarshal(der, &sets); err != nil || len(rest) > 0 {
		return nil, errors.Join(errors.New("not a distinguished name"), err)
	}
	var n name
	for _, set := range sets {
		for i, one := range set {
			n = append(n, entry{attribute: attributeOf(one.Type), value: decodeString(one.Value), joins: i > 0, raw: one.Value})
		}
	}
	return n, nil
}

// decodeString returns a string of ASN.1 in UTF-8.
func decodeString(v asn1.RawValue) string {
	var runes []rune
	switch b := v.Bytes; v.Tag {
	case asn1.TagT61String: // in practice Latin-1
		for _, c := range b {
			runes = append(runes, rune(c))
		}
		return string(runes)
	case asn1.TagBMPString:
		for ; len(b) >= 2; b = b[2:] {
			runes = append(runes, rune(b[0])<<8|rune(b[1]))
		}
		return string(runes)
	}
	return strings.ToValidUTF8(string(v.Bytes), "\uFFFD")
}

// parseSubject reads what -subj has: /type=value/..., where \ takes the meaning from a character and + joins an attribute to the
// one before. warn is told of attributes that are left out. The errors are OpenSSL's.
func parseSubject(text string, warn func(format string, args ...any)) (name, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("req: subject name is expected to be in the format /type0=value0/type1=value1/type2=... "+
			"where characters may be escaped by \\. This name is not in that format: '%s'", text)
	}
	var n name
	joins := false
	for rest := text[1:]; rest != ""; {
		kind, after, end := upTo(rest, "=")
		if end == 0 {
			return nil, fmt.Errorf("req: Missing '=' after RDN type string '%s' in subject name string", kind)
		}
		var value string
		joined := joins
		value, rest, end = upTo(after, "/+")
		joins = end == '+'
		a, is := attributeNamed(strings.TrimSpace(kind))
		switch {
		case !is:
			warn("Skipping unknown subject name attribute %q", kind)
		case value == "":
			warn("No value provided for subject name attribute %q, skipped", kind)
		default:
			n = append(n, entry{attribute: a, value: value, joins: joined})
		}
	}
	return n, nil
}

// upTo returns the text before the first character of ends that has no \ before it, what follows that, and the
// character, 0 for none.
func upTo(text, ends string) (before, after string, end byte) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case strings.IndexByte(ends, c) >= 0:
			return b.String(), text[i+1:], c
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", 0
}
