// Command lessons turns tutorials/ into the files that
// the page and people read.
//
//	go run ./tutorials/cmd/lessons -out DIR    the files that the page fetches
//	go run ./tutorials/cmd/lessons -coverage   tutorials/COVERAGE.md
//	go run ./tutorials/cmd/lessons -schema     tutorials/schema.json
//
// It fails with all that is wrong with the lessons.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubetab/kubetab/tutorials/load"
)

func main() {
	from := flag.String("tutorials", "tutorials", "`folder` of the lessons")
	out := flag.String("out", "", "`folder` to write the page's files to")
	coverage := flag.Bool("coverage", false, "write COVERAGE.md beside the lessons")
	schema := flag.Bool("schema", false, "write schema.json beside the lessons")
	flag.Parse()
	if err := run(*from, *out, *coverage, *schema); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(from, out string, coverage, schema bool) error {
	if schema {
		if err := os.WriteFile(filepath.Join(from, "schema.json"), schemaFile(), 0o644); err != nil {
			return err
		}
	}
	if out == "" && !coverage {
		return nil
	}
	all, err := load.All(os.DirFS(from))
	if err != nil {
		return err
	}
	if coverage {
		if err := os.WriteFile(filepath.Join(from, "COVERAGE.md"), coverageFile(all), 0o644); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	files, err := pageFiles(all)
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
