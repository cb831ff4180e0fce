package openssl

import (
	"encoding/asn1"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// The tags of general names.
const (
	tagOther     = 0
	tagEmail     = 1
	tagDNS       = 2
	tagDirectory = 4
	tagURI       = 6
	tagIP        = 7
	tagOID       = 8
)

func tagged(tag int, b []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: b}
}

func buildAltNames(c *origin, text string) ([]byte, error) {
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	var names []asn1.RawValue
	for _, s := range all {
		if s.name == "email" && (s.value == "copy" || s.value == "move") {
			for _, e := range c.subject {
				if e.oid.Equal(oidEmail) {
					names = append(names, tagged(tagEmail, []byte(e.value)))
				}
			}
			continue
		}
		n, err := c.generalName(s, false)
		if err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return asn1.Marshal(names)
}

// generalName returns the name that a setting says: DNS:example.com, or DNS.1 = example.com in a section. An IP address of a range
// has its mask behind a slash. The errors are OpenSSL's.
func (c *origin) generalName(s setting, isRange bool) (asn1.RawValue, error) {
	kind, _, _ := strings.Cut(s.name, ".")
	var none asn1.RawValue
	if s.value == "" {
		return none, fmt.Errorf("missing value: name=%s", s.name)
	}
	switch kind {
	case "DNS", "email", "URI":
		if strings.ContainsFunc(s.value, func(c rune) bool { return c >= 0x80 }) {
			return none, fmt.Errorf("illegal characters: value=%s", s.value)
		}
		return tagged(map[string]int{"DNS": tagDNS, "email": tagEmail, "URI": tagURI}[kind], []byte(s.value)), nil
	case "IP":
		b, err := addressBytes(s.value, isRange)
		return tagged(tagIP, b), err
	case "RID":
		oid, err := parseOID(s.value)
		if err != nil {
			return none, err
		}
		der, err := asn1.MarshalWithParams(oid, "tag:8")
		return asn1.RawValue{FullBytes: der}, err
	case "dirName":
		n, err := c.config.name(s.value)
		if err != nil {
			return none, err
		}
		der, err := n.encode()
		made := tagged(tagDirectory, der.FullBytes)
		made.IsCompound = true
		return made, err
	case "otherName":
		return otherName(s.value)
	}
	return none, fmt.Errorf("unsupported option: name=%s", s.name)
}

// addressBytes returns those of an IP address or, for a range, of ADDRESS/MASK.
func addressBytes(text string, isRange bool) ([]byte, error) {
	text, mask, _ := strings.Cut(text, "/")
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return nil, fmt.Errorf("bad ip address: value=%s", text)
	}
	if !isRange {
		if mask != "" {
			return nil, fmt.Errorf("bad ip address: value=%s/%s", text, mask)
		}
		return address.AsSlice(), nil
	}
	bits, err := netip.ParseAddr(mask)
	if err != nil || bits.BitLen() != address.BitLen() {
		return nil, fmt.Errorf("bad ip address: value=%s/%s; a range is ADDRESS/MASK, such as 10.0.0.0/255.0.0.0", text, mask)
	}
	return append(address.AsSlice(), bits.AsSlice()...), nil
}

// otherName returns the name that OID;UTF8:TEXT says.
func otherName(text string) (asn1.RawValue, error) {
	id, value, _ := strings.Cut(text, ";")
	kind, value, _ := strings.Cut(value, ":")
	if kind != "UTF8" && kind != "UTF8String" {
		return asn1.RawValue{}, errors.New("othername error: OID;UTF8:TEXT is what there is")
	}
	oid, err := parseOID(id)
	if err != nil {
		return asn1.RawValue{}, err
	}
	der, err := asn1.MarshalWithParams(struct {
		OID   asn1.ObjectIdentifier
		Value string `asn1:"utf8,explicit,tag:0"`
	}{oid, value}, "tag:0")
	return asn1.RawValue{FullBytes: der}, err
}

// name returns the name whose attributes are a section. The errors are those of a section that there is not, and of attributes
// that are not known.
func (c config) name(section string) (name, error) {
	if c[section] == nil {
		return nil, fmt.Errorf("section not found: section=%s", section)
	}
	var n name
	for _, s := range c[section] {
		kind := fieldOf(s.name)
		kind, joins := strings.CutPrefix(kind, "+")
		a, is := attributeNamed(kind)
		if oid, err := parseOID(kind); !is && err == nil {
			a = attributeOf(oid)
		} else if !is {
			return nil, fmt.Errorf("invalid field name: name=%s", s.name)
		}
		n = append(n, entry{attribute: a, value: s.value, joins: joins})
	}
	return n, nil
}

// fieldOf returns the name of an attribute without what tells several apart: 0.organizationName.
func fieldOf(name string) string {
	if _, err := parseOID(name); err == nil {
		return name // which has points, too
	}
	if _, rest, cut := strings.Cut(name, "."); cut && rest != "" {
		return rest
	}
	return name
}

// generalText shows a general name.
func generalText(n asn1.RawValue) string {
	switch n.Tag {
	case tagEmail:
		return "email:" + plain(n.Bytes)
	case tagDNS:
		return "DNS:" + plain(n.Bytes)
	case tagURI:
		return "URI:" + plain(n.Bytes)
	case tagDirectory:
		if d, err := decodeName(n.Bytes); err == nil {
			return "DirName:" + d.compat()
		}
		return "DirName:<unsupported>"
	case tagIP:
		return "IP Address:" + addressText(n.Bytes)
	case tagOID:
		var oid asn1.ObjectIdentifier
		if _, err := asn1.UnmarshalWithParams(n.FullBytes, &oid, "tag:8"); err == nil {
			return "Registered ID:" + oid.String()
		}
	case tagOther:
		var o struct {
			OID  asn1.ObjectIdentifier
			Held asn1.RawValue // [0], around the value
		}
		var value asn1.RawValue
		if _, err := asn1.UnmarshalWithParams(n.FullBytes, &o, "tag:0"); err == nil && decode(o.Held.Bytes, &value) == nil {
			return "othername: " + o.OID.String() + "::" + plain([]byte(decodeString(value)))
		}
	}
	return "<unsupported>"
}

// addressText shows an IP address.
func addressText(b []byte) string {
	switch len(b) {
	case 4:
		return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
	case 16:
		parts := make([]string, 8)
		for i := range parts {
			parts[i] = fmt.Sprintf("%X", int(b[2*i])<<8|int(b[2*i+1]))
		}
		return strings.Join(parts, ":")
	}
	return "<invalid>"
}

// plain returns text of a certificate, where others may have written anything, without control characters.
func plain(b []byte) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '\uFFFD' {
			return '.'
		}
		return c
	}, string(b))
}
