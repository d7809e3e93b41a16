package profileview

import (
	"fmt"
	"io"
	"math"
	"strings"

	"routesim/models/profile"
	"routesim/reports"
	"routesim/reports/format"
)

// gradeMeaning says what a grade stands for.
func gradeMeaning(grade string) string {
	return map[string]string{
		"A": "operators measured, runs of real servers reproduced",
		"B": "operators or steps measured, thin evidence from real servers",
		"C": "derived, irregular or faster than the hardware somewhere: what-if only",
	}[grade]
}

// lines collects the lines of a text with labels on the left.
type lines struct{ b strings.Builder }

func (l *lines) add(label, text string, args ...any) {
	const width, column = 79, 12
	text = fmt.Sprintf(text, args...)
	for i, part := range wrap(text, width-column) {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&l.b, "%-*s%s\n", column, label, part)
	}
}

// wrap breaks a text at blanks into lines of at most width characters.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			out = append(out, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(out, line)
}

// Show writes one profile for people.
func Show(w io.Writer, p *profile.Profile) error {
	l := &lines{}
	fmt.Fprintf(&l.b, "%s\n\n", p.ID)
	l.add("grade", "%s: %s", p.Grade, gradeMeaning(p.Grade))
	if len(p.Flags) > 0 {
		l.add("flags", "%s", strings.Join(p.Flags, ", "))
	}
	l.add("model", "%s, context of %s tokens (%s)", p.Model, format.Count(p.ContextTokens), p.ContextSource)
	l.add("KV cache", "%s tokens at the engine's defaults; %s bytes per token, %s on each of %s", format.Count(p.KVCapacityTokens),
		format.Count(p.KVBytesPerToken), format.Count(p.KVBytesPerTokenPerGPU), format.Plural(int64(p.TP), "GPU"))
	if text := basis(p); text != "" {
		l.add("", "%s", text)
	}
	if err := showTimes(l, p); err != nil {
		return err
	}
	showErrors(l, p)
	v := &p.Provenance
	l.add("provenance", "%s", strings.Join(nonEmpty(v.Kind, v.Package, v.Table, v.Method), "; "))
	_, err := io.WriteString(w, l.b.String())
	return err
}

func nonEmpty(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// basis says what the KV capacity follows from.
func basis(p *profile.Profile) string {
	c, err := p.KVCapacity(profile.Settings{})
	if err != nil || c.Memory.GPUMemoryGiB == 0 {
		return ""
	}
	m, s := &c.Memory, &c.Settings
	return fmt.Sprintf("of %.2f GiB per GPU: utilization %g, weights %.2f GiB, overhead %.2f GiB (%s sequences, %s batched tokens)",
		m.GPUMemoryGiB, s.Utilization, m.WeightsGiB, c.OverheadGiB, format.Count(s.MaxNumSeqs), format.Count(s.MaxNumBatchedTokens))
}

// Shown contexts and prefixes in tokens.
func shownContexts() []int64 { return []int64{512, 4096, 32768} }
func shownPrefixes() []int64 { return []int64{0, 8192, 65536} }

// showTimes writes tables of step times. Decodes that the KV cache cannot hold
// are left out.
func showTimes(l *lines, p *profile.Profile) error {
	m, err := p.StepModel(1)
	if err != nil {
		return err
	}
	l.b.WriteString("\n")
	fmt.Fprintf(&l.b, "decode step, ms, by context of each sequence\n%12s", "sequences")
	for _, c := range shownContexts() {
		fmt.Fprintf(&l.b, "%12s", format.Count(c))
	}
	l.b.WriteString("\n")
	for _, n := range []int64{1, 8, 32, 128, 512} {
		fmt.Fprintf(&l.b, "%12s", format.Count(n))
		for _, c := range shownContexts() {
			text := format.Missing
			if n*c <= p.KVCapacityTokens {
				text = format.Sig(ms(m, decode(n, c)))
			}
			fmt.Fprintf(&l.b, "%12s", text)
		}
		l.b.WriteString("\n")
	}
	fmt.Fprintf(&l.b, "\nprefill step of one prompt, ms, by tokens cached before it\n%12s", "new tokens")
	for _, c := range shownPrefixes() {
		fmt.Fprintf(&l.b, "%12s", format.Count(c))
	}
	l.b.WriteString("\n")
	for _, n := range []int64{128, 512, 2048, 8192} {
		fmt.Fprintf(&l.b, "%12s", format.Count(n))
		for _, c := range shownPrefixes() {
			fmt.Fprintf(&l.b, "%12s", format.Sig(ms(m, prefill(n, c))))
		}
		l.b.WriteString("\n")
	}
	l.b.WriteString("\n")
	c := &p.Calibration
	l.add("engine", "GPU time x %g, + %g ms a step, + %g ms a sequence, + %g ms a step with prefill; front end %g ms a request (in TTFT)",
		c.GPUTimeScale, c.StepMS, c.PerSeqMS, c.PrefillStepMS, c.RequestMS)
	l.add("range", "fitted to steps of up to %s new tokens and decoding contexts of %s tokens in sum", format.Count(p.Range.StepTokens), format.Count(p.Range.DecodeContextTokens))
	return nil
}

func showErrors(l *lines, p *profile.Profile) {
	if e := p.FitError; e != nil {
		l.add("fit error", "median and p95: decode %s, prefill %s (with prefix %s), mixed %s %%, against the times it was fitted to, on points not used",
			pair(e.Decode), pair(e.PrefillNoPrefix), pair(e.PrefillAll), pair(e.Mixed))
	} else {
		l.add("fit error", "not known")
	}
	c := &p.Calibration
	if p.OtherGPU() {
		l.add("servers", "never compared with servers; the engine's overheads are borrowed from %s", p.CalibrationID)
	} else if e := c.HeldOut; e != nil {
		l.add("servers", "%s (%s): held-out error over %s of %s: TPOT %s, TTFT %s %% (median, p90, bias)", p.CalibrationID, c.Basis,
			format.Plural(int64(e.Runs), "run"), p.Evidence().Runs, triple(e.TPOT), triple(e.TTFT))
	} else {
		l.add("servers", "never compared with servers")
	}
	if c.Note != "" {
		l.add("", "%s", c.Note)
	}
	if share, worst, err := p.BelowFloor(); err == nil {
		text := fmt.Sprintf("faster than peak arithmetic and bandwidth allow on %s %% of a grid of steps", format.Percent(share))
		if share > 0 {
			text += fmt.Sprintf(", by up to %s times", format.Sig(worst))
		}
		l.add("floor", "%s", text)
	}
}

func pair(v [2]float64) string   { return fmt.Sprintf("%g/%g", v[0], v[1]) }
func triple(v [3]float64) string { return fmt.Sprintf("%g/%g/%+g", v[0], v[1], v[2]) }

// stepTime is the time of a step in a machine-readable document.
type stepTime struct {
	Step  string         `json:"step"`
	MS    reports.Number `json:"ms"`
	Floor reports.Number `json:"hardware_floor_ms"` // null: not known
}

// ShowJSON writes one profile with everything it says, and the times of some
// steps.
func ShowJSON(w io.Writer, p *profile.Profile) error {
	m, err := p.StepModel(1)
	if err != nil {
		return err
	}
	floor, noFloor := p.Floor()
	var times []stepTime
	for _, q := range probes() {
		least := math.NaN()
		if noFloor == nil {
			least = floor.MS(&q.batch)
		}
		times = append(times, stepTime{q.name, reports.Number(ms(m, q.batch)), reports.Number(least)})
	}
	return writeJSON(w, struct {
		*profile.Profile
		Calibration   profile.Calibration `json:"calibration"`
		Range         profile.Range       `json:"range"`
		ContextTokens int64               `json:"max_model_len"`
		ContextSource string              `json:"max_model_len_source"`
		Times         []stepTime          `json:"step_times"`
	}{p, p.Calibration, p.Range, p.ContextTokens, p.ContextSource, times})
}
