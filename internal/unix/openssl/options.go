package openssl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// option is one that was given, with its value if it has one.
type option struct{ name, value string }

// misuse is the error of a command line that is wrong.
type misuse struct{ command, text string }

func (m misuse) Error() string {
	return fmt.Sprintf("%s: %s\n%s: Use -help for summary.", m.command, m.text, m.command)
}

// misused returns the error of a command line that is wrong.
func (r *run) misused(format string, args ...any) error {
	return misuse{r.name, fmt.Sprintf(format, args...)}
}

// saidf is fmt.Errorf for OpenSSL's own words, which begin and end as no other error of Go does.
func saidf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// ciphers begin the names of options that encrypt keys.
var ciphers = []string{"aes", "des", "camellia", "aria", "idea", "seed", "chacha20", "bf", "cast", "rc2", "rc4"}

// numbers are the options whose value is one.
var numbers = []string{"days", "checkend", "attime"}

func isCipher(name string) bool {
	return slices.ContainsFunc(ciphers, func(cipher string) bool { return strings.HasPrefix(name, cipher) })
}

// parse takes the options off the front of the arguments. What follows them is in r.rest. The errors are a misuse, and a
// status of 0 when the options have been shown.
func (r *run) parse(args []string) error {
	if digests[r.name].new != nil {
		r.digest = r.name
	}
	flags, values := strings.Fields(r.flags), strings.Fields(r.values)
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		name := strings.TrimPrefix(args[0][1:], "-")
		args = args[1:]
		switch {
		case name == "":
			r.rest = args
			return nil
		case name == "help":
			r.out.WriteString(r.summary())
			r.given = nil // -out, too
			return status(0)
		case slices.Contains(values, name):
			if len(args) == 0 {
				return r.misused("Option -%s needs a value", name)
			}
			r.given = append(r.given, option{name, args[0]})
			args = args[1:]
			if _, err := r.number(name, 0); slices.Contains(numbers, name) && err != nil {
				return err
			}
		case slices.Contains(flags, name):
			r.given = append(r.given, option{name, ""})
		case r.command.digest && digests[name].new != nil:
			r.digest = name
		case isCipher(name):
			return fmt.Errorf("%s: nothing is encrypted here, keys included: leave -%s out", r.name, name)
		case r.command.digest:
			return r.misused("Unknown option or message digest: %s", name)
		case r.cipher:
			return r.misused("Unknown cipher: %s", name)
		default:
			return r.misused("Unknown option: -%s", name)
		}
	}
	if r.rest = args; len(args) > 0 && !r.free {
		return r.misused("Extra option: %q", args[0])
	}
	return nil
}

// summary lists a command's options.
func (c command) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: openssl %s\n", c.usage)
	for _, part := range []struct{ head, names, value string }{{"Options", c.flags, ""}, {"Options with a value", c.values, " val"}} {
		if part.names == "" {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", part.head)
		for _, name := range slices.Sorted(slices.Values(strings.Fields(part.names))) {
			fmt.Fprintf(&b, " -%s%s\n", name, part.value)
		}
	}
	if c.digest {
		b.WriteString("Digests: -sha256 is the default; -sha1, -sha384, -sha512 and others\n")
	}
	return b.String()
}

// has reports whether one of the options was given.
func (r *run) has(names ...string) bool {
	return slices.ContainsFunc(r.given, func(o option) bool { return slices.Contains(names, o.name) })
}

// value returns the last value of the options, "" if none of them was given.
func (r *run) value(names ...string) string {
	for _, o := range slices.Backward(r.given) {
		if slices.Contains(names, o.name) {
			return o.value
		}
	}
	return ""
}

// all returns the values of an option in their order.
func (r *run) all(name string) []string {
	var values []string
	for _, o := range r.given {
		if o.name == name {
			values = append(values, o.value)
		}
	}
	return values
}

// number returns the value of an option, or otherwise if it was not given. The error is a misuse.
func (r *run) number(name string, otherwise int) (int, error) {
	if !r.has(name) {
		return otherwise, nil
	}
	n, err := integer(r.value(name))
	if err != nil {
		return 0, r.misused("%v", err)
	}
	return n, nil
}

// integer is the number that text is.
func integer(text string) (int, error) {
	n, err := strconv.ParseInt(text, 0, 0)
	if err != nil {
		return 0, saidf("Can't parse %q as a number", text)
	}
	return int(n), nil
}
