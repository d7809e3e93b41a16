package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
	"routesim/sim"
	"routesim/sim/sweep"
)

// sweepRun is one run of a sweep.
type sweepRun struct {
	point int
	seed  uint64
	fresh bool
}

// sweepDone is what a run left.
type sweepDone struct {
	run    *sweepdata.Run
	reused bool // found in the folder
}

// tally counts the runs of a sweep.
type tally struct{ total, done, reused, failed, saturated, missing int }

// jobs lists the runs of this shard, seed by seed: an interrupted sweep has all
// points with some seeds rather than some points with all.
func (p *sweepPlan) jobs() (list []sweepRun) {
	n := 0
	for _, seed := range p.data.Seeds {
		for i := range p.data.Points {
			if p.o.shard.Has(n) {
				list = append(list, sweepRun{point: i, seed: seed})
			}
			n++
		}
	}
	return list
}

// runAll makes runs and notes what became of them, in their order.
func (p *sweepPlan) runAll(cmd *cobra.Command, what string, jobs []sweepRun) tally {
	t := tally{total: len(jobs)}
	bar := newSweepProgress(cmd, what, len(jobs), p.o.quiet)
	do := func(ctx context.Context, i int) (sweepDone, error) {
		done, err := p.runOne(ctx, jobs[i])
		if ctx.Err() == nil {
			bar.advance()
		}
		return done, err
	}
	sweep.Run(cmd.Context(), len(jobs), runtime.GOMAXPROCS(0), do, func(i int, done sweepDone, err error) {
		point := &p.data.Points[jobs[i].point]
		switch {
		case err != nil:
			t.failed++
			point.Fail(jobs[i].seed, err.Error())
			return
		case jobs[i].fresh:
			point.Fresh = append(point.Fresh, *done.run)
		default:
			point.Runs = append(point.Runs, *done.run)
		}
		t.done++
		if done.reused {
			t.reused++
		}
		if done.run.Saturated {
			t.saturated++
		}
	})
	bar.clear()
	return t
}

// runOne makes one run and writes its file, unless the folder has it.
func (p *sweepPlan) runOne(ctx context.Context, job sweepRun) (sweepDone, error) {
	point := &p.data.Points[job.point]
	if err := p.points[job.point].err; err != nil {
		return sweepDone{}, err
	}
	if run := sweepdata.FindRun(p.dir, point, job.seed); run != nil {
		return sweepDone{run, true}, nil
	}
	run, err := p.resolve(p.given(job.point))
	if err != nil {
		return sweepDone{}, err
	}
	trace := p.traces[readingOf(run.settings)].trace
	run.config.Seed = job.seed
	result, err := sim.Run(ctx, trace, run.config)
	if err != nil {
		return sweepDone{}, err
	}
	if ctx.Err() != nil {
		return sweepDone{}, ctx.Err() // the run may have been cut short
	}
	measured, latencies := sweepdata.Measure(trace, run.config, result)
	if err := sweepdata.SaveRun(p.dir, point, measured, latencies); err != nil {
		return sweepDone{}, fmt.Errorf("--output: %s: %w", filepath.Join(p.dir, filepath.FromSlash(sweepdata.RunFile(point.ID, job.seed))), reason(err))
	}
	return sweepDone{run: measured}, nil
}

// sweepProgress shows how far a sweep is. A nil one shows nothing.
type sweepProgress struct{ bar *progressbar.ProgressBar }

// newSweepProgress returns a progress bar on standard error, nil unless that is
// a terminal.
func newSweepProgress(cmd *cobra.Command, what string, total int, quiet bool) *sweepProgress {
	w := cmd.ErrOrStderr()
	if newProgress(w, what, quiet) == nil || total == 0 {
		return nil
	}
	return &sweepProgress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("runs"),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30),
	)}
}

// advance counts one more run; the bar is safe for use by several goroutines.
func (s *sweepProgress) advance() {
	if s != nil {
		_ = s.bar.Add(1) // a terminal that cannot be written to shows no bar
	}
}

func (s *sweepProgress) clear() {
	if s != nil {
		_ = s.bar.Clear()
	}
}

// String says what became of the runs, for people.
func (t *tally) String() string {
	text := fmt.Sprintf("%s of %s done", format.Count(int64(t.done)), format.Plural(int64(t.total), "run"))
	if t.reused > 0 {
		text += fmt.Sprintf(", %s of them before", format.Count(int64(t.reused)))
	}
	if t.failed > 0 {
		text += fmt.Sprintf(", %s failed", format.Count(int64(t.failed)))
	}
	if t.saturated > 0 {
		text += fmt.Sprintf(", %s saturated", format.Count(int64(t.saturated)))
	}
	return text
}
