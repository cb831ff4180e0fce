// Command dictionary makes a dictionary for compact bundles (codec zstd-N of docs/bundle.md) of a bundle on stdin, that of a
// new cluster:
//
//	kubetab bundle save new.kubetab
//	go run ./core/bundle/internal/dictionary < new.kubetab > core/bundle/dictionary1.zst
//
// A dictionary that a release has had stays as it is: links that were made with it are out there. Another one has another
// number, and both are read.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/kubetab/kubetab/core/bundle"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dictionary:", err)
		os.Exit(1)
	}
}

func run(from io.Reader, to io.Writer) error {
	b, err := bundle.Read(from, bundle.DefaultLimits())
	if err != nil {
		return err
	}
	return bundle.WriteDictionary(to, b)
}
