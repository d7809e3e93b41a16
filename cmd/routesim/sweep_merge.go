package main

import "github.com/spf13/cobra"

func newSweepMerge(sys system) *cobra.Command {
	return &cobra.Command{Use: "merge DIR... -o DIR"}
}
