package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// spool is the program that takes the place of the pipe in <(command): the
// interpreter wants one with a name in the file system, which there is none of in
// a tab.
const spool = "__spool"

// substituteProcesses makes <(command) in a statement $(command | __spool): the
// name of a file that holds what the command has printed. It is there until the
// line that it stands in has been run, or the job has ended.
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

// spools are the files that stand for <(command) in a line or a job.
type spools struct {
	mu    sync.Mutex
	names []string
}

type spoolsKey struct{}

// withSpools returns the context of a line or of a job, and what removes its files.
func withSpools(ctx context.Context) (of context.Context, remove func()) {
	s := &spools{}
	return context.WithValue(ctx, spoolsKey{}, s), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, name := range s.names {
			_ = os.Remove(name) // the line may have done so
		}
	}
}

// spool keeps standard input in a file and prints its name.
func (k *session) spool(c *coreutils.Call) int {
	of, ok := c.Value(spoolsKey{}).(*spools)
	if !ok {
		return c.Fail("is not for commands")
	}
	f, err := os.CreateTemp(k.shell.config.Temp, "fd-*")
	if err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	defer f.Close()
	of.mu.Lock()
	of.names = append(of.names, f.Name())
	of.mu.Unlock()
	if _, err := io.Copy(f, c.Stdin); err != nil {
		return c.Fail("%s", coreutils.Reason(err))
	}
	fmt.Fprintln(c.Stdout, f.Name())
	return 0
}
