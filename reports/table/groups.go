package table

import (
	"fmt"

	"routesim/reports"
	"routesim/reports/format"
)

// groups shows the worker groups of a mixed fleet beside each other.
func (p *page) groups(s *reports.Summary) {
	list := s.Routesim.Groups
	if len(list) < 2 {
		return
	}
	p.line("")
	p.line(left("group", groupColumn) + right("requests", 11) + right("prompt tokens", 16) + right("output tokens", 16) + right("busy %", 9))
	for i := range list {
		g := &list[i]
		p.line(left(groupName(&s.Routesim, i), groupColumn) + right(format.Count(g.Requests), 11) + right(format.Count(g.InputTokens), 16) +
			right(format.Count(g.OutputTokens), 16) + right(format.Percent(float64(g.BusyShare)), 9))
	}
	u := unitOf(s.TTFT.P99)
	p.line(left("", groupColumn) + right("TTFT "+u.name+" mean", 14) + right("p50", 9) + right("p99", 9) + right("ITL ms mean", 14) + right("p50", 9) + right("p99", 9))
	for i := range list {
		g := &list[i]
		line := left(groupName(&s.Routesim, i), groupColumn)
		for j, v := range [...]float64{
			float64(g.TTFT.Mean) / u.ms, float64(g.TTFT.Median) / u.ms, float64(g.TTFT.P99) / u.ms,
			float64(g.ITL.Mean), float64(g.ITL.Median), float64(g.ITL.P99),
		} {
			w := 9
			if j%3 == 0 {
				w = 14
			}
			line += right(format.Sig(v), w)
		}
		p.line(line)
	}
}

// groupColumn is the width of the first column of the groups.
const groupColumn = 14

// groupName names a group by its workers.
func groupName(d *reports.Details, i int) string {
	g, letter := &d.Groups[i], d.Letter()
	if g.Workers == 1 {
		return fmt.Sprintf("%s%d", letter, g.FirstWorker)
	}
	return fmt.Sprintf("%s%d-%s%d", letter, g.FirstWorker, letter, g.FirstWorker+g.Workers-1)
}

// models names what models the workers, and how good it is: once where all
// groups are alike.
func (p *page) models(d *reports.Details) {
	for i, name := range d.Timing {
		text := p.printable(name)
		if i < len(d.Model) && d.Model[i] != "" {
			text += ", " + p.printable(d.Model[i])
		}
		if i > 0 && name == d.Timing[i-1] {
			continue
		}
		if len(d.Timing) > 1 && i < len(d.Groups) {
			text = groupName(d, i) + " " + text
		}
		p.entry("model", text)
	}
}
