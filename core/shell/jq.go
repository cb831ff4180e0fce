package shell

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// jqFlags are the options of jq by their names.
type jqFlags struct {
	raw, join, compact, slurp, nullInput, exitStatus, rawInput, sortKeys, tab bool

	filter string
	names  []string
	values []any
	files  []string
	at     *position // in the input; nil without one
}

// jq runs a jq filter, which gojq interprets.
func jq(_ *session, c *coreutils.Call) int {
	f, err := parseJQ(c.Args)
	if err != nil {
		fmt.Fprintf(c.Stderr, "jq: error: %v\nUse jq [OPTIONS] FILTER [FILES...]\n", err)
		return 2
	}
	query, err := parseFilter(f.filter)
	var code *gojq.Code
	if err == nil {
		code, err = gojq.Compile(query, gojq.WithVariables(f.names), gojq.WithEnvironLoader(c.Environ), withShallow())
	}
	if err != nil {
		fmt.Fprintf(c.Stderr, "jq: error: %v\njq: 1 compile error\n", err)
		return 3
	}
	inputs, err := f.inputs(c)
	if errors.Is(err, coreutils.ErrMemory) {
		err = errNoMemory
	}
	if err != nil {
		fmt.Fprintf(c.Stderr, "jq: error: %v\n", err)
		return 2
	}
	return f.run(c, code, inputs)
}

func parseJQ(args []string) (*jqFlags, error) {
	f := &jqFlags{}
	filter := false
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--arg" || arg == "--argjson":
			if len(args) < 2 {
				return nil, fmt.Errorf("%s takes two parameters (e.g. %s varname value)", arg, arg)
			}
			var value any = args[1]
			if arg == "--argjson" {
				if err := json.Unmarshal([]byte(args[1]), &value); err != nil {
					return nil, fmt.Errorf("invalid JSON text passed to --argjson: %w", err)
				}
			}
			f.names, f.values, args = append(f.names, "$"+args[0]), append(f.values, value), args[2:]
		case strings.HasPrefix(arg, "--"):
			long := map[string]byte{"raw-output": 'r', "join-output": 'j', "compact-output": 'c', "slurp": 's', "null-input": 'n', "exit-status": 'e', "raw-input": 'R', "sort-keys": 'S', "tab": 't', "color-output": 'C', "monochrome-output": 'M'}
			letter, ok := long[arg[2:]]
			if !ok {
				return nil, fmt.Errorf("unknown arguments: %s", arg)
			}
			f.set(letter)
		case len(arg) > 1 && arg[0] == '-':
			for i := 1; i < len(arg); i++ {
				if !f.set(arg[i]) {
					return nil, fmt.Errorf("unknown arguments: %s", arg)
				}
			}
		case !filter:
			f.filter, filter = arg, true
		default:
			f.files = append(f.files, arg)
		}
	}
	if !filter {
		f.filter = "."
	}
	return f, nil
}

func (f *jqFlags) set(letter byte) bool {
	switch letter {
	case 'r':
		f.raw = true
	case 'j':
		f.raw, f.join = true, true
	case 'c':
		f.compact = true
	case 's':
		f.slurp = true
	case 'n':
		f.nullInput = true
	case 'e':
		f.exitStatus = true
	case 'R':
		f.rawInput = true
	case 'S': // gojq always sorts
		f.sortKeys = true
	case 't':
		f.tab = true
	case 'C', 'M':
	default:
		return false
	}
	return true
}

// unopened is the error of a file that cannot be read, in jq's words.
type unopened struct {
	name string
	err  error
}

func (u unopened) Error() string {
	return "Could not open file " + u.name + ": " + coreutils.Reason(u.err)
}

// inputs are the values that the filter is given, one by one.
func (f *jqFlags) inputs(c *coreutils.Call) (func() (any, error), error) {
	var r io.Reader = c.Stdin
	if len(f.files) > 0 {
		var all []io.Reader
		for _, name := range f.files {
			text, err := c.Files.ReadFile(c.Path(name))
			if err != nil {
				return nil, unopened{name, err}
			}
			all = append(all, strings.NewReader(string(text)))
		}
		r = io.MultiReader(all...)
	}
	if !f.nullInput {
		f.at = &position{Reader: r, name: "<stdin>"}
		if len(f.files) > 0 {
			f.at.name = f.files[len(f.files)-1]
		}
		r = f.at
	}
	var next func() (any, error)
	switch {
	case f.nullInput:
		given := false
		return func() (any, error) {
			if given {
				return nil, io.EOF
			}
			given = true
			return nil, nil
		}, nil
	case f.rawInput:
		if f.slurp {
			f.slurp = false
			text, err := coreutils.ReadAll(r)
			if err != nil {
				return nil, err
			}
			return take([]any{string(text)}), nil
		}
		lines, end := bufio.NewReader(r), int64(0)
		next = func() (any, error) {
			line, err := coreutils.ReadLine(lines, '\n')
			if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
				return nil, err
			}
			end += int64(len(line))
			f.at.pass(end - 1)
			return strings.TrimSuffix(line, "\n"), nil
		}
	default:
		next = f.decoded(r)
	}
	if !f.slurp {
		return next, nil
	}
	all := []any{}
	for {
		v, err := next()
		if errors.Is(err, io.EOF) {
			return take([]any{all}), nil
		}
		if err != nil {
			return nil, err
		}
		if all = append(all, v); len(all) > mostValues {
			return nil, coreutils.ErrMemory
		}
	}
}

// decoded are the values of JSON in r.
func (f *jqFlags) decoded(r io.Reader) func() (any, error) {
	input := &io.LimitedReader{R: r}
	decoder := json.NewDecoder(input)
	decoder.UseNumber()
	return func() (any, error) {
		var v any
		input.N = mostValue
		err := decoder.Decode(&v)
		if input.N == 0 {
			return nil, coreutils.ErrMemory
		}
		if err != nil {
			return nil, err
		}
		f.at.pass(decoder.InputOffset())
		return numbers(v), nil
	}
}

// What one value of the input may have in bytes, and --slurp in values.
const (
	mostValue  = 64 << 20
	mostValues = 4 << 20
)

func take(values []any) func() (any, error) {
	return func() (any, error) {
		if len(values) == 0 {
			return nil, io.EOF
		}
		v := values[0]
		values = values[1:]
		return v, nil
	}
}

// numbers turns json.Number into what gojq calculates with.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		n, _ := v.Float64()
		return n
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	}
	return v
}

func (f *jqFlags) run(c *coreutils.Call, code *gojq.Code, next func() (any, error)) int {
	exit := 0
	var last any
	for {
		input, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case errors.Is(err, coreutils.ErrMemory):
			fmt.Fprintf(c.Stderr, "jq: error: %v\n", errNoMemory)
			return 2
		case err != nil:
			fmt.Fprintf(c.Stderr, "jq: parse error: %v\n", err)
			return 2
		}
		results := code.RunWithContext(coreutils.Stepwise(c), input, f.values...)
		for {
			v, ok := results.Next()
			if !ok {
				break
			}
			if isDeep(v) {
				v = errDeepValue
			}
			if err, ok := v.(error); ok {
				var halt *gojq.HaltError
				if errors.As(err, &halt) && halt.Value() == nil {
					return halt.ExitCode()
				}
				fmt.Fprintln(c.Stderr, f.jqError(coreutils.Stepwise(c), err, input, f.at.String()))
				exit = 5
				break
			}
			last = v
			if err := f.print(c.Stdout, v); err != nil {
				return 2
			}
		}
	}
	if f.exitStatus && exit == 0 && (last == nil || last == false) {
		return 1
	}
	return exit
}

func (f *jqFlags) print(w io.Writer, v any) error {
	end := "\n"
	if f.join {
		end = ""
	}
	if text, ok := v.(string); ok && f.raw {
		_, err := io.WriteString(w, text+end)
		return err
	}
	text, err := gojq.Marshal(v)
	if err != nil {
		return err
	}
	if !f.compact {
		indent := "  "
		if f.tab {
			indent = "\t"
		}
		if text, err = indented(text, indent); err != nil {
			return err
		}
	}
	_, err = w.Write(append(text, end...))
	return err
}

func indented(text []byte, indent string) ([]byte, error) {
	var b bytes.Buffer
	err := json.Indent(&b, text, "", indent)
	return b.Bytes(), err
}
