package kubectl

import (
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagCompletionFunctions is what completes the values of flags. Cobra keeps it for all command trees that there ever were
// (https://github.com/spf13/cobra/pull/2012), and each function refers to the factory of its command.
//
//go:linkname flagCompletionFunctions github.com/spf13/cobra.flagCompletionFunctions
var flagCompletionFunctions map[*pflag.Flag]cobra.CompletionFunc

//go:linkname flagCompletionMutex github.com/spf13/cobra.flagCompletionMutex
var flagCompletionMutex *sync.RWMutex

// forget has a command tree that has ended be garbage.
func forget(root *cobra.Command) {
	forgetFlags(root.Flags())
	forgetFlags(root.PersistentFlags())
	for _, command := range root.Commands() {
		forget(command)
	}
}

func forgetFlags(flags *pflag.FlagSet) {
	flagCompletionMutex.Lock()
	defer flagCompletionMutex.Unlock()
	flags.VisitAll(func(f *pflag.Flag) { delete(flagCompletionFunctions, f) })
}
