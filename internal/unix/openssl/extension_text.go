package openssl

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"strings"
)

// errValue is that of an extension whose value is not its kind's.
var errValue = errors.New("not the extension's value")

// decode reads DER that has nothing behind it.
func decode(der []byte, into any) error {
	if rest, err := asn1.Unmarshal(der, into); err != nil || len(rest) > 0 {
		return errValue
	}
	return nil
}

// extensionsText shows extensions as -text does, each line behind so many blanks.
func extensionsText(all []pkix.Extension, blanks int) string {
	var b strings.Builder
	for _, e := range all {
		b.WriteString(indent(extensionText(e), blanks))
	}
	return b.String()
}

// extensionText shows an extension: a line with its name, and its value behind 4 blanks.
func extensionText(e pkix.Extension) string {
	head, text := e.Id.String(), ""
	err := errValue
	for _, known := range extensions {
		if known.oid.Equal(e.Id) {
			head = known.long
			text, err = known.text(e.Value)
		}
	}
	if err != nil {
		text = strings.Map(func(c rune) rune {
			if c > '~' || c < ' ' && c != '\n' && c != '\r' {
				return '.'
			}
			return c
		}, latin1(e.Value))
	}
	critical := ""
	if e.Critical {
		critical = "critical"
	}
	return fmt.Sprintf("%s: %s\n", head, critical) + indent(strings.TrimSuffix(text, "\n")+"\n", 4)
}

// latin1 returns bytes as characters, one each.
func latin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

func basicConstraintsText(der []byte) (string, error) {
	v := basicConstraints{PathLen: -1}
	if err := decode(der, &v); err != nil {
		return "", err
	}
	text := "CA:" + strings.ToUpper(fmt.Sprint(v.CA))
	if v.PathLen >= 0 {
		text += fmt.Sprintf(", pathlen:%d", v.PathLen)
	}
	return text, nil
}

func keyUsageText(der []byte) (string, error) {
	var bits asn1.BitString
	if err := decode(der, &bits); err != nil {
		return "", err
	}
	var all []string
	for i, u := range keyUsages {
		if bits.At(i) == 1 {
			all = append(all, u.long)
		}
	}
	return strings.Join(all, ", "), nil
}

func extendedKeyUsageText(der []byte) (string, error) {
	var oids []asn1.ObjectIdentifier
	if err := decode(der, &oids); err != nil {
		return "", err
	}
	all := make([]string, len(oids))
	for i, oid := range oids {
		all[i] = nameOf(usages, oid)
	}
	return strings.Join(all, ", "), nil
}

func altNamesText(der []byte) (string, error) {
	var names []asn1.RawValue
	if err := decode(der, &names); err != nil {
		return "", err
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = generalText(n)
	}
	return strings.Join(all, ", "), nil
}

func subjectKeyIDText(der []byte) (string, error) {
	var id []byte
	if err := decode(der, &id); err != nil {
		return "", err
	}
	return colons(id), nil
}

// colons shows bytes in one line, with colons between them.
func colons(b []byte) string { return strings.ReplaceAll(fmt.Sprintf("% X", b), " ", ":") }

// authorityKeyIDText names the parts of the value if there are others than the identifier.
func authorityKeyIDText(der []byte) (string, error) {
	var v authorityKeyID
	if err := decode(der, &v); err != nil {
		return "", err
	}
	var lines []string
	if v.KeyID != nil {
		id := colons(v.KeyID)
		if v.Names != nil || v.Serial != nil {
			id = "keyid:" + id
		}
		lines = append(lines, id)
	}
	for _, n := range v.Names {
		lines = append(lines, generalText(n))
	}
	if v.Serial != nil {
		lines = append(lines, "serial:"+colons(serialBytes(v.Serial)))
	}
	return strings.Join(lines, "\n"), nil
}

func commentText(der []byte) (string, error) {
	var v asn1.RawValue
	if err := decode(der, &v); err != nil {
		return "", err
	}
	return plain(v.Bytes), nil
}
