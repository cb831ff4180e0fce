package shell

import (
	"errors"
	"math/rand/v2"
	"reflect"

	"github.com/itchyny/gojq"
)

// What is nested, gojq compiles, compares and prints by calls within each other, and Go ends the process when a stack is
// full: at 1,000,000 levels in a tab, and at half as many where filters are compiled, which a long filter has.
const (
	// mostFilter is how many bytes a filter may have.
	mostFilter = 64 << 10
	// mostLevels is how deep a value may be. jq refuses to read and to print what is deeper.
	mostLevels = 10_000
	// valuesPerLook is after how many values that a filter makes one is looked at, on average. Each is at most a level deeper
	// than what it is made of.
	valuesPerLook = 256
)

var (
	errLongFilter = errors.New("the filter is too long")
	errDeepValue  = errors.New("exceeds depth limit (10000)")
)

// shallow is a function of filters that fails for an argument which is nested too deeply.
const shallow = "__shallow"

// parseFilter parses a filter in which every value that is put into another one passes through shallow.
func parseFilter(filter string) (*gojq.Query, error) {
	if len(filter) > mostFilter {
		return nil, errLongFilter
	}
	query, err := gojq.Parse(filter)
	if err == nil {
		watchLevels(reflect.ValueOf(query))
	}
	return query, err
}

// withShallow gives a filter the function.
func withShallow() gojq.CompilerOption {
	return gojq.WithFunction(shallow, 1, 1, func(_ any, args []any) any {
		if rand.IntN(valuesPerLook) == 0 && isDeep(args[0]) {
			return errDeepValue
		}
		return args[0]
	})
}

// watchLevels puts shallow around the arrays, objects and assignments of a filter.
func watchLevels(node reflect.Value) {
	switch node.Kind() {
	case reflect.Pointer:
		if node.IsNil() {
			return
		}
		watchLevels(node.Elem())
		switch of := node.Interface().(type) {
		case *gojq.Term:
			if of.Type == gojq.TermTypeArray || of.Type == gojq.TermTypeObject || of.Type == gojq.TermTypeFunc && of.Func.Name == "setpath" {
				made := *of
				made.SuffixList = nil
				*of = gojq.Term{Type: gojq.TermTypeFunc, Func: called(&gojq.Query{Term: &made}), SuffixList: of.SuffixList}
			}
		case *gojq.Query:
			if of.Op >= gojq.OpAssign && of.Op <= gojq.OpUpdateAlt {
				assigned := *of
				assigned.FuncDefs = nil
				*of = gojq.Query{FuncDefs: of.FuncDefs, Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: called(&assigned)}}
			}
		}
	case reflect.Struct:
		for i := range node.NumField() {
			watchLevels(node.Field(i))
		}
	case reflect.Slice:
		for i := range node.Len() {
			watchLevels(node.Index(i))
		}
	}
}

func called(with *gojq.Query) *gojq.Func {
	return &gojq.Func{Name: shallow, Args: []*gojq.Query{with}}
}

// isDeep reports whether a value has more than mostLevels levels, without a call for each of them.
func isDeep(v any) bool {
	type inner struct {
		value any
		level int
	}
	for left := []inner{{v, 0}}; len(left) > 0; {
		last := left[len(left)-1]
		left = left[:len(left)-1]
		if last.level > mostLevels {
			return true
		}
		add := func(v any) {
			switch v.(type) {
			case []any, map[string]any:
				left = append(left, inner{v, last.level + 1})
			}
		}
		switch value := last.value.(type) {
		case []any:
			for _, v := range value {
				add(v)
			}
		case map[string]any:
			for _, v := range value {
				add(v)
			}
		}
	}
	return false
}
