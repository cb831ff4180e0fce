package awk

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// value is a string, a number, or a string that looks like one (numberLike).
type value struct {
	s          string
	n          float64
	isNumber   bool
	numberLike bool
	unset      bool
}

func numeric(n float64) value { return value{n: n, isNumber: true} }
func str(s string) value      { return value{s: s} }

func truth(b bool) value {
	if b {
		return numeric(1)
	}
	return numeric(0)
}

// input is text from outside, which is a number if it looks like one.
func input(s string) value {
	trimmed := strings.TrimSpace(s)
	n, err := strconv.ParseFloat(trimmed, 64)
	if err != nil || strings.ContainsAny(trimmed, "xXpP_nN") {
		return str(s)
	}
	return value{s: s, n: n, numberLike: true}
}

var leadingNumber = regexp.MustCompile(`^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)

func (v value) number() float64 {
	if v.isNumber || v.numberLike {
		return v.n
	}
	n, _ := strconv.ParseFloat(strings.TrimSpace(leadingNumber.FindString(v.s)), 64) // 0 for what is none
	return n
}

// isWhole reports whether a number is written as an integer.
func (v value) isWhole() bool { return v.n == math.Trunc(v.n) && math.Abs(v.n) < 1e16 }

// isOdd reports whether a number is none that a format could show.
func (v value) isOdd() bool { return math.IsNaN(v.n) || math.IsInf(v.n, 0) }

func (v value) string() string {
	switch {
	case !v.isNumber:
		return v.s
	case v.isOdd():
		return strings.ToLower(strings.TrimPrefix(fmt.Sprint(v.n), "+"))
	case v.isWhole():
		return strconv.FormatInt(int64(v.n), 10)
	}
	return fmt.Sprintf("%.6g", v.n)
}

func (v value) true() bool {
	if v.isNumber || v.numberLike {
		return v.n != 0
	}
	return v.s != ""
}
