package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	judgement "routesim/reports/verdict"
)

const (
	loadRows  = 16 // fleets shown
	loadWidth = 11 // columns of a field
)

// capacity writes what the loads show: fleets by rates where just these were
// varied, else a line each.
func (p *sweepPage) capacity() {
	c := p.v.Capacity
	if c == nil {
		return
	}
	if p.v.State != judgement.Capacity {
		p.labelled("", " capacity", c.Headline)
	}
	fleet, rate := p.loadAxis("workers"), p.loadAxis("arrival-speedup-ratio")
	if len(c.Axes) == 2 && fleet >= 0 && rate >= 0 {
		p.matrix(c, fleet, rate)
		return
	}
	for _, text := range c.Text {
		p.labelled("", "", text)
	}
}

// loadAxis is the place of an axis among those of load, -1 for none.
func (p *sweepPage) loadAxis(name string) int {
	return slices.IndexFunc(p.v.Capacity.Axes, func(a int) bool { return p.s.Axes[a].Name == name })
}

// matrix writes the share within the SLO, or TTFT where there is none, of each
// fleet at each rate.
func (p *sweepPage) matrix(c *judgement.Reading, fleet, rate int) {
	var fleets, rates []string
	loads := slices.Clone(c.Loads)
	slices.SortStableFunc(loads, func(a, b judgement.Load) int { return cmp.Compare(a.Rate, b.Rate) })
	what, at := "TTFT p90", map[[2]string]*judgement.Load{}
	for i := range loads {
		l := &loads[i]
		at[[2]string{l.Values[fleet], l.Values[rate]}] = l
		if !slices.Contains(rates, l.Values[rate]) {
			rates = append(rates, l.Values[rate])
		}
		if !math.IsNaN(l.Within) {
			what = "share within the SLO"
		}
	}
	names := len("workers")
	for i := range c.Loads {
		if name := c.Loads[i].Values[fleet]; !slices.Contains(fleets, name) {
			fleets = append(fleets, name)
			names = max(names, utf8.RuneCountInString(p.plain(name)))
		}
	}
	names = min(names, 16)
	shown, rows := min(len(rates), max(1, (p.width-sweepGutter-names)/loadWidth)), min(len(fleets), loadRows)
	indent := left("", sweepGutter)
	p.line("")
	head := indent + left("workers", names)
	for _, r := range rates[:shown] {
		head += right(clipTo(p.plain(r)+p.sign("x", "\u00d7"), loadWidth-3), loadWidth-2) + "  "
	}
	p.line(p.styled(bold, strings.TrimRight(head, " ")))
	grows := false
	for _, f := range fleets[:rows] {
		line := indent + left(clipTo(p.plain(f), names), names)
		for _, r := range rates[:shown] {
			l := at[[2]string{f, r}]
			grows = grows || l != nil && l.Saturated
			line += p.loadCell(l)
		}
		p.line(strings.TrimRight(line, " "))
	}
	text := what + ", best settings"
	if slices.ContainsFunc(c.Loads, func(l judgement.Load) bool { return l.Holds }) {
		text += "; " + p.sign("+", "\u2713") + " holds"
	}
	if grows {
		text += "; sat.: the queue grows to the end"
	}
	if hidden := len(fleets)*len(rates) - rows*shown; hidden > 0 {
		text += fmt.Sprintf("; %d more in the report", hidden)
	}
	p.labelled("", "", text)
}

// loadCell is the figure of one load.
func (p *sweepPage) loadCell(l *judgement.Load) string {
	text, mark := "", " "
	switch {
	case l == nil:
	case l.Saturated:
		text = "sat."
	case !math.IsNaN(l.Within):
		text = success(l.Within)
	case !math.IsNaN(l.TTFT):
		text = p.absolute(p.at["p90_ttft_ms"], l.TTFT)
	}
	if l != nil && l.Holds {
		mark = p.sign("+", "\u2713")
	}
	return right(clipTo(text, loadWidth-3), loadWidth-2) + " " + mark
}
