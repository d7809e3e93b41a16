package profile

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/models"
	"routesim/models/profiles"
)

func shipped(t testing.TB) []*Profile {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func lookup(t testing.TB, name string) *Profile {
	t.Helper()
	p, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestShippedProfiles(t *testing.T) {
	all := shipped(t)
	if len(all) != 785 {
		t.Errorf("found %d profiles, want 785", len(all))
	}
	ids, err := IDs()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, p := range all {
		if seen[p.ID] {
			t.Errorf("%s is there twice", p.ID)
		}
		seen[p.ID] = true
		if ids[i] != p.ID {
			t.Errorf("place %d: id %s without reading, %s with", i, ids[i], p.ID)
		}
		if _, err := p.StepModel(1); err != nil {
			t.Error(err)
		}
		if p.Provenance.Kind == "" || p.Provenance.Package == "" || p.ContextSource == "" {
			t.Errorf("%s does not say where its numbers come from", p.ID)
		}
		if (p.FitError == nil) != (p.Provenance.Kind == "derived") {
			t.Errorf("%s: fit error %v of a %s profile", p.ID, p.FitError, p.Provenance.Kind)
		}
	}
	for _, gpu := range profiles.GPUs() {
		if !slices.ContainsFunc(all, func(p *Profile) bool { return p.GPU == gpu }) {
			t.Errorf("no profile of %s", gpu)
		}
	}
}

// What the models' configurations say must agree with what the profiles use.
func TestFactsAgreeWithProfiles(t *testing.T) {
	facts, err := ModelFacts()
	if err != nil {
		t.Fatal(err)
	}
	gpus, err := GPUFacts()
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range facts {
		// Norms and biases are not among the matrices.
		if sum := m.matrices(true) + 2*m.embedding(); math.Abs(float64(sum)/float64(m.Parameters)-1) > 1e-4 {
			t.Errorf("%s: the shape makes %d parameters, its card says %d", name, sum, m.Parameters)
		}
		if m.Source == "" || m.ContextTokens == 0 {
			t.Errorf("%s: context length %d from %q", name, m.ContextTokens, m.Source)
		}
	}
	for _, p := range shipped(t) {
		m, gpu := facts[p.Model], gpus[p.GPU]
		width := int64(2)
		if p.KVDType == "fp8" {
			width = 1
		}
		total, perGPU := 2*m.Layers*m.KVHeads*m.HeadDim*width, int64(0)
		perGPU = total / int64(p.TP)
		if a := m.MLA; a != nil { // a copy on every GPU
			total = m.Layers * (a.KVRank + a.RopeDim) * width
			perGPU = total
		}
		if p.KVBytesPerToken != total || p.KVBytesPerTokenPerGPU != perGPU {
			t.Errorf("%s: %d and %d KV bytes per token, the shape makes %d and %d", p.ID, p.KVBytesPerToken, p.KVBytesPerTokenPerGPU, total, perGPU)
		}
		weights := m.weightBytes(p.WeightDType) / gib / float64(p.TP)
		if off := math.Abs(p.Basis.WeightsGiBPerGPU/weights - 1); off > 0.005 {
			t.Errorf("%s: %v GiB of weights per GPU, the shape makes %v", p.ID, p.Basis.WeightsGiBPerGPU, weights)
		}
		if p.Basis.GPUMemoryGiB != gpu.MemoryGiB || gpu.Source == "" {
			t.Errorf("%s: %v GiB of memory, the GPU's facts say %v (%q)", p.ID, p.Basis.GPUMemoryGiB, gpu.MemoryGiB, gpu.Source)
		}
	}
}

// A profile that beats its hardware is flagged with the share of the grid and
// graded C, and no other one is.
func TestHardwareFloor(t *testing.T) {
	flagged := 0
	for _, p := range shipped(t) {
		share, worst, err := p.BelowFloor()
		if err != nil {
			t.Error(err)
			continue
		}
		flag := ""
		for _, f := range p.Flags {
			if strings.HasPrefix(f, "beats_hardware_floor:") {
				flag = f
			}
		}
		switch {
		case share > 0 && (flag != FloorFlag(share) || p.Grade != "C"):
			t.Errorf("%s: faster than the hardware on %.2f %% of the grid (by %.2f times at worst), flag %q, grade %s", p.ID, 100*share, worst, flag, p.Grade)
		case share == 0 && flag != "":
			t.Errorf("%s: never faster than the hardware, but flagged %s", p.ID, flag)
		}
		if share > 0 {
			flagged++
		}
	}
	t.Logf("%d profiles beat the floor somewhere", flagged)
}

// Floors that can be worked out on paper.
func TestFloorByHand(t *testing.T) {
	f, err := lookup(t, "h100/llama-3.1-8b/tp1").Floor()
	if err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return math.Abs(got/want-1) < 0.01 }
	// One sequence: 15.0 GB of weights but the embedding, 131,072 B per token.
	decode := &models.Batch{DecodeSeqs: 1, DecodeContext: 1000, ScheduledTokens: 1}
	if got, want := f.MS(decode), (2*(8.030e9-0.525e9)+131072*1000)/3.35e12*1000; !near(got, want) {
		t.Errorf("decode: %v ms, want %v", got, want)
	}
	// 8,192 tokens: 2 operations per weight, 4*32*4096 per pair.
	prefill := &models.Batch{PrefillSeqs: 1, PrefillContext: 8192, PrefillPairs: 8192 * 8193 / 2, ScheduledTokens: 8192}
	if got, want := f.MS(prefill), (2*6.98e9*8192+4*32*4096*8192*8193/2)/989.4e12*1000; !near(got, want) {
		t.Errorf("prefill: %v ms, want %v", got, want)
	}
	// Two of eight experts are read and used.
	mixtral, err := lookup(t, "h100/mixtral-8x7b/tp2").Floor()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mixtral.MS(decode), (2*12.75e9/2+131072*1000/2)/3.35e12*1000; !near(got, want) {
		t.Errorf("mixture of experts: %v ms, want %v", got, want)
	}
}

func TestCheckEngine(t *testing.T) {
	p := lookup(t, "h100/llama-3.1-70b/tp4")
	if err := p.CheckEngine("vllm"); err != nil {
		t.Error(err)
	}
	err := p.CheckEngine("sglang")
	if err == nil || !strings.Contains(err.Error(), "found a profile of vllm, expected one of sglang") {
		t.Errorf("got error %v", err)
	}
}

func TestSummaryTellsGradeAndErrors(t *testing.T) {
	for name, want := range map[string]string{
		"h100/llama-3.1-70b/tp4": "h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16 (grade A; median fit error: decode 1.4 %, prefill 0.7 %, mixed 0.6 %; " +
			"against servers (28 runs of llama-3.1-70b fp8 tp2/4/8, none in bf16, prompts up to 8,192 tokens, at most 64 in flight): TPOT 1.9 %, TTFT 6.9 %)",
		"a100/llama-3.1-70b/tp4":       "not compared with servers)",
		"h20/qwen3-8b/tp1":             "grade C; no fit error known",
		"a100/trtllm/qwen3-8b/tp1":     "beats_hardware_floor:2.0%",
		"h100/sglang/mixtral-8x7b/tp8": "kv_capacity_unverified",
	} {
		if got := lookup(t, name).Summary(); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s in it", name, got, want)
		}
	}
}

// anyBatch draws a step from inside the range of the profiles to far beyond.
func anyBatch(t *rapid.T) *models.Batch {
	b := &models.Batch{}
	for range rapid.IntRange(0, 3).Draw(t, "chunks") {
		prefix := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 200_000)).Draw(t, "prefix")
		fresh := rapid.Int64Range(1, 40_000).Draw(t, "new")
		b.PrefillSeqs++
		b.PrefillContext += prefix + fresh
		b.PrefillPrefix += prefix
		b.PrefillPairs += fresh*prefix + fresh*(fresh+1)/2
		b.ScheduledTokens += fresh
	}
	if seqs := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 3000)).Draw(t, "sequences"); seqs > 0 {
		b.DecodeSeqs = seqs
		b.DecodeContext = seqs * rapid.Int64Range(1, 20_000).Draw(t, "context")
		b.ScheduledTokens += seqs
	}
	return b
}

// Work can be added to a step in these ways.
var additions = map[string]func(*models.Batch, int64){
	"a chunk": func(b *models.Batch, n int64) {
		b.PrefillSeqs++
		b.PrefillContext += n
		b.PrefillPairs += n * (n + 1) / 2
		b.ScheduledTokens += n
	},
	"new tokens": func(b *models.Batch, n int64) {
		if b.PrefillSeqs > 0 {
			b.PrefillPairs += n*b.PrefillContext + n*(n+1)/2
			b.PrefillContext += n
			b.ScheduledTokens += n
		}
	},
	"prefix": func(b *models.Batch, n int64) {
		if b.PrefillSeqs > 0 {
			b.PrefillPairs += n * (b.PrefillContext - b.PrefillPrefix)
			b.PrefillContext += n
			b.PrefillPrefix += n
		}
	},
	"a sequence": func(b *models.Batch, n int64) {
		b.DecodeSeqs++
		b.DecodeContext += n
		b.ScheduledTokens++
	},
	"context": func(b *models.Batch, n int64) {
		if b.DecodeSeqs > 0 {
			b.DecodeContext += n
		}
	},
}

func TestMoreWorkNeverTakesLessTime(t *testing.T) {
	all := shipped(t)
	names := slices.Sorted(maps.Keys(additions))
	rapid.Check(t, func(t *rapid.T) {
		p := all[rapid.IntRange(0, len(all)-1).Draw(t, "profile")]
		h, err := p.StepModel(rapid.SampledFrom([]float64{0, 1, 3.7}).Draw(t, "speedup"))
		if err != nil {
			t.Fatal(err)
		}
		b := anyBatch(t)
		before, zero := h.Step(b)
		if zero != 0 || math.IsInf(before, 0) || math.IsNaN(before) || before < 0 || (b.ScheduledTokens > 0) != (before > 0) {
			t.Fatalf("%s: %+v takes %v + %v ms", p.ID, *b, before, zero)
		}
		name := rapid.SampledFrom(names).Draw(t, "addition")
		more := *b
		additions[name](&more, rapid.Int64Range(1, 5000).Draw(t, "amount"))
		if after, _ := h.Step(&more); after < before {
			t.Fatalf("%s: with %s more, %v ms become %v", p.ID, name, before, after)
		}
	})
}

func TestRunsEqualSteps(t *testing.T) {
	all := shipped(t)
	rapid.Check(t, func(t *rapid.T) {
		p := all[rapid.IntRange(0, len(all)-1).Draw(t, "profile")]
		h, err := p.StepModel(rapid.SampledFrom([]float64{0, 1, 2.5, 0.01}).Draw(t, "speedup"))
		if err != nil {
			t.Fatal(err)
		}
		seqs := rapid.Int64Range(0, 2000).Draw(t, "sequences")
		context := seqs * rapid.Int64Range(1, 3000).Draw(t, "context")
		ends := make([]float64, rapid.IntRange(0, 100).Draw(t, "steps"))
		end := rapid.Float64Range(0, 1e7).Draw(t, "start")
		h.DecodeRun(end, seqs, context, ends)
		for i, got := range ends {
			prefill, decode := h.Step(&models.Batch{DecodeSeqs: seqs, DecodeContext: context + int64(i)*seqs, ScheduledTokens: seqs})
			if end = (end + prefill) + decode; got != end {
				t.Fatalf("%s: step %d ends at %v in the run, at %v by steps", p.ID, i, got, end)
			}
		}
	})
}

// plainStep is the formula as it is written down, without preparation.
func plainStep(p *Profile, b *models.Batch) float64 {
	c, o := &p.Coefficients, &p.Calibration
	P := float64(b.PrefillContext - b.PrefillPrefix)
	D, C := float64(b.DecodeSeqs), float64(b.PrefillSeqs)
	T, S := P+D, C+D
	knots := models.HybridKnots()
	last := len(knots) - 1
	N := c.TokensMS[last] + c.TailMS*(T-float64(knots[last]))
	for i := range last {
		if x, y := float64(knots[i]), float64(knots[i+1]); x <= T && T < y {
			N = c.TokensMS[i] + (c.TokensMS[i+1]-c.TokensMS[i])*(T-x)/(y-x)
		}
	}
	gpu := N + c.LogitsMS[0] + c.LogitsMS[1]*S
	ms := o.StepMS + o.PerSeqMS*S
	if P > 0 {
		gpu += math.Max(c.PrefillMS[0]+c.PrefillMS[1]*P+c.PrefillMS[2]*float64(b.PrefillPairs)+c.PrefillMS[3]*C, c.ReadFloorMS*float64(b.PrefillContext))
		ms += o.PrefillStepMS
	}
	if D > 0 {
		K, knee := float64(b.DecodeContext), float64(c.DecodeKneeTK)
		gpu += c.DecodeMS[0] + c.DecodeMS[1]*D + c.DecodeMS[2]*math.Min(K, knee) + c.DecodeMS[3]*math.Max(K-knee, 0)
	}
	return o.GPUTimeScale*gpu + ms
}

func TestStepAgainstPlainFormula(t *testing.T) {
	all := shipped(t)
	rapid.Check(t, func(t *rapid.T) {
		p := all[rapid.IntRange(0, len(all)-1).Draw(t, "profile")]
		h, err := p.StepModel(1)
		if err != nil {
			t.Fatal(err)
		}
		b := anyBatch(t)
		if b.ScheduledTokens == 0 {
			return
		}
		got, _ := h.Step(b)
		if want := plainStep(p, b); math.Abs(got-want) > 1e-9*want+0.6e-6 {
			t.Fatalf("%s: %+v takes %v ms, want %v", p.ID, *b, got, want)
		}
	})
}

func TestInRange(t *testing.T) {
	h, err := lookup(t, "h100/llama-3.1-8b/tp1").StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		b    models.Batch
		want bool
	}{
		{models.Batch{DecodeSeqs: 4, DecodeContext: 4 << 20}, true},
		{models.Batch{DecodeSeqs: 4, DecodeContext: 4<<20 + 1}, false},
		{models.Batch{PrefillSeqs: 1, PrefillContext: 100_000, PrefillPrefix: 100_000 - 32768}, true},
		{models.Batch{PrefillSeqs: 1, PrefillContext: 100_000, PrefillPrefix: 100_000 - 32768, DecodeSeqs: 1, DecodeContext: 1}, false},
	} {
		if got := models.Ranger(h).InRange(&c.b); got != c.want {
			t.Errorf("%+v: in range %v, want %v", c.b, got, c.want)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	h, err := lookup(b, "h100/llama-3.1-70b/tp4").StepModel(1)
	if err != nil {
		b.Fatal(err)
	}
	var m models.StepModel = h
	batches := FloorGrid()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m.Step(&batches[i])
		if i++; i == len(batches) {
			i = 0
		}
	}
}

func BenchmarkDecodeRun(b *testing.B) {
	h, err := lookup(b, "h100/llama-3.1-70b/tp4").StepModel(1)
	if err != nil {
		b.Fatal(err)
	}
	ends := make([]float64, 64)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		h.DecodeRun(1000.5, 16, 20_000, ends)
		n += len(ends)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/pass")
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		if _, err := Lookup("h100/llama-3.1-70b/tp4"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	h, err := lookup(t, "h100/llama-3.1-70b/tp4").StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	batches := FloorGrid()
	ends := make([]float64, 8)
	if n := testing.AllocsPerRun(10, func() {
		for i := range batches {
			h.Step(&batches[i])
		}
		h.DecodeRun(0, 4, 400, ends)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
