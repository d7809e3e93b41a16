package validation

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
)

// WriteText writes the comparison as a table for people.
func (c *Comparison) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s with a recorded worker, %s completed\n\n", format.Plural(int64(c.Requests), "request"),
		format.Count(int64(c.Forced)), format.Count(int64(c.Completed)))
	c.writeErrors(&b)
	b.WriteString("\nrecorded and simulated are means, bias is simulated - recorded; median and p90\nare of the absolute error, in the unit of the row and in percent.\n\n")
	if c.Judged == 0 {
		b.WriteString("The router scored no decision: whether the recorded workers were the\ncheapest is not known.\n")
	} else {
		fmt.Fprintf(&b, "The recorded worker had the least cost in %s of %s (%s %%).\n", format.Count(int64(c.LeastCost)),
			format.Plural(int64(c.Judged), "decision"), format.Percent(float64(c.LeastCost)/float64(c.Judged)))
	}
	if f := c.Correction; f != nil {
		fmt.Fprintf(&b, "\n%s\n", f.sentence())
		if f.Factor != 1 {
			fmt.Fprintf(&b, "Typical error of TTFT and ITL: %s %% before, %s %% after. What is left:\n\n",
				format.Percent(percent(f.Before)), format.Percent(percent(f.After)))
			f.Left.writeErrors(&b)
		}
	}
	c.writeModels(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeModels names the profiles of the workers and what to beware of in them.
func (c *Comparison) writeModels(b *strings.Builder) {
	if len(c.Profiles) > 0 {
		b.WriteByte('\n')
	}
	for i, p := range c.Profiles {
		if i == 0 || p.ID != c.Profiles[i-1].ID {
			writeWrapped(b, "model   "+p.Line)
		}
	}
	for _, warning := range reports.ProfileWarnings(c.Profiles) {
		writeWrapped(b, "warning "+warning.Text)
	}
}

// writeWrapped writes a text in lines of at most 80 columns, all but the first
// indented. The label at its beginning has 8 columns.
func writeWrapped(b *strings.Builder, text string) {
	line := text[:8]
	for i, word := range strings.Fields(text[8:]) {
		switch {
		case i == 0:
			line += word
		case len(line)+1+len(word) > 80:
			b.WriteString(line + "\n")
			line = "        " + word
		default:
			line += " " + word
		}
	}
	b.WriteString(line + "\n")
}

// writeErrors writes a line for each quantity compared.
func (c *Comparison) writeErrors(b *strings.Builder) {
	fmt.Fprintf(b, "%-13s %7s %8s %8s %8s %8s %8s %6s %6s\n", "", "pairs", "recorded", "simul.", "bias", "median", "p90", "med %", "p90 %")
	for _, row := range c.errors() {
		e := row.e
		fmt.Fprintf(b, "%-13s %7s %8s %8s %8s %8s %8s %6s %6s\n", row.title, format.Count(int64(e.N)),
			format.Sig(e.Recorded), format.Sig(e.Simulated), format.Sig(e.Bias), format.Sig(e.Median), format.Sig(e.P90),
			format.Percent(e.RelMedian), format.Percent(e.RelP90))
	}
}

type namedError struct {
	title, key string
	e          *Error
}

func (c *Comparison) errors() []namedError {
	return []namedError{{"TTFT ms", "ttft_ms", &c.TTFT}, {"ITL ms", "itl_ms", &c.ITL}, {"cached tokens", "cached_tokens", &c.Cached}}
}

type errorJSON struct {
	Pairs     int            `json:"pairs"`
	Recorded  reports.Number `json:"mean_recorded"`
	Simulated reports.Number `json:"mean_simulated"`
	Bias      reports.Number `json:"bias"`
	Median    reports.Number `json:"median_absolute_error"`
	P90       reports.Number `json:"p90_absolute_error"`
	RelMedian reports.Number `json:"median_relative_error"`
	RelP90    reports.Number `json:"p90_relative_error"`
}

type correctionJSON struct {
	Factor  float64              `json:"step_time_factor"`
	Ratio   float64              `json:"speedup_ratio"` // times the one given
	Before  float64              `json:"typical_relative_error_before"`
	After   float64              `json:"typical_relative_error_after"`
	AtBound bool                 `json:"at_bound"`
	Runs    int                  `json:"simulations"`
	Left    map[string]errorJSON `json:"errors_left"`
}

func (c *Comparison) errorsJSON() map[string]errorJSON {
	out := map[string]errorJSON{}
	for _, row := range c.errors() {
		e, n := row.e, func(v float64) reports.Number { return reports.Number(v) }
		out[row.key] = errorJSON{e.N, n(e.Recorded), n(e.Simulated), n(e.Bias), n(e.Median), n(e.P90), n(e.RelMedian), n(e.RelP90)}
	}
	return out
}

// WriteJSON writes the comparison without its rows.
func (c *Comparison) WriteJSON(w io.Writer) error {
	doc := struct {
		Requests  int                  `json:"requests"`
		Completed int                  `json:"completed_requests"`
		Forced    int                  `json:"requests_with_recorded_worker"`
		Judged    int                  `json:"scored_decisions"`
		LeastCost int                  `json:"recorded_worker_at_least_cost"`
		Errors    map[string]errorJSON `json:"errors"`

		Profiles   []reports.ProfileFacts `json:"profile"`
		Warnings   []reports.Warning      `json:"warnings"`
		Correction *correctionJSON        `json:"correction"` // null: none was looked for
	}{
		Requests: c.Requests, Completed: c.Completed, Forced: c.Forced, Judged: c.Judged, LeastCost: c.LeastCost,
		Errors: c.errorsJSON(), Profiles: append([]reports.ProfileFacts{}, c.Profiles...),
		Warnings: append([]reports.Warning{}, reports.ProfileWarnings(c.Profiles)...),
	}
	if f := c.Correction; f != nil {
		doc.Correction = &correctionJSON{f.Factor, f.Ratio, percent(f.Before), percent(f.After), f.AtBound, f.Runs, f.Left.errorsJSON()}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// Columns are the columns of WriteCSV.
func Columns() []string {
	return []string{
		"line", "worker", "ttft_ms", "simulated_ttft_ms", "itl_ms", "simulated_itl_ms",
		"cached_tokens", "simulated_cached_tokens", "cost", "least_cost", "recorded_worker_at_least_cost",
	}
}

// WriteCSV writes a line per request; what is missing is left empty.
func (c *Comparison) WriteCSV(w io.Writer) error {
	var b strings.Builder
	b.WriteString(strings.Join(Columns(), ",") + "\n")
	for i := range c.Rows {
		r := &c.Rows[i]
		fmt.Fprintf(&b, "%d,%d", r.Line, r.Worker)
		for _, v := range [...]float64{r.TTFT, r.SimTTFT, r.ITL, r.SimITL, r.Cached, r.SimCached} {
			b.WriteString("," + cell(v))
		}
		if !r.Judged {
			b.WriteString(",,,\n")
			continue
		}
		fmt.Fprintf(&b, ",%s,%s,%t\n", cell(r.Cost), cell(r.MinCost), r.AtLeastCost)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cell(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
