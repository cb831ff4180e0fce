package coreutils

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

func seq(k *Call) int {
	var numbers []int
	separator := "\n"
	for i := 0; i < len(k.Args); i++ {
		arg := k.Args[i]
		if text, ok := strings.CutPrefix(arg, "-s"); ok {
			if text == "" && i+1 < len(k.Args) {
				i++
				text = k.Args[i]
			}
			separator = text
			continue
		}
		n, err := strconv.Atoi(arg)
		if f, failed := strconv.ParseFloat(arg, 64); err != nil && failed == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			n, err = int(f), nil // 1e6
		}
		if err != nil {
			return k.Fail("invalid number '%s'", arg)
		}
		numbers = append(numbers, n)
	}
	first, step, last := 1, 1, 0
	switch len(numbers) {
	case 1:
		last = numbers[0]
	case 2:
		first, last = numbers[0], numbers[1]
	case 3:
		first, step, last = numbers[0], numbers[1], numbers[2]
	default:
		return k.Fail("missing operand")
	}
	if step == 0 {
		return k.Fail("increment must not be 0")
	}
	more := func(n int) bool { return step > 0 && n <= last || step < 0 && n >= last }
	for n := first; more(n); n += step {
		end := separator
		if !more(n + step) {
			end = "\n"
		}
		if _, err := fmt.Fprintf(k.Stdout, "%d%s", n, end); err != nil || k.Err() != nil {
			return 1
		}
	}
	return 0
}

// yesRest gives others a turn on a machine with one thread.
const yesRest = 2 * time.Millisecond

func yes(k *Call) int {
	text := "y"
	if len(k.Args) > 0 {
		text = strings.Join(k.Args, " ")
	}
	// A reader that closes its end stops it; what writes to a log is slowed
	// down, because nobody would.
	for i := 1; k.Err() == nil; i++ {
		if _, err := fmt.Fprintln(k.Stdout, text); err != nil {
			return 1
		}
		if i%1000 == 0 {
			time.Sleep(yesRest)
		}
	}
	return 143
}

func expr(k *Call) int {
	if len(k.Args) != 3 {
		return 1 + k.Fail("syntax error")
	}
	a, errA := strconv.Atoi(k.Args[0])
	b, errB := strconv.Atoi(k.Args[2])
	numbers := errA == nil && errB == nil
	truth := map[bool]int{true: 1}
	result := 0
	switch op := k.Args[1]; {
	case op == "=":
		result = truth[k.Args[0] == k.Args[2]]
	case op == "!=":
		result = truth[k.Args[0] != k.Args[2]]
	case !numbers:
		return 1 + k.Fail("non-integer argument")
	case op == "+":
		result = a + b
	case op == "-":
		result = a - b
	case op == "*":
		result = a * b
	case (op == "/" || op == "%") && b == 0:
		return 1 + k.Fail("division by zero")
	case op == "/":
		result = a / b
	case op == "%":
		result = a % b
	case op == "<":
		result = truth[a < b]
	case op == ">":
		result = truth[a > b]
	case op == "<=":
		result = truth[a <= b]
	case op == ">=":
		result = truth[a >= b]
	default:
		return 1 + k.Fail("syntax error")
	}
	fmt.Fprintln(k.Stdout, result)
	if result == 0 {
		return 1
	}
	return 0
}
