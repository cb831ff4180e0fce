package coreutils

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// seqOptions are those of seq.
type seqOptions struct {
	separator, format string
	wide              bool
	numbers           []string
}

func seqArguments(args []string) (o seqOptions, err error) {
	o.separator = "\n"
	value := func(attached string) string {
		if attached == "" && len(args) > 0 {
			attached, args = args[0], args[1:]
		}
		return attached
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case strings.HasPrefix(arg, "-s"):
			o.separator = value(arg[2:])
		case strings.HasPrefix(arg, "--separator="):
			_, o.separator, _ = strings.Cut(arg, "=")
		case strings.HasPrefix(arg, "-f"):
			o.format = value(arg[2:])
		case strings.HasPrefix(arg, "--format="):
			_, o.format, _ = strings.Cut(arg, "=")
		case arg == "-w" || arg == "--equal-width":
			o.wide = true
		case strings.HasPrefix(arg, "-w"):
			o.wide, args = true, append([]string{"-" + arg[len("-w"):]}, args...)
		case arg == "--":
		default:
			if _, err := strconv.ParseFloat(arg, 64); err != nil {
				return o, fmt.Errorf("invalid floating point argument: '%s'", arg)
			}
			o.numbers = append(o.numbers, arg)
		}
	}
	return o, nil
}

func seq(k *Call) int {
	o, err := seqArguments(k.Args)
	if err != nil {
		return k.Fail("%v", err)
	}
	first, step, last := "1", "1", ""
	switch len(o.numbers) {
	case 1:
		last = o.numbers[0]
	case 2:
		first, last = o.numbers[0], o.numbers[1]
	case 3:
		first, step, last = o.numbers[0], o.numbers[1], o.numbers[2]
	case 0:
		return k.Fail("missing operand")
	default:
		return k.Fail("extra operand '%s'", o.numbers[3])
	}
	// With as many decimals as the first number and the step have; each number is calculated anew, for sums gather errors.
	decimals := max(decimalsOf(first), decimalsOf(step))
	number := func(text string) float64 {
		n, _ := strconv.ParseFloat(text, 64) // it is one
		return n
	}
	begin, by, end := number(first), number(step), number(last)
	if by == 0 {
		return k.Fail("invalid Zero increment value: '%s'", step)
	}
	width := 0
	if o.wide {
		width = max(len(strconv.FormatFloat(begin, 'f', decimals, 64)), len(strconv.FormatFloat(end, 'f', decimals, 64)))
	}
	show := func(n float64) string { return fmt.Sprintf("%0*.*f", width, decimals, n) }
	if o.format != "" {
		before, verb, after, err := seqFormat(o.format)
		if err != nil {
			return k.Fail("%v", err)
		}
		show = func(n float64) string { return before + fmt.Sprintf(verb, n) + after }
	}
	at := func(i int) float64 { return begin + float64(i)*by }
	slack := math.Abs(by) / 1e9
	more := func(n float64) bool { return by > 0 && n <= end+slack || by < 0 && n >= end-slack }
	for i := 0; more(at(i)); i++ {
		behind := o.separator
		if !more(at(i + 1)) {
			behind = "\n"
		}
		if _, err := io.WriteString(k.Stdout, show(at(i))+behind); err != nil || k.Err() != nil {
			return 1
		}
	}
	return 0
}

func decimalsOf(number string) int {
	_, decimals, _ := strings.Cut(number, ".")
	if strings.ContainsAny(decimals, "eE") {
		return 0
	}
	return len(decimals)
}

// seqFormat parts a format of printf(3) with one directive for a floating point number.
func seqFormat(format string) (before, verb, after string, err error) {
	texts := []string{"", ""}
	at := 0
	for i := 0; i < len(format); i++ {
		switch {
		case format[i] != '%':
			texts[at] += format[i : i+1]
		case strings.HasPrefix(format[i:], "%%"):
			texts[at] += "%"
			i++
		case at == 1:
			return "", "", "", fmt.Errorf("format '%s' has too many %% directives", format)
		default:
			start := i
			for i++; i < len(format) && strings.IndexByte("-+ #0123456789.", format[i]) >= 0; i++ {
			}
			if i == len(format) || strings.IndexByte("eEfFgG", format[i]) < 0 || i-start > 12 {
				return "", "", "", fmt.Errorf("format '%s' has unknown %% directive", format)
			}
			verb, at = format[start:i+1], 1
			if letter := format[i]; (letter == 'g' || letter == 'G') && !strings.Contains(verb, ".") {
				verb = verb[:len(verb)-1] + ".6" + string(letter)
			}
		}
	}
	if at == 0 {
		return "", "", "", fmt.Errorf("format '%s' has no %% directive", format)
	}
	return texts[0], verb, texts[1], nil
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
