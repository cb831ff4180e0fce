package openssl

import (
	"encoding/asn1"
	"errors"
	"fmt"
	"strings"
)

// extensions are those that are known by name.
var extensions = []extension{
	{"basicConstraints", "X509v3 Basic Constraints", asn1.ObjectIdentifier{2, 5, 29, 19}, buildBasicConstraints, basicConstraintsText},
	{"keyUsage", "X509v3 Key Usage", asn1.ObjectIdentifier{2, 5, 29, 15}, buildKeyUsage, keyUsageText},
	{"extendedKeyUsage", "X509v3 Extended Key Usage", asn1.ObjectIdentifier{2, 5, 29, 37}, buildExtendedKeyUsage, extendedKeyUsageText},
	{"subjectAltName", "X509v3 Subject Alternative Name", oidAltNames, buildAltNames, altNamesText},
	{"issuerAltName", "X509v3 Issuer Alternative Name", asn1.ObjectIdentifier{2, 5, 29, 18}, buildAltNames, altNamesText},
	{"subjectKeyIdentifier", "X509v3 Subject Key Identifier", oidSubjectKeyID, buildSubjectKeyID, subjectKeyIDText},
	{"authorityKeyIdentifier", "X509v3 Authority Key Identifier", oidAuthorityKeyID, buildAuthorityKeyID, authorityKeyIDText},
	{"nameConstraints", "X509v3 Name Constraints", asn1.ObjectIdentifier{2, 5, 29, 30}, buildNameConstraints, nameConstraintsText},
	{"certificatePolicies", "X509v3 Certificate Policies", asn1.ObjectIdentifier{2, 5, 29, 32}, buildPolicies, policiesText},
	{"crlDistributionPoints", "X509v3 CRL Distribution Points", asn1.ObjectIdentifier{2, 5, 29, 31}, buildDistributionPoints, distributionPointsText},
	{"authorityInfoAccess", "Authority Information Access", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 1}, buildInfoAccess, infoAccessText},
	{"nsComment", "Netscape Comment", asn1.ObjectIdentifier{2, 16, 840, 1, 113730, 1, 13}, buildComment, commentText},
}

var (
	oidAltNames       = asn1.ObjectIdentifier{2, 5, 29, 17}
	oidSubjectKeyID   = asn1.ObjectIdentifier{2, 5, 29, 14}
	oidAuthorityKeyID = asn1.ObjectIdentifier{2, 5, 29, 35}
)

type nameConstraints struct {
	Permitted []subtree `asn1:"optional,tag:0,omitempty"`
	Excluded  []subtree `asn1:"optional,tag:1,omitempty"`
}

type subtree struct{ Name asn1.RawValue }

func buildNameConstraints(c *origin, text string) ([]byte, error) {
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	var made nameConstraints
	for _, s := range all {
		side, kind, _ := strings.Cut(s.name, ";")
		n, err := c.generalName(setting{kind, s.value}, true)
		if err != nil {
			return nil, err
		}
		switch side {
		case "permitted":
			made.Permitted = append(made.Permitted, subtree{n})
		case "excluded":
			made.Excluded = append(made.Excluded, subtree{n})
		default:
			return nil, fmt.Errorf("invalid syntax: %s", s.name)
		}
	}
	return asn1.Marshal(made)
}

func nameConstraintsText(der []byte) (string, error) {
	var v nameConstraints
	if err := decode(der, &v); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, side := range []struct {
		head string
		all  []subtree
	}{{"Permitted", v.Permitted}, {"Excluded", v.Excluded}} {
		if len(side.all) > 0 {
			b.WriteString(side.head + ":\n")
		}
		for _, s := range side.all {
			text := generalText(s.Name)
			if ip := s.Name.Bytes; s.Name.Tag == tagIP && len(ip)%2 == 0 {
				text = "IP:" + addressText(ip[:len(ip)/2]) + "/" + addressText(ip[len(ip)/2:])
			}
			b.WriteString("  " + text + "\n")
		}
	}
	return b.String(), nil
}

type policy struct {
	OID        asn1.ObjectIdentifier
	Qualifiers []qualifier `asn1:"optional,omitempty"`
}

type qualifier struct {
	OID   asn1.ObjectIdentifier
	Value asn1.RawValue
}

func buildPolicies(_ *origin, text string) ([]byte, error) {
	var made []policy
	for part := range strings.SplitSeq(text, ",") {
		oid, err := named(policies, strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		made = append(made, policy{OID: oid})
	}
	return asn1.Marshal(made)
}

func policiesText(der []byte) (string, error) {
	var all []policy
	if err := decode(der, &all); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range all {
		b.WriteString("Policy: " + nameOf(policies, p.OID) + "\n")
		for _, q := range p.Qualifiers {
			if q.OID.Equal(oidCPS) {
				b.WriteString("  CPS: " + plain(q.Value.Bytes) + "\n")
			} else {
				b.WriteString("  Unknown Qualifier: " + q.OID.String() + "\n")
			}
		}
	}
	return b.String(), nil
}

type distributionPoint struct {
	Point pointName `asn1:"optional,tag:0"`
}

type pointName struct {
	FullName []asn1.RawValue `asn1:"optional,tag:0"`
}

func buildDistributionPoints(c *origin, text string) ([]byte, error) {
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	var made []distributionPoint
	for _, s := range all {
		if s.value == "" {
			return nil, errors.New("sections of a distribution point are not there: URI:ADDRESS is")
		}
		n, err := c.generalName(s, false)
		if err != nil {
			return nil, err
		}
		made = append(made, distributionPoint{pointName{[]asn1.RawValue{n}}})
	}
	return asn1.Marshal(made)
}

func distributionPointsText(der []byte) (string, error) {
	var all []distributionPoint
	if err := decode(der, &all); err != nil {
		return "", err
	}
	var parts []string
	for _, p := range all {
		lines := []string{"Full Name:"}
		for _, n := range p.Point.FullName {
			lines = append(lines, "  "+generalText(n))
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, "\n"), nil
}

type access struct {
	Method   asn1.ObjectIdentifier
	Location asn1.RawValue
}

func buildInfoAccess(c *origin, text string) ([]byte, error) {
	all, err := c.list(text)
	if err != nil {
		return nil, err
	}
	var made []access
	for _, s := range all {
		method, kind, _ := strings.Cut(s.name, ";")
		oid, err := named(methods, method)
		if err != nil {
			return nil, err
		}
		n, err := c.generalName(setting{kind, s.value}, false)
		if err != nil {
			return nil, err
		}
		made = append(made, access{oid, n})
	}
	return asn1.Marshal(made)
}

func infoAccessText(der []byte) (string, error) {
	var all []access
	if err := decode(der, &all); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, a := range all {
		b.WriteString(nameOf(methods, a.Method) + " - " + generalText(a.Location) + "\n")
	}
	return b.String(), nil
}
