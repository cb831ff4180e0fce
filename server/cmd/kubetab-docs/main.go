// Kubetab-docs is `kubetab docs`: it runs the examples of documents, and says where a text is no longer true.
//
// It is a program of its own because it holds kubectl, with which kubetab would have 80 MB more to load and 38 MB more in
// memory. kubetab docs starts the one beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubetab/kubetab/server/docs"
)

// Exit codes, as kubetab's.
const (
	exitFailure = 1 // an example does not do what the text says, or something went wrong
	exitUsage   = 2
)

// usageError is an error in the command line.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetLogger(klog.Logger{}) // what an engine logs says nothing of a document
	pflag.CommandLine = pflag.NewFlagSet("kubetab docs", pflag.ContinueOnError)
	root := newDocsCommand()
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w: see %s --help", err, c.CommandPath())}
	})
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kubetab:", strings.Join(strings.Fields(err.Error()), " "))
		var usage usageError
		if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command") {
			os.Exit(exitUsage)
		}
		os.Exit(exitFailure)
	}
}

func newDocsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "docs",
		// The name by which people call it.
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubetab docs"},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Short:             "Run the examples of documents, and say where a text is no longer true",
		Long: `docs runs the shell examples of Markdown and HTML files, each file in a cluster of its own in this process, and compares
what they print with what the text says. Ages, times, addresses, UIDs, resource versions and generated names may differ.

The commands run as you, with your files: check only documents whose authors you trust.`,
		Example: `  kubetab docs check docs/*.md
  kubetab docs update docs/*.md`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q: see kubetab docs --help", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newDocsCheckCommand("check"), newDocsCheckCommand("update"))
	return c
}

// newDocsCheckCommand is `kubetab docs check`, or `kubetab docs update`.
func newDocsCheckCommand(name string) *cobra.Command {
	var o docs.Options
	verbose := false
	c := &cobra.Command{
		Use:   name + " FILES...",
		Short: map[string]string{"check": "Fail where a text is no longer true", "update": "Write what is printed now into the texts"}[name],
		Long: `A block marked shell has commands; one marked console has commands after "$ ", and below them what they print. A block
marked output has what the commands before it print. A block with title="NAME" or file="NAME" is a file. The word skip
leaves a block out, and session=NAME gives it a terminal of its own. A line of three dots stands for any lines. Commands that
fetch an address which ends with the name of a file get that file. In a page of HTML with embed.js, what runs is what the script
makes run, by the attributes of the script and of <kubetab-snippet>.

check prints a unified diff for each example that prints something else, and ends with exit code 1 if there is one.
update writes the new outputs into the files, and nothing else.`,
		Example: "  kubetab docs " + name + " docs/*.md public/docs/index.html",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("give FILES: see %s --help", c.CommandPath())}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return checkDocs(c.Context(), &printer{out: c.OutOrStdout()}, args, o, name == "update", verbose)
		},
	}
	f := c.Flags()
	f.DurationVar(&o.Patience, "patience", 0, "`time` for which a command that only reads is run again until it prints what the text says (default 10s)")
	f.DurationVar(&o.Timeout, "timeout", 0, "`time` that a command may take (default 1m)")
	f.BoolVarP(&verbose, "verbose", "v", false, "name every example, and what became of it")
	return c
}

// checkDocs runs the examples of the files at paths, and writes those whose texts differ if it is to update them.
func checkDocs(ctx context.Context, p *printer, paths []string, o docs.Options, update, verbose bool) error {
	var all docs.Report
	written := 0
	documents := make([]*docs.Document, len(paths))
	for i, path := range paths { // before anything runs: commands may change the process's folder
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if documents[i], err = docs.Parse(path, source); err != nil {
			return err
		}
		if paths[i], err = filepath.Abs(path); err != nil {
			return err
		}
	}
	for i, d := range documents {
		report, err := d.Play(ctx, o)
		if err != nil {
			return err
		}
		all = append(all, report...)
		for _, f := range report {
			isWrong := f.Outcome == docs.Failed || f.Outcome == docs.Differs && !update
			if isWrong || verbose {
				p.line("%s:%d: %s: %s", f.Path, f.Line, f.Outcome, firstLine(f.Command))
			}
			if isWrong {
				p.line("%s", f.Why)
			}
		}
		if !update || report.Count(docs.Differs) == 0 {
			continue
		}
		text, err := d.Update(report)
		if err != nil {
			return err
		}
		if err := docs.Write(paths[i], text); err != nil {
			return err
		}
		written++
		p.line("%s: %d outputs written", d.Path, report.Count(docs.Differs))
	}
	if p.err != nil {
		return p.err
	}
	wrong := all.Count(docs.Failed)
	if !update {
		wrong += all.Count(docs.Differs)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d examples do not do what the text says", wrong, len(all)-all.Count(docs.Skipped))
	}
	p.line("%d examples in %d files: %d print what the text says, %d say nothing, %d skipped, %d files written",
		len(all), len(paths), all.Count(docs.True), all.Count(docs.Ran), all.Count(docs.Skipped), written)
	return p.err
}

func firstLine(text string) string {
	first, _, more := strings.Cut(text, "\n")
	if more {
		return first + " ..."
	}
	return first
}

// printer prints lines; err is the first failure.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}
