package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// newDocsCommand is the way to the program kubetab-docs beside this one, which holds kubectl. A server has no use for that,
// and would be larger by it.
func newDocsCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "docs",
		Short:              "Run the examples of documents, and say where a text is no longer true",
		Example:            "  kubetab docs check docs/*.md",
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			own, err := os.Executable()
			if err == nil {
				own, err = filepath.EvalSymlinks(own)
			}
			if err != nil {
				return err
			}
			child := exec.CommandContext(c.Context(), filepath.Join(filepath.Dir(own), "kubetab-docs"), args...)
			child.Stdin, child.Stdout, child.Stderr = os.Stdin, c.OutOrStdout(), os.Stderr
			err = child.Run()
			var ended *exec.ExitError
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return fmt.Errorf("%s is not there: run make native", strings.TrimSpace(child.Path))
			case errors.As(err, &ended):
				os.Exit(max(ended.ExitCode(), exitFailure)) // it has said why
			}
			return err
		},
	}
}
