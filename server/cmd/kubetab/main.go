// Kubetab is the native Kubetab: the Kubernetes API server in one process, without etcd.
// `kubetab --help` says how to use it. This package reads flags and wires packages core and server together.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/version"
)

// Exit codes.
const (
	exitFailure = 1 // something went wrong, and a line on stderr says what
	exitUsage   = 2 // the command line is wrong
)

// usageError is an error in the command line.
type usageError struct{ error }

func main() {
	ctx := endOnSignal()
	// Upstream packages put flags of their own here, and cobra would offer them with every command.
	pflag.CommandLine = pflag.NewFlagSet("kubetab", pflag.ContinueOnError)
	root := &cobra.Command{
		Use:   "kubetab",
		Short: "The Kubernetes API server in one process, without etcd",
		Long: `kubetab is the Kubernetes API server as one process: kube-apiserver's own code with a store
inside it, the controllers without which it is of no use, and the playground page that runs
the same server inside a browser tab.`,
		Example: `  kubetab serve
  kubectl --kubeconfig kubetab.kubeconfig get namespaces`,
		Version:           version.Get().GitVersion,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w: see %s --help", err, c.CommandPath())}
	})
	root.AddCommand(newServeCommand(), newBundleCommand(), newDocsCommand(), newVersionCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		// One line, whatever the error is made of: it may come from deep inside upstream.
		fmt.Fprintln(os.Stderr, "kubetab:", strings.Join(strings.Fields(err.Error()), " "))
		var usage usageError
		if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command") {
			os.Exit(exitUsage)
		}
		os.Exit(exitFailure)
	}
}

// sameSignal is how long further signals count as the first one: timeout(1), make and npm pass a signal on to a process
// which has already got it, as a member of their process group.
const sameSignal = 300 * time.Millisecond

// endOnSignal returns a context that ends with the first SIGINT or SIGTERM. The second one ends the process at once:
// whoever asks twice does not want to wait for requests under way.
func endOnSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		for first := time.Now(); ; {
			<-signals
			if time.Since(first) > sameSignal {
				break
			}
		}
		fmt.Fprintln(os.Stderr, "kubetab: second signal: stopped without waiting for requests under way")
		os.Exit(exitFailure)
	}()
	return ctx
}

// noArguments is cobra.NoArgs with an error that counts as one of usage.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q: see %s --help", args[0], c.CommandPath())}
	}
	return nil
}
