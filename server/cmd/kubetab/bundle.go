package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/server"
	"github.com/kubetab/kubetab/server/internal/memory"
)

func newBundleCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bundle",
		Short: "Keep a cluster in a file, and begin with one",
		Long: `bundle works with files that hold a cluster: all objects with their UIDs, resource versions and times, its settings
and its clock. The page saves and opens the same files.`,
		Example: `  kubetab bundle save shop.kubetab
  kubetab bundle show shop.kubetab
  kubetab bundle open shop.kubetab
  kubetab bundle manifests shop.kubetab shop`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSaveCommand(), newShowCommand(), newOpenCommand(), newManifestsCommand())
	return c
}

func newSaveCommand() *cobra.Command {
	o := server.SaveOptions{}
	noSecrets, force := false, false
	c := &cobra.Command{
		Use:   "save FILE",
		Short: "Save the cluster of a running server",
		Long: `save asks a running kubetab serve for its cluster, as the administrator in the server's kubeconfig.

Secrets are objects and are saved with the others, unless --secrets=false. Keys, the certificate authority and tokens of
service accounts are never saved.`,
		Example: `  kubetab bundle save shop.kubetab
  kubetab bundle save --kubeconfig other.kubeconfig --secrets=false failed-test.kubetab`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err == nil && !force {
				return fmt.Errorf("%s is there already: give another name, or --force to replace it", args[0])
			}
			o.NoSecrets = noSecrets
			n, err := server.SaveBundle(c.Context(), args[0], o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s  %d bytes\n", args[0], n)
			return err
		},
	}
	f := c.Flags()
	addKubeconfig(f, &o)
	f.StringVar(&o.Name, "name", "", "what the cluster is called, for people")
	secrets := f.VarPF(newBool(&noSecrets), "secrets", "", "whether Secrets are saved, too (default true)")
	secrets.NoOptDefVal = "true"
	f.BoolVar(&force, "force", false, "replace a file that is there")
	return c
}

// addKubeconfig adds the flag that names a running server.
func addKubeconfig(f *pflag.FlagSet, o *server.SaveOptions) {
	f.StringVar(&o.Kubeconfig, "kubeconfig", "kubetab.kubeconfig", "`file` that kubetab serve has written")
}

// newBool is a flag that sets the contrary.
func newBool(contrary *bool) pflag.Value { return contraryFlag{contrary} }

type contraryFlag struct{ of *bool }

func (f contraryFlag) String() string {
	if f.of == nil {
		return "true"
	}
	return fmt.Sprint(!*f.of)
}
func (f contraryFlag) Type() string { return "bool" }
func (f contraryFlag) Set(text string) error {
	switch text {
	case "true":
		*f.of = false
	case "false":
		*f.of = true
	default:
		return errors.New("give true or false")
	}
	return nil
}

func newShowCommand() *cobra.Command {
	o := server.SaveOptions{}
	c := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Say what a bundle holds, or the cluster of a running server",
		Long: `show reads a bundle, has every record checked, and says what is in it. No server is needed.

Without FILE it asks a running kubetab serve for its cluster, as bundle save does, and writes nothing.`,
		Example: `  kubetab bundle show shop.kubetab
  kubetab bundle show
  kubetab bundle show --kubeconfig other.kubeconfig`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usageError{fmt.Errorf("give one FILE, or none: see %s --help", c.CommandPath())}
			case len(args) == 1 && c.Flags().Changed("kubeconfig"):
				return usageError{fmt.Errorf("FILE and --kubeconfig exclude each other: see %s --help", c.CommandPath())}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			b, name, err := bundleToShow(c.Context(), args, o)
			if err != nil {
				return err
			}
			opening, err := cluster.Check(b)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return show(c.OutOrStdout(), cluster.Summarize(b, opening))
		},
	}
	addKubeconfig(c.Flags(), &o)
	return c
}

// bundleToShow is that of the file in args, or of the server that o names, and what it is called in errors.
func bundleToShow(ctx context.Context, args []string, o server.SaveOptions) (_ *bundle.Bundle, name string, err error) {
	if len(args) == 1 {
		b, err := readBundle(args[0], memory.Limit())
		return b, args[0], err
	}
	const of = "the server's bundle"
	most := bundleLimits(memory.Limit())
	file, err := server.FetchBundle(ctx, most.File, o)
	if err != nil {
		return nil, of, err
	}
	b, err := bundle.Read(bytes.NewReader(file), most)
	if err != nil {
		return nil, of, fmt.Errorf("%s: %w", of, err)
	}
	return b, of, nil
}

func newOpenCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:     "open FILE",
		Short:   "Serve the cluster in a bundle: kubetab serve --from FILE",
		Long:    "open is kubetab serve --from FILE, and has all of its other flags.",
		Example: "  kubetab bundle open shop.kubetab --http 127.0.0.1:8080",
		Args:    oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			o.from = args[0]
			return runServe(c, &o)
		},
	}
	o.add(c.Flags())
	if err := c.Flags().MarkHidden("from"); err != nil {
		panic(err) // no such flag
	}
	return c
}

func newManifestsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "manifests FILE DIRECTORY",
		Short: "Write what people made in a cluster as YAML, for any cluster",
		Long: `manifests writes a file of YAML for each namespace of a bundle, and one or two for what is in no namespace. It leaves out
what controllers and the API server make again, and what belongs to one cluster: status, UIDs, owners, allocated addresses.
No server is needed. The directory must be new or empty.`,
		Example: `  kubetab bundle manifests shop.kubetab shop
  kubectl apply -f shop/0-definitions.yaml && kubectl wait crd --all --for condition=Established
  kubectl apply -f shop`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("give a FILE and a DIRECTORY: see %s --help", c.CommandPath())}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			b, err := readBundle(args[0], memory.Limit())
			if err != nil {
				return err
			}
			files, err := cluster.Manifests(b)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			p := &printer{out: c.OutOrStdout()}
			paths, err := server.WriteManifests(args[1], files)
			for _, path := range paths {
				p.line("%s", path)
			}
			return errors.Join(err, p.err)
		},
	}
}

// oneFile is cobra.ExactArgs with an error that counts as one of usage.
func oneFile(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("give one FILE: see %s --help", c.CommandPath())}
	}
	return nil
}

// bundleLimits are for a process that may take room bytes of memory, where 0 is no limit: what fits into a tab, or into
// an eighth of the memory. Who reads a bundle has it as a file, as records and as objects, and who begins with it as a store and
// in caches, too.
func bundleLimits(room uint64) bundle.Limits {
	most, least := bundle.FormatLimits(), bundle.DefaultLimits()
	if room > 0 {
		most.Cluster = min(most.Cluster, max(least.Cluster, int64(room/8)))
		most.File = min(most.File, most.Cluster)
	}
	return most
}

// readBundle reads the bundle in a file, in a process that may take room bytes of memory.
func readBundle(path string, room uint64) (*bundle.Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := bundle.Read(f, bundleLimits(room))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

func show(out io.Writer, s cluster.Summary) error {
	p := &printer{out: out}
	if s.Name != "" {
		p.line("name        %q", s.Name)
	}
	p.line("Kubernetes  %q, build %q", s.Kubernetes, s.Build)
	p.line("saved       %s, at revision %d", s.Time.Format(time.RFC3339), s.Revision)
	if s.Exact {
		p.line("opened here with its UIDs, times and resource versions")
	} else {
		p.line("opened here with its UIDs and times, and new resource versions")
	}
	p.line("")
	for _, kind := range s.Kinds {
		p.line("%7d  %s  %s", kind.Count, kind.Kind, kind.APIVersion)
	}
	for _, f := range s.Files {
		p.line("   file  %q, %d bytes", f.Path, len(f.Data))
	}
	for _, left := range s.LeftOut {
		p.line("left out  %q", left)
	}
	return p.err
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

// open has config begin with the bundle in o.from. Flags that were given count before the bundle's settings. What the
// bundle's version had and this build cannot read is told on out.
func (o *options) open(config *core.Config, flags *pflag.FlagSet, out io.Writer) error {
	b, err := readBundle(o.from, o.memoryBytes())
	switch {
	case errors.Is(err, bundle.ErrTooLarge):
		return fmt.Errorf("--from %w: --memory-limit says how much memory there is, of which a cluster may have an eighth", err)
	case err != nil:
		return fmt.Errorf("--from %w", err)
	}
	given := *config
	opening, err := config.Open(b)
	if err != nil {
		return fmt.Errorf("--from %s: %w", o.from, err)
	}
	for name, take := range map[string]func(){
		"nodes":            func() { config.Nodes = given.Nodes },
		"controllers":      func() { config.Controllers = given.Controllers },
		"scheduler":        func() { config.NoScheduler = given.NoScheduler },
		"runtime-config":   func() { config.RuntimeConfig = given.RuntimeConfig },
		"feature-gates":    func() { config.FeatureGates = given.FeatureGates },
		"emulated-version": func() { config.EmulatedVersion = given.EmulatedVersion },
	} {
		if flags.Changed(name) {
			take()
		}
	}
	for _, left := range opening.LeftOut {
		fmt.Fprintf(out, "left out: %q: %v\n", left.Key, left.Why)
	}
	return nil
}
