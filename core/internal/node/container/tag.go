package container

import (
	"regexp"
	"strconv"
	"strings"
)

// Tags that repositories of programs have: a version, or what they are made for, and what distribution it is for.
var (
	versionTag = regexp.MustCompile(`^(latest|stable|mainline|lts|current|edge|rolling|innovation|alpine[\d.]*|slim|perl|otel|fpm|management|glibc|musl|uclibc|bullseye|bookworm|trixie|v?\d{1,2}(\.\d{1,2}){0,3}(rc\d+)?)(-(alpine[\d.]*|perl|slim|otel|debian|bookworm|bullseye|trixie|focal|jammy|noble|glibc|musl|uclibc|rootless|fpm|management|oraclelinux\d|oracle|rc\d?|alpha\d*|beta\d*|\d{1,2}|r\d+))*$`)
	debianTag  = regexp.MustCompile(`^(latest|stable|oldstable|unstable|testing|experimental|rolling|devel|\d{1,2}(\.\d{1,2})?|stretch|buster|bullseye|bookworm|trixie|sid|xenial|bionic|focal|jammy|noble)(-slim|-backports|-\d{8})?$`)
)

// wrong matches names that people give to images which are meant not to exist.
var wrong = regexp.MustCompile(`(?i)(^|[-_./:])(nonexist(ent|ing)?|non-?exist(ent|ing)|no-?such[-a-z]*|do(es)?-?n(o|')?t-?exist|not-?exist(s|ing|ent)?|not-?a-?(real-?)?(version|tag|image)|not-?found|invalid|missing|wrong|bad|broken|bogus|fake|typo|oops)([-_./:]|$)`)

// has reports whether the repository has a tag.
func (k known) has(tag string) bool {
	return (k.tags == nil || k.tags.MatchString(tag)) && !wrong.MatchString(":"+tag) && !isAfter(tag, k.newest)
}

// isAfter reports whether a tag is of a version after another one, of which only the parts that it names count: 1.91 and 2.0
// are after 1.33, and 1.33.1 is not.
func isAfter(tag, version string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
	parts := strings.Split(number, ".")
	for i, text := range strings.Split(version, ".") {
		if i == len(parts) {
			return false
		}
		most, err := strconv.Atoi(text)
		if err != nil {
			return false // no version is too new
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || n != most {
			return err == nil && n > most
		}
	}
	return false
}
