package profileview

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"routesim/models/profile"
	"routesim/reports/format"
)

// Filter chooses the profiles of a list.
type Filter struct {
	Words  []string // all must be part of the id
	Grades []string // one of them, in capitals; none: any
}

// matches reports whether a profile is chosen.
func (f *Filter) matches(p *profile.Profile) bool {
	for _, w := range f.Words {
		if !strings.Contains(p.ID, strings.ToLower(w)) {
			return false
		}
	}
	for _, g := range f.Grades {
		if p.Grade == g {
			return true
		}
	}
	return len(f.Grades) == 0
}

// Choose returns the chosen profiles.
func (f *Filter) Choose(all []*profile.Profile) []*profile.Profile {
	var out []*profile.Profile
	for _, p := range all {
		if f.matches(p) {
			out = append(out, p)
		}
	}
	return out
}

// List writes profiles as a table of 80 columns.
func List(w io.Writer, list []*profile.Profile) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-47s %5s %10s %15s\n", "", "", "KV", "median error, %")
	fmt.Fprintf(&b, "%-47s %5s %10s %7s %7s\n", "profile", "grade", "tokens", "fit", "servers")
	for _, p := range list {
		fmt.Fprintf(&b, "%-47s %5s %10s %7s %7s\n", p.ID, p.Grade, format.Count(p.KVCapacityTokens), fitCell(p), serverCell(p))
	}
	fmt.Fprintf(&b, "\n%s. fit: decode/prefill against the sum of measured operators;\n"+
		"servers: TPOT/TTFT against runs that the calibration did not see; -: not known;\n"+
		"m: runs of other models; o: of this one with other weights, KV type or tp.\n", format.Plural(int64(len(list)), "profile"))
	_, err := io.WriteString(w, b.String())
	return err
}

func fitCell(p *profile.Profile) string {
	if p.FitError == nil {
		return format.Missing
	}
	short := func(pct float64) string {
		if pct >= 9.95 {
			return format.Fixed(pct, 0)
		}
		return format.Fixed(pct, 1)
	}
	return short(p.FitError.Decode[0]) + "/" + short(p.FitError.PrefillNoPrefix[0])
}

func serverCell(p *profile.Profile) string {
	e := heldOut(p)
	if e == nil {
		return format.Missing
	}
	mark := ""
	if evidence := p.Evidence(); evidence.Borrowed() {
		mark = " m"
	} else if len(evidence.Unlike) > 0 {
		mark = " o"
	}
	return fmt.Sprintf("%.0f/%.0f", e.TPOT[0], e.TTFT[0]) + mark
}

// heldOut is the error against servers, nil where it is not of this GPU.
func heldOut(p *profile.Profile) *profile.RunError {
	if p.OtherGPU() {
		return nil
	}
	return p.Calibration.HeldOut
}

// Entry is a profile in a machine-readable list.
type Entry struct {
	ID               string            `json:"id"`
	Grade            string            `json:"grade"`
	Flags            []string          `json:"flags"`
	KVCapacityTokens int64             `json:"kv_capacity_tokens"`
	ContextTokens    int64             `json:"max_model_len"`
	FitError         *profile.FitError `json:"fit_error_pct"`
	HeldOut          *profile.RunError `json:"heldout_error_pct"`
	// Runs says what the runs of HeldOut were, Unlike in what none was of this
	// profile.
	Runs   string   `json:"calibration_runs"`
	Unlike []string `json:"calibration_unlike"`
}

// ListJSON writes profiles as a JSON list.
func ListJSON(w io.Writer, list []*profile.Profile) error {
	entries := make([]Entry, 0, len(list))
	for _, p := range list {
		evidence := p.Evidence()
		entries = append(entries, Entry{p.ID, p.Grade, append([]string{}, p.Flags...), p.KVCapacityTokens, p.ContextTokens, p.FitError, heldOut(p),
			evidence.Runs, append([]string{}, evidence.Unlike...)})
	}
	return writeJSON(w, entries)
}

// ListCSV writes profiles as CSV, one to a line; what is not known is empty.
func ListCSV(w io.Writer, list []*profile.Profile) error {
	out := csv.NewWriter(w)
	head := []string{
		"id", "grade", "flags", "kv_capacity_tokens", "max_model_len", "fit_decode_median_pct", "fit_prefill_median_pct", "fit_mixed_median_pct",
		"heldout_runs", "heldout_ttft_median_pct", "heldout_tpot_median_pct", "calibration_runs", "calibration_unlike",
	}
	if err := out.Write(head); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, p := range list {
		evidence := p.Evidence()
		line := []string{p.ID, p.Grade, strings.Join(p.Flags, " "), strconv.FormatInt(p.KVCapacityTokens, 10), strconv.FormatInt(p.ContextTokens, 10), "", "", "", "", "", "", evidence.Runs, strings.Join(evidence.Unlike, " ")}
		if e := p.FitError; e != nil {
			line[5], line[6], line[7] = number(e.Decode[0]), number(e.PrefillNoPrefix[0]), number(e.Mixed[0])
		}
		if e := heldOut(p); e != nil {
			line[8], line[9], line[10] = strconv.Itoa(e.Runs), number(e.TTFT[0]), number(e.TPOT[0])
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
