package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/tools/go/packages"
)

const (
	// asDriver is set in the environment of the process that staticcheck starts to list packages.
	asDriver = "ANALYZE_DRIVER"
	// goCommand names the go command that lists packages; unset, it is go. wasm/patch makes one for js/wasm.
	goCommand = "ANALYZE_GO"
)

// listed is what `go list -json` tells of a package.
type listed struct {
	ImportPath      string // with the test that it is compiled for: "a/b [a/b.test]"
	Name            string
	Dir             string
	Export          string
	GoFiles         []string
	CompiledGoFiles []string
	SFiles          []string // assembly
	Imports         []string
	ImportMap       map[string]string
	DepOnly         bool
	Error           *struct{ Pos, Err string }
}

// drive answers golang.org/x/tools/go/packages, which runs this program as its driver (GOPACKAGESDRIVER): it reads a
// request from in and writes the packages of the patterns, and what they depend on, to out.
//
// Analyzers keep facts of functions: that one prints by a format, that it never returns, that it is deprecated. The
// facts of all of Kubernetes cost several times more than the analysis of this repository. So a package is listed with
// its files only if it is asked for, or imported by one that is; of any other there is the compiler's export data.
// What is lost are facts that follow from those of packages further away. A package without imports always has its
// files: staticcheck's cache tells the two apart by the imports.
func drive(in io.Reader, out io.Writer, patterns []string) error {
	var request packages.DriverRequest
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	all, err := list(request, patterns)
	if err != nil {
		return err
	}
	near := map[string]bool{}
	for _, p := range all {
		if !p.DepOnly {
			near[p.ImportPath] = true
			for _, path := range p.Imports {
				near[path] = true
			}
		}
	}
	// Only pointers and integers have sizes of their own on js/wasm, and both are 64 bits wide as on amd64 and arm64.
	response := packages.DriverResponse{Compiler: "gc", Arch: runtime.GOARCH}
	for _, p := range all {
		response.Packages = append(response.Packages, convert(p, near[p.ImportPath]))
		if !p.DepOnly {
			response.Roots = append(response.Roots, p.ImportPath)
		}
	}
	return json.NewEncoder(out).Encode(response)
}

// list runs the go command. Errors: one that cannot be run, or says that it failed.
func list(request packages.DriverRequest, patterns []string) ([]listed, error) {
	program := os.Getenv(goCommand)
	if program == "" {
		program = "go"
	}
	args := append([]string{"list", "-e", "-export", "-deps", "-compiled", fmt.Sprintf("-test=%t", request.Tests),
		"-json=ImportPath,Name,Dir,Export,GoFiles,CompiledGoFiles,SFiles,Imports,ImportMap,DepOnly,Error"}, request.BuildFlags...)
	command := exec.Command(program, append(append(args, "--"), patterns...)...)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	var all []listed
	for decoder := json.NewDecoder(stdout); ; {
		var p listed
		if err = decoder.Decode(&p); err != nil {
			break
		}
		all = append(all, p)
	}
	if ended := command.Wait(); ended != nil {
		return nil, fmt.Errorf("%s list: %w", program, ended)
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s list: %w", program, err)
	}
	return all, nil
}

func convert(p listed, withFiles bool) *packages.Package {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	c := &packages.Package{ID: p.ImportPath, Name: p.Name, PkgPath: path, ExportFile: p.Export}
	if p.Error != nil {
		c.Errors = []packages.Error{{Pos: p.Error.Pos, Msg: p.Error.Err, Kind: packages.ListError}}
	}
	if p.ImportPath == "unsafe" || !withFiles && len(p.Imports) > 0 {
		return c
	}
	c.GoFiles, c.CompiledGoFiles = absolute(p.Dir, p.GoFiles), absolute(p.Dir, p.CompiledGoFiles)
	for _, file := range p.SFiles {
		c.OtherFiles = append(c.OtherFiles, filepath.Join(p.Dir, file))
	}
	c.Imports = map[string]*packages.Package{}
	written := map[string]string{}
	for name, id := range p.ImportMap {
		written[id] = name
	}
	for _, id := range p.Imports {
		if id == "C" {
			continue
		}
		name, ok := written[id]
		if !ok {
			name = id
		}
		c.Imports[name] = &packages.Package{ID: id}
	}
	return c
}

// absolute returns the paths of the files in dir. The go command counts assembly with the compiled files.
func absolute(dir string, files []string) []string {
	var all []string
	for _, file := range files {
		if strings.HasSuffix(file, ".s") {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		all = append(all, file)
	}
	return all
}
