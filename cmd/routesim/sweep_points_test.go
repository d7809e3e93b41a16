package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
)

// planOf plans a sweep of the small trace.
func planOf(t *testing.T, args ...string) *sweepPlan {
	t.Helper()
	cmd := &cobra.Command{Use: "sweep"}
	o := newSweepOptions(system{stdin: os.Stdin, stdout: io.Discard, stderr: io.Discard}, cmd)
	if err := cmd.ParseFlags(append(args, "--no-env", "--seeds=1", "-q", "-o", filepath.Join(t.TempDir(), "out"))); err != nil {
		t.Fatal(err)
	}
	cmd.SetContext(context.Background())
	cmd.SetErr(io.Discard)
	p, err := o.plan(cmd, []string{"testdata/traces/small.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestKeysAreOfTheConfiguration: a key takes over what a point has in common with
// the default one, and is the one that would come of writing all of it anew.
func TestKeysAreOfTheConfiguration(t *testing.T) {
	p := planOf(t, "--vary=router-temperature=0,0.5", "--vary=workers=2,1xh100/llama-3.1-70b/tp4@max_num_seqs=9;", "--vary=trace-block-size=512,1024", "--vary=router-queue-threshold=none,3")
	texts := p.digests.texts
	for i := range p.data.Points {
		run, err := p.resolve(p.given(i))
		if err != nil {
			t.Fatal(err)
		}
		p.digests.texts = nil
		c := &candidate{point: p.data.Points[i], run: run}
		if got, want := p.data.Points[i].Key, p.key(c, p.traces[readingOf(run.settings)].digest); got != want {
			t.Errorf("the key of %v is %.8s, expected %.8s", p.data.Points[i].Values, got, want)
		}
		p.digests.texts = texts
	}
	if n := len(p.traces); n < 2 {
		t.Errorf("%d ways to read the trace, expected several", n)
	}
}

// TestFilesOfPools: what the workers of pools are read from counts as what a point
// depends on, like that of other workers.
func TestFilesOfPools(t *testing.T) {
	group := func(profile string) []settings.WorkerGroup {
		return []settings.WorkerGroup{{Count: 1, Profile: profile}}
	}
	run := &settings.Run{
		Profile: "h100", Timing: "table:t.npz", PolicyConfig: "policy.yaml",
		PrefillWorkers: group("p.yaml"), DecodeWorkers: group("d.yml"), PrefillArgs: "p.json", DecodeArgs: ` {"engine": {}}`,
	}
	if got, want := filesOf(run), []string{"p.yaml", "d.yml", "t.npz", "p.json", "policy.yaml"}; !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// TestPlanningIsCheap: a point is worked out from what was read once, so that
// hundreds of thousands are planned in seconds. What takes time there is
// allocated: reading a profile takes tens of thousands of pieces of memory.
func TestPlanningIsCheap(t *testing.T) {
	p := planOf(t, "--vary=router-temperature=0,0.5", "--vary=router-prefill-load-scale=1,2")
	values := p.data.Points[1].Values
	n := testing.AllocsPerRun(20, func() {
		if c := p.candidate(values, p.givenOf(values), false); c.err != nil || c.point.Key != p.data.Points[1].Key {
			t.Fatalf("point %+v: %v", c.point, c.err)
		}
	})
	if n > 300 {
		t.Errorf("a point takes %v pieces of memory, expected at most 300", n)
	}
}
