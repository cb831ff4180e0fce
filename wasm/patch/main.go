// Command patch makes upstream compile for js/wasm without a fork.
//
// Some packages that the engine links take anything that is not Windows for unix. patch lays out the
// modules that hold them under build/patch/mod with those files exchanged for twins of our own, and
// writes a second module file which points there:
//
//	go run ./wasm/patch
//	build/patch/go build -o build/wasm/kubetab.wasm ./wasm
//
// (-overlay alone would be simpler, but the go command refuses it for files in the module cache. It is
// allowed for Go's own, of which two are changed as well: see std and linker in list.go.)
//
//	wasm/patch/list.go   which upstream file, its sum, and why        committed
//	wasm/patch/_twins/   what takes its place                         committed
//	wasm/patch/_diffs/   what changes in it                           committed
//	build/patch/         a product of the above, ignored by git:
//	  go                 the go command for js/wasm, a script of a few lines
//	  go.mod go.sum mod/ upstream modules with our twins              -modfile
//	  overlay.json std/  changed files of the standard library        -overlay
//	  toolexec link      Go's linker with a file changed              -toolexec
//	  stamp              a sum over what all this was made from
//
// It holds that: build/patch is whole or absent, because it is made beside and renamed; if an upstream
// file differs from the one on the list, the tool ends with a message that says what to do; when nothing
// has changed, nothing is written. The native build uses unmodified upstream modules and never sees any
// of this.
package main

import (
	"embed"
	"flag"
	"fmt"
	"os"
)

// What takes the place of upstream's, or changes it.
//
//go:embed all:_twins all:_diffs
var embedded embed.FS

func main() {
	out := flag.String("out", "build/patch", "`folder` to make, below the module's root")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "patch lays out the upstream modules that need a change to compile for js/wasm.\n\nUsage: go run ./wasm/patch [-out build/patch]\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "patch:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	g, err := readGoEnv()
	if err != nil {
		return err
	}
	made, err := build(g, out, embedded, patches)
	if err == nil && made {
		fmt.Fprintf(os.Stderr, "patch: %d upstream files changed for js/wasm in %s\n", len(patches), out)
	}
	return err
}
