package bash

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Variables are those of a shell that a script is parsed for. It is what expand.Environ has.
type Variables interface {
	Get(name string) expand.Variable
}

// Mend changes a tree so that it can be run: the interpreter panics for some of what its parser takes, and Go ends the
// process for a panic in a goroutine, such as that of a pipeline. It fails with a syntax.ParseError for a tree that is
// nested too deeply, and for what has to be refused. vars may be nil.
//
//   - ((a[i] += 2)), ((a[i]++)) and the like, as statements or parts of `let`, become assignments. Within expressions they
//     are refused.
//   - ((++a++)) is refused, as by bash.
//   - declare -A a=(k v) becomes a=([k]=v), as in bash; what has no key beside others that have one is refused.
//   - ${a[i-1]} becomes ${a["i-1"]} where a is an associative array, and ${a[$((i-1))]} where it is not known to be one.
//   - [[ -v $name ]] is false where the name is empty.
//   - [[ a && b ]] looks at b where a is true, see condition, and is traced.
//   - $(<file) says once that there is no such file, and fails, see contents.
//   - A loop that counts ends when its condition says so, see loop.
//   - a=\$b becomes a="\$"b, see escapes.
//   - ~ behind a colon of an assignment becomes $HOME, see tildes.
//   - $! becomes a variable, see [Jobs], and so does $$. What mentions PIPESTATUS sets it before, see statuses.
//   - export -p and the like, without names, become a call of a program that lists variables, see listing.
//   - <(command) becomes $(command | __spool), see [Spool]. A statement with >(command) becomes a call of __outputs, see
//     [outputs].
func Mend(node syntax.Node, vars Variables) error {
	_, err := mend(node, "", "", vars)
	return err
}

// mend is Mend for a tree of text, which may be empty. It reports whether it has changed the tree.
func mend(node syntax.Node, text, name string, vars Variables) (changed bool, err error) {
	if err := shallow(node, name); err != nil {
		return false, err
	}
	m := &mender{text: text, name: name, vars: vars, maps: map[string]bool{}, quoted: map[*syntax.ParamExp]bool{}, traces: turnsTraceOn(node), hasPipes: mentions(node, pipeStatus) || mentions(node, "ERR"), reported: map[*syntax.Stmt]bool{}, inherits: map[*syntax.Stmt]bool{}}
	if shell, ok := vars.(interface{ traced() bool }); ok {
		m.traces = m.traces || shell.traced()
	}
	syntax.Walk(node, func(node syntax.Node) bool {
		if decl, ok := node.(*syntax.DeclClause); ok {
			m.declared(decl)
		}
		return true
	})
	syntax.Walk(node, m.visit)
	return m.changed, m.err
}

type mender struct {
	text, name string
	vars       Variables                   // nil: not known
	maps       map[string]bool             // that the tree declares to be associative arrays
	taken      map[syntax.WordPart]bool    // the >(command) that their statements see to
	quoted     map[*syntax.ParamExp]bool   // that are in double quotes
	traces     bool                        // set -x may be on
	tests      map[*syntax.TestClause]bool // that are traced
	hasPipes   bool                        // the tree mentions PIPESTATUS, or a trap of ERR
	reported   map[*syntax.Stmt]bool       // that set it, or are none of the script's
	inherits   map[*syntax.Stmt]bool       // that begin a subshell
	changed    bool
	err        error // the first
}

func (m *mender) refuse(at syntax.Node, why string) {
	if m.err == nil {
		m.err = syntax.ParseError{Filename: m.name, Pos: at.Pos(), Text: why}
	}
}

// visit mends a node before Walk goes on with what is in it.
func (m *mender) visit(node syntax.Node) bool {
	m.escapes(node)
	m.inherit(node)
	switch node := node.(type) {
	case *syntax.Stmt:
		m.listing(node)
		m.statuses(node)
		m.output(node)
		m.loop(node)
		m.condition(node)
		switch cmd := node.Cmd.(type) {
		case *syntax.ArithmCmd:
			m.statement(node, []syntax.ArithmExpr{cmd.X})
		case *syntax.LetClause:
			m.statement(node, cmd.Exprs)
		}
	case *syntax.UnaryArithm:
		if node.Op == syntax.Inc || node.Op == syntax.Dec {
			m.assigned(node, node.X)
		}
	case *syntax.BinaryArithm:
		if _, ok := assignments[node.Op]; ok || node.Op == syntax.Assgn {
			m.assigned(node, node.X)
		}
	case *syntax.Assign:
		m.assignment(node)
	case *syntax.Word:
		m.substitute(node)
	case *syntax.CmdSubst:
		m.contents(node)
	case *syntax.ParamExp:
		if node.Param != nil && node.Param.Value == "!" {
			node.Param.Value, node.Short, m.changed = LastJob, false, true
		}
		if node.Param != nil && node.Param.Value == "$" {
			node.Param.Value, node.Short, m.changed = ownNumber, false, true
		}
		if node.Index != nil && node.Param != nil {
			node.Index = m.index(node.Param.Value, node.Index)
		}
	case *syntax.UnaryTest:
		if node.Op == syntax.TsVarSet || node.Op == syntax.TsRefVar {
			m.variable(node)
		}
	}
	return m.err == nil
}

// assigned refuses what an expression assigns to that is no name.
func (m *mender) assigned(node, to syntax.Node) {
	word, ok := to.(*syntax.Word)
	if !ok {
		m.refuse(node, "assignment requires lvalue")
	} else if word.Lit() == "" {
		m.refuse(node, "an element of an array can be assigned to as in ((a[0]++)), and not within an expression")
	}
}

// variable lets the name of [[ -v ]] and [[ -R ]] not be empty. No variable has the name of one space.
func (m *mender) variable(test *syntax.UnaryTest) {
	word, ok := test.X.(*syntax.Word)
	if !ok {
		return
	}
	parts := word.Parts
	if len(parts) == 1 {
		if quoted, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = quoted.Parts
		}
	}
	none := &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: " "}}}
	if len(parts) == 1 {
		switch part := parts[0].(type) {
		case *syntax.ParamExp:
			if part.Exp == nil && part.Slice == nil && part.Repl == nil && !part.Excl && !part.Length && part.Names == 0 {
				part.Short, part.Exp = false, &syntax.Expansion{Op: syntax.DefaultUnsetOrNull, Word: none}
				m.changed = true
			}
		case *syntax.SglQuoted:
			if part.Value == "" {
				test.X, m.changed = none, true
			}
		}
	} else if len(parts) == 0 {
		test.X, m.changed = none, true
	}
}

// isText reports whether the interpreter takes the index of an array's first element for a sign that its keys are texts.
func isText(index syntax.ArithmExpr) bool {
	word, ok := index.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return false
	}
	switch word.Parts[0].(type) {
	case *syntax.DblQuoted, *syntax.SglQuoted:
		return true
	}
	return false
}

// declared notes the names after declare -A.
func (m *mender) declared(decl *syntax.DeclClause) {
	isMap := false
	for _, arg := range decl.Args {
		switch {
		case arg.Name == nil:
			flag := arg.Value.Lit()
			isMap = isMap || strings.HasPrefix(flag, "-") && strings.Contains(flag, "A")
		case arg.Naked && strings.HasPrefix(arg.Name.Value, "-"):
			isMap = isMap || strings.Contains(arg.Name.Value, "A")
		case isMap:
			m.maps[arg.Name.Value] = true
		}
	}
}

// isMap reports whether a name is known to be an associative array's.
func (m *mender) isMap(name string) bool {
	return m.maps[name] || m.vars != nil && m.vars.Get(name).Kind == expand.Associative
}

// index is what the interpreter is to have for an expression between brackets: it takes none but a word for a key.
func (m *mender) index(name string, expr syntax.ArithmExpr) syntax.ArithmExpr {
	if _, ok := expr.(*syntax.Word); ok {
		return expr
	}
	m.changed = true
	if m.isMap(name) {
		if key, err := m.textOf(expr); err == nil {
			return key
		}
	}
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.ArithmExp{X: expr}}}
}

func (m *mender) assignment(assign *syntax.Assign) {
	if assign.Name == nil {
		return
	}
	m.tildes(assign)
	name := assign.Name.Value
	if assign.Index != nil {
		assign.Index = m.index(name, assign.Index)
	}
	if array := assign.Array; array != nil && len(array.Elems) > 0 && (m.isMap(name) || isText(array.Elems[0].Index)) {
		m.keys(name, array)
	}
}

// keys gives each element of an associative array a key that is a word.
func (m *mender) keys(name string, array *syntax.ArrayExpr) {
	without := 0
	for _, elem := range array.Elems {
		switch index := elem.Index.(type) {
		case nil:
			without++
		case *syntax.Word:
		default:
			key, err := m.textOf(index)
			if err != nil {
				m.refuse(array, name+": bad array subscript")
				return
			}
			elem.Index, m.changed = key, true
		}
	}
	switch {
	case without == 0:
		return
	case without < len(array.Elems):
		m.refuse(array, name+": must use subscript when assigning associative array")
		return
	}
	var pairs []*syntax.ArrayElem
	for i := 0; i < len(array.Elems); i += 2 {
		pair := &syntax.ArrayElem{Index: array.Elems[i].Value}
		if i+1 < len(array.Elems) {
			pair.Value = array.Elems[i+1].Value
		}
		pairs = append(pairs, pair)
	}
	array.Elems, m.changed = pairs, true
}

var errNoText = errors.New("the text of the script is not known")

// textOf returns the word that an expression is as a text between double quotes.
func (m *mender) textOf(expr syntax.ArithmExpr) (*syntax.Word, error) {
	from, to := int(expr.Pos().Offset()), int(expr.End().Offset())
	if from >= to || to > len(m.text) {
		return nil, errNoText
	}
	word, err := NewParser().Document(Bounded(strings.NewReader(m.text[from:to])))
	if err != nil || word == nil {
		return nil, errors.Join(errNoText, err)
	}
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: word.Parts}}}, nil
}
