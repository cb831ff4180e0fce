package main

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goEnv is what the go command says of the place it runs in.
type goEnv struct {
	GOMOD      string // the main module's go.mod
	GOROOT     string
	GOVERSION  string
	GOMODCACHE string
}

// readGoEnv asks the go command. Errors: no go command, or no module here.
func readGoEnv() (goEnv, error) {
	var g goEnv
	out, err := goCommand("", "env", "-json", "GOMOD", "GOROOT", "GOVERSION", "GOMODCACHE")
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(out, &g); err != nil {
		return g, err
	}
	if filepath.Base(g.GOMOD) != "go.mod" {
		return g, errors.New("run this inside the kubetab module")
	}
	return g, nil
}

// goCommand runs go in dir and returns its standard output. The error holds its standard error.
func goCommand(dir string, args ...string) ([]byte, error) {
	command := exec.Command("go", args...)
	command.Dir = dir
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}

// module is what `go list -m -json` tells of one.
type module struct {
	Path    string
	Version string
	Dir     string
	Replace *module
}

// build makes the folder out (relative to the module's root) and reports whether it had to.
// It may run twice at once: each makes its own folder, and one of the two, which are equal, stays.
// Errors: *driftError, joined when there are several; a go command that fails; I/O errors.
// After an error the folder is as it was.
func build(g goEnv, out string, ours fs.FS, patches []patch) (bool, error) {
	root := filepath.Dir(g.GOMOD)
	dst := filepath.Join(root, out)
	stamp, err := makeStamp(g, out, ours, patches)
	if err != nil {
		return false, err
	}
	if fresh(dst, stamp) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dst), ".patch-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil { // MkdirTemp makes 0700
		return false, err
	}
	if err := plant(g, tmp, out, ours, patches); err != nil {
		return false, err
	}
	if err := os.WriteFile(filepath.Join(tmp, "stamp"), []byte(stamp), 0o644); err != nil {
		return false, err
	}
	return true, swap(tmp, dst)
}

// plant fills tmp with everything that out will hold, but for the stamp.
func plant(g goEnv, tmp, out string, ours fs.FS, patches []patch) error {
	root := filepath.Dir(g.GOMOD)
	byModule := map[string][]patch{}
	var paths []string // in the order of the list
	for _, p := range patches {
		if byModule[p.module] == nil && p.module != std && p.module != linker {
			paths = append(paths, p.module)
		}
		byModule[p.module] = append(byModule[p.module], p)
	}
	modules, err := findModules(root, paths)
	if err != nil {
		return err
	}
	var failed []error
	edit := []string{"mod", "edit"}
	for _, path := range paths {
		m := modules[path]
		version := m.Version
		if m.Replace != nil {
			version = m.Replace.Version
		}
		if err := plantModule(filepath.Join(tmp, "mod", path), m.Dir, version, ours, byModule[path]); err != nil {
			failed = append(failed, err)
		}
		// Relative replacements are relative to the main module's root, whichever -modfile names them.
		edit = append(edit, "-dropreplace="+path, "-replace="+path+"=./"+filepath.ToSlash(filepath.Join(out, "mod", path)))
	}
	if failed != nil {
		return errors.Join(failed...)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(tmp, name), text, 0o644); err != nil {
			return err
		}
	}
	if _, err = goCommand(root, append(edit, filepath.Join(tmp, "go.mod"))...); err != nil {
		return err
	}
	return plantGo(g, tmp, filepath.Join(root, out), ours, byModule[std], byModule[linker])
}

// findModules downloads the modules where needed and says where they lie. Errors: a go command that fails.
func findModules(root string, paths []string) (map[string]module, error) {
	found := map[string]module{}
	if len(paths) == 0 {
		return found, nil
	}
	if _, err := goCommand(root, append([]string{"mod", "download"}, paths...)...); err != nil {
		return nil, err
	}
	out, err := goCommand(root, append([]string{"list", "-m", "-json"}, paths...)...)
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var m module
		if err := dec.Decode(&m); err != nil {
			return nil, err
		}
		if m.Dir == "" {
			return nil, fmt.Errorf("go list -m %s names no folder", m.Path)
		}
		found[m.Path] = m
	}
	return found, nil
}

//go:embed *.go
var sources embed.FS

// program is what makes the folder of its inputs.
var program fs.FS = sources

// makeStamp is a sum over everything that the folder is made from. Modules are known by go.mod and go.sum:
// the go command itself keeps the module cache as those say.
func makeStamp(g goEnv, out string, ours fs.FS, patches []patch) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %#v\n", g, out, patches)
	for _, name := range []string{g.GOMOD, filepath.Join(filepath.Dir(g.GOMOD), "go.sum")} {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	for _, files := range []fs.FS{program, ours} {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(files, name)
			fmt.Fprintf(h, "%q %d\n%s", name, len(text), text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fresh reports whether dst was made from what the stamp stands for and its links still lead somewhere
// (they do not after `go clean -modcache`).
func fresh(dst, stamp string) bool {
	text, err := os.ReadFile(filepath.Join(dst, "stamp"))
	if err != nil || string(text) != stamp {
		return false
	}
	return filepath.WalkDir(filepath.Join(dst, "mod"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type() == fs.ModeSymlink {
			_, err = os.Stat(name)
		}
		return err
	}) == nil
}

// swap puts tmp in dst's place, and what was there into tmp's.
//
// Where that cannot be done in one step the old folder is moved aside first, because a rename cannot replace
// a folder that holds something; where another run was quicker, its folder is the one moved aside.
func swap(tmp, dst string) error {
	for {
		err := os.Rename(tmp, dst)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return err
		}
		if exchange(tmp, dst) == nil {
			return nil
		}
		old, err := os.MkdirTemp(filepath.Dir(dst), ".patch-*")
		if err != nil {
			return err
		}
		err = os.Rename(dst, filepath.Join(old, "old"))
		if rm := os.RemoveAll(old); err == nil {
			err = rm
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}
