package verdict

import (
	"context"
	"math"
	"strings"
	"testing"

	"routesim/models"
	"routesim/reports/sweepdata"
	"routesim/sim"
	"routesim/sim/engine"
	"routesim/workloads"
)

// swept runs a trace on four workers with each value of a setting.
func swept(t *testing.T, rows []workloads.Row, a sweepdata.Axis, set func(*sim.Config, float64)) *sweepdata.Sweep {
	t.Helper()
	trace, err := workloads.FromRows(workloads.BuilderOptions{}, rows...)
	if err != nil {
		t.Fatal(err)
	}
	s := &sweepdata.Sweep{
		Base: map[string]any{"workers": int64(4)}, Axes: []sweepdata.Axis{a},
		Requests: sweepdata.RequestsOf(trace), Reference: -1, Seeds: []uint64{1, 2, 3, 4, 5, 6},
	}
	kept := map[[2]uint64]*sweepdata.Latencies{}
	for i, v := range a.Values {
		s.Points = append(s.Points, sweepdata.Point{ID: v, Values: []string{v}})
		if v == a.Base {
			s.Default = i
		}
		for _, seed := range s.Seeds {
			run, lat := simulate(t, trace, seed, func(c *sim.Config) { set(c, a.Numbers[i]) })
			s.Points[i].Runs = append(s.Points[i].Runs, *run)
			kept[[2]uint64{uint64(i), seed}] = lat
		}
	}
	s.Load = func(p int, seed uint64) (*sweepdata.Latencies, error) { return kept[[2]uint64{uint64(p), seed}], nil }
	return s
}

func simulate(t *testing.T, trace *workloads.Trace, seed uint64, set func(*sim.Config)) (*sweepdata.Run, *sweepdata.Latencies) {
	t.Helper()
	p := engine.DefaultParams()
	p.NumGPUBlocks = 1200
	timing, err := models.NewPolynomial(models.TimingOptions{
		CapacityTokens: int64(p.NumGPUBlocks) * int64(p.BlockSize), SpeedupRatio: 1, DecodeSpeedupRatio: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := sim.DefaultConfig(4, timing)
	c.Fleet[0].Engine.NumGPUBlocks = p.NumGPUBlocks
	set(&c)
	c.Seed = seed
	r, err := sim.Run(context.Background(), trace, &c)
	if err != nil {
		t.Fatal(err)
	}
	return sweepdata.Measure(trace, &c, r)
}

// prompt is a number of shared blocks of 512 tokens, then one of its own.
func prompt(group, shared, row int) (ids []uint64) {
	for b := range shared {
		ids = append(ids, uint64(1_000_000*(group+1)+b))
	}
	return append(ids, uint64(1e9)+uint64(row))
}

// poisson is traffic at a mean rate for some seconds.
func poisson(perSecond, seconds float64, row func(i int, s *stream) workloads.Row) (rows []workloads.Row) {
	s := stream(3)
	at := 0.0
	for i := 0; at < 1000*seconds; i++ {
		r := row(i, &s)
		r.Timestamp = at
		rows = append(rows, r)
		at += 1000 / perSecond * -math.Log((float64(s.next()>>11)+0.5)*0x1p-53)
	}
	return rows
}

// TestKnownAnswers judges traffic of which the best setting is known. With a
// dozen long prefixes of which a worker holds a few, requests belong where their
// prefix is: a credit is better than none. With long and short prompts that share
// nothing, choosing workers at random puts short ones behind long ones: taking the
// least loaded is better. Where no two prompts begin alike, the credit has nothing
// to work with.
func TestKnownAnswers(t *testing.T) {
	shared := poisson(4, 400, func(i int, s *stream) workloads.Row {
		return workloads.Row{OutputLength: int32(10 + s.below(40)), HashIDs: prompt(s.below(12), 16, i)}
	})
	// One prompt in five is thirty times as long as the others.
	mixed := poisson(14, 400, func(i int, s *stream) workloads.Row {
		blocks := 1
		if s.below(5) == 0 {
			blocks = 30
		}
		return workloads.Row{OutputLength: int32(10 + s.below(40)), HashIDs: prompt(1000+i, blocks, i)}
	})
	unique := poisson(4, 400, func(i int, s *stream) workloads.Row {
		return workloads.Row{OutputLength: int32(10 + s.below(40)), HashIDs: prompt(1000+i, 6, i)}
	})
	t.Run("a credit", func(t *testing.T) {
		v := mustJudge(t, swept(t, shared, axis(credit, "0", "0", "1"), setCredit))
		if v.State != Win || v.Headline != "Set router-kv-overlap-score-credit 1." || v.Sentences[0].Held != Holds {
			t.Errorf("found %s", everything(v))
		}
	})
	t.Run("no temperature", func(t *testing.T) {
		v := mustJudge(t, swept(t, mixed, axis("router-temperature", "2", "0", "2", "4"), setTemperature))
		if v.State != Win || v.Headline != "Set router-temperature 0." {
			t.Errorf("found %s", everything(v))
		}
	})
	t.Run("nothing", func(t *testing.T) {
		s := swept(t, unique, axis(credit, "1", "0", "0.5", "1"), setCredit)
		if v := mustJudge(t, s); v.State != Tie || len(v.Tied) != 3 || v.Chosen != s.Default || v.Rerun != nil {
			t.Errorf("found %s", everything(v))
		}
		for p := range s.Points {
			for k := range s.Points[p].Runs {
				if s.Points[p].Runs[k].DecisionDigest != s.Points[0].Runs[k].DecisionDigest {
					t.Fatal("decisions differ")
				}
			}
		}
		s.Axes[0].Inert = "no prompt begins like an earlier one"
		if v := mustJudge(t, s); v.State != Inert || !strings.Contains(v.Headline, credit+" changed nothing: 3 values, the same ") {
			t.Errorf("found %s", everything(v))
		}
	})
}

func setCredit(c *sim.Config, v float64)      { c.Router.OverlapScoreCredit = v }
func setTemperature(c *sim.Config, v float64) { c.Router.Temperature = v }
