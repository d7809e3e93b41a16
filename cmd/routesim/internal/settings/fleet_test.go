package settings

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"routesim/models/profile"
	"routesim/sim/engine"
)

// drawFleet writes a fleet of one to three groups.
func drawFleet(t *rapid.T) string {
	var groups []string
	for range rapid.IntRange(1, 3).Draw(t, "groups") {
		g := strconv.Itoa(rapid.IntRange(1, 300).Draw(t, "count"))
		g += rapid.SampledFrom([]string{"", "xh100/llama-3.1-70b/tp4", "xmine.yaml", "xa100/llama-3.1-8b/tp1"}).Draw(t, "profile")
		for _, f := range [...][2]string{{"max_num_seqs", "64"}, {"num-gpu-blocks", "900"}, {"enable_prefix_caching", "off"}, {"gpu_memory_utilization", "0.85"}, {"max_model_len", "none"}, {"preemption_mode", "fifo"}} {
			if rapid.Bool().Draw(t, f[0]) {
				g += "@" + f[0] + "=" + f[1]
			}
		}
		groups = append(groups, g)
	}
	return strings.Join(groups, ",")
}

// A fleet that is written and read again is the same, whatever its spelling.
func TestFleetRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawFleet(t)
		first, err := parseFleet(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := parseFleet(fleetValue(first).Text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(first, again); d != "" {
			t.Fatalf("%s: %s", text, d)
		}
		if strings.Count(text, ",")+1 != len(first) || strings.Count(text, "@") != strings.Count(fleetValue(first).Text, "@") {
			t.Fatalf("%s was read as %v", text, first)
		}
	})
}

func FuzzFleet(f *testing.F) {
	for _, s := range []string{"8", "6xh100/llama-3.1-70b/tp4,2xa100/llama-3.1-70b/tp4@max_num_seqs=64", "1x", "x", "2@", "2@a=b", "1,,1", "65535,1", " 3 x a @ max_num_seqs = 4 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		groups, err := parseFleet(text)
		if err != nil {
			oneLine(t, err)
			return
		}
		total := 0
		for _, g := range groups {
			total += g.Count
		}
		if total < 1 || total > maxWorkers {
			t.Errorf("%q gives %d workers", text, total)
		}
		if again, err := parseFleet(fleetValue(groups).Text); err != nil || cmp.Diff(groups, again) != "" {
			t.Errorf("%q is written as %q, which reads differently (%v)", text, fleetValue(groups).Text, err)
		}
	})
}

func mustFleet(t *testing.T, in Input, args ...string) []Modelled {
	t.Helper()
	fleet, err := mustResolve(t, in, args...).Run.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

func lookup(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p, err := profile.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDefaultFleet(t *testing.T) {
	fleet := mustFleet(t, Input{})
	p := lookup(t, DefaultProfile)
	if len(fleet) != 1 || fleet[0].Count != 8 || fleet[0].Profile == nil || fleet[0].Profile.ID != p.ID {
		t.Fatalf("got %+v", fleet)
	}
	g, d := &fleet[0], p.Defaults()
	want := engine.DefaultParams()
	want.NumGPUBlocks = int32(p.KVCapacityTokens / 64)
	want.MaxNumSeqs, want.MaxNumBatchedTokens = int32(d.MaxNumSeqs), int32(d.MaxNumBatchedTokens)
	want.MaxModelLen = int32(p.ContextTokens)
	if d := cmp.Diff(want, g.Engine); d != "" {
		t.Error(d)
	}
	if g.GPUs != int32(p.TP) || g.RequestMS != p.RequestMS() || g.RequestMS <= 0 || g.LimitFrom != p.ContextSource || g.ContextCut {
		t.Errorf("got %+v", g)
	}
}

// Timing models keep the defaults of Dynamo's replay.
func TestTimingFleet(t *testing.T) {
	fleet := mustFleet(t, Input{}, "--timing=dynamo-polynomial", "--workers=3")
	if d := cmp.Diff(engine.DefaultParams(), fleet[0].Engine); d != "" || fleet[0].GPUs != 1 || fleet[0].RequestMS != 0 || fleet[0].Profile != nil {
		t.Errorf("%s%+v", d, fleet[0])
	}
}

// TestPoolFollowsSettings: what changes the memory changes the blocks, and a
// given number of blocks wins.
func TestPoolFollowsSettings(t *testing.T) {
	p := lookup(t, DefaultProfile)
	for _, c := range []struct {
		args []string
		want profile.Settings
	}{
		{[]string{"--gpu-memory-utilization=0.8"}, profile.Settings{Utilization: 0.8}},
		{[]string{"--max-num-seqs=17"}, profile.Settings{MaxNumSeqs: 17}},
		{[]string{"--max-num-batched-tokens=65536"}, profile.Settings{MaxNumBatchedTokens: 65536}},
		{[]string{"--max-model-len=5000", "--block-size=16"}, profile.Settings{MaxModelLen: 5000}},
		{[]string{"--workers=8@gpu_memory_utilization=0.85@max_num_batched_tokens=32768"}, profile.Settings{Utilization: 0.85, MaxNumBatchedTokens: 32768}},
		{[]string{"--max-num-seqs=none"}, profile.Settings{}},
	} {
		capacity, err := p.KVCapacity(c.want)
		if err != nil {
			t.Fatal(err)
		}
		g := mustFleet(t, Input{}, c.args...)[0]
		if want := capacity.Tokens / int64(g.Engine.BlockSize); int64(g.Engine.NumGPUBlocks) != want || g.Capacity.Recomputed != capacity.Recomputed {
			t.Errorf("%v: got %d blocks, want %d", c.args, g.Engine.NumGPUBlocks, want)
		}
	}
	g := mustFleet(t, Input{}, "--num-gpu-blocks=100", "--gpu-memory-utilization=0.5")[0]
	if g.Engine.NumGPUBlocks != 100 || g.Engine.MaxModelLen != 6400 || !g.ContextCut || g.LimitFrom != "KV pool" {
		t.Errorf("a given pool: got %+v", g)
	}
	// A pool smaller than the context cuts the limit to whole blocks.
	g = mustFleet(t, Input{}, "--profile=h20/llama-3.1-70b/tp1")[0]
	if !g.ContextCut || int64(g.Engine.MaxModelLen) != int64(g.Engine.NumGPUBlocks)*64 || g.LimitFrom != "KV pool" {
		t.Errorf("a small pool: got %+v", g)
	}
	g = mustFleet(t, Input{}, "--max-model-len=none")[0]
	if g.Engine.MaxModelLen != 0 {
		t.Errorf("no limit: got %d", g.Engine.MaxModelLen)
	}
}

func TestMixedFleet(t *testing.T) {
	fleet := mustFleet(t, Input{}, "--workers=6xh100/llama-3.1-70b/tp4,2xa100/llama-3.1-70b/tp4@max_num_seqs=64", "--max-num-seqs=100", "--enable-prefix-caching=false")
	if len(fleet) != 2 || fleet[0].Count != 6 || fleet[1].Count != 2 {
		t.Fatalf("got %+v", fleet)
	}
	for i, want := range []struct {
		gpu  string
		seqs int32
	}{{"h100_sxm", 100}, {"a100_sxm", 64}} {
		if g := &fleet[i]; g.Profile.GPU != want.gpu || g.Engine.MaxNumSeqs != want.seqs || g.Engine.EnablePrefixCaching {
			t.Errorf("group %d: got %s %+v", i, g.Profile.GPU, g.Engine)
		}
	}
	fleet = mustFleet(t, Input{}, "--workers=1,2xa100/llama-3.1-70b/tp4", "--timing=fixed:1,2")
	if fleet[0].Profile != nil || fleet[0].Engine.NumGPUBlocks != 16384 || fleet[1].Profile == nil {
		t.Errorf("a timing beside a profile: got %+v", fleet)
	}
}

// fleetError resolves settings that fail, at whichever step.
func fleetError(t *testing.T, in Input, args ...string) string {
	t.Helper()
	r, err := resolveWith(t, in, args...)
	if err == nil {
		_, err = r.Run.Fleet()
	}
	if err == nil {
		t.Fatalf("%v: no error", args)
	}
	oneLine(t, err)
	return err.Error()
}

func TestFleetErrors(t *testing.T) {
	id := lookup(t, DefaultProfile).ID
	for _, c := range []struct {
		args []string
		part string
	}{
		{[]string{"--workers=0"}, "--workers: found 0, expected a number of workers from 1 to 65535, or groups"},
		{[]string{"--workers=2x"}, "the group 2x names no profile after the x"},
		{[]string{"--workers=4,x"}, `the group x does not begin with a number of workers`},
		{[]string{"--workers=65535,1"}, "found more than 65535 workers"},
		{[]string{"--workers=2@max_num_seqs"}, "has max_num_seqs after an @, not FIELD=VALUE"},
		{[]string{"--workers=2@block_size=16"}, "sets block_size, which is not one of num_gpu_blocks, gpu_memory_utilization, max_model_len"},
		{[]string{"--prefill-workers=2@kv_transfer_domain=zone"}, "sets kv_transfer_domain, which is not one of num_gpu_blocks"},
		{[]string{"--prefill-workers=2@kv_transfer_enforcement=preferred"}, "sets kv_transfer_enforcement, which is not one of num_gpu_blocks"},
		{[]string{"--prefill-workers=2@kv_transfer_preferred_weight=1"}, "sets kv_transfer_preferred_weight, which is not one of num_gpu_blocks"},
		{[]string{"--workers=2@max_num_seqs=0"}, "sets max_num_seqs to 0, not to a whole number"},
		{[]string{"--workers=2@max_num_seqs=4@max-num-seqs=5"}, "sets max_num_seqs twice"},
		{[]string{"--profile=h100/llama-3.1-70b/tp4", "--timing=fixed:1,2"}, `timing: found "fixed:1,2" together with profile h100/llama-3.1-70b/tp4, expected one or the other`},
		{[]string{"--workers=2xh100/llama-3.1-70b/tp4", "--timing=fixed:1,2"}, "every group names its profile, expected one or the other"},
		{[]string{"--workers=2xh100/llama-3.1-70b/tp4", "--profile=a100/llama-3.1-70b/tp4"}, "every group names its profile, expected one or the other"},
		{[]string{"--profile=none"}, "profile: found none and no timing, expected one of them"},
		{[]string{"--profile=h100/llama-3.1-7b/tp4"}, "did you mean llama-3.1-"},
		{[]string{"--profile=gone.yaml"}, "gone.yaml"},
		{[]string{"--profile=h100/sglang/llama-3.1-70b/tp4"}, "found a profile of sglang, expected one of vllm"},
		{[]string{"--decode-speedup-ratio=2"}, "decode-speedup-ratio: found 2 with profile " + id + ", expected 1"},
		{[]string{"--tensor-parallel-size=2"}, "tensor-parallel-size: found 2 with profile " + id + ", expected 4"},
		{[]string{"--gpu-memory-utilization=0.3"}, "would fit"},
		{[]string{"--gpu-memory-utilization=0"}, "expected a number above 0 and up to 1"},
		{[]string{"--max-model-len=200000"}, "the context length of llama-3.1-70b"},
		{[]string{"--max-model-len=200000", "--num-gpu-blocks=9000"}, "the context length of llama-3.1-70b"},
		{[]string{"--workers=1,1xh100/llama-3.1-70b/tp4@gpu_memory_utilization=0.3"}, "workers: group 2 (1xh100/llama-3.1-70b/tp4@gpu_memory_utilization=0.3): profile "},
		{[]string{"--timing=table:gone.npz"}, "gone.npz"},
	} {
		if got := fleetError(t, Input{}, c.args...); !strings.Contains(got, c.part) {
			t.Errorf("%v:\ngot  %s\nwant %s", c.args, got, c.part)
		}
	}
}

// The stronger source says what models the workers.
func TestStrongerModelWins(t *testing.T) {
	file := writeFile(t, "c.yaml", "profile: a100/llama-3.1-70b/tp4\n")
	r := mustResolve(t, Input{ConfigFile: file}, "--timing=fixed:1,2")
	wantValue(t, r, "profile", None, "flag --timing")
	wantValue(t, r, "timing", "fixed:1,2", "flag --timing")
	wantWarning(t, r, "profile of the file")
	r = mustResolve(t, Input{EngineArgs: `{"engine":{"timing_model":{"type":"polynomial"}}}`}, "--profile=a100/llama-3.1-70b/tp4")
	wantValue(t, r, "timing", None, "flag --profile")
	wantWarning(t, r, "timing of the engine dictionary")
	r = mustResolve(t, Input{ConfigFile: file}, "--workers=2xh100/llama-3.1-70b/tp4")
	wantValue(t, r, "profile", None, "flag --workers")
	wantWarning(t, r, "profile of the file")
	r = mustResolve(t, Input{}, "--timing=fixed:1,2", "--gpu-memory-utilization=0.8")
	wantWarning(t, r, "gpu-memory-utilization has no effect without a profile")
	r = mustResolve(t, Input{EngineArgs: `{"engine":{"timing_model":null},"gpu_memory_utilization":0.85}`})
	wantValue(t, r, "profile", DefaultProfile, "default")
	wantValue(t, r, "gpu-memory-utilization", "0.85", "engine dictionary gpu_memory_utilization")
}

// A profile may stand in a file of its own.
func TestProfileFromFile(t *testing.T) {
	p := lookup(t, "a100/llama-3.1-8b/tp1")
	text, err := p.Format()
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "my.yaml", string(text))
	for _, args := range [][]string{{"--profile=" + file}, {"--workers=2x" + file}} {
		if g := mustFleet(t, Input{}, args...)[0]; g.Profile.ID != p.ID || int64(g.Engine.NumGPUBlocks) != p.KVCapacityTokens/64 {
			t.Errorf("%v: got %s with %d blocks", args, g.Profile.ID, g.Engine.NumGPUBlocks)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "ms", "seconds", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := fleetError(t, Input{}, "--profile="+file); !strings.Contains(got, "my.yaml:") {
		t.Errorf("got %s", got)
	}
}
