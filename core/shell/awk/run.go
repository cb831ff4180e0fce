package awk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Config is what a program works with.
type Config struct {
	Separator string            // FS; empty means blanks
	Variables map[string]string // set before the program begins
	In        io.Reader
	Out       io.Writer
}

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

func (v value) string() string {
	if !v.isNumber {
		return v.s
	}
	if v.n == math.Trunc(v.n) && math.Abs(v.n) < 1e16 {
		return strconv.FormatInt(int64(v.n), 10)
	}
	return format("%.6g", v.n)
}

func format(f string, n float64) string { return fmt.Sprintf(f, n) }

func (v value) true() bool {
	if v.isNumber || v.numberLike {
		return v.n != 0
	}
	return v.s != ""
}

// machine is a program while it runs.
type machine struct {
	variables map[string]value
	arrays    map[string]map[string]value
	fields    []string // the record is fields[0]
	out       *bufio.Writer
	patterns  map[string]*regexp.Regexp
	code      int
}

// jump is what a statement does to the order of things.
type jump int

const (
	goOn jump = iota
	nextRecord
	leaveLoop
	nextRound
	leave
)

type failure struct{ error }

// Run runs the program on config.In, line by line, and returns its exit code.
// Errors: the program does what awk forbids, config.In or Out fail.
func (p *Program) Run(config Config) (code int, err error) {
	m := &machine{
		variables: map[string]value{"FS": str(" "), "OFS": str(" "), "ORS": str("\n"), "SUBSEP": str("\x1c"), "NF": numeric(0)},
		arrays:    map[string]map[string]value{}, fields: []string{""}, out: bufio.NewWriter(config.Out), patterns: map[string]*regexp.Regexp{},
	}
	if config.Separator != "" {
		m.variables["FS"] = str(unescape(config.Separator))
	}
	for name, v := range config.Variables {
		m.variables[name] = input(unescape(v))
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
		if flushed := m.out.Flush(); err == nil {
			err = flushed
		}
	}()
	if m.run(p.begin) == leave {
		return m.code, nil
	}
	if len(p.rules) > 0 || len(p.end) > 0 {
		if err := m.records(p, config.In); err != nil {
			return 2, err
		}
	}
	m.run(p.end)
	return m.code, nil
}

func (m *machine) records(p *Program, in io.Reader) error {
	open := make([]bool, len(p.rules))
	lines := bufio.NewReader(in)
	for count := 1; ; count++ {
		line, err := lines.ReadString('\n')
		if line == "" && err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		m.variables["NR"], m.variables["FNR"] = numeric(float64(count)), numeric(float64(count))
		m.record(strings.TrimSuffix(line, "\n"))
		for _, r := range p.rules {
			if !m.matches(r, open) {
				continue
			}
			body := r.body
			if body == nil {
				body = []statement{printStatement{}}
			}
			if j := m.run(body); j == nextRecord {
				break
			} else if j == leave {
				return nil
			}
		}
		if err := m.out.Flush(); err != nil { // as it comes: what is before may be a watch
			return err
		}
	}
}

func (m *machine) matches(r rule, open []bool) bool {
	switch {
	case r.from == nil:
		return true
	case r.to == nil:
		return r.from.eval(m).true()
	case !open[r.inside] && !r.from.eval(m).true():
		return false
	}
	open[r.inside] = !r.to.eval(m).true()
	return true
}

// record sets $0 and splits it.
func (m *machine) record(line string) {
	m.fields = append([]string{line}, m.split(line, m.variables["FS"].string())...)
	m.variables["NF"] = numeric(float64(len(m.fields) - 1))
}

func (m *machine) split(s, separator string) []string {
	switch {
	case separator == " ":
		return strings.Fields(s)
	case s == "":
		return nil
	case len(separator) == 1 && separator != "|" && !strings.ContainsAny(separator, `\^$.*+?()[]{}`):
		return strings.Split(s, separator)
	case len(separator) == 1:
		return strings.Split(s, separator)
	}
	return m.regexp(separator).Split(s, -1)
}

// rebuild makes $0 from the fields.
func (m *machine) rebuild() {
	m.fields[0] = strings.Join(m.fields[1:], m.variables["OFS"].string())
}

func (m *machine) setField(i int, s string) {
	switch {
	case i == 0:
		m.record(s)
		return
	case i < 0 || i > 1<<16:
		panic(failure{fmt.Errorf("there is no field %d", i)})
	}
	for len(m.fields) <= i {
		m.fields = append(m.fields, "")
	}
	m.fields[i] = s
	m.variables["NF"] = numeric(float64(len(m.fields) - 1))
	m.rebuild()
}

func (m *machine) regexp(pattern string) *regexp.Regexp {
	if p := m.patterns[pattern]; p != nil {
		return p
	}
	p, err := regexp.Compile(pattern)
	if err != nil {
		panic(failure{fmt.Errorf("bad regular expression %q", pattern)})
	}
	m.patterns[pattern] = p
	return p
}

func (m *machine) array(name string) map[string]value {
	a := m.arrays[name]
	if a == nil {
		a = map[string]value{}
		m.arrays[name] = a
	}
	return a
}

func (m *machine) key(subscript []expression) string {
	parts := make([]string, len(subscript))
	for i, e := range subscript {
		parts[i] = e.eval(m).string()
	}
	return strings.Join(parts, m.variables["SUBSEP"].string())
}

func (m *machine) run(body []statement) jump {
	for _, s := range body {
		if j := s.run(m); j != goOn {
			return j
		}
	}
	return goOn
}
