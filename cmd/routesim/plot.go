package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/figures"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

const plotHelp = `Draw a saved sweep again: other metrics, axes and points, or another size.

  --kind knob     a latency against each setting, with intervals over seeds
  --kind heatmap  a metric over two settings, as a change and as a value
  --kind pareto   TTFT p90 against ITL p90, with the Pareto front
  --kind cdf      distributions of TTFT, TPOT and E2E over requests
  --kind balance  cache reuse against load imbalance
  --kind overlap  prefix overlap found over the one predicted
  --kind workers  KV use, running and waiting requests of each worker over time
  --kind goodput  share of requests within the SLA against a setting

DIR is what routesim sweep -o wrote. Each figure is written as PNG and SVG, and
named on standard output as a line of Markdown with its alternative text.

Points are named by ID (or its first digits), or as default, chosen or reference.
The kind workers runs its points again with the first seed of the sweep; --trace
names the trace where it lies elsewhere by now.

Exit code 0: drawn. 2: bad input or usage, or no data for the figure.`

const plotExample = `  routesim plot out --kind heatmap --metric p90_itl_ms
  routesim plot out --kind knob --axis router-prefill-load-scale --metric ttft -o pictures
  routesim plot out --kind cdf --metric ttft --point 1b2c3d4e -o ttft.svg
  routesim plot out --kind pareto --size readme -o pareto.png`

// plotOptions are what one command line says.
type plotOptions struct {
	sys    system
	kind   string
	metric string
	axis   string
	points []string
	size   string
	output string
	trace  []string
	quiet  bool
}

func newPlot(sys system) *cobra.Command {
	o := &plotOptions{sys: sys}
	cmd := &cobra.Command{
		Use:     "plot [flags] DIR",
		Short:   "Draw a saved sweep again",
		Long:    plotHelp,
		Example: plotExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.kind, "kind", "", "what to draw, `KIND`: "+strings.Join(figures.Kinds(), ", "))
	f.StringVar(&o.metric, "metric", "", "`METRIC`, a column of points.csv; for knob and cdf also a family such as ttft")
	settings.Once(f, "kind", "metric")
	f.StringVar(&o.axis, "axis", "", "a setting that was varied, `NAME`")
	f.StringArrayVar(&o.points, "point", nil, "a point, `ID`; may be repeated")
	f.StringVar(&o.size, "size", "full", "`SIZE` full, or readme (small)")
	f.StringVarP(&o.output, "output", "o", "", "write into a folder, or into one `FILE` ending in .png or .svg (default DIR/plots)")
	f.StringArrayVar(&o.trace, "trace", nil, "the sweep's trace for --kind workers, `FILE`; may be repeated")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no remarks on standard error, only warnings")
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nOptions:\n%s", cmd.Long, cmd.UseLine(), cmd.Example, f.FlagUsagesWrapped(helpColumns))
	})
	return cmd
}

func (o *plotOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.check(cmd, args); err != nil {
		return err
	}
	s, err := sweepdata.Open(args[0])
	if err != nil {
		return err
	}
	v, err := judgeSaved(s)
	if err != nil {
		return err
	}
	r, err := o.request(s, v)
	if err != nil {
		return err
	}
	var series figures.Series
	if o.kind == figures.Workers {
		if series, err = o.watch(cmd, args[0], s, v, r.Points); err != nil {
			return err
		}
	}
	list, err := figures.Draw(s, v, series, r)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return o.write(cmd.OutOrStdout(), args[0], list)
}

// check finds bad options before anything is read.
func (o *plotOptions) check(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "":
		return fmt.Errorf(`%s: found "", expected the DIR of one sweep`, cmd.CommandPath())
	case len(args) != 1:
		return fmt.Errorf("%s: found %d folders, expected the DIR of one sweep", cmd.CommandPath(), len(args))
	case o.kind == "":
		return fmt.Errorf("%s: expected --kind %s", cmd.CommandPath(), strings.Join(figures.Kinds(), ", "))
	case !slices.Contains(figures.Kinds(), o.kind):
		return badWord("--kind", o.kind, figures.Kinds()...)
	case o.size != "full" && o.size != "readme":
		return badWord("--size", o.size, "full", "readme")
	case cmd.Flags().Changed("output") && strings.TrimSpace(o.output) == "":
		return fmt.Errorf(`--output: found %q, expected the name of a folder, or of a file ending in .png or .svg`, o.output)
	case o.metric != "" && slices.Contains([]string{figures.Pareto, figures.Balance, figures.Overlap, figures.Workers, figures.Goodput}, o.kind):
		return fmt.Errorf("--metric: found it with --kind %s, which always draws the same ones, expected it with knob, heatmap or cdf", o.kind)
	case o.axis != "" && !slices.Contains([]string{figures.Knob, figures.HeatMap, figures.Goodput}, o.kind):
		return fmt.Errorf("--axis: found it with --kind %s, which has no axis of its own, expected it with knob, heatmap or goodput", o.kind)
	case len(o.points) > 0 && slices.Contains([]string{figures.Knob, figures.HeatMap, figures.Goodput}, o.kind):
		return fmt.Errorf("--point: found it with --kind %s, which draws all points, expected it with pareto, cdf, balance, overlap or workers", o.kind)
	case len(o.trace) > 0 && o.kind != figures.Workers:
		return fmt.Errorf("--trace: found it with --kind %s, which reads saved results only, expected it with workers", o.kind)
	}
	return nil
}

// judgeSaved judges a saved sweep as it was judged when it was made.
func judgeSaved(s *sweepdata.Sweep) (*verdict.Verdict, error) {
	v, err := verdict.Judge(s, verdict.Options{})
	if err != nil || len(v.Rerun) == 0 {
		return v, err
	}
	fresh := map[int][]sweepdata.Run{}
	for _, p := range v.Rerun {
		if fresh[p] = s.Points[p].Fresh; len(fresh[p]) == 0 {
			return v, nil
		}
	}
	return verdict.Confirm(s, v, fresh)
}

// request turns names into what the figures know.
func (o *plotOptions) request(s *sweepdata.Sweep, v *verdict.Verdict) (r figures.Request, err error) {
	r = figures.Request{Kind: o.kind, Metric: o.metric, Readme: o.size == "readme"}
	if err := checkMetric(o.kind, o.metric); err != nil {
		return r, err
	}
	if r.Axis, err = axisNamed(s, o.axis); err != nil {
		return r, err
	}
	for _, name := range o.points {
		p, err := pointNamed(s, v, name)
		if err != nil {
			return r, err
		}
		if !slices.Contains(r.Points, p) {
			r.Points = append(r.Points, p)
		}
	}
	return r, nil
}

// checkMetric refuses a name that no metric has, nor a family where one will do.
func checkMetric(kind, name string) error {
	if name == "" {
		return nil
	}
	var families []string
	for _, m := range sweepdata.Metrics() {
		if !slices.Contains(families, m.Family) {
			families = append(families, m.Family)
		}
	}
	if kind == figures.CDF {
		families = []string{"ttft", "tpot", "e2e"}
	}
	if kind != figures.HeatMap && slices.Contains(families, name) {
		return nil
	}
	if sweepdata.MetricIndex(name) >= 0 {
		return nil
	}
	if near := settings.Nearest(name, families); near != "" && kind != figures.HeatMap {
		return fmt.Errorf("--metric: found %q, expected a metric or a family of them; did you mean %s?", name, near)
	}
	return unknownMetric("--metric", name)
}

// axisNamed finds an axis by its name, or by the short one of tables.
func axisNamed(s *sweepdata.Sweep, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var names []string
	for i := range s.Axes {
		a := s.Axes[i].Name
		if strings.ReplaceAll(name, "_", "-") == a || name == verdict.Short(a) {
			return a, nil
		}
		names = append(names, a)
	}
	if len(names) == 0 {
		return "", fmt.Errorf("--axis: found %q, but the sweep varied nothing", name)
	}
	return "", badWord("--axis", name, names...)
}

// pointNamed finds a point by its ID or the beginning of it, or by its part.
func pointNamed(s *sweepdata.Sweep, v *verdict.Verdict, name string) (int, error) {
	for _, part := range []struct {
		name  string
		point int
	}{{"default", s.Default}, {"reference", s.Reference}, {"chosen", v.Chosen}} {
		if name != part.name {
			continue
		}
		if part.point < 0 {
			return -1, fmt.Errorf("--point: found %s, but the sweep has none", name)
		}
		return part.point, nil
	}
	found := -1
	var ids []string
	for i := range s.Points {
		id := s.Points[i].ID
		ids = append(ids, id)
		if name == "" || !strings.HasPrefix(id, name) {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("--point: found %q, with which both %s and %s begin, expected more digits", name, s.Points[found].ID, id)
		}
		found = i
	}
	if found >= 0 {
		return found, nil
	}
	if near := settings.Nearest(name, ids); near != "" {
		return -1, fmt.Errorf("--point: found %q, expected the ID of a point in points.csv, default, chosen or reference; did you mean %s?", name, near)
	}
	return -1, fmt.Errorf("--point: found %q, expected the ID of a point in points.csv, default, chosen or reference", name)
}

// watch runs points again to see what their workers do over time: those asked
// for, otherwise the chosen and the default one.
func (o *plotOptions) watch(cmd *cobra.Command, dir string, s *sweepdata.Sweep, v *verdict.Verdict, points []int) (figures.Series, error) {
	if len(points) == 0 {
		points = []int{v.Chosen, s.Default}
	}
	own := newSweepOptions(o.sys, &cobra.Command{Use: "sweep"})
	own.quiet, own.from = true, filepath.Join(dir, sweepdata.ConfigFile)
	if err := o.findTrace(s); err != nil {
		return nil, err
	}
	plan, err := own.plan(cmd, o.trace)
	if err != nil {
		return nil, err
	}
	series := figures.Series{}
	for _, p := range points {
		if p < 0 || series[p] != nil || len(s.Points[p].Runs) == 0 {
			continue
		}
		if p >= len(plan.points) || !slices.Equal(plan.data.Points[p].Values, s.Points[p].Values) {
			return nil, fmt.Errorf("%s: found other points than this version of the program makes of it, expected the same; draw it with version %s", own.from, s.Version)
		}
		if series[p], err = plan.watchOne(cmd, p, s.Points[p].Runs[0].Seed); err != nil {
			return nil, err
		}
	}
	return series, nil
}

// findTrace makes sure that the trace is where the sweep or --trace says.
func (o *plotOptions) findTrace(s *sweepdata.Sweep) error {
	if len(o.trace) > 0 {
		return nil
	}
	for _, name := range s.TracePaths {
		if name == "-" {
			return errors.New("--trace: expected the file of the sweep's trace, which was read from standard input")
		}
		if _, err := os.Stat(name); err != nil {
			return fmt.Errorf("%s: found no trace there (%w), expected the one the sweep was made with; name it with --trace", name, reason(err))
		}
	}
	return nil
}

// watchOne runs a point and sees what its workers do over time.
func (p *sweepPlan) watchOne(cmd *cobra.Command, point int, seed uint64) (*sweepdata.WorkerSeries, error) {
	run, err := p.resolve(p.points[point].given)
	if err != nil {
		return nil, err
	}
	run.config.Seed = seed
	series, _, err := sweepdata.Watch(cmd.Context(), p.traces[readingOf(run.settings)].trace, run.config)
	return series, err
}

// pictureFile is a figure in one format.
type pictureFile struct {
	name  string
	alt   string
	write func(io.Writer) error
}

// files lists the files to be written, and the folder they belong to.
func (o *plotOptions) files(dir string, list []figures.Named) (string, []pictureFile, error) {
	var out []pictureFile
	switch ext := strings.ToLower(filepath.Ext(o.output)); ext {
	case ".png", ".svg":
		if len(list) > 1 {
			var names []string
			for i := range list {
				names = append(names, list[i].Name)
			}
			return "", nil, fmt.Errorf("--output: found the file %s for %d figures (%s), expected a folder, or one figure; narrow it with --metric, --axis or --point", o.output, len(list), strings.Join(names, ", "))
		}
		write := list[0].WriteSVG
		if ext == ".png" {
			write = list[0].WritePNG
		}
		return filepath.Dir(o.output), []pictureFile{{filepath.Base(o.output), list[0].Alt, write}}, nil
	}
	for i := range list {
		f := &list[i]
		out = append(out, pictureFile{f.Name + ".png", f.Alt, f.WritePNG}, pictureFile{f.Name + ".svg", f.Alt, f.WriteSVG})
	}
	if o.output != "" {
		return o.output, out, nil
	}
	return filepath.Join(dir, "plots"), out, nil
}

// write writes the files and names each with its alternative text.
func (o *plotOptions) write(w io.Writer, dir string, list []figures.Named) error {
	folder, files, err := o.files(dir, list)
	if err != nil {
		return err
	}
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].name
	}
	out, err := openOutDir(folder, names...)
	if err != nil {
		return err
	}
	defer out.discard()
	for i := range files {
		if err := out.add(files[i].name, files[i].write); err != nil {
			return err
		}
	}
	if err := out.commit(); err != nil {
		return err
	}
	escape := strings.NewReplacer("[", `\[`, "]", `\]`, `\`, `\\`)
	for _, f := range files {
		if _, err := fmt.Fprintf(w, "![%s](%s)\n", escape.Replace(f.alt), filepath.ToSlash(filepath.Join(folder, f.name))); err != nil {
			return err
		}
	}
	return nil
}
