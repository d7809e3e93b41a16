package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"routesim/reports/figures"
	"routesim/reports/page"
	"routesim/reports/sweepdata"
	"routesim/reports/table"
	"routesim/reports/verdict"
	"routesim/sim/sweep"
)

// reportFile is the name of the report.
const reportFile = "report.html"

// freshSeeds is how many seeds confirm a result.
const freshSeeds = 6

// findings are what a complete sweep shows.
type findings struct {
	verdict *verdict.Verdict
	figures []figures.Named
	extras  page.Extras
}

// judge says what the sweep found out. The best points are run on fresh seeds
// before their gain is quoted.
func (p *sweepPlan) judge(cmd *cobra.Command) (*findings, error) {
	v, err := verdict.Judge(p.data, verdict.Options{})
	if err != nil {
		return nil, err
	}
	if v, err = p.confirm(cmd, v); err != nil {
		return nil, err
	}
	f := &findings{verdict: v}
	if err := p.addSeries(cmd, f); err != nil {
		return nil, err
	}
	byPoint := figures.Series{}
	for _, s := range f.extras.Series {
		byPoint[s.Point] = s.Workers
	}
	f.figures, err = figures.All(p.data, v, byPoint)
	return f, err
}

// addSeries adds the workers over time, or the reason why there are none: a
// report without them is still a report.
func (p *sweepPlan) addSeries(cmd *cobra.Command, f *findings) error {
	series, err := p.watch(cmd.Context(), f.verdict)
	switch {
	case cmd.Context().Err() != nil:
		return err
	case err != nil:
		f.extras.NoSeries = "Workers over time are absent: " + err.Error() + "."
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: the report has no workers over time: %s\n", err)
		return nil
	}
	f.extras.Series = series
	return nil
}

// confirm runs the points that may be named the best on fresh seeds.
func (p *sweepPlan) confirm(cmd *cobra.Command, v *verdict.Verdict) (*verdict.Verdict, error) {
	if len(v.Rerun) == 0 {
		return v, nil
	}
	var jobs []sweepRun
	for i := range freshSeeds {
		for _, point := range v.Rerun {
			jobs = append(jobs, sweepRun{point: point, seed: p.data.Seeds[0] + freshStep + uint64(i), fresh: true})
		}
	}
	t := p.runAll(cmd, "confirming", jobs)
	if err := cmd.Context().Err(); err != nil {
		return nil, err
	}
	if t.failed > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %d of %d runs with fresh seeds failed, so the gain is quoted from the seeds it was found with\n", t.failed, t.total)
		return v, nil
	}
	fresh := map[int][]sweepdata.Run{}
	for _, point := range v.Rerun {
		fresh[point] = p.data.Points[point].Fresh
	}
	return verdict.Confirm(p.data, v, fresh)
}

// watch runs the default and the chosen point once more, to see what their
// workers do over time.
func (p *sweepPlan) watch(ctx context.Context, v *verdict.Verdict) (list []page.Series, err error) {
	var points []int
	for _, point := range [...]int{v.Default, v.Chosen} {
		if point >= 0 && !slices.Contains(points, point) && len(p.data.Points[point].Runs) > 0 {
			points = append(points, point)
		}
	}
	do := func(ctx context.Context, i int) (page.Series, error) {
		run, err := p.resolve(p.given(points[i]))
		if err != nil {
			return page.Series{}, err
		}
		run.config.Seed = p.data.Points[points[i]].Runs[0].Seed
		series, _, err := sweepdata.Watch(ctx, p.traces[readingOf(run.settings)].trace, run.config)
		return page.Series{Point: points[i], Seed: run.config.Seed, Workers: series}, err
	}
	sweep.Run(ctx, len(points), runtime.GOMAXPROCS(0), do, func(_ int, s page.Series, problem error) {
		if err = cmp.Or(err, problem); err == nil {
			list = append(list, s)
		}
	})
	return list, cmp.Or(err, ctx.Err())
}

// files are the report and the plots.
func (f *findings) files(s *sweepdata.Sweep) []sweepdata.File {
	list := []sweepdata.File{{Name: reportFile, Write: func(w io.Writer) error { return page.Write(w, s, f.verdict, f.extras) }}}
	for i := range f.figures {
		g := &f.figures[i]
		list = append(list,
			sweepdata.File{Name: "plots/" + g.Name + ".png", Write: g.WritePNG},
			sweepdata.File{Name: "plots/" + g.Name + ".svg", Write: g.WriteSVG})
	}
	return list
}

// print writes the verdict and where the files are.
func (f *findings) print(cmd *cobra.Command, p *sweepPlan) error {
	w := cmd.OutOrStdout()
	var said []string
	if p.o.follows(cmd) {
		said = p.base.settings.Warnings
	}
	return table.Sweep(w, p.data, f.verdict, table.SweepOptions{
		Options: terminal(w, p.o.sys.environ),
		Points:  filepath.Join(p.dir, "points.csv"),
		Report:  filepath.Join(p.dir, reportFile),
		Folder:  p.dir,
		Said:    said,
		Plots:   fmt.Sprintf("%s (%d PNG, %d SVG)", filepath.Join(p.dir, "plots"), len(f.figures), len(f.figures)),
	})
}
