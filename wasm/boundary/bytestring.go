package boundary

import (
	"strings"
	"unicode/utf8"
)

// Headers are bytes on the wire and in Go; JavaScript has them as ByteStrings, in which each character up
// to U+00FF stands for one byte (https://webidl.spec.whatwg.org/#idl-ByteString). Handing UTF-8 over as
// text instead makes fetch throw on the first Warning that is not English.

// toByteString returns the JavaScript string for the bytes of s.
func toByteString(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// fromByteString returns the bytes that the JavaScript string s stands for. A string that is not a
// ByteString stays as it is.
func fromByteString(s string) string {
	if isASCII(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return s
		}
		b = append(b, byte(r))
	}
	return string(b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
