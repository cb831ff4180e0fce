package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/i18n"
	"k8s.io/kubernetes/pkg/kubectl/cmd/convert"
)

// addConvert adds the command of upstream's plugin kubectl-convert, if the
// command line names it. On a machine the plugin is a program of its own, with
// kubectl's flags beside its own; kubectl completes its name with the words of
// registerPluginCommands in upstream's package plugin, and lists it in its help,
// which ours does not.
//
// Other command lines do without it: making it calls what nobody else calls, and
// in a tab they would all wait for the rest of the module.
func addConvert(root *cobra.Command, f cmdutil.Factory, streams genericiooptions.IOStreams, args []string) {
	const name = "convert"
	switch {
	case slices.Contains(args, name):
		command := convert.NewCmdConvert(f, streams)
		command.Hidden = !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
		root.AddCommand(command)
	case len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd):
		root.AddCommand(&cobra.Command{
			Use:   name,
			Short: fmt.Sprintf(i18n.T("The command %s is a plugin installed by the user"), name),
			Run:   func(*cobra.Command, []string) {},
		})
	}
}
