package kubectl

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/auth"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// answerCanI replaces what `auth can-i` runs, which upstream ends with os.Exit
// when the answer is no. The flags are upstream's.
func answerCanI(root *cobra.Command, f cmdutil.Factory, streams genericiooptions.IOStreams) {
	canI, _, err := root.Find([]string{"auth", "can-i"})
	cmdutil.CheckErr(err)
	canI.Run = func(command *cobra.Command, args []string) {
		o := &auth.CanIOptions{IOStreams: streams}
		flags := command.Flags()
		for name, value := range map[string]*bool{"all-namespaces": &o.AllNamespaces, "quiet": &o.Quiet, "list": &o.List, "no-headers": &o.NoHeaders} {
			*value, err = flags.GetBool(name)
			cmdutil.CheckErr(err)
		}
		o.Subresource, err = flags.GetString("subresource")
		cmdutil.CheckErr(err)
		cmdutil.CheckErr(o.Complete(f, args))
		cmdutil.CheckErr(o.Validate())
		if o.List {
			cmdutil.CheckErr(o.RunAccessList())
			return
		}
		allowed, err := o.RunAccessCheck()
		cmdutil.CheckErr(err)
		if !allowed {
			cmdutil.CheckErr(cmdutil.ErrExit)
		}
	}
}
