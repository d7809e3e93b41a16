package accuracy

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"routesim/models/profile"
	"routesim/models/profile/measured"
)

// update rewrites the committed tables: UPDATE_ACCURACY=1 go test.
const update = "UPDATE_ACCURACY"

// bundled is the report over the bundled rows, computed once for all tests.
var bundled = sync.OnceValues(func() (*Report, error) {
	rows, err := Bundled()
	if err != nil {
		return nil, err
	}
	return Compare(context.Background(), rows, nil)
})

func bundledReport(t *testing.T) *Report {
	t.Helper()
	r, err := bundled()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCommittedTable(t *testing.T) {
	var got bytes.Buffer
	if err := bundledReport(t).WriteMarkdown(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "models", "published", "ACCURACY.md")
	if os.Getenv(update) != "" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("the committed table differs from the simulation; look at the difference before %s=1\n%s", update, d)
	}
}

// Every usable row of an engine with a scheduler and of a shipped profile is
// replayed.
func TestNoUsableRowIsDropped(t *testing.T) {
	r := bundledReport(t)
	replayed := map[string]bool{}
	for i := range r.Cases {
		replayed[r.Cases[i].Row.Name] = true
	}
	shipped, err := profile.IDs()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range rows {
		if row.Load == "closed loop" && row.PrefixCacheFree == "yes" && row.EasyToSimulate == "yes" && row.Engine == "vllm" && slices.Contains(shipped, row.Profile) {
			n++
			if !replayed[row.Name] {
				t.Errorf("row %s of %s was not replayed", row.Name, row.Profile)
			}
		}
	}
	for _, d := range r.Dropped {
		if d.Usable {
			t.Errorf("row %s: %s", d.Row.Name, d.Reason)
		}
	}
	if n < 100 || n != len(r.Cases) {
		t.Errorf("%d usable rows, %d replayed", n, len(r.Cases))
	}
}

// The aims: the median absolute errors that the program claims to stay within.
func TestErrorsStayWithinTheAims(t *testing.T) {
	aims := map[string][3]float64{ // TTFT, TPOT, tokens/s
		"h100_sxm": {0.14, 0.04, 0.05},
		"h200_sxm": {0.122, 0.047, 0.05},
		"b200_sxm": {0.171, 0.058, 0.05},
	}
	seen := 0
	for _, g := range bundledReport(t).Groups() {
		aim, ok := aims[g.GPU]
		if !ok || g.Model != "" || !g.Used {
			continue
		}
		seen++
		for i, e := range [...]Error{g.TTFT, g.TPOT, g.Throughput} {
			if !(e.Median <= aim[i]) {
				t.Errorf("%s %s: median errors TTFT %.3f, TPOT %.3f, tokens/s %.3f, aims %v", g.GPU, g.Engine, g.TTFT.Median, g.TPOT.Median, g.Throughput.Median, aim)
				break
			}
		}
	}
	if seen != len(aims) {
		t.Errorf("found %d of %d groups", seen, len(aims))
	}
}

func TestWriters(t *testing.T) {
	r := bundledReport(t)
	var text, js, table bytes.Buffer
	for _, err := range []error{r.WriteText(&text), r.WriteJSON(&js), r.WriteCSV(&table)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(text.String()) {
		if len(line) > 81 {
			t.Errorf("%d columns: %q", len(line)-1, line)
		}
	}
	var doc struct {
		Rows     int
		Groups   []map[string]any
		Replayed []map[string]any
		LeftOut  []map[string]any `json:"left_out"`
	}
	if err := json.Unmarshal(js.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Rows != len(doc.Replayed)+len(doc.LeftOut) || len(doc.Replayed) != len(r.Cases) {
		t.Errorf("found %d rows, %d replayed, %d left out", doc.Rows, len(doc.Replayed), len(doc.LeftOut))
	}
	records, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 1+r.Rows {
		t.Errorf("found %d lines, expected %d", len(records), 1+r.Rows)
	}
	pictures, err := r.Pictures()
	if err != nil || len(pictures) != 3 {
		t.Fatalf("found %d pictures, %v", len(pictures), err)
	}
}

// head is the line of columns of small tables, which cell fills in.
const head = "row,gpu,engine,model,tp,weight_dtype,kv_dtype_assumed,isl,osl,load,concurrency,n_requests,ttft_ms,tpot_ms,output_tok_s,ttft_stat,tpot_stat,prefix_cache_free,easy_to_simulate,used_for_calibration,notes,profile\n"

func table(lines ...map[string]string) string {
	var b strings.Builder
	b.WriteString(head)
	usual := map[string]string{
		"gpu": "h100_sxm", "engine": "vllm", "model": "qwen3-8b", "tp": "1", "weight_dtype": "bf16", "kv_dtype_assumed": "bf16", "isl": "256", "osl": "64", "load": "closed loop",
		"concurrency": "4", "ttft_ms": "20", "tpot_ms": "7.5", "prefix_cache_free": "yes", "easy_to_simulate": "yes", "used_for_calibration": "no",
	}
	out := csv.NewWriter(&b)
	for _, line := range lines {
		var record []string
		for name := range strings.SplitSeq(strings.TrimSpace(head), ",") {
			v, ok := line[name]
			if !ok {
				v = usual[name]
			}
			record = append(record, v)
		}
		if err := out.Write(record); err != nil {
			panic(err)
		}
	}
	out.Flush()
	return b.String()
}

func compareTable(t *testing.T, text string) *Report {
	t.Helper()
	rows, err := Read("table", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compare(context.Background(), rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhichRowsAreReplayed(t *testing.T) {
	type line = map[string]string
	cases := []struct {
		line   line
		reason string // "" = replayed
		usable bool
	}{
		{line{}, "", false},
		{line{"profile": "h100_sxm/vllm/qwen3-8b/tp1/bf16/kv-bf16", "gpu": "?"}, "", false},
		{line{"load": "static batch"}, NotClosedLoop, false},
		{line{"load": "burst, all requests at once"}, NotClosedLoop, false},
		{line{"prefix_cache_free": "unknown"}, SharedPrompts, false},
		{line{"easy_to_simulate": "partly"}, HardToSimulate, false},
		{line{"engine": "sglang"}, EngineNotModelled, false},
		{line{"engine": "trtllm"}, EngineNotModelled, false},
		{line{"gpu": "h20-3e"}, NoProfile, false},
		{line{"profile": "h100_sxm/vllm/qwen3-8b/tp16/bf16/kv-bf16"}, NoProfile, false},
		{line{"tpot_stat": "p99"}, OtherStatistic, false},
		{line{"concurrency": ""}, "concurrency: found 0, expected 1 to 1048576", true},
		{line{"ttft_ms": "", "tpot_ms": ""}, "found neither TTFT nor TPOT nor output tokens/s, expected at least one", true},
	}
	var lines []line
	for _, c := range cases {
		lines = append(lines, c.line)
	}
	r := compareTable(t, table(lines...))
	dropped := map[int]Dropped{}
	for _, d := range r.Dropped {
		dropped[d.Row.Line-2] = d
	}
	for i, c := range cases {
		d, out := dropped[i]
		if out != (c.reason != "") || d.Reason != c.reason || d.Usable != c.usable {
			t.Errorf("row %d: found %q (usable %v), expected %q (%v)", i, d.Reason, d.Usable, c.reason, c.usable)
		}
	}
	if got := r.Reasons()[0]; got.Rows != 2 || got.Text != NoProfile+" (vllm)" {
		t.Errorf("found %+v first", got)
	}
}

func TestUsedAndNotUsedStayApart(t *testing.T) {
	type line = map[string]string
	r := compareTable(t, table(
		line{"used_for_calibration": "no"}, line{"used_for_calibration": "train half"}, line{"used_for_calibration": ""}, line{"used_for_calibration": "yes"},
	))
	var got []string
	for _, g := range r.Groups() {
		got = append(got, fmt.Sprint(g.Used, g.Model, g.Rows))
	}
	if want := []string{"false2", "falseqwen3-8b2", "true2", "trueqwen3-8b2"}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

// The simulated figure is the statistic that the row names.
func TestStatisticsAndDerivedRates(t *testing.T) {
	type line = map[string]string
	r := compareTable(t, table(
		line{}, line{"ttft_stat": "median", "tpot_stat": "median"}, line{"tpot_stat": "mean ITL"}, line{"tpot_stat": "median per-token"},
		line{"tpot_stat": "mean over the whole request"}, line{"output_tok_s": "500"}, line{"notes": "lengths uniform in [0.5,1.0] x nominal"},
	))
	for i, want := range []func(*Case) (ttft, tpot float64){
		func(c *Case) (float64, float64) { return c.Outcome.TTFT.Mean, c.Outcome.TPOT.Mean },
		func(c *Case) (float64, float64) { return c.Outcome.TTFT.Median, c.Outcome.TPOT.Median },
		func(c *Case) (float64, float64) { return c.Outcome.TTFT.Mean, c.Outcome.Gap.Mean },
		func(c *Case) (float64, float64) { return c.Outcome.TTFT.Mean, c.Outcome.Gap.Median },
		func(c *Case) (float64, float64) { return c.Outcome.TTFT.Mean, c.Outcome.PerToken },
	} {
		c := &r.Cases[i]
		ttft, tpot := want(c)
		if c.Simulated.TTFT != ttft || c.Simulated.TPOT != tpot {
			t.Errorf("row %d: found %+v, expected %v and %v", i, c.Simulated, ttft, tpot)
		}
		if !c.Derived || c.Measured.Throughput != 4*64/(20+63*7.5)*1000 {
			t.Errorf("row %d: found a rate of %v, expected the derived one", i, c.Measured.Throughput)
		}
	}
	if c := &r.Cases[5]; c.Derived || c.Measured.Throughput != 500 || c.Simulated.Throughput != c.Outcome.OutputRate {
		t.Errorf("a published rate: found %+v", c)
	}
	if r.Cases[6].Row.ShortestShare != 0.5 || r.Cases[0].Row.ShortestShare != 1 {
		t.Error("the spread of lengths of the notes was not read")
	}
}

func TestTableProblems(t *testing.T) {
	type line = map[string]string
	for _, c := range []struct{ text, want string }{
		{"", "table: found an empty file"},
		{"gpu,engine\n", "table:1: found no column model, expected the columns gpu, engine, model, tp"},
		{head, "table: found no rows, expected at least one below the column names"},
		{table(line{"tp": "x"}), `table:2: tp: found "x", expected a whole number from 1 to 1024`},
		{table(line{}, line{"ttft_ms": "-1"}), `table:3: ttft_ms: found "-1", expected a number above 0`},
		{table(line{"notes": "uniform in [2,1]"}), `table:2: notes: found "uniform in [2,1]", expected uniform in [a,1]`},
	} {
		if _, err := Read("table", strings.NewReader(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("found %v, expected %s", err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(table(map[string]string{}))
	f.Add(table(map[string]string{"notes": "uniform in [0.8,1.0]", "ttft_stat": "median"}, map[string]string{"load": "x"}))
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := Read("table", strings.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		for i := range rows {
			if r := &rows[i]; r.Concurrency > measured.MostRequests || !(r.ShortestShare > 0 && r.ShortestShare <= 1) {
				t.Errorf("an unusable row was read: %+v", r)
			}
		}
	})
}

func lookup(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p, err := profile.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// One request at a time is small enough to work out by hand.
func TestSimulateOneAtATime(t *testing.T) {
	p := lookup(t, "h100/qwen3-8b/tp1")
	r := &measured.Run{Concurrency: 1, Requests: 3, ISL: 100, OSL: 3, ShortestShare: 1}
	o, err := Simulate(context.Background(), p, r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	step := func(prompt, seqs, context int64) float64 {
		b := batch(prompt, seqs, context)
		ms, _ := m.Step(&b)
		return ms
	}
	prefill, second, third := step(100, 0, 0), step(0, 1, 101), step(0, 1, 102)
	close := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	if want := prefill + p.RequestMS(); !close(o.TTFT.Mean, want) || !close(o.TTFT.Max, want) {
		t.Errorf("TTFT: found %v, expected %v", o.TTFT.Mean, want)
	}
	if want := (second + third) / 2; !close(o.TPOT.Mean, want) {
		t.Errorf("TPOT: found %v, expected %v", o.TPOT.Mean, want)
	}
	total := 3*(prefill+second+third) + 2*math.Max(p.RequestMS(), leastGapMS) + p.RequestMS()
	if want := 9 / total * 1000; math.Abs(o.OutputRate/want-1) > 1e-9 {
		t.Errorf("output rate: found %v, expected %v", o.OutputRate, want)
	}
	if o.Steps != 9 || o.Completed != 3 {
		t.Errorf("found %+v", o)
	}
}

// A request that follows another cannot join the step that starts as the other
// ends.
func TestNextRequestMissesTheRunningStep(t *testing.T) {
	p := lookup(t, "h100/qwen3-8b/tp1")
	o, err := Simulate(context.Background(), p, &measured.Run{Concurrency: 2, Requests: 20, ISL: 100, OSL: 50, ShortestShare: 1})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Simulate(context.Background(), p, &measured.Run{Concurrency: 1, Requests: 20, ISL: 100, OSL: 50, ShortestShare: 1})
	if err != nil {
		t.Fatal(err)
	}
	if o.TTFT.Median < alone.TTFT.Median+1 {
		t.Errorf("TTFT %v ms beside a decoding request, %v ms alone", o.TTFT.Median, alone.TTFT.Median)
	}
}

func TestSimulateRefuses(t *testing.T) {
	_, err := Simulate(context.Background(), lookup(t, "h100/sglang/qwen3-8b/tp1"), &measured.Run{Concurrency: 1, Requests: 1, ISL: 10, OSL: 10, ShortestShare: 1})
	if err == nil || !strings.Contains(err.Error(), "found a profile of sglang") {
		t.Errorf("another engine: found %v", err)
	}
	_, err = Simulate(context.Background(), lookup(t, "h100/qwen3-32b/tp1"), &measured.Run{Concurrency: 1, Requests: 1, ISL: 100_000, OSL: 10, ShortestShare: 1})
	if err == nil || !strings.Contains(err.Error(), "expected all to fit into the KV cache") {
		t.Errorf("a prompt larger than the pool: found %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compare(ctx, []Row{{}}, nil); err == nil {
		t.Error("a cancelled comparison: found no error")
	}
}

// Lengths that vary have the mean of their range and stay inside it; the same
// seed gives the same order.
func TestLengths(t *testing.T) {
	r := &measured.Run{Requests: 400, ShortestShare: 0.8}
	got := lengths(r, 1000, 1)
	sum, lo, hi := 0, 1<<30, 0
	for _, n := range got {
		sum, lo, hi = sum+n, min(lo, n), max(hi, n)
	}
	if mean := float64(sum) / 400; math.Abs(mean-900) > 1 || lo < 800 || hi > 1000 || lo > 802 || hi < 998 {
		t.Errorf("mean %v, from %d to %d", mean, lo, hi)
	}
	if slices.IsSorted(got) {
		t.Error("the lengths are not mixed")
	}
	if !slices.Equal(got, lengths(r, 1000, 1)) || slices.Equal(got, lengths(r, 1000, 2)) {
		t.Error("the order does not depend on the purpose alone")
	}
	r.ShortestShare = 1
	if got := lengths(r, 7, 1); slices.Min(got) != 7 || slices.Max(got) != 7 {
		t.Error("fixed lengths vary")
	}
}
