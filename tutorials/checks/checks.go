// Package checks compiles the CEL of lessons, for the evaluator and for the loader, which refuses expressions that do
// not compile or cost too much.
//
// The environment is the one of Kubernetes' own CEL (k8s.io/apiserver/pkg/cel/environment), with all its libraries, and
// the variables that tutorials/README.md lists.
package checks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/kubetab/kubetab/tutorials"
)

// MostCost is what an expression may cost by estimate, in CEL's units, where a list is taken to have typicalSize entries.
// One evaluation may cost environment's PerCallLimit (a million): one that costs more is an error.
const MostCost = 20_000_000

// typicalSize bounds lists, maps and strings in the estimate of costs.
const typicalSize = 100

// Variables that every expression may use, beside the names in objects.
const (
	Request     = "request"
	Requests    = "requests"
	PodRequests = "podRequests"
	Earlier     = "earlier"
	Namespace   = "ns"
	Now         = "now"
)

// requestFields are those of a request; a name that is not here is a mistake and not a key that may come.
var requestFields = []string{
	"id", "at", "verb", "method", "path", "query", "headers", "group", "version", "resource", "subresource", "namespace", "name",
	"user", "by", "body", "status", "answer", "events", "done", "watch",
}

var answerFields = []string{"headers", "body", "text", "warnings", "reason"}

// Compiler compiles the expressions of one lesson.
type Compiler struct {
	env *cel.Env
}

// New returns a compiler that knows the names of a lesson's objects. Errors: a name that is none, or that is taken.
func New(l *tutorials.Lesson) (*Compiler, error) {
	request := cel.MapType(cel.StringType, cel.DynType)
	options := []cel.EnvOption{
		cel.Variable(Request, request),
		cel.Variable(Requests, cel.ListType(request)),
		cel.Variable(PodRequests, cel.ListType(request)),
		cel.Variable(Earlier, cel.MapType(cel.StringType, request)),
		cel.Variable(Namespace, cel.StringType),
		cel.Variable(Now, cel.TimestampType),
		cel.Variable(tutorials.AnswersVariable, cel.ListType(cel.DynType)),
	}
	for name := range l.Objects {
		if !isName(name) {
			return nil, fmt.Errorf("objects: %q is no name: letters, digits and _, a letter first", name)
		}
		if slices.Contains([]string{Request, Requests, PodRequests, Earlier, Namespace, Now, tutorials.AnswersVariable}, name) {
			return nil, fmt.Errorf("objects: %q is the name of something else", name)
		}
		options = append(options, cel.Variable(name, cel.ListType(cel.DynType)))
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
	})
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	return &Compiler{set.StoredExpressionsEnv()}, nil
}

func isName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// Expression is CEL that can be evaluated.
type Expression struct {
	program cel.Program
	uses    []string
	earlier []string
}

// Uses reports whether the expression looks at a variable.
func (e *Expression) Uses(name string) bool { return slices.Contains(e.uses, name) }

// UsesEarlier reports whether the expression looks at the request that made a check true.
func (e *Expression) UsesEarlier(check string) bool {
	return e != nil && (slices.Contains(e.earlier, check) || slices.Contains(e.earlier, all))
}

// all stands for every check, in an expression that does not name those it looks at.
const all = "*"

// Bool compiles an expression that is true or false.
func (c *Compiler) Bool(text string) (*Expression, error) { return c.compile(text, cel.BoolType) }

// String compiles an expression that is a string.
func (c *Compiler) String(text string) (*Expression, error) { return c.compile(text, cel.StringType) }

func (c *Compiler) compile(text string, want *cel.Type) (*Expression, error) {
	parsed, issues := c.env.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, fmt.Errorf("does not compile: %s", oneLine(issues.Err()))
	}
	if got := parsed.OutputType(); !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("is a %s and should be a %s", got, want)
	}
	uses, err := look(parsed.NativeRep().Expr())
	if err != nil {
		return nil, err
	}
	estimator := &library.CostEstimator{SizeEstimator: sizes{}}
	if cost, err := c.env.EstimateCost(parsed, estimator, checker.PresenceTestHasCost(false)); err != nil {
		return nil, fmt.Errorf("has no cost: %w", err)
	} else if cost.Max > MostCost {
		return nil, fmt.Errorf("costs too much: up to %s by estimate, and %d is allowed; look through fewer lists within lists", shown(cost.Max), MostCost)
	}
	program, err := c.env.Program(parsed)
	if err != nil {
		return nil, fmt.Errorf("does not compile: %w", err)
	}
	return &Expression{program, uses, earlierOf(parsed.NativeRep().Expr())}, nil
}

func shown(cost uint64) string {
	if cost == math.MaxUint64 {
		return "no limit"
	}
	return fmt.Sprint(cost)
}

func oneLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	text := strings.TrimPrefix(lines[0], "ERROR: <input>:")
	return strings.TrimSpace(text)
}

// look finds the variables of an expression, and fields that a request does not have.
func look(e celast.Expr) (uses []string, err error) {
	// requests are the names that stand for one: the variable, and what runs through the list of all.
	requests := map[string]bool{Request: true}
	visit := func(e celast.Expr) {
		switch e.Kind() {
		case celast.IdentKind:
			if name := e.AsIdent(); !slices.Contains(uses, name) {
				uses = append(uses, name)
			}
		case celast.ComprehensionKind:
			c := e.AsComprehension()
			if r := c.IterRange(); r.Kind() == celast.IdentKind && (r.AsIdent() == Requests || r.AsIdent() == PodRequests) {
				requests[c.IterVar()] = true
			}
		}
	}
	celast.PreOrderVisit(e, celast.NewExprVisitor(visit))
	isRequest := func(e celast.Expr) bool { return e.Kind() == celast.IdentKind && requests[e.AsIdent()] }
	celast.PreOrderVisit(e, celast.NewExprVisitor(func(e celast.Expr) {
		if e.Kind() != celast.SelectKind {
			return
		}
		s := e.AsSelect()
		of := s.Operand()
		switch {
		case isRequest(of) && !slices.Contains(requestFields, s.FieldName()):
			err = fmt.Errorf("a request has no %q: it has %s", s.FieldName(), strings.Join(requestFields, ", "))
		case of.Kind() == celast.SelectKind && of.AsSelect().FieldName() == "answer" && isRequest(of.AsSelect().Operand()) && !slices.Contains(answerFields, s.FieldName()):
			err = fmt.Errorf("an answer has no %q: it has %s", s.FieldName(), strings.Join(answerFields, ", "))
		}
	}))
	return uses, err
}

// earlierOf finds the checks at whose requests an expression looks: earlier.name and earlier["name"].
func earlierOf(e celast.Expr) []string {
	isEarlier := func(e celast.Expr) bool { return e.Kind() == celast.IdentKind && e.AsIdent() == Earlier }
	var names []string
	uses := 0 // of the variable; more than names are if it is used in another way
	celast.PreOrderVisit(e, celast.NewExprVisitor(func(e celast.Expr) {
		switch e.Kind() {
		case celast.IdentKind:
			if isEarlier(e) {
				uses++
			}
		case celast.SelectKind:
			if s := e.AsSelect(); isEarlier(s.Operand()) {
				names = append(names, s.FieldName())
			}
		case celast.CallKind:
			args := e.AsCall().Args()
			if e.AsCall().FunctionName() != operators.Index || !isEarlier(args[0]) || args[1].Kind() != celast.LiteralKind {
				return
			}
			if name, ok := args[1].AsLiteral().Value().(string); ok {
				names = append(names, name)
			}
		}
	}))
	if uses > len(names) {
		return []string{all}
	}
	return names
}

// sizes says how large things are taken to be that nothing is known of.
type sizes struct{}

func (sizes) EstimateSize(checker.AstNode) *checker.SizeEstimate {
	return &checker.SizeEstimate{Min: 0, Max: typicalSize}
}

func (sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// Bool evaluates an expression made by Compiler.Bool. What looks for a field, a key or an entry that is not there is
// false: that something is missing is no mistake, and neither is null where there may be a list, as a
// CustomResourceDefinition's conditions are at first. Errors: those of CEL, and too high a cost.
func (e *Expression) Bool(variables map[string]any) (bool, error) {
	value, err := e.eval(variables)
	if value == nil || err != nil {
		return false, err
	}
	result, _ := value.Value().(bool) // a dyn that is something else is not true
	return result, nil
}

// String evaluates an expression made by Compiler.String; a missing field makes it empty.
func (e *Expression) String(variables map[string]any) (string, error) {
	value, err := e.eval(variables)
	if value == nil || err != nil {
		return "", err
	}
	result, _ := value.Value().(string)
	return result, nil
}

func (e *Expression) eval(variables map[string]any) (ref.Val, error) {
	value, _, err := e.program.Eval(variables)
	if err == nil {
		return value, nil
	}
	for _, missing := range []string{"no such key", "no such attribute", "no such overload", "index out of bounds", "out of range", "unsupported index", "got 'types.Null', expected iterable type"} {
		if strings.Contains(err.Error(), missing) {
			return nil, nil
		}
	}
	return nil, err
}
