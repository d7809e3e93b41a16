package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/reports/plot"
	"routesim/reports/sweepdata"
	"routesim/sim/metrics"
)

// latency is a measurement of single requests.
type latency struct {
	family, name string
	of           func(*sweepdata.Latencies) []float32
	bound        func(*sweepdata.SLA) float64 // ms, 0 for none
}

func latencyList() []latency {
	return []latency{
		{"ttft", "time to first token (TTFT)", func(l *sweepdata.Latencies) []float32 { return l.TTFT }, func(s *sweepdata.SLA) float64 { return s.TTFT }},
		{"tpot", "time per output token (TPOT): mean gap between a request's tokens", func(l *sweepdata.Latencies) []float32 { return l.ITL }, func(s *sweepdata.SLA) float64 { return s.ITL }},
		{"e2e", "end-to-end latency (E2E)", func(l *sweepdata.Latencies) []float32 { return l.E2E }, func(s *sweepdata.SLA) float64 { return s.E2E }},
	}
}

// compared lists the points whose runs are shown one by one: the chosen one,
// the default, round robin and those asked for, at most five.
func (d *data) compared(picked []int) (out []int) {
	for _, p := range append([]int{d.chosen(), d.s.Default, d.s.Reference}, picked...) {
		if p >= 0 && len(d.s.Points[p].Runs) > 0 && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		if p := d.firstRun(); p >= 0 {
			out = append(out, p)
		}
	}
	return out
}

// called names a point among those that are compared.
func (d *data) called(p int) string {
	switch {
	case p == d.s.Reference:
		return "round robin"
	case p == d.chosen() && p == d.s.Default:
		return "default (" + d.part() + ")"
	case p == d.s.Default:
		return "default"
	case p == d.chosen():
		return d.part() + " " + d.name(p)
	}
	return d.name(p)
}

// cdfs draws the distributions of latencies, over all seeds.
func (d *data) cdfs(r Request) (out []Named, err error) {
	if err := d.checkPoints(r.Points); err != nil {
		return nil, err
	}
	points := d.compared(r.Points)
	if len(points) > 5 {
		return nil, fmt.Errorf("points: found %d to compare with the chosen, default and reference ones, expected at most 5 in all", len(points))
	}
	kinds := latencyList()
	if r.Metric != "" {
		i := slices.IndexFunc(kinds, func(l latency) bool {
			m := sweepdata.MetricIndex(r.Metric)
			return l.family == r.Metric || m >= 0 && d.metrics[m].Family == l.family
		})
		if i < 0 {
			return nil, fmt.Errorf("metric: found %q, expected ttft, tpot or e2e", r.Metric)
		}
		kinds = kinds[i : i+1]
	}
	pooled := make([][][]float64, len(kinds)) // by kind and point
	for _, p := range points {
		if err := d.pool(p, kinds, pooled); err != nil {
			return nil, err
		}
	}
	for i := range kinds {
		n, err := d.cdf(&kinds[i], points, pooled[i], r)
		if err != nil {
			return nil, err
		}
		if n.Figure != nil {
			out = append(out, n)
		}
	}
	return out, nil
}

// pool adds the measurements of all runs of a point to each kind.
func (d *data) pool(p int, kinds []latency, pooled [][][]float64) error {
	for i := range kinds {
		pooled[i] = append(pooled[i], nil)
	}
	for k := range d.s.Points[p].Runs {
		l, err := d.s.Load(p, d.s.Points[p].Runs[k].Seed)
		if err != nil {
			return err
		}
		for i := range kinds {
			at := &pooled[i][len(pooled[i])-1]
			for _, v := range kinds[i].of(l) {
				if f := float64(v); finite(f) {
					*at = append(*at, f)
				}
			}
		}
	}
	return nil
}

func (d *data) cdf(l *latency, points []int, pooled [][]float64, r Request) (Named, error) {
	var series []plot.Series
	var findings []string
	unit, per := d.unit(metric("p99_" + l.family + "_ms"))
	roles := d.roles(points)
	for i, p := range points {
		if len(pooled[i]) == 0 {
			continue
		}
		series = append(series, plot.Series{Name: d.called(p), Role: roles[i], Values: pooled[i]})
		if len(findings) < 3 {
			sorted := slices.Clone(pooled[i])
			slices.Sort(sorted)
			findings = append(findings, fmt.Sprintf("%s %s", format.Sig(metrics.Percentile(sorted, 90)/per), "with "+d.called(p)))
		}
	}
	if len(series) == 0 {
		return Named{}, nil
	}
	findings[0] = strings.Replace(findings[0], " with", " "+unit+" with", 1)
	finding := fmt.Sprintf("%s p90: %s", strings.ToUpper(l.family), strings.Join(findings, ", "))
	f, err := plot.CDF(r.size(), d.caption(finding, "Cumulative distributions of "+l.name+"."), l.name, l.bound(&d.s.SLA), series...)
	return Named{Name: "cdf_" + l.family, Kind: CDF, Figure: f}, err
}

// roles gives each of the compared points its role.
func (d *data) roles(points []int) []plot.Role {
	out := make([]plot.Role, len(points))
	next := plot.Extra1
	for i, p := range points {
		switch {
		case p == d.chosen() || d.chosen() < 0 && i == 0:
			out[i] = plot.Chosen
		case p == d.s.Default:
			out[i] = plot.Default
		case p == d.s.Reference:
			out[i] = plot.Reference
		default:
			out[i] = min(next, plot.Extra2)
			next++
		}
	}
	return out
}

// overlaps draws the prefix overlap that was found over the one the router
// predicted, for one run of a point.
func (d *data) overlaps(r Request) (out []Named, err error) {
	if err := d.checkPoints(r.Points); err != nil {
		return nil, err
	}
	points := r.Points
	if len(points) == 0 {
		points = d.compared(nil)[:1]
	}
	for _, p := range points {
		seed := d.s.Points[p].Runs[0].Seed
		l, err := d.s.Load(p, seed)
		if err != nil {
			return nil, err
		}
		var pairs []plot.Pair
		equal, over, under := 0, 0, 0
		for i := range l.Predicted {
			a, b := float64(l.Predicted[i]), float64(l.Reused[i])
			if !finite(a) || !finite(b) {
				continue
			}
			pairs = append(pairs, plot.Pair{Recorded: a, Simulated: b})
			switch diff := b - a; {
			case math.Abs(diff) < 0.5:
				equal++
			case diff < 0:
				over++
			default:
				under++
			}
		}
		if len(pairs) == 0 {
			continue
		}
		share := func(n int) string { return format.Percent(float64(n)/float64(len(pairs))) + " %" }
		finding := fmt.Sprintf("Prefix overlap as predicted for %s of requests", share(equal))
		if over*2000 > len(pairs) {
			finding += ", less for " + share(over)
		}
		if under*2000 > len(pairs) {
			finding += ", more for " + share(under)
		}
		c := d.caption(finding, "Found over predicted prefix overlap, a dot for each request.")
		c.Subtitle = fmt.Sprintf("%s, seed %d; %s", d.called(p), seed, c.Subtitle)
		size := plot.Square()
		if r.Readme {
			size = plot.Readme()
		}
		f, err := plot.Agreement(size, c, "predicted by the router, KV blocks", "found at first admission, KV blocks", "request", pairs)
		if err != nil {
			return nil, err
		}
		out = append(out, Named{Name: "overlap" + d.suffix(p, points), Kind: Overlap, Figure: f})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("overlap: found no request with a prediction, expected at least one; round robin predicts none")
	}
	return out, nil
}

// suffix tells the files of several points apart.
func (d *data) suffix(p int, points []int) string {
	if len(points) < 2 {
		return ""
	}
	switch p {
	case d.s.Default:
		return "_default"
	case d.chosen():
		return "_" + d.part()
	}
	return "_" + d.s.Points[p].ID
}
