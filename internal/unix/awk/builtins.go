package awk

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type builtin struct {
	call        func(*machine, []expression) value
	least, most int
}

var builtins map[string]builtin

func init() {
	// Assigned here because builtins call what looks at them.
	builtins = map[string]builtin{
		"length":  {length, 0, 1},
		"substr":  {substr, 2, 3},
		"index":   {index, 2, 2},
		"split":   {split, 2, 3},
		"sub":     {func(m *machine, args []expression) value { return substitute(m, args, false) }, 2, 3},
		"gsub":    {func(m *machine, args []expression) value { return substitute(m, args, true) }, 2, 3},
		"match":   {match, 2, 2},
		"sprintf": {sprintf, 1, 64},
		"toupper": {func(m *machine, args []expression) value { return str(strings.ToUpper(args[0].eval(m).string())) }, 1, 1},
		"tolower": {func(m *machine, args []expression) value { return str(strings.ToLower(args[0].eval(m).string())) }, 1, 1},
		"int":     {func(m *machine, args []expression) value { return numeric(math.Trunc(args[0].eval(m).number())) }, 1, 1},
		"sin":     mathematical(math.Sin),
		"cos":     mathematical(math.Cos),
		"exp":     mathematical(math.Exp),
		"log":     mathematical(math.Log),
		"atan2": {func(m *machine, args []expression) value {
			return numeric(math.Atan2(args[0].eval(m).number(), args[1].eval(m).number()))
		}, 2, 2},
		"rand":   {func(m *machine, _ []expression) value { return numeric(m.random.Float64()) }, 0, 0},
		"srand":  {seed, 0, 1},
		"close":  {func(m *machine, args []expression) value { return m.closeNamed(args[0].eval(m).string()) }, 1, 1},
		"fflush": {flush, 0, 1},
		"system": {system, 1, 1},
		"sqrt":   {func(m *machine, args []expression) value { return numeric(math.Sqrt(args[0].eval(m).number())) }, 1, 1},
	}
}

func mathematical(f func(float64) float64) builtin {
	return builtin{func(m *machine, args []expression) value { return numeric(f(args[0].eval(m).number())) }, 1, 1}
}

// seed returns the seed before, as srand does.
func seed(m *machine, args []expression) value {
	before := m.seed
	m.seed = float64(time.Now().Unix())
	if len(args) == 1 {
		m.seed = args[0].eval(m).number()
	}
	m.random.Seed(int64(m.seed))
	return numeric(before)
}

// flush lets the program's output go, and what it has written to files and commands.
func flush(m *machine, _ []expression) value {
	err := m.out.Flush()
	for _, s := range m.streams {
		if s.out != nil {
			err = errors.Join(err, s.out.Flush())
		}
	}
	if err != nil {
		return numeric(-1)
	}
	return numeric(0)
}

func system(m *machine, args []expression) value {
	if m.config.Command == nil {
		panic(failure{errors.New("there are no commands here")})
	}
	line := args[0].eval(m).string()
	flush(m, nil)
	return numeric(float64(m.config.Command(line, m.config.In, m.config.Out)))
}

func length(m *machine, args []expression) value {
	if len(args) == 0 {
		return numeric(float64(utf8.RuneCountInString(m.fields[0])))
	}
	if name, ok := args[0].(variable); ok {
		if s := m.slot(string(name)); s.array != nil || s.outer != nil && s.outer.array != nil {
			return numeric(float64(len(s.elements())))
		}
	}
	return numeric(float64(utf8.RuneCountInString(args[0].eval(m).string())))
}

func substr(m *machine, args []expression) value {
	s := []rune(args[0].eval(m).string())
	from := math.Round(args[1].eval(m).number())
	to := float64(len(s)) + 1
	if len(args) == 3 {
		to = min(to, from+math.Round(args[2].eval(m).number()))
	}
	from = max(from, 1)
	if !(from < to) { // nor where one of them is not a number
		return str("")
	}
	return str(string(s[int(from)-1 : int(to)-1]))
}

func index(m *machine, args []expression) value {
	before, _, found := strings.Cut(args[0].eval(m).string(), args[1].eval(m).string())
	if !found {
		return numeric(0)
	}
	return numeric(float64(utf8.RuneCountInString(before) + 1))
}

func split(m *machine, args []expression) value {
	name, ok := args[1].(variable)
	if !ok {
		panic(failure{fmt.Errorf("split wants an array")})
	}
	separator := m.get("FS").string()
	if len(args) == 3 {
		if p, ok := args[2].(pattern); ok {
			separator = string(p)
		} else {
			separator = args[2].eval(m).string()
		}
	}
	parts := m.split(args[0].eval(m).string(), separator)
	array := m.array(string(name))
	clear(array)
	for i, part := range parts {
		array[strconv.Itoa(i+1)] = input(part)
	}
	return numeric(float64(len(parts)))
}

func source(m *machine, e expression) string {
	if p, ok := e.(pattern); ok {
		return string(p)
	}
	return e.eval(m).string()
}

func substitute(m *machine, args []expression, all bool) value {
	re, with := m.regexp(source(m, args[0])), args[1].eval(m).string()
	var to target = field{constant{numeric(0)}}
	if len(args) == 3 {
		var ok bool
		if to, ok = args[2].(target); !ok {
			panic(failure{fmt.Errorf("sub and gsub change a variable or a field")})
		}
	}
	count, size := 0, 0
	result := re.ReplaceAll(to.eval(m).string(), func(found string) string {
		if count > 0 && !all {
			return found
		}
		count++
		m.breathe()
		if size += len(with) + strings.Count(with, "&")*len(found); size > mostText {
			panic(failure{errMemory})
		}
		const kept = "\x00"
		return strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(with, `\&`, kept), "&", found), kept, "&")
	})
	if count > 0 {
		to.set(m, str(result))
	}
	return numeric(float64(count))
}

func match(m *machine, args []expression) value {
	s := args[0].eval(m).string()
	at := m.regexp(source(m, args[1])).Find(s)
	if at == nil {
		m.put("RSTART", numeric(0))
		m.put("RLENGTH", numeric(-1))
		return numeric(0)
	}
	start := numeric(float64(utf8.RuneCountInString(s[:at[0]]) + 1))
	m.put("RSTART", start)
	m.put("RLENGTH", numeric(float64(utf8.RuneCountInString(s[at[0]:at[1]]))))
	return start
}

// widest bounds what a format can ask for.
const widest = 1 << 12

func sprintf(m *machine, args []expression) value {
	f := args[0].eval(m).string()
	rest := args[1:]
	next := func() value {
		if len(rest) == 0 {
			return str("")
		}
		v := rest[0].eval(m)
		rest = rest[1:]
		return v
	}
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		if b.Len() > mostText {
			panic(failure{errMemory})
		}
		if f[i] != '%' {
			b.WriteByte(f[i])
			continue
		}
		start := i
		for i++; i < len(f) && strings.IndexByte("-+ #0123456789.*", f[i]) >= 0; i++ {
		}
		if i == len(f) {
			b.WriteString(f[start:])
			break
		}
		flags := f[start:i]
		for strings.Contains(flags, "*") {
			flags = strings.Replace(flags, "*", strconv.Itoa(int(next().number())), 1)
		}
		for _, n := range strings.FieldsFunc(flags, func(r rune) bool { return r < '0' || r > '9' }) {
			if n, err := strconv.Atoi(n); err != nil || n > widest {
				panic(failure{fmt.Errorf("the width in %q is too large", flags)})
			}
		}
		switch verb := f[i]; verb {
		case '%':
			b.WriteByte('%')
		case 'd', 'i':
			fmt.Fprintf(&b, flags+"d", int64(next().number()))
		case 'o', 'x', 'X', 'u':
			if verb == 'u' {
				verb = 'd'
			}
			fmt.Fprintf(&b, flags+string(verb), int64(next().number()))
		case 'e', 'E', 'f', 'F', 'g', 'G':
			fmt.Fprintf(&b, flags+string(verb), next().number())
		case 's':
			fmt.Fprintf(&b, flags+"s", next().string())
		case 'c':
			v := next()
			if v.isNumber {
				fmt.Fprintf(&b, flags+"c", rune(v.n))
			} else {
				r, _ := utf8.DecodeRuneInString(v.string())
				fmt.Fprintf(&b, flags+"c", r)
			}
		default:
			b.WriteString(f[start : i+1])
		}
	}
	return str(b.String())
}
