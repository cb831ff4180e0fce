package awk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kubetab/kubetab/internal/locked"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Config is what a program works with.
type Config struct {
	Separator   string            // FS; empty means blanks
	Variables   map[string]string // set before the program begins
	Arguments   []string          // files, or name=value; "-" is In; none at all, too
	Environment map[string]string // ENVIRON
	In          io.Reader
	Out         io.Writer

	// Open reads a file, Create writes one, from its end if add is set. Command
	// runs a command line and returns its exit code. Without them the program
	// fails when it needs one.
	Open    func(name string) (io.ReadCloser, error)
	Create  func(name string, add bool) (io.WriteCloser, error)
	Command func(line string, in io.Reader, out io.Writer) int

	// Context, if set, ends the program, which then fails with its error.
	Context context.Context
}

// breathEvery is how many rounds of loops, calls and records pass before the
// program lets others run: in a tab there is one thread for all.
const breathEvery = 20_000

// askEvery is how many of them pass before the context is asked whether it has ended, which looks at the memory in
// coreutils.Stepwise's: a round may make a text of megabytes.
const askEvery = 16

// breathe ends a program that shall end, and lets others run now and then.
func (m *machine) breathe() {
	m.breaths++
	if m.ended.Load() || m.breaths%askEvery == 0 && m.config.Context != nil && m.config.Context.Err() != nil {
		panic(failure{context.Cause(m.config.Context)})
	}
	if m.breaths%breathEvery == 0 {
		runtime.Gosched()
	}
}

// mostText is how many bytes a text may have that a program makes or reads.
const mostText = 64 << 20

// errMemory is what awk says when there is no more memory.
var errMemory = errors.New("fatal: cannot allocate memory")

// sized returns s, if a text may be as long.
func sized(s string) string {
	if len(s) > mostText {
		panic(failure{errMemory})
	}
	return s
}

// slot holds a variable: a value or an array.
type slot struct {
	value value
	array map[string]value
	// outer is the caller's variable that a parameter stands for while neither
	// has a value: what becomes an array here is one there.
	outer *slot
}

var unset = value{unset: true, numberLike: true}

// machine is a program while it runs.
type machine struct {
	program  *Program
	config   Config
	globals  map[string]*slot
	locals   map[string]*slot // of the function that runs; nil outside of one
	depth    int              // of calls
	result   value            // of the last return
	fields   []string         // the record is fields[0]
	out      *bufio.Writer
	patterns map[string]*coreutils.Pattern
	streams  map[string]*stream
	input    mainInput
	random   *rand.Rand
	seed     float64
	code     int
	breaths  int
	ended    atomic.Bool // config.Context has
}

// jump is what a statement does to the order of things.
type jump int

const (
	goOn jump = iota
	nextRecord
	nextFile
	leaveLoop
	nextRound
	returned
	leave
)

// leavesLoops reports whether j ends loops that it comes through.
func (j jump) leavesLoops() bool {
	return j == nextRecord || j == nextFile || j == returned || j == leave
}

// failure ends the program with an error.
type failure struct{ error }

// unwinding is a jump out of a function, through what is being evaluated.
type unwinding struct{ jump }

// Run runs the program, record by record, and returns its exit code. Errors: the
// program does what awk forbids, a file cannot be read, config.In or Out fail.
func (p *Program) Run(config Config) (code int, err error) {
	m := &machine{
		program: p, config: config, globals: map[string]*slot{}, fields: []string{""}, patterns: map[string]*coreutils.Pattern{},
		streams: map[string]*stream{}, random: rand.New(rand.NewSource(0)),
	}
	if config.Context != nil {
		defer context.AfterFunc(config.Context, func() { m.ended.Store(true) })()
	}
	m.config.Out = locked.NewWriter(config.Out)
	m.out = bufio.NewWriter(m.config.Out)
	for name, v := range map[string]string{"FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "SUBSEP": "\x1c", "CONVFMT": "%.6g", "OFMT": "%.6g", "FILENAME": ""} {
		m.put(name, str(v))
	}
	for _, name := range []string{"NF", "NR", "FNR", "RSTART"} {
		m.put(name, numeric(0))
	}
	m.put("RLENGTH", numeric(-1))
	if config.Separator != "" {
		m.put("FS", str(unescape(config.Separator)))
	}
	arguments := m.array("ARGV")
	for i, argument := range append([]string{"awk"}, config.Arguments...) {
		arguments[numeric(float64(i)).string()] = input(argument)
	}
	m.put("ARGC", numeric(float64(len(arguments))))
	environment := m.array("ENVIRON")
	for name, v := range config.Environment {
		environment[name] = input(v)
	}
	for name, v := range config.Variables {
		m.put(name, input(unescape(v)))
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
		if flushed := m.closeAll(); err == nil {
			err = flushed
		}
	}()
	if j := m.rule(p.begin); j != leave && (len(p.rules) > 0 || len(p.end) > 0) {
		m.records()
	}
	m.rule(p.end)
	return m.code, nil
}

// records runs the rules on each record.
func (m *machine) records() {
	open := make([]bool, len(m.program.rules))
	for {
		line, ok := m.nextLine()
		if !ok {
			return
		}
		m.breathe()
		m.record(line)
		for _, r := range m.program.rules {
			j := m.guarded(func() jump {
				if !m.matches(r, open) {
					return goOn
				}
				body := r.body
				if body == nil {
					body = []statement{printStatement{}}
				}
				return m.run(body)
			})
			if j == nextFile {
				m.input.close()
			}
			if j == nextRecord || j == nextFile {
				break
			} else if j == leave {
				return
			}
		}
		if err := m.out.Flush(); err != nil { // as it comes: what is before may be a watch
			panic(failure{err})
		}
	}
}

// rule runs statements that are in no function.
func (m *machine) rule(body []statement) jump {
	return m.guarded(func() jump { return m.run(body) })
}

// guarded catches a jump out of a function.
func (m *machine) guarded(f func() jump) (j jump) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case unwinding:
			j, m.locals, m.depth = p.jump, nil, 0
		default:
			panic(p)
		}
	}()
	return f()
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
	m.fields = append([]string{line}, m.split(line, m.get("FS").string())...)
	m.put("NF", numeric(float64(len(m.fields)-1)))
}

func (m *machine) split(s, separator string) []string {
	switch {
	case separator == " ":
		return strings.Fields(s)
	case s == "":
		return nil
	case separator == "":
		return strings.Split(s, "")
	case m.get("RS").string() == "": // a newline separates fields then, too
		if len(separator) == 1 {
			separator = regexp.QuoteMeta(separator)
		}
		return m.regexp("(" + separator + ")|\n").Split(s)
	case len(separator) == 1:
		return strings.Split(s, separator)
	}
	return m.regexp(separator).Split(s)
}

// rebuild makes $0 from the fields.
func (m *machine) rebuild() {
	size, separator := 0, m.get("OFS").string()
	for _, f := range m.fields[1:] {
		if size += len(f) + len(separator); size > mostText {
			panic(failure{errMemory})
		}
	}
	m.fields[0] = strings.Join(m.fields[1:], separator)
}

func (m *machine) setField(i int, s string) {
	switch {
	case i == 0:
		m.record(s)
		return
	case i < 0 || i > mostFields:
		panic(failure{fmt.Errorf("there is no field %d", i)})
	}
	for len(m.fields) <= i {
		m.fields = append(m.fields, "")
	}
	m.fields[i] = s
	m.put("NF", numeric(float64(len(m.fields)-1)))
	m.rebuild()
}

// mostFields bounds what an assignment can make of a record.
const mostFields = 1 << 16

func (m *machine) regexp(pattern string) *coreutils.Pattern {
	if p := m.patterns[pattern]; p != nil {
		return p
	}
	ctx := m.config.Context
	if ctx == nil {
		ctx = context.Background()
	}
	p, err := coreutils.CompilePattern(ctx, pattern, true) // as POSIX wants it
	if err != nil {
		panic(failure{fmt.Errorf("bad regular expression %q", pattern)})
	}
	m.patterns[pattern] = p
	return p
}

// slot returns the variable of the name that is seen here, made if there is none.
func (m *machine) slot(name string) *slot {
	if s := m.locals[name]; s != nil {
		return s
	}
	s := m.globals[name]
	if s == nil {
		s = &slot{value: unset}
		m.globals[name] = s
	}
	return s
}

// get and put are for awk's own variables, which are global.
func (m *machine) get(name string) value {
	if s := m.globals[name]; s != nil {
		return s.value
	}
	return unset
}

func (m *machine) put(name string, v value) {
	if s := m.globals[name]; s != nil {
		s.value = v
		return
	}
	m.globals[name] = &slot{value: v}
}

// array returns the array of the name, made if there is none.
func (m *machine) array(name string) map[string]value { return m.slot(name).elements() }

// elements is the slot's array. The caller's variable becomes the same one.
func (s *slot) elements() map[string]value {
	if s.array == nil {
		if s.outer != nil {
			s.array = s.outer.elements()
		} else {
			s.array = map[string]value{}
		}
	}
	return s.array
}

func (m *machine) key(subscript []expression) string {
	parts := make([]string, len(subscript))
	for i, e := range subscript {
		parts[i] = m.text(e.eval(m), "CONVFMT")
	}
	return strings.Join(parts, m.get("SUBSEP").string())
}

// text is v as a string, a number that is not whole in a format of awk's.
func (m *machine) text(v value, format string) string {
	if !v.isNumber || v.isWhole() || v.isOdd() {
		return v.string()
	}
	return sprintf(m, []expression{constant{m.get(format)}, constant{v}}).string()
}

func (m *machine) run(body []statement) jump {
	for _, s := range body {
		if j := s.run(m); j != goOn {
			return j
		}
	}
	return goOn
}

// closeAll ends all streams, commands that are written to last of all with their
// input, and waits for them.
func (m *machine) closeAll() error {
	err := m.out.Flush()
	names := make([]string, 0, len(m.streams))
	for name := range m.streams {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		_, failed := m.streams[name].close()
		err = errors.Join(err, failed)
	}
	m.input.close()
	return err
}
