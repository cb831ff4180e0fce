package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetab/kubetab/core/bundle"
)

// ReadFiles returns the files of a workspace that go into a bundle: not what kubectl keeps
// for itself, its kubeconfig with it, and not what is in a cache. A folder that is not
// there has none. It fails as package os does.
func ReadFiles(dir string) (found []bundle.File, err error) {
	root := os.DirFS(dir)
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case path == "." && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".kube" || entry.Name() == ".cache"):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(root, path)
		if err == nil && !isKubeconfig(data) {
			found = append(found, bundle.File{Path: path, Data: data})
		}
		return err
	})
	// Folders are walked before names that a sign before the slash follows.
	slices.SortFunc(found, func(a, b bundle.File) int { return strings.Compare(a.Path, b.Path) })
	return found, err
}

// isKubeconfig reports whether a file holds credentials of kubectl, wherever a person has put it.
func isKubeconfig(data []byte) bool {
	config, err := clientcmd.Load(data)
	return err == nil && len(config.AuthInfos) > 0
}

// WriteFiles writes the files of a bundle into a workspace, which is made if it is not
// there. It fails for a path that leads out of it, and as package os does; what has been
// written before stays.
func WriteFiles(dir string, files []bundle.File) error {
	for _, f := range files {
		path, err := filepath.Localize(f.Path)
		if err != nil {
			return &fs.PathError{Op: "write", Path: f.Path, Err: err}
		}
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
