package kubectl

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// workplace is what upstream's code takes from the process: the folder that
// relative names start from, and standard input. There is one of each, so that
// commands which need a folder take turns with those that need another; those that
// read standard input through os.Stdin (-f -) are alone. Commands without names of
// files need none of it and never wait. The environment has a lock of its own.
var workplace = struct {
	mu    sync.Mutex
	dir   string
	users int
	alone bool
	left  chan struct{} // closed and made anew when somebody leaves
}{left: make(chan struct{})}

// variables are what kubectl and its libraries read from the environment.
var variables = []string{
	"KUBECONFIG", "KUBE_EDITOR", "EDITOR", "KUBECTL_EXTERNAL_DIFF", "KUBERC", "KUBECACHEDIR", "NO_COLOR", "TERM", "HOME",
	"POD_NAMESPACE", "LANG", "LC_ALL", "LC_MESSAGES", "KUBECTL_KUBERC", "KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "KUBECTL_PORT_FORWARD_WEBSOCKETS",
	"PATH", // of plugins
}

// enter prepares the process for k. leave must be called when k has ended.
// Errors: ctx has ended; the folder is not there; standard input cannot be read
// or kept; k would read more than it may.
func enter(ctx context.Context, k *Command) (leave func(), err error) {
	names, stdin := needs(k.Args)
	if !names {
		return func() {}, nil
	}
	var input *os.File
	if stdin {
		// Upstream reads os.Stdin, which must be a file; --raw reads its streams.
		if input, err = spool(k.In); err != nil {
			return nil, err
		}
		k.In = input
		k.Args = slices.Clone(k.Args)
		for i, arg := range k.Args {
			if before, ok := strings.CutSuffix(arg, stdinName); ok && (before == "" || strings.HasPrefix(arg, "-")) {
				k.Args[i] = before + input.Name()
			}
		}
	}
	// A command that is left behind finds an end of what it parses.
	ended := context.AfterFunc(ctx, func() {
		if input != nil {
			input.Close()
		}
	})
	discard := func() {
		ended()
		if input != nil {
			input.Close()
			_ = os.Remove(input.Name()) // a temporary file
		}
	}
	w := &workplace
	w.mu.Lock()
	for w.users > 0 && (stdin || w.alone || w.dir != k.Dir) {
		left := w.left
		w.mu.Unlock()
		select {
		case <-left:
		case <-ctx.Done():
			discard()
			return nil, context.Cause(ctx)
		}
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	if err := os.Chdir(k.Dir); err != nil {
		discard()
		return nil, fmt.Errorf("the current folder: %w", err)
	}
	if err := affordable(k.Args, input); err != nil {
		discard()
		return nil, err
	}
	before := os.Stdin
	if stdin {
		os.Stdin = input
	}
	w.users, w.dir, w.alone = w.users+1, k.Dir, stdin
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if stdin {
			os.Stdin = before
		}
		w.users--
		w.alone = false
		close(w.left)
		w.left = make(chan struct{})
		discard()
	}, nil
}

// withStdin calls read, which looks at os.Stdin and does not wait, while nobody changes
// that: commands that name no files do not take turns with those that read it.
func withStdin(read func()) {
	workplace.mu.Lock()
	defer workplace.mu.Unlock()
	read()
}

// stdinName is what a command line may call its standard input, where the name of
// a file belongs: there is no such file here.
const stdinName = "/dev/stdin"

// environment is held by the command whose variables the process has.
var environment = make(chan struct{}, 1)

// takeName has upstream's code find kubectl's name where it asks the process for its own: it stands in hints and in the names of
// what is edited.
var takeName = sync.OnceFunc(func() { os.Args = []string{"kubectl"} })

// borrow gives the process k's variables, and its arguments if k records them, and returns what must be called when k
// has read them; it may be called more than once. KUBECONFIG is absolute then: its
// files are read later, where the folder may be somebody else's. The error is that
// ctx has ended.
func borrow(ctx context.Context, k Command) (giveBack func(), err error) {
	select {
	case environment <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	env := maps.Clone(k.Env)
	if names := filepath.SplitList(env["KUBECONFIG"]); len(names) > 0 {
		for i, name := range names {
			if name != "" && !filepath.IsAbs(name) {
				names[i] = filepath.Join(k.Dir, name)
			}
		}
		env["KUBECONFIG"] = strings.Join(names, string(filepath.ListSeparator))
	}
	setVariables(env)
	own := os.Args
	if recorded(k.Args) {
		os.Args = append(own[:1:1], k.Args...)
	}
	return sync.OnceFunc(func() {
		if recorded(k.Args) {
			os.Args = own
		}
		<-environment
	}), nil
}

// recorded reports whether a command keeps its own line in its object, which upstream takes from the process.
func recorded(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return arg == "--record" || strings.HasPrefix(arg, "--record=") })
}

// readsLate are the commands that read the environment while they run; all others
// have read what they need when their configuration is known.
var readsLate = []string{"config", "kuberc", "plugin", "__complete", "__completeNoDesc"}

func setVariables(env map[string]string) {
	for _, name := range variables {
		if value, ok := env[name]; ok {
			_ = os.Setenv(name, value) // fails for names that cannot be
		} else {
			_ = os.Unsetenv(name)
		}
	}
}

// spool keeps all of r in a temporary file and returns it, at its beginning.
func spool(r io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "stdin-*")
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, io.LimitReader(r, mostStdin+1))
	if err == nil && n > mostStdin {
		err = fmt.Errorf("more than %d bytes", mostStdin)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		_ = os.Remove(f.Name()) // a temporary file
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return f, nil
}

// fileFlags take names of files, or a name and a value that is one.
var fileFlags = []string{
	"--filename", "--kustomize", "--from-file", "--from-env-file", "--patch-file", "--kubeconfig", "--kuberc", "--cert", "--key",
	"--certificate-authority", "--client-certificate", "--client-key", "--output-directory", "--custom", "--hard", "--token-file",
}

// fileCommands take names of files as arguments, or take them in a flag that
// means something else elsewhere.
var fileCommands = []string{"cp", "kustomize", "config", "__complete", "__completeNoDesc", "kuberc"}

// needs reports whether a command line names files, and whether one of them is
// standard input.
func needs(args []string) (names, stdin bool) {
	for _, value := range fileArguments(args) {
		names = true
		stdin = stdin || value == "-" || value == stdinName
	}
	return names || slices.Contains(fileCommands, commandOf(args)), stdin
}

// commandOf is the first word that is no flag.
func commandOf(args []string) string {
	for _, arg := range args {
		if arg == "--" {
			break
		}
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// fileArguments are the flags of a command line that take names of files, with their values.
func fileArguments(args []string) iter.Seq2[string, string] {
	return func(yield func(flag, value string) bool) {
		var command string
		for i, arg := range args {
			if arg == "--" {
				break // what follows is for a container
			}
			if !strings.HasPrefix(arg, "-") {
				if command == "" {
					command = arg
				}
				continue
			}
			flag, value, given := strings.Cut(arg, "=")
			short := !strings.HasPrefix(arg, "--") && command != "logs" // where -f is --follow
			switch {
			case slices.Contains(fileFlags, flag):
			case short && strings.ContainsAny(flag, "fk"):
				if strings.HasPrefix(arg, "-f") && !given && len(arg) > 2 {
					value, given = arg[2:], true
				}
			default:
				continue
			}
			if !given && i+1 < len(args) {
				value = args[i+1]
			}
			if !yield(flag, value) {
				return
			}
		}
	}
}
