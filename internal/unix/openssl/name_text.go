package openssl

import (
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// nameStyle is how a name is printed, as -nameopt says.
type nameStyle struct {
	separator, plus string // between attributes, and between those of one part
	equals          string
	reverse         bool // the last part first
	long            bool // names of attributes
	escape          bool // what has a meaning in names
	quote           bool // "a, b" instead of a\, b
	utf8            bool // characters beyond ASCII are themselves
	multiline       bool
	compat          bool // /C=.../CN=...
	dump            bool // values of unknown attributes are hexadecimal
}

var (
	oneline = nameStyle{separator: ", ", plus: " + ", equals: " = ", escape: true, quote: true}
	rfc2253 = nameStyle{separator: ",", plus: "+", equals: "=", escape: true, reverse: true, dump: true}
	compat  = nameStyle{compat: true}
)

// nameOptions are the words of -nameopt.
var nameOptions = map[string]func(*nameStyle){
	"oneline": func(s *nameStyle) { *s = oneline }, "RFC2253": func(s *nameStyle) { *s = rfc2253 }, "compat": func(s *nameStyle) { *s = compat },
	"multiline":            func(s *nameStyle) { *s = nameStyle{plus: " + ", equals: " = ", long: true, multiline: true} },
	"utf8":                 func(s *nameStyle) { s.utf8 = true },
	"-esc_msb":             func(s *nameStyle) { s.utf8 = true },
	"esc_msb":              func(s *nameStyle) { s.utf8 = false },
	"esc_2253":             func(s *nameStyle) { s.escape = true },
	"esc_ctrl":             func(*nameStyle) {}, // always
	"use_quote":            func(s *nameStyle) { s.quote = true },
	"sname":                func(s *nameStyle) { s.long = false },
	"lname":                func(s *nameStyle) { s.long = true },
	"dn_rev":               func(s *nameStyle) { s.reverse = true },
	"space_eq":             func(s *nameStyle) { s.equals = " = " },
	"sep_comma_plus":       func(s *nameStyle) { s.separator, s.plus = ",", "+" },
	"sep_comma_plus_space": func(s *nameStyle) { s.separator, s.plus = ", ", " + " },
	"sep_semi_plus_space":  func(s *nameStyle) { s.separator, s.plus = "; ", " + " },
	"sep_multiline":        func(s *nameStyle) { s.multiline, s.plus = true, " + " },
}

// nameStyle returns what the options -nameopt say. The error is that of a word that is not known.
func (r *run) nameStyle() (nameStyle, error) {
	style := oneline
	for i, o := range r.all("nameopt") {
		for j, word := range strings.Split(o, ",") {
			set, is := nameOptions[word]
			if !is && strings.EqualFold(word, "rfc2253") {
				set, is = nameOptions["RFC2253"], true
			}
			if !is {
				return style, r.misused("Unknown name option: %s", word)
			}
			if i == 0 && j == 0 {
				style = nameStyle{separator: ", ", plus: " + ", equals: "=", utf8: true}
			}
			set(&style)
		}
	}
	return style, nil
}

// text prints a name in DER.
func (s nameStyle) text(der []byte) string {
	n, err := decodeName(der)
	if err != nil {
		return err.Error()
	}
	if s.compat {
		return n.compat()
	}
	var parts []string
	for _, e := range n {
		text := s.entry(e)
		if e.joins && s.reverse {
			parts[len(parts)-1] = text + s.plus + parts[len(parts)-1]
		} else if e.joins {
			parts[len(parts)-1] += s.plus + text
		} else {
			parts = append(parts, text)
		}
	}
	if s.reverse {
		slices.Reverse(parts)
	}
	if s.multiline {
		return "\n    " + strings.Join(parts, "\n    ")
	}
	return strings.Join(parts, s.separator)
}

// entry prints an attribute with its value.
func (s nameStyle) entry(e entry) string {
	label := e.short
	if s.long {
		label = e.long
	}
	if s.multiline && s.long {
		label = fmt.Sprintf("%-25s", label)
	}
	if der, err := asn1.Marshal(e.raw); s.dump && e.short == e.oid.String() && err == nil {
		return label + s.equals + "#" + strings.ToUpper(hex.EncodeToString(der))
	}
	return label + s.equals + s.escaped(e.value)
}

// escaped returns a value with what has a meaning in names escaped, or in quotes.
func (s nameStyle) escaped(value string) string {
	var b strings.Builder
	quotes := false
	for i, c := range value {
		isEdge := c == '#' && i == 0 || c == ' ' && (i == 0 || i == len(value)-1)
		switch {
		case c == '\\' && (s.escape || s.multiline):
			b.WriteString(`\\`)
		case !s.escape && c >= ' ' && c < 0x7f:
			b.WriteRune(c)
		case strings.ContainsRune(",+<>;", c) || isEdge:
			if s.quote {
				quotes = true
			} else {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		case c == '"':
			b.WriteString(`\"`)
		case c < ' ' || c == 0x7f || c >= 0x80 && !s.utf8:
			for _, byte := range []byte(string(c)) {
				fmt.Fprintf(&b, "\\%02X", byte)
			}
		default:
			b.WriteRune(c)
		}
	}
	if quotes {
		return `"` + b.String() + `"`
	}
	return b.String()
}

// compat prints a name as OpenSSL did once, and does in some extensions.
func (n name) compat() string {
	var b strings.Builder
	for _, e := range n {
		b.WriteByte(map[bool]byte{true: '+', false: '/'}[e.joins])
		b.WriteString(e.short + "=")
		for _, c := range []byte(e.value) {
			if c < ' ' || c > '~' {
				fmt.Fprintf(&b, "\\x%02X", c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}
