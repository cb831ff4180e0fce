package openssl

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"strings"
)

// requested returns the extensions of a section, which the option or else the setting of the configuration names, and those of
// -addext, each in the place of one of the same kind. The errors are OpenSSL's.
func (r *run) requested(from *origin, option, fallback string) ([]pkix.Extension, error) {
	section := r.value(option, "extensions") // which is for requests, too, since OpenSSL 3.2
	if section == "" {
		section, _ = from.config.get("req", fallback)
	}
	var all []pkix.Extension
	if section != "" {
		var err error
		if all, err = from.section(section); err != nil {
			kind := map[string]string{"reqexts": "request", "extensions": "x509"}[option]
			return nil, fmt.Errorf("Error checking %s extension section %s\n%w", kind, section, err)
		}
	}
	seen := map[string]bool{}
	for _, text := range r.all("addext") {
		name, value, found := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if !found {
			return nil, fmt.Errorf("-addext wants name=value, not %s", text)
		}
		if seen[name] {
			return nil, saidf("Duplicate extension: %s\nreq: Use -help for summary.", text)
		}
		seen[name] = true
		var err error
		if all, err = from.add(all, setting{name, value}); err != nil {
			return nil, fmt.Errorf("Error checking extensions defined using -addext\n%w", err)
		}
	}
	return all, nil
}

// requestAttributes returns the attribute with which a request asks for extensions, if there are any.
func requestAttributes(all []pkix.Extension) ([]asn1.RawValue, error) {
	if len(all) == 0 {
		return nil, nil
	}
	der, err := asn1.Marshal(all)
	if err != nil {
		return nil, err
	}
	a, err := attributeValue(oidExtensionRequest, asn1.RawValue{FullBytes: der})
	return []asn1.RawValue{a}, err
}

func attributeValue(oid asn1.ObjectIdentifier, value asn1.RawValue) (asn1.RawValue, error) {
	der, err := asn1.Marshal(requestAttribute{oid, []asn1.RawValue{value}})
	return asn1.RawValue{FullBytes: der}, err
}
