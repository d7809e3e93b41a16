package main

import (
	"fmt"
	"math"
	"strings"

	"routesim/reports/format"
	"routesim/reports/plot"
	"routesim/reports/validation"
)

// scatterPicture is one quantity of a validation, simulated over recorded.
type scatterPicture struct {
	file string
	what string // in the axis labels
	unit string
	log  bool
	err  func(*validation.Comparison) *validation.Error
	pair func(*validation.Row) plot.Pair
}

// scatterPictures lists what validate draws.
func scatterPictures() []scatterPicture {
	return []scatterPicture{
		{"ttft", "TTFT", "ms", true,
			func(c *validation.Comparison) *validation.Error { return &c.TTFT },
			func(r *validation.Row) plot.Pair { return plot.Pair{Recorded: r.TTFT, Simulated: r.SimTTFT} }},
		{"itl", "ITL", "ms", true,
			func(c *validation.Comparison) *validation.Error { return &c.ITL },
			func(r *validation.Row) plot.Pair { return plot.Pair{Recorded: r.ITL, Simulated: r.SimITL} }},
		{"cached_tokens", "cached prefix", "tokens", false,
			func(c *validation.Comparison) *validation.Error { return &c.Cached },
			func(r *validation.Row) plot.Pair { return plot.Pair{Recorded: r.Cached, Simulated: r.SimCached} }},
	}
}

// scatterFiles lists the names of the files that validate may draw.
func scatterFiles() (names []string) {
	for _, s := range scatterPictures() {
		names = append(names, s.file+".svg", s.file+".png")
	}
	return names
}

// addScatters draws simulated over recorded values of whatever the trace
// recorded.
func addScatters(dir *outDir, run *replayed, c *validation.Comparison) error {
	for _, s := range scatterPictures() {
		pairs := make([]plot.Pair, 0, len(c.Rows))
		drawable := 0
		for i := range c.Rows {
			p := s.pair(&c.Rows[i])
			pairs = append(pairs, p)
			if least := math.Min(p.Recorded, p.Simulated); least > 0 || least == 0 && !s.log {
				drawable++
			}
		}
		if drawable == 0 {
			continue
		}
		f, err := plot.Scatter(plot.Square(), s.caption(run, c), s.what, s.unit, s.log, pairs)
		if err != nil {
			return err
		}
		if err := addPicture(dir, s.file, f); err != nil {
			return err
		}
	}
	return nil
}

// caption says what the picture shows: the typical error and where the values
// come from.
func (s *scatterPicture) caption(run *replayed, c *validation.Comparison) plot.Caption {
	e := s.err(c)
	finding := fmt.Sprintf("%s: median error %s %s", s.what, format.Sig(e.Median), s.unit)
	return plot.Caption{
		Title: finding,
		Subtitle: strings.Join(append([]string{run.traceName(), "simulated over recorded",
			format.Plural(int64(run.config.Workers()), "worker")}, profileNames(run.profiles)...), ", "),
		Alt: "Simulated over recorded " + s.what + ", one dot a request. " + finding + ".",
	}
}
