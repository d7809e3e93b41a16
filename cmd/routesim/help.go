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

// newHelp returns the help command. It knows the commands it is asked about, or
// says that there is no such command as the command itself would.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		Long:  "Help about a command: what routesim COMMAND --help shows.",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 && cmd.HasSubCommands() && cmd.RunE != nil {
				return cmd.RunE(cmd, rest)
			}
			if len(rest) > 0 {
				return fmt.Errorf("%s: unknown command; %s has no commands", rest[0], cmd.CommandPath())
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
