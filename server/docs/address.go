package docs

import (
	"regexp"
	"slices"
	"strings"
)

// address matches one of a file, as in kubectl apply -f https://k8s.io/examples/application/deployment.yaml.
var address = regexp.MustCompile(`https?://[\w.:-]+/[\w./-]+`)

// localFiles returns lines with the names of a document's files in place of addresses that end with them: what an example
// fetches is what its reader sees, and no network is needed.
func localFiles(lines string, names []string) string {
	return address.ReplaceAllStringFunc(lines, func(found string) string {
		for _, name := range names {
			if strings.HasSuffix(found, "/"+name) {
				return name
			}
		}
		return found
	})
}

// namesIn returns the names of files that localFiles puts into lines.
func namesIn(lines string, names []string) (found []string) {
	for _, at := range address.FindAllString(lines, -1) {
		if name := localFiles(at, names); name != at && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}
