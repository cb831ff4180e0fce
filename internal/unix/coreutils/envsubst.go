package coreutils

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// variable is one as envsubst knows it: $NAME or ${NAME}.
var variable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// envsubst is GNU gettext's: it copies standard input with the values of environment variables in the place of their names, of all of
// them or of those that its argument names. With -v it prints the names.
func envsubst(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) > 1 {
		return k.Fail("too many arguments")
	}
	only := map[string]bool{}
	for _, format := range f.Rest {
		for _, match := range variable.FindAllStringSubmatch(format, -1) {
			name := match[1] + match[2]
			if _, long := f.Long["variables"]; f.On['v'] || long {
				fmt.Fprintln(k.Stdout, name)
			}
			only[name] = true
		}
	}
	if _, long := f.Long["variables"]; f.On['v'] || long {
		return 0
	}
	values := map[string]string{}
	for _, entry := range k.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	err := whole(k.Stdin, func(line string) bool {
		_, err := io.WriteString(k.Stdout, variable.ReplaceAllStringFunc(line, func(text string) string {
			name := strings.Trim(text, "${}")
			if len(f.Rest) > 0 && !only[name] {
				return text
			}
			return values[name]
		}))
		return err == nil
	})
	if err != nil {
		return k.Fail("%s", Reason(err))
	}
	return 0
}
