package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of Kubernetes and of this build",
		Example: "  kubetab version",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			v := version.Get()
			_, err := fmt.Fprintf(c.OutOrStdout(), "kubetab   %s\ncommit    %s\nGo        %s\nplatform  %s\n", v.GitVersion, v.GitCommit, v.GoVersion, v.Platform)
			return err
		},
	}
}
