package shell

import (
	"fmt"
	"io"
	"os"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/core/coreutils"
)

// spool is the program that takes the place of the pipe in <(command): the
// interpreter wants one with a name in the file system, which there is none of in
// a tab.
const spool = "__spool"

// substituteProcesses makes <(command) in a statement $(command | __spool): the
// name of a file that holds what the command has printed. It is there until the
// line that it stands in has been run.
func substituteProcesses(stmt *syntax.Stmt) {
	syntax.Walk(stmt, func(node syntax.Node) bool {
		word, ok := node.(*syntax.Word)
		if !ok {
			return true
		}
		for i, part := range word.Parts {
			process, ok := part.(*syntax.ProcSubst)
			if !ok || process.Op != syntax.CmdIn {
				continue
			}
			program := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: spool}}}
			pipe := &syntax.BinaryCmd{
				Op: syntax.Pipe,
				X:  &syntax.Stmt{Cmd: &syntax.Block{Stmts: process.Stmts}},
				Y:  &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{program}}},
			}
			word.Parts[i] = &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: pipe}}}
		}
		return true
	})
}

// spool keeps standard input in a file and prints its name.
func (k *session) spool(c *coreutils.Call) int {
	f, err := os.CreateTemp(k.shell.config.Temp, "fd-*")
	if err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	defer f.Close()
	k.mu.Lock()
	k.spooled = append(k.spooled, f.Name())
	k.mu.Unlock()
	if _, err := io.Copy(f, c.Stdin); err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	fmt.Fprintln(c.Stdout, f.Name())
	return 0
}

// forgetSpooled removes the files of the line that has been run.
func (k *session) forgetSpooled() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range k.spooled {
		_ = os.Remove(name) // the line may have done so
	}
	k.spooled = nil
}
