package gate

import (
	"encoding/json"
	"io"
	"math"

	"routesim/reports"
	"routesim/sim/router"
)

// The JSON report. Figures that do not exist are null.
type (
	jsonReport struct {
		Verdict   Verdict        `json:"verdict"`
		ExitCode  int            `json:"exit_code"`
		Suite     string         `json:"suite,omitempty"`
		Before    jsonSide       `json:"before"`
		After     jsonSide       `json:"after"`
		Problem   string         `json:"problem,omitempty"`
		Scenarios []jsonScenario `json:"scenarios"`
		Notes     []string       `json:"notes"`
		Advice    []string       `json:"advice"`
	}
	jsonSide struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	jsonScenario struct {
		Name         string          `json:"name"`
		Verdict      Verdict         `json:"verdict"`
		Trace        string          `json:"trace"`
		Requests     int64           `json:"requests"`
		Seeds        []uint64        `json:"seeds"`
		Problems     []string        `json:"problems"`
		Changes      []jsonChange    `json:"changes"`
		Metrics      []jsonMetric    `json:"metrics"`
		SLO          []jsonBound     `json:"slo"`
		ChangedSeeds []uint64        `json:"seeds_with_other_decisions"`
		TimesChanged bool            `json:"only_token_times_differ"`
		Divergence   *jsonDivergence `json:"first_different_decision"`
		Moved        *jsonMoved      `json:"moved"`
		Improved     []string        `json:"improved"`
		Notes        []string        `json:"notes"`
	}
	jsonChange struct {
		Name   string `json:"name"`
		Change string `json:"change"`
	}
	jsonMetric struct {
		Name      string         `json:"name"`
		Unit      string         `json:"unit"`
		Before    reports.Number `json:"before"`
		After     reports.Number `json:"after"`
		Change    reports.Number `json:"change"`
		Lo        reports.Number `json:"change_lo"`
		Hi        reports.Number `json:"change_hi"`
		Tolerance string         `json:"tolerance"`
		Direction string         `json:"direction"`
		State     State          `json:"state"`
	}
	jsonBound struct {
		Name  string         `json:"name"`
		Unit  string         `json:"unit"`
		Value reports.Number `json:"value"`
		Bound string         `json:"bound"`
		State string         `json:"state"`
	}
	jsonDivergence struct {
		Seed      uint64        `json:"seed"`
		Decision  int           `json:"decision"`
		Before    *jsonDecision `json:"before"`
		After     *jsonDecision `json:"after"`
		FirstCost int           `json:"first_decision_with_other_costs,omitempty"`
		Why       string        `json:"why"`
	}
	jsonDecision struct {
		Request int32      `json:"request"`
		Worker  int32      `json:"worker"`
		Prefill *int32     `json:"prefill_worker,omitempty"`
		Overlap float64    `json:"overlap_blocks"`
		Costs   []jsonCost `json:"costs"`
	}
	jsonCost struct {
		Worker  int            `json:"worker"`
		Prefill reports.Number `json:"prefill_term"`
		Credit  reports.Number `json:"credit"`
		Decode  reports.Number `json:"decode_term"`
		Request reports.Number `json:"request_term"`
		Cost    reports.Number `json:"cost"`
	}
	jsonMoved struct {
		Seed        uint64             `json:"seed"`
		Routed      int                `json:"routed"`
		Count       int                `json:"count"`
		Prefill     *int               `json:"count_for_prefill,omitempty"`
		Decode      *int               `json:"count_for_decode,omitempty"`
		MovedBefore reports.Number     `json:"mean_ttft_ms_of_moved_before"`
		MovedAfter  reports.Number     `json:"mean_ttft_ms_of_moved_after"`
		OtherBefore reports.Number     `json:"mean_ttft_ms_of_others_before"`
		OtherAfter  reports.Number     `json:"mean_ttft_ms_of_others_after"`
		Requests    []jsonMovedRequest `json:"requests"`
	}
	jsonMovedRequest struct {
		Request      int32          `json:"request"`
		WorkerBefore int32          `json:"worker_before"`
		WorkerAfter  int32          `json:"worker_after"`
		TTFTBefore   reports.Number `json:"ttft_ms_before"`
		TTFTAfter    reports.Number `json:"ttft_ms_after"`

		PrefillBefore *int32 `json:"prefill_worker_before,omitempty"`
		PrefillAfter  *int32 `json:"prefill_worker_after,omitempty"`
	}
)

// mostMovedJSON is how many requests that moved are listed for programs.
const mostMovedJSON = 10_000

// WriteJSON writes the report for programs. Equal reports give equal bytes.
func WriteJSON(w io.Writer, r *Report) error {
	out := jsonReport{
		Verdict: r.Verdict, ExitCode: r.Code, Suite: r.Suite, Problem: r.Problem,
		Before: jsonSide{r.Before, r.VersionBefore}, After: jsonSide{r.After, r.VersionAfter},
		Scenarios: []jsonScenario{}, Notes: list(r.Notes), Advice: list(r.Advice),
	}
	for i := range r.Scenarios {
		out.Scenarios = append(out.Scenarios, r.Scenarios[i].json())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(&out)
}

// list is a list that JSON never shows as null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func (s *Result) json() jsonScenario {
	out := jsonScenario{
		Name: s.Name, Verdict: s.Verdict, Trace: s.Trace.Name, Requests: s.Trace.Requests, Seeds: list(s.Seeds),
		Problems: list(s.Problems), Changes: []jsonChange{}, Metrics: []jsonMetric{}, SLO: []jsonBound{},
		ChangedSeeds: list(s.ChangedSeeds), TimesChanged: s.TimesChanged, Improved: list(s.Improved), Notes: list(s.Notes),
	}
	for _, c := range s.Changes {
		out.Changes = append(out.Changes, jsonChange{c.Name, c.Text})
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		out.Metrics = append(out.Metrics, jsonMetric{
			Name: r.Name, Unit: r.Unit, Before: reports.Number(r.Before), After: reports.Number(r.After),
			Change: reports.Number(r.Change), Lo: reports.Number(r.Lo), Hi: reports.Number(r.Hi),
			Tolerance: r.Tolerance.Text(r.Unit), Direction: r.Direction.String(), State: r.State,
		})
	}
	for i := range s.Bounds {
		b := &s.Bounds[i]
		out.SLO = append(out.SLO, jsonBound{b.Name, b.Unit, reports.Number(b.Value), b.text(), b.state()})
	}
	if d := s.Divergence; d != nil {
		out.Divergence = &jsonDivergence{
			Seed: d.Seed, Decision: d.Decision, FirstCost: d.FirstCost, Why: d.Why,
			Before: decisionJSON(d.RowBefore, d.WorkerBefore, d.PrefillBefore, d.OverlapBefore, d.CostsBefore),
			After:  decisionJSON(d.RowAfter, d.WorkerAfter, d.PrefillAfter, d.OverlapAfter, d.CostsAfter),
		}
	}
	if m := s.Moved; m != nil {
		out.Moved = m.json()
	}
	return out
}

func decisionJSON(row, worker, prefill int32, overlap float64, costs []router.Terms) *jsonDecision {
	if row < 0 {
		return nil
	}
	if math.IsNaN(overlap) {
		overlap = 0
	}
	d := &jsonDecision{Request: row, Worker: worker, Prefill: known(prefill), Overlap: overlap, Costs: []jsonCost{}}
	for w := range costs {
		t := &costs[w]
		d.Costs = append(d.Costs, jsonCost{w, reports.Number(t.Prefill), reports.Number(t.Credit), reports.Number(t.Decode), reports.Number(t.Request), reports.Number(t.Cost)})
	}
	return d
}

// known is a worker that a key is written for, nil for none.
func known(worker int32) *int32 {
	if worker < 0 {
		return nil
	}
	return &worker
}

func (m *Moved) json() *jsonMoved {
	out := &jsonMoved{
		Seed: m.Seed, Routed: m.Total, Count: len(m.Requests), Requests: []jsonMovedRequest{},
		MovedBefore: reports.Number(m.MovedBefore), MovedAfter: reports.Number(m.MovedAfter),
		OtherBefore: reports.Number(m.OtherBefore), OtherAfter: reports.Number(m.OtherAfter),
	}
	if m.Pools {
		out.Prefill, out.Decode = &m.Prefill, &m.Decode
	}
	for i := range m.Requests[:min(len(m.Requests), mostMovedJSON)] {
		q := &m.Requests[i]
		out.Requests = append(out.Requests, jsonMovedRequest{
			q.Row, q.WorkerBefore, q.WorkerAfter, reports.Number(q.TTFTBefore), reports.Number(q.TTFTAfter),
			known(q.PrefillBefore), known(q.PrefillAfter),
		})
	}
	return out
}
