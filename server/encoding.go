package server

import (
	"strconv"
	"strings"
)

// coding is one way a file of the page is stored: the content coding of HTTP and the suffix of the file that holds it.
type coding struct{ name, suffix string }

// codings lists what the build makes, the smallest first; identity is the file itself.
var codings = []coding{{"br", ".br"}, {"gzip", ".gz"}, {"identity", ""}}

// chooseCoding returns the coding of those in offered that an Accept-Encoding header likes best, in the order of
// offered where it likes several equally, or false when it refuses all of them. RFC 9110, section 12.5.3: identity is
// acceptable unless it is refused by name or by "*;q=0"; a client that sends no header takes anything, and gets
// identity, because it most likely cannot decode.
func chooseCoding(accept []string, offered []coding) (coding, bool) {
	quality, star, hasStar := map[string]float64{}, 0.0, false
	for _, item := range strings.Split(strings.Join(accept, ","), ",") {
		name, parameters, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q := parseQuality(parameters)
		switch name {
		case "":
		case "*":
			star, hasStar = q, true
		case "x-gzip": // RFC 9110, section 8.4.1.3: the same as gzip
			quality["gzip"] = q
		default:
			quality[name] = q
		}
	}
	best, bestQ := coding{}, 0.0
	for _, c := range offered {
		q, named := quality[c.name]
		switch {
		case named:
		case hasStar:
			q = star
		case c.name == "identity":
			q = 0.001 // acceptable, and liked less than anything that is named
		}
		if q > bestQ {
			best, bestQ = c, q
		}
	}
	return best, bestQ > 0
}

// parseQuality returns the weight among the parameters of a list item, 1 without one, and 0 for one that is not a
// number from 0 to 1: a coding whose weight cannot be read is not worth the risk.
func parseQuality(parameters string) float64 {
	for _, p := range strings.Split(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}
