package kubectl

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubetab/kubetab/internal/goroutine"
)

// exit is what a command panics with where upstream would end the process, in
// the goroutine that runs it.
type exit struct {
	message string
	code    int
}

// fate is what becomes of a command whose other goroutines may want to end it:
// upstream's handler is told neither which command it is for nor where it is.
type fate struct {
	goroutine uint64 // its number
	ctx       context.Context
	errs      io.Writer
	env       map[string]string

	mu   sync.Mutex
	code int
}

// fates are those of the commands that run, by their goroutine.
var fates sync.Map

// follow registers the calling goroutine as that of a command.
func follow(ctx context.Context, errs io.Writer, env map[string]string) *fate {
	own := goroutine.Number()
	f := &fate{goroutine: own, ctx: ctx, errs: errs, env: env}
	fates.Store(own, f)
	return f
}

// Variable returns an environment variable of the command that the calling
// goroutine runs, or "". That of the process may be another command's.
func Variable(name string) string {
	own := goroutine.Number()
	if f, ok := fates.Load(own); ok {
		return f.(*fate).env[name]
	}
	return ""
}

// Context returns the context of the command that the calling goroutine runs, or one that
// does not end.
func Context() context.Context {
	if f, ok := fates.Load(goroutine.Number()); ok {
		return f.(*fate).ctx
	}
	return context.Background()
}

// toOwnErrors writes to the standard error of the command that the calling goroutine runs, or else to the process's.
type toOwnErrors struct{}

func (toOwnErrors) Write(p []byte) (int, error) {
	own := goroutine.Number()
	if f, ok := fates.Load(own); ok {
		return f.(*fate).errs.Write(p)
	}
	return os.Stderr.Write(p)
}

// end returns what other goroutines of the command would have exited with.
func (f *fate) end() int {
	fates.Delete(f.goroutine)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.code
}

// handleFatal makes upstream's "print and exit" end the command instead of the
// process, wherever it is called. The handler is a variable of upstream's.
var handleFatal = sync.OnceFunc(func() {
	cmdutil.BehaviorOnFatal(func(message string, code int) {
		message = strings.TrimSuffix(message, "\n")
		if _, ok := fates.Load(goroutine.Number()); ok {
			panic(exit{message, code})
		}
		// A goroutine that the command has started (cp has one): a panic there
		// would end the process. Its deferred calls tell the command, by closing
		// pipes for example.
		var errs io.Writer = os.Stderr
		if f, ok := fates.Load(goroutine.Parent()); ok {
			f := f.(*fate)
			f.mu.Lock()
			f.code = code
			f.mu.Unlock()
			errs = f.errs
		}
		if message != "" {
			fmt.Fprintln(errs, message)
		}
		runtime.Goexit()
	})
})
