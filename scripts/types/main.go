// Command types writes what the page is answered, and what is in the files of the lessons, as TypeScript, from the Go types
// that both are made of:
//
//	make types
//
// Fields become optional by omitempty. A tag tstype says in TypeScript what a Go type does not say. tygo (github.com/gzuidhof/tygo) does the work. It has a module of its own here,
// because it requires other versions of modules that Kubernetes requires, too. The results are in the repository: an
// editor needs them, and make check says when they are not what this command writes.
package main

import (
	"fmt"
	"os"
	"path"

	"github.com/gzuidhof/tygo/tygo"
)

const module = "github.com/kubetab/kubetab/"

// answers are the packages whose exported types the page reads: those of answers.go, and of the files named here.
var answers = []struct {
	pkg     string
	files   []string
	imports string
}{
	{"core", nil, ""},
	{"core/cluster", nil, "import type { EngineSettings } from '../protocol';\n"},
	{"core/choices", []string{"choices.go"}, "import type * as controllers from './controllers';\n"},
	{"core/controllers", []string{"choices.go"}, ""},
	{"core/requestlog", nil, "import type { HeaderPair } from '../protocol';\n"},
	{"core/shell", nil, ""},
	{"wasm", nil, "import type { Choices } from './choices';\nimport type { KindCount } from './cluster';\n"},
	{"wasm/boundary", nil, ""},
	{"server/share", nil, ""},
	{"tutorials", []string{"lesson.go", "state.go"}, ""},
	{"tutorials/load", nil, ""},
	{"tutorials/cmd/lessons", nil, "import type { Block } from './load';\nimport type * as tutorials from './tutorials';\n"},
}

// others are Go types of which TypeScript has its own.
var others = map[string]string{
	"time.Time":          "string /* RFC 3339 */",
	"json.RawMessage":    "unknown",
	"bundle.Settings":    "EngineSettings",
	"controllers.Choice": "controllers.Choice",
	"choices.Choices":    "Choices",
	"cluster.KindCount":  "KindCount",
	"load.Block":         "Block",
	"tutorials.Clock":    "tutorials.Clock",
	"tutorials.Engine":   "tutorials.Engine",
	"tutorials.Text":     "tutorials.Text",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: types FOLDER, at the root of the repository")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "types:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	c := &tygo.Config{TypeMappings: others}
	for _, a := range answers {
		c.Packages = append(c.Packages, &tygo.PackageConfig{
			Path:             module + a.pkg,
			OutputPath:       path.Join(folder, path.Base(a.pkg)+".ts"),
			Indent:           "  ",
			IncludeFiles:     append(a.files, "answers.go"),
			Frontmatter:      "// Written by scripts/types from " + a.pkg + ".\n" + a.imports,
			FallbackType:     "unknown",
			PreserveComments: "types",
			EnumStyle:        "union",
		})
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return tygo.New(c).Generate()
}
