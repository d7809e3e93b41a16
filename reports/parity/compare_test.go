package parity

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"routesim/reports"
	"routesim/sim"
)

const goldenDir = "../../testdata/golden"

// replayed is a recording with our results for it.
type replayed struct {
	golden *Golden
	result *sim.Result
	values map[string]any
}

func replay(t *testing.T, name string) replayed {
	t.Helper()
	g, err := Load(filepath.Join(goldenDir, filepath.FromSlash(name)), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.runConfig(Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := sim.Run(context.Background(), g.trace, c)
	if err != nil {
		t.Fatal(err)
	}
	return replayed{g, res, reports.Summarize(g.trace, c, res).Values()}
}

func (r replayed) compare() Report { return r.golden.compare(r.result, r.values) }

// perturb changes a recorded value by as little as its kind allows.
func perturb(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case nil:
		return json.Number("1")
	case string:
		return v + "?"
	case json.Number:
		f, ok := number(v)
		if !ok {
			t.Fatalf("not a number: %v", v)
		}
		return json.Number(strconv.FormatFloat(math.Nextafter(f, math.Inf(1)), 'g', -1, 64))
	case []any:
		return append(slices.Clone(v), nil)
	}
	t.Fatalf("no way to change %T", v)
	return nil
}

// perturbed are recordings that together hold every field of both formats.
var perturbed = []string{
	"kv-overload-small.json.gz",
	"kv-queue-closed-lag.json.gz",
	"rr-4w-small.json.gz",
	"engine/13_preempt_lifo.json",
	"engine/24_too_long_rejected.json",
	"engine/26_zero_output.json",
	"engine/36_round_robin_3.json",
	"engine/38_closed_loop_2.json",
	"engine/39_sessions_timestamps.json",
	"engine/41_mooncake_delta.json",
	"engine/64_dynamo_format.json",
	"engine/real_conversation1000_w4.json",
}

// TestEveryRecordedFieldCounts changes each recorded field in some rows and
// expects exactly these rows to be reported, for exactly this field.
func TestEveryRecordedFieldCounts(t *testing.T) {
	for _, name := range perturbed {
		t.Run(name, func(t *testing.T) {
			r := replay(t, name)
			if got := r.compare(); got.Status != Equal {
				t.Fatalf("unchanged recording: %+v", got)
			}
			rows := len(r.golden.records)
			for field := range r.golden.records[0] {
				if field == "line" {
					continue // tells which request a record is about
				}
				chosen := []int{0, rows / 2, rows - 1}
				chosen = slices.Compact(chosen)
				for _, i := range chosen {
					record := maps.Clone(r.golden.records[i])
					record[field] = perturb(t, record[field])
					r.golden.records[i] = record
				}
				checkPerturbed(t, r.compare(), field, len(chosen))
				for _, i := range chosen {
					restore(t, r.golden, name, i)
				}
			}
		})
	}
}

func checkPerturbed(t *testing.T, got Report, field string, n int) {
	t.Helper()
	if got.Status != Different || got.MismatchedRows != n || len(got.Kinds) != 1 || got.Kinds[field] != n {
		t.Errorf("%s changed in %d rows: %s, %d mismatched rows, kinds %v", field, n, got.Status, got.MismatchedRows, got.Kinds)
	}
}

var originals = map[string][]record{}

// restore takes record i from the file again.
func restore(t *testing.T, g *Golden, name string, i int) {
	t.Helper()
	if originals[name] == nil {
		fresh, err := Load(filepath.Join(goldenDir, filepath.FromSlash(name)), nil)
		if err != nil {
			t.Fatal(err)
		}
		originals[name] = fresh.records
	}
	g.records[i] = originals[name][i]
}

// kvCase is a small recording whose workers are forced.
const kvCase = "random/random_1602.json.gz"

// TestAChangedFileIsReported changes one field of one request at a time in the
// file itself, what identifies the request included.
func TestAChangedFileIsReported(t *testing.T) {
	for _, name := range []string{
		kvCase, "engine/36_round_robin_3.json", "engine/39_sessions_timestamps.json",
		"engine/41_mooncake_delta.json", "engine/64_dynamo_format.json", "engine/67_max_sim_time.json",
	} {
		text, err := readFile(filepath.Join(goldenDir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		file := decodeDict(t, string(text))
		rows := file["expected"].(map[string]any)["requests"].([]any)
		i := len(rows) / 2
		original := rows[i].(map[string]any)
		for field := range original {
			if name == kvCase && field == "decode_worker_idx" {
				continue // forced
			}
			changed := maps.Clone(original)
			changed[field] = perturb(t, changed[field])
			if field == "line" {
				changed[field] = json.Number("99999")
			}
			rows[i] = changed
			text, err := json.Marshal(file)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Load(writeFile(t, string(text), t.TempDir(), "changed.json"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Check(context.Background()); got.MismatchedRows != 1 || len(got.Kinds) != 1 || got.Kinds[field] != 1 {
				t.Errorf("%s: %s: %d rows, kinds %v", name, field, got.MismatchedRows, got.Kinds)
			}
		}
		rows[i] = original
	}
}

// TestEveryAdmissionCounts changes each part of each recorded admission.
func TestEveryAdmissionCounts(t *testing.T) {
	r := replay(t, "engine/13_preempt_lifo.json")
	checked := 0
	for i, original := range r.golden.records {
		list := original["admissions"].([]any)
		for k := range list {
			for part := range list[k].([]any) {
				changed := slices.Clone(list)
				one := slices.Clone(list[k].([]any))
				one[part] = perturb(t, one[part])
				changed[k] = one
				record := maps.Clone(original)
				record["admissions"] = changed
				r.golden.records[i] = record
				checkPerturbed(t, r.compare(), "admissions", 1)
				checked++
			}
		}
		r.golden.records[i] = original
	}
	if checked < 12 {
		t.Errorf("changed %d values, expected at least 12", checked)
	}
}

// TestEverySummaryFigureCounts changes each figure by a little more than the
// tolerance, and by less.
func TestEverySummaryFigureCounts(t *testing.T) {
	for _, name := range []string{"engine/36_round_robin_3.json", "engine/66_sla_goodput.json", "engine/25_max_model_len.json"} {
		r := replay(t, name)
		summary := r.golden.summary
		for key, v := range summary {
			if slices.Contains(wallClock[:], key) {
				continue
			}
			changed := maps.Clone(summary)
			f, isNumber := number(v)
			changed[key] = perturb(t, v)
			if isNumber {
				changed[key] = json.Number(strconv.FormatFloat(f*(1+4e-12), 'g', -1, 64))
			}
			if isNumber && f == 0 {
				changed[key] = json.Number("1e-9")
			}
			r.golden.summary = changed
			got := r.compare()
			if got.Status != Different || got.MismatchedRows != 0 || len(got.Kinds) != 1 || got.Kinds["summary."+key] != 1 {
				t.Errorf("%s: summary.%s: %s, kinds %v", name, key, got.Status, got.Kinds)
			}
			if isNumber && f != 0 {
				changed[key] = json.Number(strconv.FormatFloat(f*(1+4e-13), 'g', -1, 64))
				if got := r.compare(); got.Status != Equal {
					t.Errorf("%s: summary.%s inside the tolerance: kinds %v", name, key, got.Kinds)
				}
			}
		}
	}
}

// TestRoundingNoiseIsNoSpread: the oracle adds in random order, so equal values
// may have a spread of a few units in the last place.
func TestRoundingNoiseIsNoSpread(t *testing.T) {
	for _, c := range []struct {
		recorded, ours float64
		want           string
	}{
		{2e-14, 3e-14, Equal}, {0, 3e-14, Equal}, {2e-14, 0, Equal},
		{2e-14, 3e-11, Different}, {3e-11, 2e-14, Different},
	} {
		r := replay(t, "engine/01_basic.json")
		r.golden.summary["mean_ttft_ms"], r.values["mean_ttft_ms"] = json.Number("20.5"), 20.5
		r.golden.summary["std_ttft_ms"] = json.Number(strconv.FormatFloat(c.recorded, 'g', -1, 64))
		r.values["std_ttft_ms"] = c.ours
		if got := r.compare(); got.Status != c.want {
			t.Errorf("recorded %g, ours %g: %s", c.recorded, c.ours, got.Status)
		}
	}
}

func TestWallClockIsNotCompared(t *testing.T) {
	r := replay(t, "kv-overload-small.json.gz")
	for _, key := range wallClock {
		if r.golden.summary[key] == nil {
			t.Errorf("the recording has no %s", key)
		}
		r.golden.summary[key] = json.Number("-1")
	}
	if got := r.compare(); got.Status != Equal {
		t.Errorf("kinds %v", got.Kinds)
	}
}

// TestNothingRecordedGoesUncompared adds what no comparison is known for.
func TestNothingRecordedGoesUncompared(t *testing.T) {
	r := replay(t, "engine/01_basic.json")
	r.golden.records[1] = maps.Clone(r.golden.records[1])
	r.golden.records[1]["mood"] = "good"
	r.golden.summary["mean_mood"] = json.Number("1")
	got := r.compare()
	want := map[string]int{"uncompared mood": 1, "uncompared summary.mean_mood": 1}
	if got.Status != Different || got.MismatchedRows != 1 || !maps.Equal(got.Kinds, want) {
		t.Errorf("%s, %d rows, kinds %v", got.Status, got.MismatchedRows, got.Kinds)
	}
}

// TestRequestsOnOneSideCount leaves a request out on either side.
func TestRequestsOnOneSideCount(t *testing.T) {
	r := replay(t, "engine/01_basic.json")
	all, rows := r.golden.records, r.golden.rows
	r.golden.records, r.golden.rows = all[:1], rows[:1]
	if got := r.compare(); got.Status != Different || got.MismatchedRows != 1 || got.Kinds[kindExtra] != 1 {
		t.Errorf("not recorded: %s, kinds %v", got.Status, got.Kinds)
	}
	r.golden.records, r.golden.rows = all, rows
	r.result.Requests[rows[1]].Status = sim.Unfinished
	if got := r.compare(); got.Status != Different || got.MismatchedRows != 1 || got.Kinds[kindMissing] != 1 {
		t.Errorf("not ended here: %s, kinds %v", got.Status, got.Kinds)
	}
}

// TestUnfinishedRequestsMustBeMissing moves the soft stop behind the end of a
// request that the recording lacks.
func TestUnfinishedRequestsMustBeMissing(t *testing.T) {
	g, err := Load(filepath.Join(goldenDir, "engine", "67_max_sim_time.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.trace.Len() != len(g.records)+1 {
		t.Fatalf("%d rows for %d records, expected one more", g.trace.Len(), len(g.records))
	}
	g.settings.config.MaxSimTimeMS = nil
	if got := g.Check(context.Background()); got.Kinds[kindExtra] != 1 {
		t.Errorf("kinds %v", got.Kinds)
	}
}

func TestRoutingOrderIsCompared(t *testing.T) {
	r := replay(t, "kv-queue-closed-lag.json.gz")
	r.result.Routed[10], r.result.Routed[11] = r.result.Routed[11], r.result.Routed[10]
	got := r.compare()
	if got.MismatchedRows != 2 || got.Kinds[kindOrder] != 2 || len(got.Kinds) != 1 {
		t.Errorf("%d rows, kinds %v", got.MismatchedRows, got.Kinds)
	}
}

func TestChosenWorkerMustHaveTheLeastCost(t *testing.T) {
	r := replay(t, "kv-overload-small.json.gz")
	q := &r.result.Requests[5]
	q.Decision.MinCost = math.Nextafter(q.Decision.Cost, 0)
	if got := r.compare(); got.MismatchedRows != 1 || got.Kinds[kindMinCost] != 1 {
		t.Errorf("kinds %v", got.Kinds)
	}
	r.golden.settings.config.Router.Temperature = 0.5
	if got := r.compare(); got.Status != Equal || got.Compared[kindMinCost] != 0 {
		t.Errorf("at a temperature any worker may be chosen: kinds %v", got.Kinds)
	}
}

// TestOnlyTheWorkerIsForced changes all that is recorded of every request but
// its line and worker, and expects the same run and every request reported.
func TestOnlyTheWorkerIsForced(t *testing.T) {
	for _, name := range []string{"kv-overload-small.json.gz", "engine/36_round_robin_3.json"} {
		r := replay(t, name)
		for i := range r.golden.records {
			record := record{}
			for field, v := range r.golden.records[i] {
				record[field] = v
				if field != "line" && !slices.Contains(workerKeys[:], field) {
					record[field] = perturb(t, v)
				}
			}
			r.golden.records[i] = record
		}
		c, err := r.golden.runConfig(Options{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := sim.Run(context.Background(), r.golden.trace, c)
		if err != nil {
			t.Fatal(err)
		}
		if res.TokenDigest != r.result.TokenDigest {
			t.Errorf("%s: the run depends on more than the recorded workers", name)
		}
		got := r.compare()
		if got.MismatchedRows != len(r.golden.records) {
			t.Errorf("%s: %d of %d requests reported", name, got.MismatchedRows, len(r.golden.records))
		}
		for field := range r.golden.records[0] {
			if field == "line" || slices.Contains(workerKeys[:], field) {
				continue
			}
			if got.Kinds[field] != len(r.golden.records) {
				t.Errorf("%s: %s reported %d times", name, field, got.Kinds[field])
			}
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		want, got any
		equal     bool
	}{
		{json.Number("1"), 1.0, true},
		{json.Number("1"), int64(1), true},
		{json.Number("1"), 1 + 5e-13, true},
		{json.Number("1"), 1 + 2e-12, false},
		{json.Number("1e300"), 1e300 * (1 + 5e-13), true},
		{json.Number("0.0"), math.NaN(), true},
		{json.Number("0"), nil, true},
		{json.Number("0"), 1e-300, false},
		{json.Number("1"), nil, false},
		{json.Number("1"), "1", false},
		{nil, nil, true},
		{nil, math.NaN(), true},
		{nil, 0.0, false},
		{"lru", "lru", true},
		{"lru", nil, false},
	} {
		if got := near(c.want, c.got); got != c.equal {
			t.Errorf("recorded %v, ours %v: %v", c.want, c.got, got)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		want, got any
		equal     bool
	}{
		{json.Number("0.1"), 0.1, true},
		{json.Number("0.1"), math.Nextafter(0.1, 1), false},
		{json.Number("3"), int64(3), true},
		{json.Number("3.0"), int64(3), true},
		{json.Number("3.5"), int64(3), false},
		{nil, nil, true},
		{nil, 0.0, false},
		{json.Number("0"), nil, false},
		{"a", "a", true},
		{"a", "b", false},
		{"3", int64(3), false},
		{[]any{}, []any{}, true},
		{nil, []any{}, false},
		{[]any{}, nil, false},
		{[]any{[]any{"agg", json.Number("1")}}, []any{[]any{"agg", 1.0}}, true},
		{[]any{[]any{"agg", json.Number("1")}}, []any{[]any{"agg"}}, false},
	} {
		if got := same(c.want, c.got); got != c.equal {
			t.Errorf("recorded %v, ours %v: %v", c.want, c.got, got)
		}
	}
}

func TestDifferencesComeWithNeighbours(t *testing.T) {
	r := replay(t, "engine/36_round_robin_3.json")
	r.golden.records[5] = maps.Clone(r.golden.records[5])
	r.golden.records[5]["output_length"] = json.Number("99")
	got := r.compare()
	if len(got.Differences) != 1 {
		t.Fatalf("%d differences", len(got.Differences))
	}
	d := got.Differences[0]
	if d.Field != "output_length" || d.Expected != "99" || len(d.Context) != 3 {
		t.Errorf("%+v", d)
	}
	if d.Got != fmt.Sprint(r.result.Requests[r.golden.rows[5]].OutputTokens) {
		t.Errorf("got %s", d.Got)
	}
}
