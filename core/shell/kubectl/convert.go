package kubectl

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubernetes/pkg/kubectl/cmd/convert"
)

// addConvert adds the command of upstream's plugin kubectl-convert. On a machine
// the plugin is a program of its own, with kubectl's flags beside its own. kubectl
// completes the names of plugins, and its help does not list them.
func addConvert(root *cobra.Command, f cmdutil.Factory, streams genericiooptions.IOStreams, args []string) {
	command := convert.NewCmdConvert(f, streams)
	command.Hidden = len(args) == 0 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
	root.AddCommand(command)
}
