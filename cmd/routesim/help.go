package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"routesim/cmd/routesim/internal/settings"
)

const helpColumns = 80

// showSettings gives a command a help text with its own options first and then
// all settings by group.
func showSettings(cmd *cobra.Command, options *pflag.FlagSet, table *settings.Table) {
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nOptions:\n%s%s",
			cmd.Long, cmd.UseLine(), cmd.Example, options.FlagUsagesWrapped(helpColumns), table.Usage())
	})
}
