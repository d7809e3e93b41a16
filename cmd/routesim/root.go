package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
)

const rootHelp = `routesim replays a request trace through Dynamo's KV-aware router: every request
is hashed, scored and routed as the router would, and served by modelled workers
in virtual time. It reports TTFT, ITL, cache reuse and load balance, exactly and
repeatably, without a GPU.

Its default router mode is kv; Dynamo's own default is round-robin.`

// newRoot builds the command tree.
func newRoot(sys system) *cobra.Command {
	root := &cobra.Command{
		Use:           "routesim",
		Short:         "Offline simulator of Dynamo's KV-aware router",
		Long:          rootHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			if near := settings.Nearest(args[0], names); near != "" {
				return fmt.Errorf("%s: unknown command; did you mean %s?", args[0], near)
			}
			return fmt.Errorf("%s: unknown command; see routesim --help for the list", args[0])
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(sys.stdin)
	root.SetOut(sys.stdout)
	root.SetErr(sys.stderr)
	root.AddCommand(newReplay(sys), newCompare(sys), newSweep(sys), newPlot(sys), newGate(sys), newParity(), newValidate(sys), newProfile(sys), newExplain(sys), newDefinitions(), newVersion())
	decimals(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return settings.FlagError(cmd.Flags(), err)
	})
	return root
}

// decimals lets the numbers of a command's options, and of those below it, be
// decimal ones only.
func decimals(cmd *cobra.Command) {
	settings.Decimals(cmd.Flags())
	for _, c := range cmd.Commands() {
		decimals(c)
	}
}
