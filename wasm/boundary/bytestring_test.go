package boundary

import "testing"

func TestByteString(t *testing.T) {
	for bytes, js := range map[string]string{
		"":              "",
		"299 - \"ok\"":  "299 - \"ok\"",
		"\xe9":          "é",
		"日":             "\u00e6\u0097\u00a5",
		"a\x00\x7f\xff": "a\x00\x7fÿ",
	} {
		if got := toByteString(bytes); got != js {
			t.Errorf("toByteString(%q) = %q, want %q", bytes, got, js)
		}
		if got := fromByteString(js); got != bytes {
			t.Errorf("fromByteString(%q) = %q, want %q", js, got, bytes)
		}
	}
	if got := fromByteString("日"); got != "日" {
		t.Errorf("a string that is no ByteString became %q", got)
	}
}
