package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// TestSweepOfPools sweeps pools of which either is the larger, and looks for a
// strip of every worker in the report and the figures.
func TestSweepOfPools(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: makes sweeps with all their figures")
	}
	trace := writeSweepTrace(t, 120)
	for _, k := range []struct {
		prefill, decode string
		names           []string
	}{
		{"3", "1", []string{"p0", "p1", "p2", "d0"}},
		{"1", "2", []string{"p0", "d0", "d1"}},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		code, _, stderr := command(context.Background(), nil, "sweep", trace, "--no-env", "-q", "--timing=dynamo-polynomial", "--num-gpu-blocks=400",
			"--prefill-workers="+k.prefill, "--decode-workers="+k.decode, "--vary=router-temperature=0,0.4", "--seeds=1", "-o", dir)
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		page, err := os.ReadFile(filepath.Join(dir, reportFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range k.names {
			if !bytes.Contains(page, []byte(`"`+name+`"`)) {
				t.Errorf("%s prefill and %s decode workers: the report has no %s", k.prefill, k.decode, name)
			}
		}
		for _, text := range []string{k.prefill + " prefill and " + k.decode + " decode workers", "<title>[^<]* prefill and "} {
			if !regexp.MustCompile(text).Match(page) {
				t.Errorf("%s prefill and %s decode workers: the report has no %q", k.prefill, k.decode, text)
			}
		}
		if bytes.Contains(page, []byte("8 workers")) {
			t.Errorf("%s prefill and %s decode workers: the report names 8", k.prefill, k.decode)
		}
		if bytes.Contains(page, []byte(`"w0"`)) {
			t.Errorf("%s prefill and %s decode workers: the report has a w0", k.prefill, k.decode)
		}
	}
}

// TestReportWithoutSeries: if a run cannot be watched, whatever the reason, the
// report says so in place of its workers over time.
func TestReportWithoutSeries(t *testing.T) {
	p := &sweepPlan{
		o: &sweepOptions{}, points: make([]planned, 1),
		data: &sweepdata.Sweep{Points: []sweepdata.Point{{Runs: make([]sweepdata.Run, 1)}}},
	}
	var stderr bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&stderr)
	cmd.SetContext(context.Background())
	f := &findings{verdict: &verdict.Verdict{}}
	if err := p.addSeries(cmd, f); err != nil {
		t.Fatal(err)
	}
	if f.extras.Series != nil || !strings.HasPrefix(f.extras.NoSeries, "Workers over time are absent: ") {
		t.Errorf("found %d series and the reason %q", len(f.extras.Series), f.extras.NoSeries)
	}
	if !strings.HasPrefix(stderr.String(), "warning: the report has no workers over time: ") {
		t.Errorf("found %q on standard error", stderr.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cmd.SetContext(ctx)
	if err := p.addSeries(cmd, f); err == nil {
		t.Error("interrupted: found no error")
	}
}
