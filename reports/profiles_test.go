package reports

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"routesim/models/profile"
	"routesim/sim"
	"routesim/sim/metrics"
)

// twoGroups is a run of groups of two and one workers, the second of which has
// a front end of 5 ms.
func twoGroups(t testing.TB) (*sim.Config, *Summary) {
	trace, c, r := healthy(t)
	second := c.Fleet[0]
	second.Count, second.RequestMS, second.Engine.MaxModelLen = 1, 5, 9000
	c.Fleet[0].Count = 2
	c.Fleet = append(c.Fleet, second)
	r.Workers = append(r.Workers, sim.Worker{})
	r.GroupGaps = make([]metrics.Gaps, 2)
	for i := range r.Requests {
		q := &r.Requests[i]
		q.Worker = int32(i % 3)
		w := &r.Workers[q.Worker]
		w.Requests++
		w.InputTokens += int64(q.InputTokens)
		w.OutputTokens += int64(q.OutputTokens)
		w.BusyMS += 20
		w.Passes, w.OutOfRange = w.Passes+4, w.OutOfRange+int64(q.Worker)
		r.GroupGaps[q.Worker/2].AddGap(float64(10 * (1 + q.Worker/2)))
	}
	return c, Summarize(trace, c, r)
}

func TestGroupFiguresAddUp(t *testing.T) {
	c, s := twoGroups(t)
	groups := s.Routesim.Groups
	if len(groups) != 2 || groups[1].FirstWorker != 2 || groups[0].Workers != 2 {
		t.Fatalf("got %+v", groups)
	}
	if n := groups[0].Completed + groups[1].Completed; n != s.Completed || groups[0].Requests+groups[1].Requests != 40 {
		t.Errorf("%d completed in the groups, want %d", n, s.Completed)
	}
	if groups[0].InputTokens+groups[1].InputTokens != s.InputTokens || groups[0].OutputTokens+groups[1].OutputTokens != s.OutputTokens {
		t.Errorf("the tokens of the groups are not those of the run: %+v", groups)
	}
	if a, b := groups[0].TTFT.Mean, groups[1].TTFT.Mean; float64(b-a) != 5 {
		t.Errorf("TTFT %v and %v ms, want 5 ms of the front end between them", a, b)
	}
	if groups[0].ITL.Mean != 10 || groups[1].ITL.Mean != 20 || groups[1].ITL.N != 13 {
		t.Errorf("ITL: got %+v and %+v", groups[0].ITL, groups[1].ITL)
	}
	end := 40*100 - 100 + 90.0
	if got, want := float64(groups[1].BusyShare), 13*20/end; math.Abs(got-want) > 1e-12 {
		t.Errorf("busy share %v, want %v", got, want)
	}
	if got, want := float64(groups[1].OutOfRange), 26.0/52; got != want {
		t.Errorf("share out of range %v, want %v", got, want)
	}
	if groups[0].MaxModelLen != nil || *groups[1].MaxModelLen != 9000 || groups[1].RequestMS != 5 || groups[0].KVBlocks != c.Fleet[0].Engine.NumGPUBlocks {
		t.Errorf("settings: got %+v", groups)
	}
}

func TestProfilesAreShown(t *testing.T) {
	_, s := twoGroups(t)
	good := ProfileFacts{Group: 0, Count: 2, ID: "a/vllm/m/tp1/bf16/kv-bf16", Grade: "A", Flags: []string{},
		FitError:    &profile.FitError{Decode: [2]float64{1.5, 4}, PrefillNoPrefix: [2]float64{2, 3}, Mixed: [2]float64{0.5, 1}},
		Calibration: "c",
		HeldOut:     &profile.RunError{Runs: 7, TTFT: [3]float64{13, 20, 1}, TPOT: [3]float64{4, 8, 0}}}
	poor := ProfileFacts{Group: 1, Count: 1, ID: "b/vllm/m/tp1/bf16/kv-bf16", Grade: "C", Flags: []string{"poor_fit"},
		ContextCut: true, MaxModelLen: 9000, Context: 131072, KVBasis: KVBasis{Utilization: Number(math.NaN())}}
	before := codes(s)
	s.SetProfiles([]ProfileFacts{good, poor})
	if got := codes(s)[len(before):]; !slices.Equal(got, []string{ProfileGradeC, ContextCut}) {
		t.Errorf("warnings: got %v", got)
	}
	want := []string{
		"grade A; median error against servers: TTFT 13 %, TPOT 4 % (7 runs of c); fit: decode 1.5 %, prefill 2 %, mixed 0.5 %",
		"grade C; never compared with servers; fit error not known",
	}
	if !slices.Equal(s.Routesim.Model, want) {
		t.Errorf("got %q", s.Routesim.Model)
	}
	good.Runs, good.Unlike = "another model, m fp8", []string{"model"}
	if got, want := good.quality(), "TPOT 4 % (7 runs of another model, m fp8);"; !strings.Contains(got, want) || good.OtherRuns() != "another model" {
		t.Errorf("%q lacks %q; other runs %q", got, want, good.OtherRuns())
	}
	text := s.Routesim.Warnings[len(before)].Text + s.Routesim.Warnings[len(before)+1].Text
	for _, part := range []string{"b/vllm/m/tp1/bf16/kv-bf16 has grade C", "poor_fit", "max_model_len is 9,000 tokens", "131,072"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Routesim struct {
			Profile []map[string]any
			Groups  []map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if p := doc.Routesim.Profile; len(p) != 2 || p[0]["grade"] != "A" || p[1]["fit_error_pct"] != nil || len(doc.Routesim.Groups) != 2 {
		t.Errorf("got %v", p)
	}
}

// Groups with limits of their own are all named.
func TestRejectedNamesEveryLimit(t *testing.T) {
	trace, c, r := healthy(t)
	second := c.Fleet[0]
	second.Count, second.Engine.MaxModelLen = 1, 900
	c.Fleet[0].Count = 1
	c.Fleet = append(c.Fleet, second, second)
	c.Fleet[2].Count = 0
	r.Requests[3].Status = sim.Rejected
	text := Summarize(trace, c, r).Routesim.Warnings[0].Text
	if !strings.Contains(text, "a worker's KV pool holds 1,048,576 tokens or max_model_len is 900)") {
		t.Errorf("got %s", text)
	}
}

// Equal groups are warned of once.
func TestProfileWarningsOnce(t *testing.T) {
	f := ProfileFacts{ID: "a/vllm/m/tp1/bf16/kv-bf16", Grade: "C"}
	if got := ProfileWarnings([]ProfileFacts{f, f, {ID: "x", Grade: "B"}}); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}
