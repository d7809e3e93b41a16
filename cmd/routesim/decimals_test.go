package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestOptionsTakeDecimals goes through the options of every command: those with
// numbers read nothing but decimals.
func TestOptionsTakeDecimals(t *testing.T) {
	seen := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if kind != "int" && kind != "int64" && kind != "uint64" && kind != "float64" {
				return
			}
			seen++
			for _, text := range []string{"0x10", "1_0", "0b1", "0o7", "0x1p3", "", " 1", "NaN", "inf", "1e400", "ten"} {
				if f.Value.Set(text) == nil {
					t.Errorf("%s --%s takes %q", cmd.CommandPath(), f.Name, text)
				}
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(system{}))
	if seen < 10 {
		t.Errorf("%d options with numbers were looked at, expected more", seen)
	}
	// What begins with 0 is no octal number.
	cmd := newRoot(system{})
	seeds := find(t, cmd, "sweep").Flags().Lookup("seeds")
	if err := seeds.Value.Set("010"); err != nil || seeds.Value.String() != "10" {
		t.Errorf("010 reads %s, %v", seeds.Value, err)
	}
}

func find(t *testing.T, root *cobra.Command, name string) *cobra.Command {
	t.Helper()
	cmd, _, err := root.Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}
