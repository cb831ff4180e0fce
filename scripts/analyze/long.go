package main

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// longest is how many lines a function may have, from its first line to its closing brace, whose comment gives no reason
// for more.
const longest = 80

// reason is how a comment begins to give one.
const reason = "is long because"

// long reports functions that are too long to be read at once. Functions of tests may be longer: many are a table.
var long = &analysis.Analyzer{
	Name: "long",
	Doc:  "report functions of more than 80 lines whose comment does not say why",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			if strings.HasSuffix(pass.Fset.File(file.Pos()).Name(), "_test.go") || ast.IsGenerated(file) {
				continue
			}
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				lines := pass.Fset.Position(f.End()).Line - pass.Fset.Position(f.Pos()).Line + 1
				comment := strings.Join(strings.Fields(f.Doc.Text()), " ")
				if lines > longest && !strings.Contains(comment, reason) {
					pass.Reportf(f.Name.Pos(), "%s has %d lines, more than %d: split it, or say in its comment that it %s ...", f.Name.Name, lines, longest, reason)
				}
			}
		}
		return nil, nil
	},
}
