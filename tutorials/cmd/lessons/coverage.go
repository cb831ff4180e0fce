package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/tutorials/load"
)

var references = []string{
	"API concepts (v1.19)", "API conventions", "The reference section of v1.30", "Resource versions and watch", "API terms, change detection, resource versions",
}

// coverageFile is COVERAGE.md: each heading of the reference, and the lessons that teach it.
func coverageFile(all *load.Tutorials) []byte {
	var out bytes.Buffer
	by := taughtBy(all)
	covered := 0
	for _, h := range all.Headings {
		if len(by[h.Number]) > 0 {
			covered++
		}
	}
	fmt.Fprintf(&out, "# Which lesson teaches which part of the reference\n\nWritten by `go run ./tutorials/cmd/lessons -coverage` from `covers` in each lesson.yaml and from reference.yaml.\n%d of %d headings are covered by %d lessons.\n", covered, len(all.Headings), len(all.IDs()))
	last := ""
	for _, h := range all.Headings {
		file, _, _ := strings.Cut(h.Number, "-")
		if file != last {
			var title string
			if i := int(file[0] - '0'); i < len(references) {
				title = references[i]
			}
			fmt.Fprintf(&out, "\n## %s: %s\n\n| heading | | lessons |\n| --- | --- | --- |\n", file, title)
			last = file
		}
		lessons := strings.Join(by[h.Number], ", ")
		if lessons == "" {
			lessons = "(none yet)"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", h.Number, strings.ReplaceAll(h.Title, "|", `\|`), lessons)
	}
	return out.Bytes()
}

func taughtBy(all *load.Tutorials) map[string][]string {
	by := map[string][]string{}
	for _, id := range all.IDs() {
		for _, number := range all.Lessons[id].Covers {
			if !slices.Contains(by[number], id) {
				by[number] = append(by[number], id)
			}
		}
	}
	return by
}
