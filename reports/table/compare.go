package table

import (
	"fmt"
	"io"
	"math"
	"slices"

	"routesim/reports"
	"routesim/reports/format"
)

// Named is a run with the name it goes by in a comparison.
type Named struct {
	Name    string
	Given   string // what it has that the other has not, "" where the name says it
	Summary *reports.Summary
}

// direction says which values of a figure are better.
type direction int8

const (
	neither direction = iota
	lower
	higher
)

// figure is a row of the comparison.
type figure struct {
	name   string
	value  func(*reports.Summary) float64
	better direction
	kind   kind
	p99    func(*reports.Summary) float64 // ms; decides the unit of a duration, nil = ms
}

// kind is the way a figure is written.
type kind uint8

const (
	duration kind = iota // ms
	rate                 // with three digits
	whole                // exact
	rare                 // exact; a row only where a run has any
	portion              // share of 1, compared in percentage points
	ratio                // two decimals
)

// figures are the rows of the comparison; nil functions leave a line free.
func figures() []figure {
	ttft := func(s *reports.Summary) float64 { return s.TTFT.P99 }
	e2e := func(s *reports.Summary) float64 { return s.E2E.P99 }
	return []figure{
		{"requests completed", func(s *reports.Summary) float64 { return float64(s.Completed) }, higher, whole, nil},
		{"requests rejected", func(s *reports.Summary) float64 { return float64(s.Routesim.Rejected) }, lower, whole, nil},
		{"requests lost", func(s *reports.Summary) float64 { return float64(s.Routesim.Lost) }, lower, rare, nil},
		{"requests cancelled", func(s *reports.Summary) float64 { return float64(s.Routesim.Cancelled) }, lower, rare, nil},
		{"requests unfinished", func(s *reports.Summary) float64 { return float64(s.Routesim.Unfinished) }, lower, whole, nil},
		{},
		{"TTFT mean", func(s *reports.Summary) float64 { return s.TTFT.Mean }, lower, duration, ttft},
		{"TTFT p50", func(s *reports.Summary) float64 { return s.TTFT.Median }, lower, duration, ttft},
		{"TTFT p90", func(s *reports.Summary) float64 { return s.TTFT.P90 }, lower, duration, ttft},
		{"TTFT p99", func(s *reports.Summary) float64 { return s.TTFT.P99 }, lower, duration, ttft},
		{"ITL mean", func(s *reports.Summary) float64 { return s.ITL.Mean }, lower, duration, nil},
		{"ITL p99", func(s *reports.Summary) float64 { return s.ITL.P99 }, lower, duration, nil},
		{"TPOT p90", func(s *reports.Summary) float64 { return s.TPOT.P90 }, lower, duration, nil},
		{"E2E mean", func(s *reports.Summary) float64 { return s.E2E.Mean }, lower, duration, e2e},
		{"E2E p90", func(s *reports.Summary) float64 { return s.E2E.P90 }, lower, duration, e2e},
		{},
		{"output tok/s", func(s *reports.Summary) float64 { return s.OutputRate }, higher, rate, nil},
		{"within SLO %", goodShare, higher, portion, nil},
		{},
		{"prompt tokens cached %", func(s *reports.Summary) float64 { return float64(s.Routesim.Waterfall.Delivered) }, higher, portion, nil},
		{"endless cache %", func(s *reports.Summary) float64 { return float64(s.Routesim.Waterfall.Ceiling) }, neither, portion, nil},
		{"regret blocks/request", func(s *reports.Summary) float64 { return float64(s.Routesim.Regret.MeanBlocks) }, lower, rate, nil},
		{"prompt tokens computed", func(s *reports.Summary) float64 { return float64(s.CommittedPrefillTokens) }, lower, whole, nil},
		{"busiest/mean worker", func(s *reports.Summary) float64 { return float64(s.Routesim.Imbalance.BusyMaxOverMean) }, lower, ratio, nil},
		{"preemptions", func(s *reports.Summary) float64 { return float64(s.Routesim.Preemptions) }, lower, whole, nil},
	}
}

func goodShare(s *reports.Summary) float64 {
	if s.Goodput == nil || s.Completed == 0 {
		return math.NaN()
	}
	return float64(s.Goodput.Completed) / float64(s.Completed)
}

const (
	nameColumns  = 27
	valueColumns = 16
)

// semantics says whose routers decided, unless both are those of the replay.
func (p *page) semantics(a, b Named) {
	texts := [2]string{a.Summary.Routesim.Semantics, b.Summary.Routesim.Semantics}
	if texts[0] == texts[1] {
		if texts[0] != "" {
			p.wrapped("router semantics: " + texts[0])
		}
		return
	}
	for i, name := range [2]string{a.Name, b.Name} {
		if texts[i] == "" {
			texts[i] = "replay"
		}
		p.wrapped("router semantics of " + name + ": " + texts[i])
	}
}

// wrapped writes a text over as many lines as it takes.
func (p *page) wrapped(text string) {
	for _, line := range wrap(p.printable(text), width) {
		p.line(line)
	}
}

// Compare writes two runs side by side with the change from the first to the
// second.
func Compare(w io.Writer, base, other Named, o Options) error {
	p := &page{o: o}
	a, b := base.Summary, other.Summary
	p.semantics(base, other)
	p.line(p.styled(bold, left("", nameColumns)+right(clip(p.printable(base.Name)), valueColumns)+right(clip(p.printable(other.Name)), valueColumns)+right("change", 12)))
	gap := false
	for _, f := range figures() {
		if f.value == nil {
			gap = true
			continue
		}
		x, y := f.value(a), f.value(b)
		if math.IsNaN(x) && math.IsNaN(y) || f.kind == rare && x == 0 && y == 0 {
			continue
		}
		if gap {
			p.line("")
			gap = false
		}
		ms := unit{"ms", 1}
		if f.p99 != nil {
			ms = unitOf(math.Max(noNaN(f.p99(a)), noNaN(f.p99(b))))
		}
		name, first, second := f.texts(x, y, ms)
		p.line(left(name, nameColumns) + right(first, valueColumns) + right(second, valueColumns) + f.change(x, y))
	}
	p.line("")
	for _, n := range [2]*Named{&base, &other} {
		if n.Given != "" {
			p.entry(p.printable(n.Name), p.printable(n.Given))
		}
	}
	p.entry("runs", fmt.Sprintf("decisions %s and %s, seed %d and %d",
		short(a.Routesim.DecisionDigest), short(b.Routesim.DecisionDigest), a.Routesim.Seed, b.Routesim.Seed))
	p.models(&a.Routesim)
	if !slices.Equal(a.Routesim.Timing, b.Routesim.Timing) {
		p.models(&b.Routesim)
	}
	p.entry("note", oneRun)
	p.each("", "note", notes, base, other)
	p.each("", "note", unchecked, base, other)
	p.each(yellow, "warning", warnings, base, other)
	if o.Next != "" {
		p.line("")
		p.entry("next", p.printable(o.Next))
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// oneRun says how far a comparison of two single runs can be trusted.
const oneRun = "One run a side: a difference may be the luck of ties alone. routesim sweep and gate repeat runs over seeds and say what is more than that."

// notes are the sentences to show with a run.
func notes(d *reports.Details) []string { return d.Notes }

// unchecked says what of a run's routers is not checked against Dynamo.
func unchecked(d *reports.Details) []string {
	if d.Unchecked == "" {
		return nil
	}
	return []string{d.Unchecked}
}

// warnings are the sentences that a run's reader should know first.
func warnings(d *reports.Details) (texts []string) {
	for _, w := range d.Warnings {
		texts = append(texts, w.Text)
	}
	return texts
}

// each lists sentences of both runs, each once, and with the name of its run
// where it is not true of both.
func (p *page) each(style, label string, of func(*reports.Details) []string, a, b Named) {
	first, second := of(&a.Summary.Routesim), of(&b.Summary.Routesim)
	for _, text := range first {
		if !slices.Contains(second, text) {
			text = a.Name + ": " + text
		}
		p.styledEntry(style, label, p.printable(text))
	}
	for _, text := range second {
		if !slices.Contains(first, text) {
			p.styledEntry(style, label, p.printable(b.Name+": "+text))
		}
	}
}

// clip cuts a name to its column.
func clip(name string) string {
	if r := []rune(name); len(r) > valueColumns-1 {
		return string(r[:valueColumns-1])
	}
	return name
}

// texts returns the figure's name with its unit and both values.
func (f *figure) texts(x, y float64, u unit) (name, a, b string) {
	switch f.kind {
	case duration:
		return f.name + " " + u.name, format.Sig(x / u.ms), format.Sig(y / u.ms)
	case whole, rare:
		return f.name, format.Fixed(x, 0), format.Fixed(y, 0)
	case portion:
		return f.name, format.Percent(x), format.Percent(y)
	case ratio:
		return f.name, format.Fixed(x, 2), format.Fixed(y, 2)
	}
	return f.name, format.Sig(x), format.Sig(y)
}

func noNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// change tells how the second value differs, and whether that is better.
func (f *figure) change(x, y float64) string {
	text := format.Change(x, y)
	if f.kind == portion {
		text = format.Points(x, y)
	}
	verdict := ""
	switch {
	case math.IsNaN(x) || math.IsNaN(y) || f.better == neither || x == y:
	case text == "0.0 %" || text == "0.0 pp": // it rounds to nothing
		verdict = "same"
	case (y < x) == (f.better == lower):
		verdict = "better"
	default:
		verdict = "worse"
	}
	return right(text, 12) + "  " + verdict
}
