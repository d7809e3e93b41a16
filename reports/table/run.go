package table

import (
	"fmt"
	"io"
	"math"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/sim"
	"routesim/sim/metrics"
)

const msPerSecond = 1000

// Run writes the summary of one run. It holds no wall-clock time: equal runs
// give equal bytes.
func Run(w io.Writer, s *reports.Summary, o Options) error {
	p := &page{o: o}
	p.header(s)
	p.line("")
	p.latencies(s)
	p.line("")
	p.counts(s)
	p.line("")
	p.routing(s)
	p.groups(s)
	p.remarks(s)
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) header(s *reports.Summary) {
	d := &s.Routesim
	if d.Semantics != "" {
		p.wrapped("router semantics: " + d.Semantics)
	}
	over := ", none completed"
	if s.Completed > 0 {
		rate := "req/s"
		if s.Completed < s.Requests {
			rate = "completed req/s"
		}
		over = fmt.Sprintf(" over %s (%s %s, %s loop)", format.Duration(s.DurationMS), format.Sig(s.RequestRate), rate, d.Loop)
	}
	for _, line := range wrap(fmt.Sprintf("%s%s %s %s", format.Plural(s.Requests, "request"), over, p.sign("->", "→"),
		d.WorkersText()), width) {
		p.line(p.styled(bold, line))
	}
	what := []string{"router " + d.RouterMode, fmt.Sprintf("seed %d", d.Seed), "decisions " + short(d.DecisionDigest)}
	if d.Trace.Name != "" {
		what = append(what, "trace "+p.printable(d.Trace.Name))
	}
	for _, line := range wrap(strings.Join(what, ", "), width) {
		p.line(line)
	}
}

// short cuts a digest to what tells runs apart.
func short(digest string) string { return digest[:min(len(digest), 8)] }

// unit is a unit of time with its length in ms.
type unit struct {
	name string
	ms   float64
}

// unitOf returns s for latencies whose p99 reaches a second, else ms.
func unitOf(p99 float64) unit {
	if p99 >= msPerSecond {
		return unit{"s", msPerSecond}
	}
	return unit{"ms", 1}
}

func (p *page) latencies(s *reports.Summary) {
	heading := left("", 10)
	for _, name := range []string{"mean", "p50", "p90", "p95", "p99", "max"} {
		heading += right(name, 9)
	}
	p.line(heading)
	ms := unit{"ms", 1}
	for _, row := range []struct {
		name  string
		unit  unit
		stats *metrics.Stats
	}{
		{"TTFT", unitOf(s.TTFT.P99), &s.TTFT},
		{"ITL", ms, &s.ITL},
		{"TPOT", ms, &s.TPOT},
		{"E2E", unitOf(s.E2E.P99), &s.E2E},
	} {
		line := left(row.name, 7) + left(row.unit.name, 3)
		for _, v := range []float64{row.stats.Mean, row.stats.Median, row.stats.P90, row.stats.P95, row.stats.P99, row.stats.Max} {
			line += right(format.Sig(v/row.unit.ms), 9)
		}
		p.line(line)
	}
}

func (p *page) counts(s *reports.Summary) {
	d := &s.Routesim
	counts := []string{"completed " + format.Count(s.Completed), "rejected " + format.Count(d.Rejected)}
	if d.Lost > 0 {
		counts = append(counts, "lost "+format.Count(d.Lost))
	}
	if d.Cancelled > 0 {
		counts = append(counts, "cancelled "+format.Count(d.Cancelled))
	}
	p.flow(append(counts, "unfinished "+format.Count(d.Unfinished), "preempted "+format.Count(d.Preemptions)))
	rates := []string{"output " + format.Sig(s.OutputRate) + " tok/s", "input " + format.Sig(s.InputRate) + " tok/s"}
	if g := s.Goodput; g != nil {
		share := math.NaN()
		if s.Completed > 0 {
			share = float64(g.Completed) / float64(s.Completed)
		}
		rates = append(rates, fmt.Sprintf("within SLO (%s) %s %%", bounds(&g.Bounds), format.Percent(share)), "goodput "+format.Sig(g.RequestRate)+" req/s")
	}
	p.flow(rates)
}

// bounds names the bounds of an SLA.
func bounds(s *sim.SLA) string {
	var out []string
	for _, b := range []struct {
		name string
		ms   *float64
	}{{"TTFT", s.TTFT}, {"ITL", s.ITL}, {"E2E", s.E2E}} {
		if b.ms == nil {
			continue
		}
		u := unitOf(*b.ms)
		out = append(out, fmt.Sprintf("%s %v %s", b.name, *b.ms/u.ms, u.name))
	}
	return strings.Join(out, ", ")
}

// flow writes parts beside each other as long as they fit.
func (p *page) flow(parts []string) {
	line := ""
	for _, part := range parts {
		if line != "" && len(line)+3+len(part) > width {
			p.line(line)
			line = ""
		}
		if line != "" {
			line += "   "
		}
		line += part
	}
	p.line(line)
}

func (p *page) routing(s *reports.Summary) {
	d := &s.Routesim
	w := &d.Waterfall
	p.entry("cache", fmt.Sprintf("served %s %% of prompt tokens; an endless cache would serve %s %%",
		format.Percent(float64(w.Delivered)), format.Percent(float64(w.Ceiling))))
	if s.Completed > 0 {
		p.entry("", p.losses(w))
	}
	if h := d.HostTier; h != nil {
		p.entry("host", fmt.Sprintf("served %s %% of prompt tokens; %s blocks loaded in %s transfers, %s stored in %s, %s dropped; %s GB moved",
			format.Percent(float64(h.Served)), format.Count(h.LoadedBlocks), format.Count(h.Loads), format.Count(h.StoredBlocks), format.Count(h.Stores),
			format.Count(h.Evictions), format.Sig(float64(h.Bytes)/1e9)))
		p.entry("", "tier of "+reports.SizesOf("host", d.TierSizes))
	}
	if k := s.Disk; k != nil {
		foreign := ""
		if k.Foreign > 0 {
			foreign = fmt.Sprintf(", %s of other workers in it", format.Plural(k.Foreign, "block"))
		}
		p.entry("disk", fmt.Sprintf("%s GB read to the hosts in %s transfers%s; %s GB written in %s; %s dropped", format.Sig(float64(k.Read.Bytes)/1e9),
			format.Count(k.Read.Ended), foreign, format.Sig(float64(k.Write.Bytes)/1e9), format.Count(k.Write.Ended), format.Plural(k.Evicted, "block")))
		p.entry("", "tier of "+reports.SizesOf("disk", d.TierSizes))
	}
	if r := &d.Regret; !math.IsNaN(float64(r.TiedShare)) {
		text := fmt.Sprintf("%s %% of decisions were ties", format.Percent(float64(r.TiedShare)))
		if !math.IsNaN(float64(w.Believed)) {
			text = fmt.Sprintf("expected %s %% from caches; ", format.Percent(float64(w.Believed))) + text
		}
		p.entry("router", text)
	}
	if r := &d.Regret; r.Decisions > 0 && d.Workers > 1 {
		p.entry("regret", fmt.Sprintf("%s blocks a request; another worker held more in %s %% of decisions",
			format.Sig(float64(r.MeanBlocks)), format.Percent(float64(r.WorseShare))))
	}
	if q := &d.QueueWait; q.Max > 0 {
		p.entry("queue", fmt.Sprintf("mean wait in the router %s, p99 %s, at most %s at once",
			format.Duration(float64(q.Mean)), format.Duration(float64(q.P99)), format.Plural(int64(d.QueuePeak), "request")))
	}
	if h := d.Herding; h != nil {
		p.entry("herding", fmt.Sprintf("%d routers; %s %% of decisions met requests that their router did not know of, %s on average, at most %s",
			h.Frontends, format.Percent(float64(h.BlindShare)), format.Sig(float64(h.MeanUnseen)), format.Count(h.MostUnseen)))
	}
	if b := d.Bypass; b != nil {
		p.entry("pools", fmt.Sprintf("%s prefilled by their decode worker, %s by a prefill worker (conditional disaggregation: %s)",
			format.Plural(b.Local, "request"), format.Count(b.Remote), b.Grade))
	}
	p.load(d)
}

// losses tells where the difference between an endless cache and the one
// served was lost, in percentage points of the prompt tokens.
func (p *page) losses(w *reports.Waterfall) string {
	var lost, gained []string
	for _, step := range []struct {
		name     string
		from, to reports.Number
	}{
		{"no longer or not yet held", w.Ceiling, w.Best},
		{"on another worker", w.Best, w.Chosen},
		{"between decision and admission", w.Chosen, w.Delivered},
	} {
		change := float64(step.to - step.from)
		text := step.name + " " + format.Percent(math.Abs(change))
		switch {
		case change > 0:
			gained = append(gained, text)
		default:
			lost = append(lost, text)
		}
	}
	text := "lost: " + strings.Join(lost, ", ")
	if len(gained) > 0 {
		if len(lost) > 0 {
			text += "; "
		} else {
			text = ""
		}
		text += "gained: " + strings.Join(gained, ", ")
	}
	return text + " (points)"
}

// The bars of the load lines, in columns.
const (
	barColumn = 41
	barLength = 18
)

// load says how evenly the workers were used, those of each pool by themselves.
func (p *page) load(d *reports.Details) {
	if d.PrefillImbalance == nil {
		if d.Workers >= 2 {
			p.evenness("load", "busiest worker", d.Letter(), &d.Imbalance)
		}
		return
	}
	p.poolLoad("load", "prefill", d.PrefillWorkers, d.PrefillImbalance)
	p.poolLoad("", "decode", d.Workers, &d.Imbalance)
}

// poolLoad is the load of one of two pools, whose workers have names of their
// own.
func (p *page) poolLoad(label, pool string, workers int, b *reports.Imbalance) {
	if workers >= 2 {
		p.evenness(label, pool+": busiest", pool[:1], b)
		return
	}
	p.line(left(label, gutter) + fmt.Sprintf("%s: KV pool at most %s %% (%s%d)", pool, format.Percent(float64(b.PeakKVUsage)), pool[:1], b.PeakKVWorker))
}

// evenness compares workers, whose names begin with a letter.
func (p *page) evenness(label, who, letter string, b *reports.Imbalance) {
	if math.IsNaN(float64(b.BusyMaxOverMean)) {
		return
	}
	text := fmt.Sprintf("%s %s%s the mean", who, format.Fixed(float64(b.BusyMaxOverMean), 2), p.sign("x", "×"))
	p.line(left(label, gutter) + left(text, barColumn-gutter) + p.bar(letter, b.Busiest, b.BusiestShare, b.BusiestShare))
	text = fmt.Sprintf("KV pool at most %s %% (%s%d)", format.Percent(float64(b.PeakKVUsage)), letter, b.PeakKVWorker)
	p.line(left("", gutter) + left(text, barColumn-gutter) + p.bar(letter, b.Idlest, b.IdlestShare, b.BusiestShare))
}

// bar shows a worker's share of all busy time beside the largest share.
func (p *page) bar(letter string, worker int, share, most reports.Number) string {
	n := 0
	if most > 0 {
		n = int(math.Round(barLength * float64(share/most)))
	}
	return fmt.Sprintf("%s|%s| %s %%", left(fmt.Sprintf("%s%d", letter, worker), 6), left(strings.Repeat(p.sign("#", "█"), n), barLength), right(format.Percent(float64(share)), 5))
}

func (p *page) remarks(s *reports.Summary) {
	d := &s.Routesim
	p.models(d)
	for _, n := range d.Notes {
		p.entry("note", p.printable(n))
	}
	if d.Unchecked != "" {
		p.entry("note", p.printable(d.Unchecked))
	}
	for _, w := range d.Warnings { // last, where a terminal leaves them in sight
		p.styledEntry(yellow, "warning", p.printable(w.Text))
	}
	if p.o.Next != "" {
		p.line("")
		p.entry("next", p.printable(p.o.Next))
	}
}
