// Package sidebyside sets two runs of the same trace against each other.
package sidebyside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/sim/metrics"
)

// Run is a run with the name that stands at the head of its column.
type Run struct {
	Name    string
	Summary *reports.Summary
}

// line is a row of the table: what is measured, in which unit, in both runs,
// and how the second differs from the first.
type line struct{ what, unit, base, other, change string }

// Write prints the runs as a table of at most 80 columns: first the base, then
// the other and how it differs from the base.
func Write(w io.Writer, base, other Run) error {
	b, o := base.Summary, other.Summary
	var text strings.Builder
	d := &b.Routesim
	fmt.Fprintf(&text, "%s over %s (%s loop) -> %s, timing %s, seed %d\n\n",
		format.Plural(b.Requests, "request"), format.Duration(b.DurationMS), d.Loop,
		format.Plural(int64(d.Workers), "worker"), strings.Join(d.Timing, ", "), d.Seed)
	lines := []line{{"", "", base.Name, other.Name, "change"}}
	lines = append(lines, latencies(b, o)...)
	lines = append(lines, line{})
	lines = append(lines, counts(b, o)...)
	lines = append(lines, line{})
	lines = append(lines, routing(b, o)...)
	for _, l := range lines {
		row := fmt.Sprintf("%-25s%-7s %12s %12s %14s", l.what, l.unit, l.base, l.other, l.change)
		text.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	text.WriteString("\n" + ceiling(b))
	warn(&text, base)
	warn(&text, other)
	_, err := io.WriteString(w, text.String())
	return err
}

// WriteJSON writes both summaries as one object, by name.
func WriteJSON(w io.Writer, base, other Run) error {
	var text bytes.Buffer
	for i, r := range []Run{base, other} {
		name, err := json.Marshal(r.Name)
		if err != nil {
			return err
		}
		text.WriteString([]string{"{\n", ",\n"}[i])
		text.Write(name)
		text.WriteString(": ")
		var summary bytes.Buffer
		if err := r.Summary.Write(&summary); err != nil {
			return err
		}
		text.Write(bytes.TrimSuffix(summary.Bytes(), []byte("\n")))
	}
	text.WriteString("\n}\n")
	_, err := w.Write(text.Bytes())
	return err
}

// latencies compares the latency figures, each metric in one unit: seconds
// where the base's 99th percentile reaches one.
func latencies(b, o *reports.Summary) []line {
	var out []line
	for _, m := range []struct {
		name        string
		base, other *metrics.Stats
		seconds     bool
	}{
		{"TTFT", &b.TTFT, &o.TTFT, b.TTFT.P99 >= 1000},
		{"ITL", &b.ITL, &o.ITL, false},
		{"E2E", &b.E2E, &o.E2E, b.E2E.P99 >= 1000},
	} {
		unit, scale := "ms", 1.0
		if m.seconds {
			unit, scale = "s", 1000
		}
		for _, p := range []struct {
			name string
			of   func(*metrics.Stats) float64
		}{
			{"mean", func(s *metrics.Stats) float64 { return s.Mean }},
			{"p50", func(s *metrics.Stats) float64 { return s.Median }},
			{"p90", func(s *metrics.Stats) float64 { return s.P90 }},
			{"p99", func(s *metrics.Stats) float64 { return s.P99 }},
		} {
			x, y := p.of(m.base), p.of(m.other)
			out = append(out, line{m.name + " " + p.name, unit, format.Sig(x / scale), format.Sig(y / scale), format.Change(x, y)})
		}
	}
	return out
}

// counts compares how much was served.
func counts(b, o *reports.Summary) []line {
	whole := func(what string, x, y int64) line {
		l := line{what, "", format.Count(x), format.Count(y), ""}
		if x != y {
			l.change = format.Change(float64(x), float64(y))
		}
		return l
	}
	out := []line{
		whole("completed", b.Completed, o.Completed),
		whole("rejected", b.Routesim.Rejected, o.Routesim.Rejected),
		whole("unfinished", b.Routesim.Unfinished, o.Routesim.Unfinished),
		whole("preemptions", b.Routesim.Preemptions, o.Routesim.Preemptions),
		{"output", "tok/s", format.Sig(b.OutputRate), format.Sig(o.OutputRate), format.Change(b.OutputRate, o.OutputRate)},
	}
	if b.Goodput != nil && o.Goodput != nil {
		x, y := within(b), within(o)
		out = append(out, line{"within the SLA", "%", format.Percent(x), format.Percent(y), format.Points(x, y)})
	}
	return out
}

// within is the share of the released requests that kept within the SLA.
func within(s *reports.Summary) float64 {
	if s.Requests == 0 {
		return math.NaN()
	}
	return float64(s.Goodput.Completed) / float64(s.Requests)
}

// routing compares cache reuse and balance.
func routing(b, o *reports.Summary) []line {
	share := func(what string, x, y reports.Number) line {
		return line{what, "%", format.Percent(float64(x)), format.Percent(float64(y)), format.Points(float64(x), float64(y))}
	}
	ratio := func(what string, x, y reports.Number) line {
		return line{what, "x", format.Fixed(float64(x), 2), format.Fixed(float64(y), 2), format.Change(float64(x), float64(y))}
	}
	x, y := &b.Routesim, &o.Routesim
	return []line{
		share("prompt tokens from cache", x.Waterfall.Delivered, y.Waterfall.Delivered),
		share("  held by some worker", x.Waterfall.Best, y.Waterfall.Best),
		ratio("busiest worker / mean", x.Imbalance.BusyMaxOverMean, y.Imbalance.BusyMaxOverMean),
		share("decisions that were ties", x.Regret.TiedShare, y.Regret.TiedShare),
	}
}

func ceiling(s *reports.Summary) string {
	return fmt.Sprintf("One endless cache would serve %s %% of the prompt tokens.\n", format.Percent(float64(s.Routesim.Waterfall.Ceiling)))
}

func warn(w io.Writer, r Run) {
	for _, x := range r.Summary.Routesim.Warnings {
		fmt.Fprintf(w, "warning (%s): %s\n", r.Name, x.Text)
	}
}
