// Package fitview shows how well a fitted profile agrees with the measurements
// that it was fitted to.
package fitview

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"routesim/models/profile/fit"
	"routesim/reports"
	"routesim/reports/format"
	"routesim/reports/plot"
)

// mostResiduals is how many residuals a text lists one by one.
const mostResiduals = 60

// WriteText writes the numbers, the errors and the residuals for people.
func WriteText(w io.Writer, r *fit.Result) error {
	var b strings.Builder
	p := r.Profile
	fmt.Fprintf(&b, "%s, grade %s\n\n", p.ID, p.Grade)
	fmt.Fprintf(&b, "%-26s %12s %12s\n", "number", "before", "fitted")
	for _, n := range r.Numbers {
		note := ""
		if n.Kept {
			note = "  kept: the data do not tell it"
		}
		fmt.Fprintf(&b, "%-26s %12s %12s%s\n", n.Name, plain(n.Before), plain(n.After), note)
	}
	fmt.Fprintf(&b, "\n%-28s %6s %8s %8s %8s\n", "error in %", "pairs", "median", "p90", "bias")
	for _, s := range r.Summaries() {
		fmt.Fprintf(&b, "%-28s %6d %8s %8s %8s\n", s.Kind, s.N, format.Percent(s.Median), format.Percent(s.P90), format.Percent(s.Bias))
	}
	fmt.Fprintf(&b, "\n%-28s %12s %12s %8s\n", "residuals", "measured", "predicted", "error")
	for i := range r.Residuals[:min(len(r.Residuals), mostResiduals)] {
		q := &r.Residuals[i]
		fmt.Fprintf(&b, "%-28s %12s %12s %8s  %s\n", fmt.Sprintf("%s:%d", shorten(filepath.Base(q.File)), q.Line), format.Sig(q.Measured), format.Sig(q.Predicted), format.Percent(q.Error()), q.Kind)
	}
	if more := len(r.Residuals) - mostResiduals; more > 0 {
		fmt.Fprintf(&b, "and %s more; --format csv lists all\n", format.Plural(int64(more), "residual"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shorten keeps the end of a long name.
func shorten(name string) string {
	const most = 20
	if len(name) <= most {
		return name
	}
	return "..." + name[len(name)-most+3:]
}

func plain(v float64) string {
	if math.IsNaN(v) {
		return format.Missing
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// WriteJSON writes the numbers, the errors and the residuals.
func WriteJSON(w io.Writer, r *fit.Result) error {
	type numberJSON struct {
		Name   string         `json:"name"`
		Before reports.Number `json:"before"`
		After  reports.Number `json:"fitted"`
		Kept   bool           `json:"kept"`
	}
	type errorJSON struct {
		Kind   fit.Kind       `json:"kind"`
		N      int            `json:"pairs"`
		Median reports.Number `json:"median_absolute_pct"`
		P90    reports.Number `json:"p90_absolute_pct"`
		Bias   reports.Number `json:"bias_pct"`
	}
	type residualJSON struct {
		File      string         `json:"file"`
		Line      int            `json:"line"`
		What      string         `json:"what"`
		Kind      fit.Kind       `json:"kind"`
		Measured  reports.Number `json:"measured"`
		Predicted reports.Number `json:"predicted"`
		Error     reports.Number `json:"error_pct"`
	}
	doc := struct {
		ID        string         `json:"id"`
		Grade     string         `json:"grade"`
		Flags     []string       `json:"flags"`
		Numbers   []numberJSON   `json:"numbers"`
		Errors    []errorJSON    `json:"errors"`
		Residuals []residualJSON `json:"residuals"`
	}{ID: r.Profile.ID, Grade: r.Profile.Grade, Flags: append([]string{}, r.Profile.Flags...)}
	for _, n := range r.Numbers {
		doc.Numbers = append(doc.Numbers, numberJSON{n.Name, reports.Number(n.Before), reports.Number(n.After), n.Kept})
	}
	for _, s := range r.Summaries() {
		doc.Errors = append(doc.Errors, errorJSON{s.Kind, s.N, reports.Number(100 * s.Median), reports.Number(100 * s.P90), reports.Number(100 * s.Bias)})
	}
	for i := range r.Residuals {
		q := &r.Residuals[i]
		doc.Residuals = append(doc.Residuals, residualJSON{
			filepath.Base(q.File), q.Line, q.What, q.Kind, reports.Number(q.Measured), reports.Number(q.Predicted), reports.Number(100 * q.Error()),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// WriteCSV writes a line per residual.
func WriteCSV(w io.Writer, r *fit.Result) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"file", "line", "what", "kind", "measured", "predicted", "error_pct"}); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for i := range r.Residuals {
		q := &r.Residuals[i]
		err := out.Write([]string{
			filepath.Base(q.File), strconv.Itoa(q.Line), q.What, string(q.Kind), number(q.Measured), number(q.Predicted), number(100 * q.Error()),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Picture is a figure with the name of its file, without the ending.
type Picture struct {
	Name   string
	Figure *plot.Figure
}

// band is the share by which predictions may be off inside the thin lines.
const band = 0.1

// Pictures draws predicted over measured values: of steps by what they do, and
// of runs.
func Pictures(r *fit.Result) ([]Picture, error) {
	var out []Picture
	for _, p := range [...]struct {
		file, what, unit string
		kinds            []fit.Kind
	}{
		{"steps", "step time", "ms", []fit.Kind{fit.DecodeStep, fit.PrefillStep, fit.PrefixStep, fit.MixedStep}},
		{"ttft", "time to first token (TTFT)", "ms", []fit.Kind{fit.TTFT}},
		{"tpot", "time per output token (TPOT)", "ms", []fit.Kind{fit.TPOT}},
		{"throughput", "output rate", "tokens/s", []fit.Kind{fit.Throughput}},
	} {
		var groups []plot.Group
		n := 0
		for i, k := range p.kinds {
			g := plot.Group{Name: strings.TrimSuffix(string(k), " ms"), Role: plot.Role(i)}
			for j := range r.Residuals {
				if q := &r.Residuals[j]; q.Kind == k {
					g.Pairs = append(g.Pairs, plot.Pair{Recorded: q.Measured, Simulated: q.Predicted})
				}
			}
			if n += len(g.Pairs); len(g.Pairs) > 0 {
				groups = append(groups, g)
			}
		}
		if n == 0 {
			continue
		}
		c := plot.Caption{Title: fmt.Sprintf("Fitted %s: %s", p.what, medians(r, p.kinds)), Subtitle: r.Profile.ID + ", " + r.Profile.Provenance.Method}
		c.Alt = c.Title + "."
		f, err := plot.Groups(plot.Square(), c, p.what, p.unit, band, groups...)
		if err != nil {
			return nil, err
		}
		out = append(out, Picture{"fit-" + p.file, f})
	}
	return out, nil
}

// medians tells the median errors of kinds in words.
func medians(r *fit.Result, kinds []fit.Kind) string {
	var parts []string
	for _, s := range r.Summaries() {
		for _, k := range kinds {
			if s.Kind == k {
				parts = append(parts, fmt.Sprintf("median error %s %% over %s", format.Percent(s.Median), format.Plural(int64(s.N), "measurement")))
			}
		}
	}
	return strings.Join(parts, ", ")
}
