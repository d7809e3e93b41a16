package gate

import (
	"fmt"
	"math"
	"testing"

	"routesim/reports/sweepdata"
	"routesim/sim/router"
)

// suiteOf parses a suite that must be right.
func suiteOf(t *testing.T, text string) *Suite {
	t.Helper()
	s, err := ParseSuite("gate.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const twoScenarios = `gate: 1
seeds: 3
metrics: [p90_ttft_ms, {name: reuse_share, tolerance: 1}, {name: regret_blocks, direction: info}]
slo: [{metric: p99_ttft_ms, at-most: 900}]
scenarios:
  - {name: a, trace: a.jsonl}
  - {name: b, trace: b.jsonl}
`

// outcomeOf makes an outcome whose figures are those given, the same for every
// seed but for a small seed-dependent part.
func outcomeOf(name string, seeds int, figures map[string]float64) Outcome {
	o := Outcome{
		Name: name, Trace: Trace{Name: name + ".jsonl", Requests: 4, Digest: "d1" + name}, Load: "open loop, arrivals sped up by 1",
		Settings: []Value{{"workers", "2"}}, Profiles: []Value{{"h100/x", "aa11"}},
	}
	for seed := range seeds {
		r := Run{Seed: uint64(seed), Decisions: fmt.Sprintf("dec%d%s", seed, name), Times: fmt.Sprintf("tim%d%s", seed, name),
			Counts: Counts{Requests: 4, Completed: 4}, Record: recordFor(seed)}
		for _, m := range sweepdata.Metrics() {
			v, ok := figures[m.Name]
			if !ok {
				v = 100
			}
			r.Values = append(r.Values, v+float64(seed)/16)
		}
		o.Runs = append(o.Runs, r)
	}
	return o
}

// recordFor is a run of four requests over two workers.
func recordFor(seed int) *Record {
	r := &Record{Fleet: 2, TTFT: []float32{10, 20, 30, 40}, TPOT: []float32{1, 2, 3, 4}, E2E: []float32{100, 200, 300, 400}}
	for i := range int32(4) {
		r.Rows, r.Workers, r.Overlaps = append(r.Rows, i), append(r.Workers, (i+int32(seed))%2), append(r.Overlaps, float64(i))
		for w := range 2 {
			t := router.Terms{Prefill: float64(i) + 0.25, Credit: float64(w), Decode: 7, Request: 0}
			t.Cost = sumOf(&t)
			r.Costs = append(r.Costs, t)
		}
	}
	return r
}

// lab is a suite with its baseline and outcomes that equal it.
type lab struct {
	suite *Suite
	base  *Baseline
	now   []Outcome
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{suite: suiteOf(t, twoScenarios)}
	l.base = NewBaseline(l.suite, "1.0", []Outcome{outcomeOf("a", 3, nil), outcomeOf("b", 3, nil)})
	l.now = []Outcome{outcomeOf("a", 3, nil), outcomeOf("b", 3, nil)}
	return l
}

func (l *lab) judge(o Options) *Report {
	o.Update = "routesim gate --suite gate.yaml --update"
	return Judge(l.suite, l.base, l.now, "1.0", o)
}

// shift moves a metric of an outcome in every seed.
func shift(o *Outcome, metric string, by float64) {
	for i := range o.Runs {
		o.Runs[i].Values[sweepdata.MetricIndex(metric)] += by
	}
}

// redecide gives a request of an outcome's first seed another worker.
func redecide(o *Outcome, decision int, worker int32) {
	r := &o.Runs[0]
	r.Decisions += "x"
	r.Record.Workers[decision] = worker
}

func nan() float64 { return math.NaN() }
