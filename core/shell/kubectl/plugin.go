package kubectl

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"
)

// Plugin returns the file of the plugin that a command line names, and what it is called with; "" where it names none, as
// mostly. find returns the executable file of a name, "" if there is none. As in upstream's NewDefaultKubectlCommandWithArgs,
// which ends the process, a plugin takes the place of no command, and of subcommands only of those of create. The error is
// that of upstream's HandlePluginCommand.
func Plugin(args []string, find func(name string) string) (file string, rest []string, err error) {
	// Looked for first: the commands are many, and plugins are few.
	if !mayBePlugin(args, find) {
		return "", nil, nil
	}
	building.Lock()
	root := cmd.NewKubectlCommand(cmd.KubectlOptions{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}})
	building.Unlock()
	found, foundArgs, err := root.Find(args)
	least := 1
	switch {
	case err != nil:
		switch first(args) {
		case "help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			return "", nil, nil
		}
	case cmd.IsSubcommandPluginAllowed(found.Name()) && len(foundArgs) > 0 && !strings.HasPrefix(foundArgs[0], "-") && !hasCommand(found, foundArgs[0]):
		least = len(args) - len(foundArgs) + 1
	default:
		return "", nil, nil
	}
	h := &handler{find: find}
	err = cmd.HandlePluginCommand(h, args, least)
	return h.file, h.args, err
}

// mayBePlugin reports whether there is a plugin of the first words of args, or of some of them.
func mayBePlugin(args []string, find func(name string) string) bool {
	name := plugin.ValidPluginFilenamePrefixes[0]
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			break
		}
		name += "-" + strings.ReplaceAll(arg, "-", "_")
		if find(name) != "" {
			return true
		}
	}
	return false
}

// first returns the first of args that is no flag.
func first(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

func hasCommand(c *cobra.Command, name string) bool {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return true
		}
	}
	return false
}

// handler is upstream's PluginHandler: it keeps what it should run.
type handler struct {
	find func(name string) string
	file string
	args []string
}

var _ cmd.PluginHandler = (*handler)(nil)

func (h *handler) Lookup(name string) (string, bool) {
	for _, prefix := range plugin.ValidPluginFilenamePrefixes {
		if file := h.find(prefix + "-" + name); file != "" {
			return file, true
		}
	}
	return "", false
}

func (h *handler) Execute(file string, args, _ []string) error {
	h.file, h.args = file, args
	return nil
}
