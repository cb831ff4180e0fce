package openssl

import (
	"bufio"
	"bytes"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// defaultConfig is what of OpenSSL's own openssl.cnf is about requests.
const defaultConfig = `[req]
default_bits = 2048
default_keyfile = privkey.pem
distinguished_name = req_distinguished_name
attributes = req_attributes
x509_extensions = v3_ca
[req_distinguished_name]
countryName = Country Name (2 letter code)
countryName_default = AU
countryName_min = 2
countryName_max = 2
stateOrProvinceName = State or Province Name (full name)
stateOrProvinceName_default = Some-State
localityName = Locality Name (eg, city)
0.organizationName = Organization Name (eg, company)
0.organizationName_default = Internet Widgits Pty Ltd
organizationalUnitName = Organizational Unit Name (eg, section)
commonName = Common Name (e.g. server FQDN or YOUR name)
commonName_max = 64
emailAddress = Email Address
emailAddress_max = 64
[req_attributes]
challengePassword = A challenge password
challengePassword_min = 4
challengePassword_max = 20
unstructuredName = An optional company name
[v3_req]
basicConstraints = CA:FALSE
keyUsage = nonRepudiation, digitalSignature, keyEncipherment
[v3_ca]
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid:always,issuer
basicConstraints = critical,CA:true
[usr_cert]
basicConstraints = CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid,issuer
`

// introduction is what is said before the first question.
const introduction = `You are about to be asked to enter information that will be incorporated
into your certificate request.
What you are about to enter is what is called a Distinguished Name or a DN.
There are quite a few fields but you can leave some blank
For some fields there will be a default value,
If you enter '.', the field will be left blank.
-----
`

// errNoRequest is the end of what could not be asked.
var errNoRequest = errors.New("Error making certificate request")

// subject returns the subject of a request, and the attributes that it has besides extensions: from -subj, from the configuration
// where that says prompt = no, or as they are answered.
func (r *run) subject(c config) (name, []asn1.RawValue, error) {
	if r.has("subj") {
		n, err := parseSubject(r.value("subj"), r.warn)
		return n, nil, err
	}
	section, _ := c.get("req", "distinguished_name")
	if section == "" {
		return nil, nil, fmt.Errorf("Error: No objects specified in config file\n%w", errNoRequest)
	}
	if c[section] == nil {
		return nil, nil, saidf("Unable to get '%s' section\n%w", section, errNoRequest)
	}
	more, _ := c.get("req", "attributes")
	if r.has("x509") {
		more = ""
	}
	var n, others name
	var err error
	if prompt, _ := c.get("req", "prompt"); prompt == "no" {
		n, others, err = r.unasked(c, section, more)
	} else {
		n, others, err = r.asked(c, section, more)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w\n%w", err, errNoRequest)
	}
	if len(n) == 0 {
		return nil, nil, fmt.Errorf("Error: No objects specified in config file\n%w", errNoRequest)
	}
	var attributes []asn1.RawValue
	for _, e := range others {
		value, err := e.attribute.encode(e.value)
		if err != nil {
			return nil, nil, err
		}
		a, err := attributeValue(e.oid, value)
		if err != nil {
			return nil, nil, err
		}
		attributes = append(attributes, a)
	}
	slices.SortFunc(attributes, func(a, b asn1.RawValue) int { return bytes.Compare(a.FullBytes, b.FullBytes) }) // DER's order of a SET
	return n, attributes, nil
}

// unasked returns the name, and the attributes of the section more if there is one, as the configuration has them.
func (r *run) unasked(c config, section, more string) (n, others name, err error) {
	if n, err = c.name(section); err != nil || more == "" {
		return n, nil, err
	}
	others, err = c.name(more)
	return n, others, err
}

// asked asks for the name, and for the attributes of the section more if there is one. The error is errNoAnswer.
func (r *run) asked(c config, section, more string) (n, others name, err error) {
	in := bufio.NewReader(r.Stdin)
	r.say(introduction)
	if n, err = r.askSection(c, section, in); err != nil || more == "" || len(n) == 0 {
		return n, nil, err
	}
	r.say("\nPlease enter the following 'extra' attributes\nto be sent with your certificate request\n")
	others, err = r.askSection(c, more, in)
	return n, others, err
}

// say prints text for who answers. With -batch nobody does.
func (r *run) say(text string) {
	if !r.has("batch") {
		fmt.Fprint(r.Stderr, text)
	}
}

// errNoAnswer is the error of questions when the input has ended.
var errNoAnswer = errors.New("\nthe input has ended: -subj /CN=NAME says the name without questions")

// askSection asks for each attribute of a section.
func (r *run) askSection(c config, section string, in *bufio.Reader) (name, error) {
	var n name
	for _, s := range c[section] {
		kind := fieldOf(s.name)
		kind, joins := strings.CutPrefix(kind, "+")
		a, is := attributeNamed(kind)
		if !is {
			continue // NAME_default and the like, and what OpenSSL does not know either
		}
		value, err := r.question(c, section, s, in)
		if err != nil {
			return nil, err
		}
		if value != "" {
			n = append(n, entry{attribute: a, value: value, joins: joins})
		}
	}
	return n, nil
}

// question asks for one attribute until the answer is as long as the configuration wants it. It returns "" for an attribute that is
// left out.
func (r *run) question(c config, section string, s setting, in *bufio.Reader) (string, error) {
	otherwise, _ := c.get(section, s.name+"_default")
	least, most := c.limit(section, s.name+"_min"), c.limit(section, s.name+"_max")
	if r.has("batch") {
		return otherwise, nil
	}
	for {
		r.say(fmt.Sprintf("%s [%s]:", s.value, otherwise))
		line, err := coreutils.ReadLine(in, '\n')
		if err != nil && line == "" || r.Err() != nil {
			return "", errNoAnswer
		}
		switch value := strings.TrimRight(line, "\r\n"); {
		case value == "":
			return otherwise, nil
		case value == ".":
			return "", nil
		case least > 0 && len(value) < least:
			r.say(fmt.Sprintf("String too short, must be at least %d bytes long\n", least))
		case most > 0 && len(value) > most:
			r.say(fmt.Sprintf("String too long, must be at most %d bytes long\n", most))
		default:
			return value, nil
		}
	}
}

// limit returns the number that a setting is, 0 if it is none.
func (c config) limit(section, name string) int {
	text, _ := c.get(section, name)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
