package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"routesim/cmd/routesim/internal/settings"
	"routesim/models/profile"
	"routesim/reports/plot"
	"routesim/reports/profileview"
)

const profileHelp = `GPU profiles: how long the steps of a modelled worker take and how many KV tokens
it holds, with provenance, grade and error.

A profile is named gpu/engine/model/tpN/weights/kv-cache. Parts may be left out:
h100/llama-3.1-70b/tp4 means engine vllm, bf16 weights and KV cache, else the only
ones there are. A name that ends in .yaml is a file of your own.`

// newProfile returns the commands about profiles.
func newProfile(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "List, show, compare, fit and check GPU profiles",
		Long:  profileHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			if near := settings.Nearest(args[0], names); near != "" {
				return fmt.Errorf("profile %s: unknown command; did you mean profile %s?", args[0], near)
			}
			return fmt.Errorf("profile %s: unknown command; see routesim profile --help for the list", args[0])
		},
	}
	cmd.AddCommand(newProfileList(), newProfileShow(), newProfilePlot(), newProfileCompare(),
		newProfileFit(), newProfileValidate(), newProfileAccuracy())
	return cmd
}

// writer writes a document in one format.
type writer func(io.Writer) error

// chooseFormat returns the writer of a format, whose names are given in the
// order of the help text.
func chooseFormat(name string, names []string, writers ...writer) (writer, error) {
	for i, n := range names {
		if n == name {
			return writers[i], nil
		}
	}
	return nil, badWord("--format", name, names...)
}

func addFormat(f *pflag.FlagSet, to *string, names ...string) {
	f.StringVar(to, "format", names[0], "standard output: "+strings.Join(names[:len(names)-1], ", ")+" or "+names[len(names)-1])
}

// exactly refuses another number of arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%s: found %d arguments, expected %s", cmd.CommandPath(), len(args), what)
		}
		return nil
	}
}

func newProfileList() *cobra.Command {
	var form string
	var filter profileview.Filter
	cmd := &cobra.Command{
		Use:   "list [flags] [WORD...]",
		Short: "List the shipped profiles, or those whose id contains every WORD",
		Long: "List the shipped profiles, or those whose id contains every WORD, the GPUs with the\n" +
			"best evidence first.",
		Example: "  routesim profile list\n  routesim profile list h100 vllm 70b --grade A",
		RunE: func(cmd *cobra.Command, args []string) error {
			filter.Words = args
			for i, g := range filter.Grades {
				filter.Grades[i] = strings.ToUpper(g)
				if len(g) != 1 || !strings.Contains("ABC", filter.Grades[i]) {
					return badWord("--grade", g, "A", "B", "C")
				}
			}
			all, err := profile.All()
			if err != nil {
				return err
			}
			list := filter.Choose(all)
			write, err := chooseFormat(form, []string{"table", "json", "csv"},
				func(w io.Writer) error { return profileview.List(w, list) },
				func(w io.Writer) error { return profileview.ListJSON(w, list) },
				func(w io.Writer) error { return profileview.ListCSV(w, list) })
			if err != nil {
				return err
			}
			if err := write(cmd.OutOrStdout()); err != nil {
				return err
			}
			if len(list) == 0 {
				return &exitError{exitNothing, fmt.Sprintf("no profile matches %s", strings.Join(args, " "))}
			}
			return nil
		},
	}
	addFormat(cmd.Flags(), &form, "table", "json", "csv")
	cmd.Flags().StringSliceVar(&filter.Grades, "grade", nil, "only profiles of these `grades`: A, B, C")
	return cmd
}

func newProfileShow() *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:     "show [flags] PROFILE",
		Short:   "Show one profile: step times, KV cache, errors, provenance",
		Long:    "Show one profile: step times, KV cache, errors, provenance. --format yaml writes it as\na file of its own, to start one of yours from.",
		Example: "  routesim profile show h100/llama-3.1-70b/tp4\n  routesim profile show h100/qwen3-32b/tp2 --format yaml > my.yaml",
		Args:    exactly(1, "one PROFILE, a name or a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := profile.Load(args[0])
			if err != nil {
				return err
			}
			write, err := chooseFormat(form, []string{"table", "json", "yaml"},
				func(w io.Writer) error { return profileview.Show(w, p) },
				func(w io.Writer) error { return profileview.ShowJSON(w, p) },
				func(w io.Writer) error { return writeProfile(w, p) })
			if err != nil {
				return err
			}
			return write(cmd.OutOrStdout())
		},
	}
	addFormat(cmd.Flags(), &form, "table", "json", "yaml")
	return cmd
}

func writeProfile(w io.Writer, p *profile.Profile) error {
	text, err := p.Format()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func newProfileCompare() *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:     "compare [flags] PROFILE PROFILE",
		Short:   "Set two profiles side by side",
		Example: "  routesim profile compare h100/llama-3.1-70b/tp4 a100/llama-3.1-70b/tp4\n  routesim profile compare h100/qwen3-32b/tp2 my.yaml",
		Args:    exactly(2, "two profiles, names or files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := profile.Load(args[0])
			if err != nil {
				return err
			}
			b, err := profile.Load(args[1])
			if err != nil {
				return err
			}
			c, err := profileview.Compare(a, b)
			if err != nil {
				return err
			}
			write, err := chooseFormat(form, []string{"table", "json", "csv"}, c.WriteText, c.WriteJSON, c.WriteCSV)
			if err != nil {
				return err
			}
			return write(cmd.OutOrStdout())
		},
	}
	addFormat(cmd.Flags(), &form, "table", "json", "csv")
	return cmd
}

func newProfilePlot() *cobra.Command {
	output := "."
	cmd := &cobra.Command{
		Use:     "plot [flags] PROFILE",
		Short:   "Draw the step times of a profile",
		Long:    "Draw the step times of a profile over batch sizes and contexts, as decode and prefill in\nSVG and PNG. Standard output names each file with a sentence that describes it.",
		Example: "  routesim profile plot h100/llama-3.1-70b/tp4 -o out",
		Args:    exactly(1, "one PROFILE, a name or a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := profile.Load(args[0])
			if err != nil {
				return err
			}
			pictures, err := profileview.Figures(p)
			if err != nil {
				return err
			}
			dir, err := openOutDir(output)
			if err != nil {
				return err
			}
			defer dir.discard()
			for _, q := range pictures {
				if err := addPicture(dir, q.Name, q.Figure); err != nil {
					return err
				}
			}
			if err := dir.commit(); err != nil {
				return err
			}
			for _, q := range pictures {
				fmt.Fprintf(cmd.OutOrStdout(), "%s.svg, %s.png: %s\n", q.Name, q.Name, q.Figure.Alt)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "write the figures into `DIR`")
	return cmd
}

// addPicture writes a figure as SVG and PNG.
func addPicture(dir *outDir, name string, f *plot.Figure) error {
	if err := dir.add(name+".svg", f.WriteSVG); err != nil {
		return err
	}
	return dir.add(name+".png", f.WritePNG)
}

func newProfileValidate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE.yaml...",
		Short: "Check profiles in files of their own",
		Long: "Check profiles in files of their own: every unit and number is there, no coefficient is\n" +
			"negative, no time falls when tokens are added, and the steps respect the hardware's floor\n" +
			"where it is known. Exit code 2 if a file cannot be used.",
		Example: "  routesim profile validate my.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: expected a FILE.yaml", cmd.CommandPath())
			}
			for _, path := range args {
				p, err := profile.ReadFile(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, p.Summary())
				if share, worst, err := p.BelowFloor(); err == nil && share > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: steps are faster than peak arithmetic and bandwidth allow on %.1f %% of a grid, by up to %.2f times; a profile like this has grade C\n",
						path, 100*share, worst)
				}
			}
			return nil
		},
	}
}
