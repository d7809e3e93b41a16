package figures

import (
	"fmt"
	"math"
	"slices"

	"routesim/reports/format"
	"routesim/reports/plot"
	"routesim/reports/sweepdata"
)

// mostStrips is the number of workers up to which each has a strip; of more,
// the busiest, the idlest and the median one have.
const (
	mostStrips = 32
	atEachEnd  = 8
)

// workers draws what each worker did over time, a figure for each point, all
// on one scale.
func (d *data) workers(r Request) (out []Named, err error) {
	points := r.Points
	if len(points) == 0 {
		for _, p := range d.compared(nil) {
			if d.series[p] != nil {
				points = append(points, p)
			}
		}
		for p := range d.s.Points {
			if d.series[p] != nil && len(points) == 0 {
				points = append(points, p)
			}
		}
	}
	var running, waiting int32
	var use float32
	for _, p := range points {
		s := d.series[p]
		if s == nil {
			return nil, fmt.Errorf("point %s: found no workers over time, expected those of a run of it", d.s.Points[p].ID)
		}
		for i := range s.Workers {
			use = max(use, mostUse(s.Workers[i].KV))
			running, waiting = max(running, most(s.Workers[i].Running)), max(waiting, most(s.Workers[i].Waiting))
		}
	}
	for _, p := range points {
		size := plot.StripSize(3, len(shownWorkers(d.series[p])))
		if r.Readme {
			size = plot.Readme()
		}
		f, err := d.strips(p, size, niceShare(use), running, waiting)
		if err != nil {
			return nil, err
		}
		out = append(out, Named{Name: "workers" + d.suffix(p, points), Kind: Workers, Figure: f})
	}
	return out, nil
}

func most(values []int32) int32 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values)
}

func mostUse(values []float32) (m float32) {
	for _, v := range values {
		m = max(m, v)
	}
	return m
}

// niceShare returns the end of a scale of shares that shows the largest one.
func niceShare(most float32) float64 {
	for _, percent := range []float64{1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 40, 50, 60, 80} {
		if float64(most) <= percent/100 {
			return percent / 100
		}
	}
	return 1
}

// strips draws the workers of one run.
func (d *data) strips(p int, size plot.Size, use float64, running, waiting int32) (*plot.Figure, error) {
	s := d.series[p]
	shown := shownWorkers(s)
	kv := plot.StripGroup{Title: "KV use, share of KV blocks, mean", Top: use, TopLabel: format.Fixed(100*use, 0) + " %"}
	run := plot.StripGroup{Title: "running requests, most", Top: float64(running), TopLabel: format.Count(int64(running))}
	wait := plot.StripGroup{Title: "requests left waiting, most", Top: float64(waiting), TopLabel: format.Count(int64(waiting))}
	for _, w := range shown {
		name := s.Label(w)
		strip := &s.Workers[w]
		kv.Strips = append(kv.Strips, plot.Strip{Name: name, Values: strip.KV})
		run.Strips = append(run.Strips, plot.Strip{Name: name, Values: floats(strip.Running)})
		wait.Strips = append(wait.Strips, plot.Strip{Name: name, Values: floats(strip.Waiting)})
	}
	note := ""
	if len(shown) < len(s.Workers) {
		note = fmt.Sprintf("Of %d workers the %d with the highest KV use, the median and the %d with the lowest.", len(s.Workers), atEachEnd, atEachEnd)
	}
	label, per := "time, s", 1000.0
	if end := s.Width * sweepdata.SeriesBuckets; end >= 3*60_000 {
		label, per = "time, min", 60_000
	}
	c := d.caption(workersFinding(d.called(p), s), "KV use, running and waiting requests of each worker over time.")
	c.Subtitle = fmt.Sprintf("seed %d; %s", d.s.Points[p].Runs[0].Seed, c.Subtitle)
	return plot.Strips(size, c, label, s.Width*sweepdata.SeriesBuckets/per, note, kv, run, wait)
}

func floats(values []int32) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// shownWorkers lists the workers that have a strip.
func shownWorkers(s *sweepdata.WorkerSeries) []int {
	all := make([]int, len(s.Workers))
	use := make([]float64, len(s.Workers))
	for i := range all {
		all[i] = i
		for _, v := range s.Workers[i].KV {
			use[i] += float64(v)
		}
	}
	if len(all) <= mostStrips {
		return all
	}
	slices.SortStableFunc(all, func(a, b int) int {
		switch {
		case use[a] > use[b]:
			return -1
		case use[a] < use[b]:
			return 1
		}
		return 0
	})
	out := slices.Clone(all[:atEachEnd])
	out = append(out, all[len(all)/2])
	return append(out, all[len(all)-atEachEnd:]...)
}

// workersFinding says how the fleet was used.
func workersFinding(name string, s *sweepdata.WorkerSeries) string {
	hottest, use := 0, -1.0
	coldest, least := 0, math.Inf(1)
	queue, at := int32(0), 0
	for i := range s.Workers {
		sum := 0.0
		for _, v := range s.Workers[i].KV {
			sum += float64(v)
		}
		if sum > use {
			hottest, use = i, sum
		}
		if sum < least {
			coldest, least = i, sum
		}
		if q := most(s.Workers[i].Waiting); q > queue {
			queue, at = q, i
		}
	}
	share := func(sum float64) string {
		percent := 100 * sum / sweepdata.SeriesBuckets
		if percent < 1 {
			return format.Sig(percent) + " %"
		}
		return format.Fixed(percent, 1) + " %"
	}
	text := fmt.Sprintf("%s: KV use from %s (%s) to %s (%s) on average", upper(name), share(least), s.Label(coldest), share(use), s.Label(hottest))
	if len(s.Workers) == 1 {
		text = fmt.Sprintf("%s: KV use %s on average", upper(name), share(use))
	}
	if queue == 0 {
		return text + "; nobody waits"
	}
	return fmt.Sprintf("%s; up to %s (%s)", text, format.Plural(int64(queue), "request")+" waiting", s.Label(at))
}
