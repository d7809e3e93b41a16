package profileview

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"routesim/models/profile"
	"routesim/reports"
	"routesim/reports/format"
)

// compared is one figure of two profiles.
type compared struct {
	name string
	a, b float64
}

// Comparison sets two profiles side by side.
type Comparison struct {
	A, B  *profile.Profile
	sizes []compared // tokens
	times []compared // ms
}

// Compare computes the figures of two profiles.
func Compare(a, b *profile.Profile) (*Comparison, error) {
	ma, err := a.StepModel(1)
	if err != nil {
		return nil, err
	}
	mb, err := b.StepModel(1)
	if err != nil {
		return nil, err
	}
	c := &Comparison{A: a, B: b}
	c.sizes = []compared{
		{"GPUs", float64(a.TP), float64(b.TP)},
		{"KV capacity, tokens", float64(a.KVCapacityTokens), float64(b.KVCapacityTokens)},
		{"KV bytes per token", float64(a.KVBytesPerToken), float64(b.KVBytesPerToken)},
		{"model context, tokens", float64(a.ContextTokens), float64(b.ContextTokens)},
	}
	for _, q := range probes() {
		c.times = append(c.times, compared{q.name, ms(ma, q.batch), ms(mb, q.batch)})
	}
	return c, nil
}

// WriteText writes the comparison for people.
func (c *Comparison) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, p := range [...]struct {
		letter string
		p      *profile.Profile
	}{{"A", c.A}, {"B", c.B}} {
		l := &lines{}
		l.add(p.letter, "%s", p.p.Summary())
		b.WriteString(l.b.String())
	}
	fmt.Fprintf(&b, "\n%-36s %13s %13s %9s\n", "", "A", "B", "B/A")
	for _, r := range c.sizes {
		fmt.Fprintf(&b, "%-36s %13s %13s %9s\n", r.name, format.Count(int64(r.a)), format.Count(int64(r.b)), ratio(&r))
	}
	b.WriteString("step time, ms\n")
	for _, r := range c.times {
		fmt.Fprintf(&b, "  %-34s %13s %13s %9s\n", r.name, format.Sig(r.a), format.Sig(r.b), ratio(&r))
	}
	b.WriteString("\nprefill N after M: N new tokens on M cached ones; decode N x M: N sequences of M\ntokens. The engine's overheads are included, the front end's time is not.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func ratio(r *compared) string { return format.Sig(r.b / r.a) }

// WriteJSON writes the comparison as JSON.
func (c *Comparison) WriteJSON(w io.Writer) error {
	type rowJSON struct {
		Name  string         `json:"name"`
		A     reports.Number `json:"a"`
		B     reports.Number `json:"b"`
		Ratio reports.Number `json:"b_over_a"`
	}
	rows := func(list []compared) []rowJSON {
		var out []rowJSON
		for _, r := range list {
			out = append(out, rowJSON{r.name, reports.Number(r.a), reports.Number(r.b), reports.Number(r.b / r.a)})
		}
		return out
	}
	return writeJSON(w, struct {
		A     string    `json:"a"`
		B     string    `json:"b"`
		Sizes []rowJSON `json:"sizes"`
		Times []rowJSON `json:"step_times_ms"`
	}{c.A.Summary(), c.B.Summary(), rows(c.sizes), rows(c.times)})
}

// WriteCSV writes the comparison as CSV.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"figure", c.A.ID, c.B.ID, "ratio"}); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	for i, r := range append(append([]compared{}, c.sizes...), c.times...) {
		name := r.name
		if i >= len(c.sizes) {
			name += ", ms"
		}
		if err := out.Write([]string{name, number(r.a), number(r.b), number(r.b / r.a)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
