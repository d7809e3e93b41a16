package fitview

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"routesim/models/profile"
	"routesim/models/profile/fit"
	"routesim/models/profile/measured"
	"routesim/reports/accuracy"
)

func lookup(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p, err := profile.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predict(ctx context.Context, p *profile.Profile, r *measured.Run) (fit.Prediction, error) {
	o, err := accuracy.Simulate(ctx, p, r)
	if err != nil {
		return fit.Prediction{}, err
	}
	return fit.Prediction{TTFT: o.FirstToken(r.TTFTStat), TPOT: o.PerOutputToken(r.TPOTStat), Throughput: o.OutputRate}, nil
}

// served simulates runs on a worker and keeps their figures as if measured.
func served(t *testing.T, p *profile.Profile) []measured.Run {
	t.Helper()
	var runs []measured.Run
	for i, c := range []int{1, 2, 4, 8, 16, 32, 8, 32} {
		r := measured.Run{File: "some/where/runs.csv", Line: i + 2, Concurrency: c, Requests: 6 * c, ISL: 400 + 1200*(i%2), OSL: 100, ShortestShare: 0.8}
		q, err := predict(context.Background(), p, &r)
		if err != nil {
			t.Fatal(err)
		}
		r.TTFT, r.TPOT, r.Throughput = q.TTFT, q.TPOT, q.Throughput
		runs = append(runs, r)
	}
	return runs
}

// A fit to simulated runs finds the numbers that they were simulated with.
func TestFitFindsWhatWasSimulated(t *testing.T) {
	base := lookup(t, "h100/qwen3-8b/tp1")
	truth := *base
	truth.Calibration = profile.Calibration{GPUTimeScale: 1.1, StepMS: 1.4, PerSeqMS: 0.07, PrefillStepMS: 2.5, RequestMS: 20}
	r, err := fit.Fit(context.Background(), fit.Options{Data: &measured.Data{Runs: served(t, &truth)}, Base: base, Predict: predict})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Summaries() {
		if s.Median > 0.02 {
			t.Errorf("%s: median error %.3f", s.Kind, s.Median)
		}
	}
	got, want := r.Profile.Calibration, truth.Calibration
	if math.Abs(got.GPUTimeScale-want.GPUTimeScale) > 0.05 || math.Abs(got.StepMS-want.StepMS) > 0.5 || math.Abs(got.RequestMS-want.RequestMS) > 4 {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	checkOutputs(t, r)
}

func checkOutputs(t *testing.T, r *fit.Result) {
	t.Helper()
	var text, js, table bytes.Buffer
	for _, err := range []error{WriteText(&text, r), WriteJSON(&js, r), WriteCSV(&table, r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"gpu_time_scale", "runs.csv:2", "TTFT ms", "output tokens/s"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String()+js.String()+table.String(), "some/where") {
		t.Error("an output depends on the folder of the data")
	}
	for line := range strings.Lines(text.String()) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	var doc struct{ Numbers, Errors, Residuals []map[string]any }
	if err := json.Unmarshal(js.Bytes(), &doc); err != nil || len(doc.Numbers) != 5 || len(doc.Errors) != 3 || len(doc.Residuals) != len(r.Residuals) {
		t.Errorf("found %d numbers, %d errors, %d residuals, %v", len(doc.Numbers), len(doc.Errors), len(doc.Residuals), err)
	}
	records, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(records) != 1+len(r.Residuals) {
		t.Errorf("found %d lines, %v", len(records), err)
	}
	pictures, err := Pictures(r)
	if err != nil || len(pictures) != 3 {
		t.Fatalf("found %d pictures, %v", len(pictures), err)
	}
	for _, p := range pictures {
		if p.Figure.Alt == "" || !strings.HasPrefix(p.Name, "fit-") {
			t.Errorf("picture %s: %q", p.Name, p.Figure.Alt)
		}
	}
}
