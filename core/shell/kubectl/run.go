package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubetab/kubetab/internal/absent"
)

// Interrupted is the exit code of a command whose context has ended, as a shell
// shows that of a program which ends by SIGINT.
const Interrupted = 130

// patience is how long a command may take to end when its requests have. A command that still
// waits then, for example for the retry of an informer that nothing stops, is left behind: its
// output is dropped and its requests fail.
const patience = 300 * time.Millisecond

// Command is one command line.
type Command struct {
	Args []string          // without the name
	Dir  string            // what relative names start from
	Env  map[string]string // exported variables of the shell
	In   io.Reader         // nil: empty
	Out  io.Writer
	Err  io.Writer
}

// Run runs a command and returns its exit code. ctx ends it: see [Interrupted].
func (c *Cluster) Run(ctx context.Context, k Command) int {
	handleFatal()
	takeName()
	if k.In == nil {
		k.In = strings.NewReader("")
	}
	leave, err := enter(ctx, &k)
	if err != nil {
		fmt.Fprintln(k.Err, "error:", err)
		return 1
	}
	leave = sync.OnceFunc(leave)
	giveBack, err := borrow(ctx, k)
	if err != nil {
		leave()
		return Interrupted
	}
	ended := make(chan int, 1)
	whole := ctx
	ctx, cancel := context.WithCancelCause(whole)
	defer cancel(nil)
	out, errs := gate(ctx, k.Out), gate(ctx, k.Err)
	go func() {
		defer leave()
		defer giveBack()
		// No account: what there is no memory for would end the goroutine in the middle of what all kubectls share.
		defer absent.OwnFor(cancel, nil)()
		ended <- c.run(ctx, k, out, errs, giveBack)
	}()
	select {
	case code := <-ended:
		if whole.Err() != nil {
			return Interrupted
		}
		return code
	case <-ctx.Done():
		if missing := (*absent.Error)(nil); errors.As(context.Cause(ctx), &missing) {
			giveBack() // others must not wait for it
			leave()
			fmt.Fprintln(k.Err, "error:", missing)
			return 1
		}
		wait := time.NewTimer(patience)
		defer wait.Stop()
		select {
		case <-ended:
		case <-wait.C:
		}
		return Interrupted
	}
}

// run is Run on the command's own goroutine. giveBack ends the use of the environment, see borrow.
func (c *Cluster) run(ctx context.Context, k Command, out, errs io.Writer, giveBack func()) (code int) {
	fate := follow(ctx, errs, k.Env)
	defer func() {
		elsewhere := fate.end()
		switch p := recover().(type) {
		case nil:
			if code == 0 {
				code = elsewhere
			}
		case exit:
			if p.message != "" {
				fmt.Fprintln(errs, p.message)
			}
			code = p.code
		default:
			fmt.Fprintf(errs, "error: kubectl failed: %v\n%s", p, debug.Stack())
			code = 255
		}
	}()
	// One that prints has read what it needs, and may wait for a reader that is a
	// kubectl itself.
	out = prints{gated: gate(ctx, out), begins: giveBack}
	root, warnings := c.build(ctx, k, out, errs, giveBack)
	defer forget(root)
	root.SetArgs(k.Args)
	err := root.ExecuteContext(ctx)
	cmdutil.CheckErr(err)
	// Upstream counts warnings in a handler of its own, which never sees ours.
	if strict, err := root.PersistentFlags().GetBool("warnings-as-errors"); err == nil && strict {
		switch n := warnings.WarningCount(); n {
		case 0:
		case 1:
			cmdutil.CheckErr(errors.New("1 warning received"))
		default:
			cmdutil.CheckErr(fmt.Errorf("%d warnings received", n))
		}
	}
	return 0
}

// building is held while a command tree is made: upstream keeps the factory
// that completion uses in a variable, which each tree sets.
var building sync.Mutex

// build returns the command tree and who prints warnings. The command calls read
// when it has read what it needs of the environment.
func (c *Cluster) build(ctx context.Context, k Command, out, errs io.Writer, read func()) (*cobra.Command, warningCounter) {
	streams := genericiooptions.IOStreams{In: k.In, Out: out, ErrOut: errs}
	warnings := rest.NewWarningWriter(errs, rest.WarningWriterOptions{Deduplicate: true, Color: printers.AllowsColorOutput(errs)})
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50).
		WithWarningPrinter(streams)
	var level verbosity
	asks := &lists{ctx: ctx, mapper: flags.ToRESTMapper}
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.WarningHandler = warnings
		config.QPS = -1 // flow control is the server's
		return c.wrap(ctx, config)
	}
	building.Lock()
	root := cmd.NewKubectlCommand(cmd.KubectlOptions{Arguments: append([]string{"kubectl"}, k.Args...), ConfigFlags: flags, IOStreams: streams})
	building.Unlock()
	// Around what the command has added by now, headers that name it: kubectl does not show them.
	named := flags.WrapConfigFn
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config = named(config)
		config.Wrap(level.wrap(errs))
		if c.serves(config.Host) {
			config.Wrap(c.discovery.keep)
			config.Wrap(asks.wrap)
		}
		return config
	}
	root.SilenceErrors = true
	root.SetIn(k.In)
	root.SetOut(deprecations{out, errs})
	root.SetErr(errs)
	level.addFlags(root.PersistentFlags())
	factory := cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(flags))
	answerCanI(root, factory, streams)
	applyFromDocuments(root, factory, streams)
	addConvert(root, factory, streams, k.Args)
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		asks.deletes.Store(cmd.CommandPath() == "kubectl delete")
		err := before(cmd, args)
		// Upstream has made the command's handler that of the whole process,
		// controllers included. It is given to the command's own clients above.
		rest.SetDefaultWarningHandler(rest.WarningLogger{})
		if err != nil {
			return err
		}
		if err := c.discovery.lend(ctx, flags, cmd.CommandPath()); err != nil {
			return err
		}
		if words := strings.Fields(cmd.CommandPath()); len(words) < 2 || !slices.Contains(readsLate, words[1]) && !recorded(k.Args) {
			// It takes KUBECONFIG and os.Stdin, and keeps what it has taken.
			withStdin(func() { flags.ToRawKubeConfigLoader() })
			read()
		}
		return nil
	}
	return root, warnings
}

type warningCounter interface{ WarningCount() int }

// gate passes on what is written until ctx ends.
func gate(ctx context.Context, w io.Writer) gated { return gated{w, ctx} }

// prints calls begins before anything is written.
type prints struct {
	gated
	begins func()
}

func (p prints) Write(b []byte) (int, error) {
	p.begins()
	return p.gated.Write(b)
}

// deprecations sends to standard error what cobra says of flags: it writes that to a command's output where one has been set.
type deprecations struct {
	io.Writer
	errs io.Writer
}

func (d deprecations) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("Flag --")) && bytes.Contains(b, []byte(" has been deprecated, ")) {
		return d.errs.Write(b)
	}
	return d.Writer.Write(b)
}

type gated struct {
	io.Writer
	ctx context.Context
}

func (g gated) Write(b []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, context.Cause(g.ctx)
	}
	return g.Writer.Write(b)
}

// Fd returns the file descriptor of the terminal behind the writer, as os.File's does.
func (g gated) Fd() uintptr {
	if f, ok := g.Writer.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}
