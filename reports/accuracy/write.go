package accuracy

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
)

// sections are the two kinds of rows, which are never mixed.
func sections() []struct {
	used  bool
	title string
} {
	return []struct {
		used  bool
		title string
	}{{false, "not used for the calibration"}, {true, "used for the calibration"}}
}

// WriteText writes the summary as a table for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s replayed, %s left out\n\n", format.Plural(int64(r.Rows), "row"), format.Count(int64(len(r.Cases))), format.Count(int64(len(r.Dropped))))
	fmt.Fprintf(&b, "%-21s %4s %17s %17s %17s\n", "error in %", "rows", "TTFT", "TPOT", "tokens/s")
	fmt.Fprintf(&b, "%-21s %4s %17s %17s %17s\n", "", "", "med  p90  bias", "med  p90  bias", "med  p90  bias")
	groups := r.Groups()
	for _, s := range sections() {
		fmt.Fprintf(&b, "rows %s\n", s.title)
		none := true
		for i := range groups {
			g := &groups[i]
			if g.Used != s.used {
				continue
			}
			none = false
			name := "  " + g.GPU + " " + g.Engine
			if g.Model != "" {
				name = "    " + g.Label()
			}
			fmt.Fprintf(&b, "%-21s %4d %17s %17s %17s\n", name, g.Rows, cells(&g.TTFT), cells(&g.TPOT), cells(&g.Throughput))
		}
		if none {
			b.WriteString("  none\n")
		}
	}
	if len(r.Dropped) > 0 {
		b.WriteString("\nleft out\n")
		for _, reason := range r.Reasons() {
			fmt.Fprintf(&b, "%6d  %s\n", reason.Rows, reason.Text)
		}
	}
	b.WriteString(`
med and p90 are of the absolute error; bias is the median of the signed one,
above 0 where the simulation is slower (TTFT, TPOT) or yields more (tokens/s).
Where no tokens/s were published, they are derived on both sides:
concurrency x OSL / (TTFT + (OSL - 1) x TPOT).
`)
	_, err := io.WriteString(w, b.String())
	return err
}

// cells writes an error as median, 90th percentile and bias in percent.
func cells(e *Error) string {
	return fmt.Sprintf("%s %s %s", percent(e.Median), percent(e.P90), signedPercent(e.Bias))
}

func percent(share float64) string { return padded(format.Percent(share)) }

func signedPercent(share float64) string {
	text := format.Percent(share)
	if share > 0 && strings.Trim(text, "0.") != "" {
		text = "+" + text
	}
	return padded(text)
}

func padded(text string) string { return fmt.Sprintf("%5s", text) }

type errorJSON struct {
	Rows   int            `json:"rows"`
	Median reports.Number `json:"median_absolute_pct"`
	P90    reports.Number `json:"p90_absolute_pct"`
	Bias   reports.Number `json:"bias_pct"`
}

func jsonOf(e *Error) errorJSON {
	pct := func(share float64) reports.Number { return reports.Number(100 * share) }
	return errorJSON{e.N, pct(e.Median), pct(e.P90), pct(e.Bias)}
}

type groupJSON struct {
	GPU        string    `json:"gpu"`
	Engine     string    `json:"engine"`
	Model      string    `json:"model,omitempty"`
	Weights    string    `json:"weight_dtype,omitempty"`
	Used       bool      `json:"used_for_calibration"`
	Rows       int       `json:"rows"`
	Derived    int       `json:"rows_with_derived_throughput"`
	TTFT       errorJSON `json:"ttft"`
	TPOT       errorJSON `json:"tpot"`
	Throughput errorJSON `json:"throughput"`
}

type figuresJSON struct {
	TTFT       reports.Number `json:"ttft_ms"`
	TPOT       reports.Number `json:"tpot_ms"`
	Throughput reports.Number `json:"output_tok_s"`
}

type caseJSON struct {
	Row         string      `json:"row"`
	Source      string      `json:"source"`
	Profile     string      `json:"profile"`
	Grade       string      `json:"grade"`
	ISL         int         `json:"isl"`
	OSL         int         `json:"osl"`
	Concurrency int         `json:"concurrency"`
	Requests    int         `json:"requests"`
	Used        bool        `json:"used_for_calibration"`
	TTFTStat    string      `json:"ttft_stat"`
	TPOTStat    string      `json:"tpot_stat"`
	Derived     bool        `json:"throughput_derived"`
	Measured    figuresJSON `json:"measured"`
	Simulated   figuresJSON `json:"simulated"`
	Preemptions int64       `json:"preemptions"`
	Steps       int64       `json:"steps"`
	OutOfRange  int64       `json:"steps_out_of_range"`
}

func figures(f *Figures) figuresJSON {
	return figuresJSON{reports.Number(f.TTFT), reports.Number(f.TPOT), reports.Number(f.Throughput)}
}

// WriteJSON writes the summary, every replayed row and the rows left out.
func (r *Report) WriteJSON(w io.Writer) error {
	type droppedJSON struct {
		Row    string `json:"row"`
		Source string `json:"source"`
		Reason string `json:"reason"`
	}
	doc := struct {
		Rows    int           `json:"rows"`
		Groups  []groupJSON   `json:"groups"`
		Cases   []caseJSON    `json:"replayed"`
		Dropped []droppedJSON `json:"left_out"`
	}{Rows: r.Rows, Groups: []groupJSON{}, Cases: []caseJSON{}, Dropped: []droppedJSON{}}
	for _, g := range r.Groups() {
		doc.Groups = append(doc.Groups, groupJSON{
			g.GPU, g.Engine, g.Model, g.WeightDType, g.Used, g.Rows, g.Derived, jsonOf(&g.TTFT), jsonOf(&g.TPOT), jsonOf(&g.Throughput),
		})
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		q := c.Row
		doc.Cases = append(doc.Cases, caseJSON{
			q.Name, q.Source, c.Profile, c.Grade, q.ISL, q.OSL, q.Concurrency, q.Requests, q.Used(),
			q.TTFTStat.String(), q.TPOTStat.String(), c.Derived, figures(&c.Measured), figures(&c.Simulated),
			c.Outcome.Preemptions, c.Outcome.Steps, c.Outcome.OutOfRange,
		})
	}
	for _, d := range r.Dropped {
		doc.Dropped = append(doc.Dropped, droppedJSON{d.Row.Name, d.Row.Source, d.Reason})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// Columns are the columns of WriteCSV.
func Columns() []string {
	return []string{
		"row", "source", "gpu", "engine", "model", "profile", "grade", "isl", "osl", "concurrency", "requests", "used_for_calibration",
		"ttft_stat", "tpot_stat", "throughput_derived",
		"ttft_ms", "simulated_ttft_ms", "ttft_error_pct", "tpot_ms", "simulated_tpot_ms", "tpot_error_pct",
		"output_tok_s", "simulated_output_tok_s", "output_tok_s_error_pct", "preemptions", "left_out",
	}
}

// WriteCSV writes a line per row of the data that was replayed, and then one
// per row that was left out, with the reason in the last column.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(Columns()); err != nil {
		return err
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		e := c.Errors()
		line := append(identity(c.Row), c.Profile, c.Grade)
		line = append(line, settings(c.Row)...)
		line = append(line, strconv.FormatBool(c.Derived),
			number(c.Measured.TTFT), number(c.Simulated.TTFT), number(100*e.TTFT),
			number(c.Measured.TPOT), number(c.Simulated.TPOT), number(100*e.TPOT),
			number(c.Measured.Throughput), number(c.Simulated.Throughput), number(100*e.Throughput),
			strconv.FormatInt(c.Outcome.Preemptions, 10), "")
		if err := out.Write(line); err != nil {
			return err
		}
	}
	for _, d := range r.Dropped {
		line := append(identity(d.Row), "", "")
		line = append(line, settings(d.Row)...)
		for len(line) < len(Columns())-1 {
			line = append(line, "")
		}
		if err := out.Write(append(line, d.Reason)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func identity(q *Row) []string { return []string{q.Name, q.Source, q.GPU, q.Engine, q.Model} }

func settings(q *Row) []string {
	n := strconv.Itoa
	return []string{
		n(q.ISL), n(q.OSL), n(q.Concurrency), n(q.Requests), strconv.FormatBool(q.Used()), q.TTFTStat.String(), q.TPOTStat.String(),
	}
}

// number writes a figure with six significant digits, "" where it is absent.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
