package coreutils

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// xargsCommand is what the options of xargs say. Its runs follow one another,
// whatever -P says.
type xargsCommand struct {
	most                  int    // arguments of a run
	lines                 int    // of input for a run
	marker                string // what a line takes the place of
	delimiter             string // between arguments, if it is not blank space
	quiet, traces, isNull bool
	argv                  []string
}

// xargsLong are the short names of long options.
var xargsLong = map[string]byte{"null": '0', "delimiter": 'd', "max-args": 'n', "max-lines": 'L', "max-procs": 'P', "no-run-if-empty": 'r', "replace": 'I', "verbose": 't'}

// parse takes the arguments apart.
func (x *xargsCommand) parse(args []string) error {
	number := func(to *int, letter byte, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("invalid number \"%s\" for -%c option", text, letter)
		}
		*to = n
		return nil
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		letters, inline, hasInline := arg[1:], "", false
		if name, isLong := strings.CutPrefix(arg, "--"); isLong {
			name, inline, hasInline = strings.Cut(name, "=")
			letter, known := xargsLong[name]
			if !known {
				return fmt.Errorf("unrecognized option '%s'", arg)
			}
			letters = string(letter)
		}
		for i := 0; i < len(letters); i++ {
			letter := letters[i]
			if strings.IndexByte("0rtx", letter) >= 0 {
				x.isNull = x.isNull || letter == '0'
				x.quiet = x.quiet || letter == 'r'
				x.traces = x.traces || letter == 't'
				continue
			}
			value := letters[i+1:]
			if letter == 'i' { // as -I, with what stands behind it or {}
				if x.marker = value; value == "" {
					x.marker = "{}"
				}
				break
			}
			switch {
			case hasInline:
				value = inline
			case value == "" && len(args) > 0:
				value, args = args[0], args[1:]
			case value == "":
				return fmt.Errorf("option requires an argument -- '%c'", letter)
			}
			var err error
			switch letter {
			case 'n':
				err = number(&x.most, letter, value)
			case 'L':
				err = number(&x.lines, letter, value)
			case 'I':
				x.marker = value
			case 'd':
				r, _ := unescape(value)
				x.delimiter = string(r)
			case 'P', 's':
			default:
				err = fmt.Errorf("invalid option -- '%c'", letter)
			}
			if err != nil {
				return err
			}
			break
		}
	}
	if x.argv = args; len(args) == 0 {
		x.argv = []string{"echo"}
	}
	return nil
}

// words splits a line as xargs does: at blanks, which quotes and backslashes keep.
func words(line string) ([]string, error) {
	var all []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			inWord, quote = true, c
		case c == '\\' && i+1 < len(line):
			i++
			inWord = true
			word.WriteByte(line[i])
		case c == ' ' || c == '\t':
			if inWord {
				all = append(all, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	if quote != 0 {
		name := map[byte]string{'\'': "single", '"': "double"}[quote]
		return nil, fmt.Errorf("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", name)
	}
	if inWord {
		all = append(all, word.String())
	}
	return all, nil
}

// runs returns the arguments of each run.
func (x *xargsCommand) runs(input string) ([][]string, error) {
	if x.isNull {
		x.delimiter = "\x00"
	}
	var all [][]string // of each line, which is one argument where there is a delimiter
	switch {
	case x.delimiter != "":
		for _, part := range strings.Split(strings.TrimSuffix(input, x.delimiter), x.delimiter) {
			if input != "" {
				all = append(all, []string{part})
			}
		}
	default:
		for line := range strings.Lines(input) {
			split, err := words(strings.TrimSuffix(line, "\n"))
			if err != nil {
				return nil, err
			}
			if x.marker != "" && len(split) > 0 { // with the blanks in it
				split = []string{strings.TrimLeft(strings.TrimSuffix(line, "\n"), " \t")}
			}
			if len(split) > 0 {
				all = append(all, split)
			}
		}
	}
	switch {
	case x.marker != "":
		return all, nil
	case len(all) == 0 && !x.quiet:
		return [][]string{nil}, nil
	case x.lines > 0:
		var joined [][]string
		for chunk := range slices.Chunk(all, x.lines) {
			joined = append(joined, slices.Concat(chunk...))
		}
		return joined, nil
	}
	flat := slices.Concat(all...)
	if x.most == 0 {
		x.most = max(len(flat), 1)
	}
	return slices.Collect(slices.Chunk(flat, x.most)), nil
}

func xargs(k *Call) int {
	var x xargsCommand
	if err := x.parse(k.Args); err != nil {
		return k.Fail("%v", err)
	}
	data, err := ReadAll(k.Stdin)
	if err != nil {
		return k.Fail("%s", Reason(err))
	}
	runs, err := x.runs(string(data))
	if err != nil {
		return k.Fail("%v", err)
	}
	child := *k
	code := 0
	for _, args := range runs {
		argv := slices.Clone(x.argv)
		if x.marker == "" {
			argv = append(argv, args...)
		} else {
			for i := range argv {
				argv[i] = strings.ReplaceAll(argv[i], x.marker, args[0])
			}
		}
		if x.traces {
			fmt.Fprintln(k.Stderr, strings.Join(argv, " "))
		}
		// The commands find an end where xargs has read. Each has its own: who copies it may outlive the command.
		child.Stdin = strings.NewReader("")
		switch one := k.System.Run(&child, k.Environ(), argv); {
		case k.Err() != nil || one == 126 || one == 127:
			return one
		case one == 255:
			return 124
		case one != 0:
			code = 123
		}
	}
	return code
}
