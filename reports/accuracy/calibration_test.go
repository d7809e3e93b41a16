package accuracy

import (
	"context"
	"math"
	"testing"

	"routesim/models/profile"
	"routesim/models/profile/fit"
	"routesim/models/profile/measured"
)

// byModel are the calibrations that were fitted to the runs of one model.
func byModel() map[string]string {
	return map[string]string{"llama-3.1-70b": "vllm-h100-llama-3.1-70b", "qwen3-32b": "vllm-h100-qwen3-32b"}
}

// calibrated predicts a run with the row's own profile and the calibration of
// another.
func calibrated(t *testing.T, rows []Row) fit.Predict {
	t.Helper()
	own := map[int]*profile.Profile{}
	for i := range rows {
		p, err := rows[i].lookup()
		if err != nil {
			t.Fatal(err)
		}
		own[rows[i].Line] = p
	}
	return func(ctx context.Context, p *profile.Profile, r *measured.Run) (fit.Prediction, error) {
		q := *own[r.Line]
		q.Calibration = p.Calibration
		o, err := Simulate(ctx, &q, r)
		if err != nil {
			return fit.Prediction{}, err
		}
		return fit.Prediction{TTFT: o.FirstToken(r.TTFTStat), TPOT: o.PerOutputToken(r.TPOTStat), Throughput: o.OutputRate}, nil
	}
}

// The calibrations by model are what a fit to the bundled runs gives, started
// from the calibration of all models; and their held-out errors are those of
// each half of the runs by a fit to the other.
func TestCalibrationsAreTheFit(t *testing.T) {
	if testing.Short() {
		t.Skip("fits two calibrations three times each: half a minute")
	}
	all, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := profile.Calibrations()
	if err != nil {
		t.Fatal(err)
	}
	for model, id := range byModel() {
		t.Run(model, func(t *testing.T) {
			var rows []Row
			for _, r := range all {
				if r.unusable() == "" && r.GPU == "h100_sxm" && r.Model == model && r.Used() {
					rows = append(rows, r)
				}
			}
			base, err := rows[0].lookup()
			if err != nil {
				t.Fatal(err)
			}
			start := *base
			start.Calibration = shipped["vllm-h100"]
			predict := calibrated(t, rows)
			fitTo := func(part []Row) *fit.Result {
				d := &measured.Data{}
				for _, r := range part {
					d.Runs = append(d.Runs, r.Run)
				}
				r, err := fit.Fit(context.Background(), fit.Options{Data: d, Predict: predict, Base: &start})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			got, want := fitTo(rows).Profile.Calibration, shipped[id]
			for _, v := range [...]struct {
				name            string
				got, want, room float64
			}{
				{"gpu_time_scale", got.GPUTimeScale, want.GPUTimeScale, 0.01}, {"step_ms", got.StepMS, want.StepMS, 0.1},
				{"per_seq_ms", got.PerSeqMS, want.PerSeqMS, 0.004}, {"prefill_step_ms", got.PrefillStepMS, want.PrefillStepMS, 0.5},
			} {
				if !(math.Abs(v.got-v.want) <= v.room) {
					t.Errorf("%s: fitted %v, shipped %v", v.name, v.got, v.want)
				}
			}
			ttft, tpot := heldOut(t, rows, fitTo, predict)
			for i, e := range [...]struct{ got, want float64 }{
				{100 * ttft.Median, want.HeldOut.TTFT[0]}, {100 * ttft.P90, want.HeldOut.TTFT[1]}, {100 * tpot.Median, want.HeldOut.TPOT[0]}, {100 * tpot.P90, want.HeldOut.TPOT[1]},
			} {
				if math.Abs(e.got-e.want) > 0.06 {
					t.Errorf("held-out error %d: found %.2f %%, stated %v %%", i, e.got, e.want)
				}
			}
		})
	}
}

// heldOut is the error of every second run by a fit to the others, and the
// other way round.
func heldOut(t *testing.T, rows []Row, fitTo func([]Row) *fit.Result, predict fit.Predict) (ttft, tpot Error) {
	t.Helper()
	var a, b []float64
	for fold := range 2 {
		var seen, unseen []Row
		for i := range rows {
			if i%2 == fold {
				unseen = append(unseen, rows[i])
			} else {
				seen = append(seen, rows[i])
			}
		}
		p := fitTo(seen).Profile
		for i := range unseen {
			q, err := predict(context.Background(), p, &unseen[i].Run)
			if err != nil {
				t.Fatal(err)
			}
			a, b = append(a, q.TTFT/unseen[i].TTFT-1), append(b, q.TPOT/unseen[i].TPOT-1)
		}
	}
	return errorOf(a), errorOf(b)
}
