package accuracy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"routesim/reports/format"
	"routesim/reports/plot"
)

// Picture is a figure with the name of its file, without the ending.
type Picture struct {
	Name   string
	Figure *plot.Figure
}

// band is the share by which predictions may be off inside the thin lines.
const band = 0.1

// Pictures draws predicted against measured TTFT, TPOT and output rate. A
// figure without anything to draw is left out.
func (r *Report) Pictures() ([]Picture, error) {
	var out []Picture
	for _, p := range [...]struct {
		file, what, unit string
		of               func(*Figures) float64
		err              func(Figures) float64
	}{
		{"ttft", "time to first token (TTFT)", "ms", func(f *Figures) float64 { return f.TTFT }, func(e Figures) float64 { return e.TTFT }},
		{"tpot", "time per output token (TPOT)", "ms", func(f *Figures) float64 { return f.TPOT }, func(e Figures) float64 { return e.TPOT }},
		{"throughput", "output rate", "tokens/s", func(f *Figures) float64 { return f.Throughput }, func(e Figures) float64 { return e.Throughput }},
	} {
		groups, errs := r.pairs(p.of, p.err)
		if errs.N == 0 {
			continue
		}
		finding := fmt.Sprintf("%s: half of %s are within %s %% of the measurement", p.what, format.Plural(int64(errs.N), "run"), format.Percent(errs.Median))
		f, err := plot.Groups(plot.Square(), plot.Caption{
			Title:    upper(finding),
			Subtitle: "Published serving runs under a fixed concurrency, replayed with the shipped profiles",
			Alt:      fmt.Sprintf("Predicted over measured %s of published serving runs, by GPU and engine. %s.", p.what, upper(finding)),
		}, p.what, p.unit, band, groups...)
		if err != nil {
			return nil, err
		}
		out = append(out, Picture{"accuracy-" + p.file, f})
	}
	return out, nil
}

// pairs groups the figures of the cases by GPU and engine. Beyond the number
// of groups that can be told apart the smallest make up one.
func (r *Report) pairs(of func(*Figures) float64, err func(Figures) float64) ([]plot.Group, Error) {
	byName := map[string][]plot.Pair{}
	var errs []float64
	for i := range r.Cases {
		c := &r.Cases[i]
		m, s := of(&c.Measured), of(&c.Simulated)
		if math.IsNaN(m) || math.IsNaN(s) {
			continue
		}
		name := c.Row.GPU + " " + c.Row.Engine
		byName[name] = append(byName[name], plot.Pair{Recorded: m, Simulated: s})
		errs = append(errs, err(c.Errors()))
	}
	var groups []plot.Group
	for name, pairs := range byName {
		groups = append(groups, plot.Group{Name: name, Pairs: pairs})
	}
	slices.SortFunc(groups, func(a, b plot.Group) int {
		return cmp.Or(-cmp.Compare(len(a.Pairs), len(b.Pairs)), cmp.Compare(a.Name, b.Name))
	})
	const most = int(plot.Extra2) + 1
	if len(groups) > most {
		rest := plot.Group{Name: "others"}
		for _, g := range groups[most-1:] {
			rest.Pairs = append(rest.Pairs, g.Pairs...)
		}
		groups = append(groups[:most-1], rest)
	}
	for i := range groups {
		groups[i].Role = plot.Role(i)
	}
	return groups, errorOf(errs)
}

func upper(s string) string { return string(s[0]&^0x20) + s[1:] }
