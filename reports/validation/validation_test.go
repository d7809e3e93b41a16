package validation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"routesim/models"
	"routesim/sim"
	"routesim/workloads"
)

// row is one request of a recorded trace; a NaN or negative value is left out.
type row struct {
	received     float64
	hashes       []int
	tokens       int
	worker, rank int
	ttft, itl    float64
	cached       int
}

func (r row) text(id int) string {
	var fields strings.Builder
	if !math.IsNaN(r.ttft) {
		fmt.Fprintf(&fields, `"ttft_ms":%v,`, r.ttft)
	}
	if !math.IsNaN(r.itl) {
		fmt.Fprintf(&fields, `"avg_itl_ms":%v,`, r.itl)
	}
	if r.cached >= 0 {
		fmt.Fprintf(&fields, `"cached_tokens":%d,`, r.cached)
	}
	if r.worker >= 0 {
		fmt.Fprintf(&fields, `"worker":{"decode_worker_id":%d,"decode_dp_rank":%d},`, r.worker, r.rank)
	}
	hashes, _ := json.Marshal(r.hashes)
	return fmt.Sprintf(`{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":%v,"request":{"request_id":"r%d","output_tokens":%d,"request_received_ms":%v,"total_time_ms":1,%s"replay":{"trace_block_size":64,"input_length":%d,"input_sequence_hashes":%s}}}`+"\n",
		r.received+1, id, r.tokens, r.received, fields.String(), 64*len(r.hashes), hashes)
}

func open(t *testing.T, rows ...row) *workloads.Trace {
	t.Helper()
	var b strings.Builder
	for i, r := range rows {
		b.WriteString(r.text(i))
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	trace, err := workloads.Open(path, workloads.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func compare(t *testing.T, rows ...row) *Comparison {
	t.Helper()
	trace := open(t, rows...)
	plan, err := NewPlan(trace)
	if err != nil {
		t.Fatal(err)
	}
	timing, err := models.NewFixed(20, 8, models.TimingOptions{SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := sim.DefaultConfig(len(plan.Workers), timing)
	c.Force = plan.Force
	r, err := sim.Run(context.Background(), trace, &c)
	if err != nil {
		t.Fatal(err)
	}
	return Compare(trace, &c, r, plan)
}

// The simulated values of these rows: TTFT 20 ms, ITL 8 ms; the third request
// finds one block of 64 tokens on worker 7 (the last block is computed anew).
func recordedRows() []row {
	return []row{
		{0, []int{1, 2}, 3, 7, 0, 20, 8, 0},
		{5000, []int{3, 4}, 3, 9, 0, 20, 8, 0},
		{10000, []int{1, 2}, 3, 7, 0, 20, 8, 64},
	}
}

func TestPerfectAgreement(t *testing.T) {
	c := compare(t, recordedRows()...)
	if c.Requests != 3 || c.Completed != 3 || c.Forced != 3 || c.Judged != 3 || c.LeastCost != 3 {
		t.Errorf("got %+v", c)
	}
	for _, e := range c.errors() {
		if e.e.N != 3 || e.e.Bias != 0 || e.e.Median != 0 || e.e.P90 != 0 {
			t.Errorf("%s: %+v, want no error in 3 pairs", e.title, *e.e)
		}
	}
}

func TestErrorsAreSimulatedMinusRecorded(t *testing.T) {
	rows := recordedRows()
	rows[0].ttft, rows[1].ttft, rows[2].ttft = 10, 40, 20 // errors 10, -20, 0
	rows[0].itl = math.NaN()
	rows[2].cached = -1
	c := compare(t, rows...)
	want := Error{N: 3, Recorded: 70.0 / 3, Simulated: 20, Bias: -10.0 / 3, Median: 10, P90: 20, RelMedian: 0.5, RelP90: 1}
	if got := c.TTFT; math.Abs(got.Bias-want.Bias) > 1e-12 || got.N != 3 || got.Median != 10 || got.P90 != 20 || got.RelMedian != 0.5 || got.RelP90 != 1 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if c.ITL.N != 2 || c.Cached.N != 2 {
		t.Errorf("%d pairs of ITL and %d of cached tokens, want 2 and 2", c.ITL.N, c.Cached.N)
	}
}

func TestWorseWorkerIsSeen(t *testing.T) {
	rows := recordedRows()
	rows[2].worker = 9 // worker 7 holds the prompt
	c := compare(t, rows...)
	if c.LeastCost != 2 || c.Rows[2].AtLeastCost || !(c.Rows[2].Cost > c.Rows[2].MinCost) {
		t.Errorf("got %d of %d at least cost, row %+v", c.LeastCost, c.Judged, c.Rows[2])
	}
}

func TestPlan(t *testing.T) {
	rows := recordedRows()
	rows[0].rank = 1
	rows[1].worker = -1
	p, err := NewPlan(open(t, rows...))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(p.Workers) != "[{7 0} {7 1}]" || fmt.Sprint(p.Force) != "[1 -1 0]" {
		t.Errorf("got %+v", p)
	}
	if c := compare(t, rows...); c.Forced != 2 || c.Judged != 2 {
		t.Errorf("a row without a recorded worker counts: %+v", c)
	}
}

func TestPlanRefusals(t *testing.T) {
	rows := recordedRows()
	for i := range rows {
		rows[i].worker = -1
	}
	if _, err := NewPlan(open(t, rows...)); err == nil || !strings.Contains(err.Error(), "found no recorded worker") {
		t.Errorf("got %v", err)
	}
	mooncake, err := workloads.FromRows(workloads.BuilderOptions{}, workloads.Row{OutputLength: 1, HashIDs: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(mooncake); err == nil || !strings.Contains(err.Error(), "expected a Dynamo request trace") {
		t.Errorf("got %v", err)
	}
}

func TestOutputs(t *testing.T) {
	rows := recordedRows()
	rows[1].worker = -1
	rows[1].ttft = math.NaN()
	c := compare(t, rows...)
	var text, csv, doc bytes.Buffer
	for _, err := range []error{c.WriteText(&text), c.WriteCSV(&csv), c.WriteJSON(&doc)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text.String(), "The recorded worker had the least cost in 2 of 2 decisions (100.0 %).") {
		t.Error(text.String())
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if len(line) > 80 {
			t.Errorf("line too wide: %s", line)
		}
	}
	lines := strings.Split(strings.TrimSpace(csv.String()), "\n")
	if len(lines) != 4 || lines[0] != strings.Join(Columns(), ",") || !strings.HasPrefix(lines[1], "1,0,20,20,8,8,0,0,") || !strings.HasSuffix(lines[2], ",,,") {
		t.Error(csv.String())
	}
	for _, line := range lines {
		if strings.Count(line, ",") != len(Columns())-1 {
			t.Errorf("wrong number of cells: %s", line)
		}
	}
	var parsed struct {
		Errors map[string]struct {
			Pairs int
			Bias  *float64
		}
	}
	if err := json.Unmarshal(doc.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	if e := parsed.Errors["ttft_ms"]; e.Pairs != 2 || e.Bias == nil || *e.Bias != 0 {
		t.Error(doc.String())
	}
}

func TestNoPairsIsNull(t *testing.T) {
	rows := recordedRows()
	for i := range rows {
		rows[i].itl = math.NaN()
	}
	var doc bytes.Buffer
	if err := compare(t, rows...).WriteJSON(&doc); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(doc.String(), `"bias": null`) {
		t.Error(doc.String())
	}
}
