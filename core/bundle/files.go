package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// checkPaths refuses paths that checkPath refuses, that are not sorted, and that lead through what is a file.
func checkPaths(files []File) error {
	var starts []string // files whose paths the next one may begin with
	for i, f := range files {
		if err := checkPath(f.Path); err != nil {
			return fmt.Errorf("file %d, %q: %w", i+1, f.Path, err)
		}
		if i > 0 && files[i-1].Path >= f.Path {
			return fmt.Errorf("file %d, %q: it follows %q, and files are sorted by path", i+1, f.Path, files[i-1].Path)
		}
		for len(starts) > 0 && !strings.HasPrefix(f.Path, starts[len(starts)-1]) {
			starts = starts[:len(starts)-1]
		}
		for _, start := range starts {
			if f.Path[len(start)] == '/' {
				return fmt.Errorf("file %d, %q: %q is a file and no folder", i+1, f.Path, start)
			}
		}
		starts = append(starts, f.Path)
	}
	return nil
}

// checkPath refuses what leads out of the workspace, what no file system takes, and what is kubectl's own.
func checkPath(path string) error {
	switch {
	case !fs.ValidPath(path) || path == "." || strings.ContainsAny(path, "\\\x00"):
		return errors.New("it is no path within a workspace")
	case slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return len(name) > mostName }):
		return fmt.Errorf("a name in it has more than %d bytes", mostName)
	case path == kubectlFolder || strings.HasPrefix(path, kubectlFolder+"/"):
		return errors.New("kubeconfigs are not part of a bundle")
	}
	return nil
}

const (
	kubectlFolder = ".kube"
	mostName      = 255 // bytes of the name of a file or a folder, as file systems have it
)
