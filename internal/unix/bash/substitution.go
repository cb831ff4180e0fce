package bash

import "mvdan.cc/sh/v3/syntax"

// Spool is the program that takes the place of the pipe in <(command), and that Config.Exec has: it keeps its standard
// input in a file and prints the file's name. The interpreter wants a pipe with a name in the file system, which there is
// none of in a tab, and which a container does not see.
const Spool = "__spool"

// substitute makes <(command) in a word $(command | __spool), and refuses >(command).
func (m *mender) substitute(word *syntax.Word) {
	for i, part := range word.Parts {
		process, ok := part.(*syntax.ProcSubst)
		if !ok {
			continue
		}
		if process.Op != syntax.CmdIn {
			m.refuse(process, ">(command) is not supported")
			return
		}
		pipe := &syntax.BinaryCmd{
			Op: syntax.Pipe,
			X:  &syntax.Stmt{Position: process.Pos(), Cmd: &syntax.Block{Stmts: process.Stmts}},
			Y:  &syntax.Stmt{Position: process.Pos(), Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(Spool)}}},
		}
		word.Parts[i] = &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Position: process.Pos(), Cmd: pipe}}}
		m.changed = true
	}
}
