package page_test

import (
	"fmt"
	"math"
	"strconv"

	"routesim/models/profile"
	"routesim/reports"
	"routesim/reports/page"
	"routesim/reports/sweepdata"
)

// sample describes a made-up sweep. Its figures follow formulas, so that the
// best point is known.
type sample struct {
	axes     []sweepdata.Axis
	seeds    int
	requests int
	trace    string
	model    string
	sla      sweepdata.SLA
	lists    [][]string // points that are no grid, by axis
	// effect is how much longer (1.1) or shorter requests take at a point; NaN
	// makes it fail, Inf saturates it. itl says the same of token gaps.
	effect, itl func(at []float64) float64
	noise       float64
	none        bool // no run finished
}

func numbers(name, base string, values ...string) sweepdata.Axis {
	a := sweepdata.Axis{Name: name, Base: base, Values: values, Documented: math.NaN()}
	for _, v := range values {
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			a.Numbers = append(a.Numbers, x)
		}
	}
	if len(a.Numbers) != len(values) {
		a.Numbers = nil
	}
	return a
}

// hash is a number in [0, 1) that depends on its arguments only.
func hash(parts ...int) float64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		h = (h ^ uint64(p+7)) * 1099511628211
		h ^= h >> 29
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 32
	}
	return float64(h>>11) / (1 << 53)
}

// normal is a draw from the standard normal distribution.
func normal(parts ...int) float64 {
	u, v := hash(append(parts, 1)...), hash(append(parts, 2)...)
	return math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
}

func (k *sample) points(s *sweepdata.Sweep) {
	lists := k.lists
	if lists == nil {
		lists = [][]string{{}}
		for _, a := range k.axes {
			var next [][]string
			for _, l := range lists {
				for _, v := range a.Values {
					next = append(next, append(append([]string{}, l...), v))
				}
			}
			lists = next
		}
	}
	s.Default, s.Reference = -1, -1
	base := make([]string, len(k.axes))
	for a := range k.axes {
		base[a] = k.axes[a].Base
	}
	for _, l := range lists {
		if fmt.Sprint(l) == fmt.Sprint(base) {
			s.Default = len(s.Points)
		}
		s.Points = append(s.Points, sweepdata.Point{Values: l})
	}
	if s.Default < 0 {
		s.Default = len(s.Points)
		s.Points = append(s.Points, sweepdata.Point{Values: base, Added: true})
	}
	s.Reference = len(s.Points)
	s.Points = append(s.Points, sweepdata.Point{Values: base, Added: true})
	for p := range s.Points {
		q := &s.Points[p]
		q.ID = fmt.Sprintf("%08x", uint32(p)*2654435761)
		q.Key = q.ID + fmt.Sprintf("%056d", p)
		for a, v := range q.Values {
			if name := k.axes[a].Name; v != base[a] && name != "workers" && name != "arrival-speedup-ratio" {
				q.Flags = append(q.Flags, sweepdata.Flag{Name: "--" + name, Env: envName(name), Value: v})
			}
		}
	}
	s.Points[s.Reference].Flags = []sweepdata.Flag{{Name: "--router-mode", Env: "DYN_ROUTER_MODE", Value: "round-robin"}}
}

func envName(flag string) string {
	out := []byte("DYN_" + flag)
	for i, c := range out {
		if c == '-' {
			out[i] = '_'
		} else if c >= 'a' && c <= 'z' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}

// sweep makes the sweep.
func (k *sample) sweep() *sweepdata.Sweep {
	s := &sweepdata.Sweep{
		Version: "0.1.0", Objective: "p90_ttft_ms", SLA: k.sla, Axes: k.axes,
		Command: []string{"routesim", "sweep", k.trace, "--workers", "8", "--seeds", strconv.Itoa(k.seeds)},
		Trace:   reports.TraceFacts{Name: k.trace, Format: "mooncake", Rows: k.requests, BlockSize: 512, Digest: "9c1f04c6d8e2a7b35f60718293a4b5c6d7e8f90112233445566778899aabbccd"},
		Base:    map[string]any{"workers": "8", "block-size": int64(64), "router-mode": "kv", "replay-concurrency": nil, "timing": nil},
	}
	for _, a := range k.axes {
		s.Base[a.Name] = a.Base
		s.Command = append(s.Command, "--vary", a.Name+"="+join3(a.Values))
	}
	s.Command = append(s.Command, "-o", "out")
	if k.model != "" {
		s.Profiles = []reports.ProfileFacts{{Count: 8, ID: k.model, Grade: "A", KVTokens: 1048576, KVBlocks: 16384, BlockSize: 64, Calibration: "vllm-h100",
			FitError: &profile.FitError{Decode: [2]float64{1.2, 4}, PrefillNoPrefix: [2]float64{2.5, 7}, Mixed: [2]float64{3.1, 9}},
			HeldOut:  &profile.RunError{Runs: 42, TTFT: [3]float64{11, 24, 0.97}, TPOT: [3]float64{6, 12, 1.01}}, KVBasis: reports.KVBasis{Utilization: 0.9}}}
	}
	for i := range k.requests {
		s.Requests.ArrivalMS = append(s.Requests.ArrivalMS, float64(i)*1800e3/float64(k.requests))
		s.Requests.InputTokens = append(s.Requests.InputTokens, int32(math.Exp(8.6+normal(i, 5))))
		s.Requests.OutputTokens = append(s.Requests.OutputTokens, int32(20+400*hash(i, 6)))
	}
	for i := range k.seeds {
		s.Seeds = append(s.Seeds, uint64(i))
	}
	k.points(s)
	for p := range s.Points {
		for _, seed := range s.Seeds {
			k.run(s, p, seed)
		}
	}
	s.Load = func(p int, seed uint64) (*sweepdata.Latencies, error) { return k.latencies(s, p, seed), nil }
	return s
}

func join3(list []string) string {
	out := ""
	for i, v := range list {
		if i > 0 {
			out += ","
		}
		out += v
	}
	return out
}

// at gives a point's values as numbers; a word counts by its place.
func (k *sample) at(s *sweepdata.Sweep, p int) []float64 {
	var out []float64
	for a, v := range s.Points[p].Values {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			for i, w := range k.axes[a].Values {
				if w == v {
					x = float64(i)
				}
			}
		}
		out = append(out, x)
	}
	return out
}

func (k *sample) effects(s *sweepdata.Sweep, p int, seed uint64) (ttft, itl float64) {
	ttft, itl = k.effect(k.at(s, p)), 1
	if k.itl != nil {
		itl = k.itl(k.at(s, p))
	}
	if p == s.Reference {
		ttft, itl = 1.31*k.effect(k.at(s, s.Default)), 1.09*itl
	}
	wobble := 1 + k.noise*normal(p, int(seed), 3) + k.noise*normal(int(seed), 4)
	return ttft * wobble, itl * (1 + k.noise*normal(p, int(seed), 8)/2)
}

func (k *sample) run(s *sweepdata.Sweep, p int, seed uint64) {
	ttft, _ := k.effects(s, p, seed)
	q := &s.Points[p]
	if k.none || math.IsNaN(ttft) {
		q.Error = "fleet: workers: found 0, expected at least 1 <b>&"
		return
	}
	r := sweepdata.Run{Seed: seed, Saturated: math.IsInf(ttft, 0), DecisionDigest: fmt.Sprintf("%016x", p*1000+int(seed))}
	if r.Saturated {
		ttft = 40
	}
	l := k.latencies(s, p, seed)
	values := map[string]float64{
		"reuse_share": math.Max(28.4-6*math.Abs(ttft-1), 1), "ceiling_share": 36.6, "best_share": 33.2, "chosen_share": 29.1, "believed_share": 29.5,
		"imbalance_busy": 1.04 + 0.08*ttft + 0.01*hash(p), "imbalance_tokens_cv": 0.21 * ttft, "completed": float64(k.requests), "completed_share": 100,
		"rejected": 0, "unfinished": 0, "preemptions": math.Round(61 * ttft), "evicted_blocks": 90210, "output_rate_tps": 1166 + math.Round(3/ttft),
		"request_rate_rps": 3.4, "total_rate_tps": 40510, "gpu_hours": 31.4, "queue_wait_mean_ms": 12 * ttft, "queue_peak": 7, "peak_kv_usage": 97.2, "tied_share": 4.4, "regret_blocks": 3.2 * ttft,
		"goodput_share": math.NaN(), "goodput_rps": math.NaN(),
	}
	if k.sla.TTFT > 0 {
		n := 0
		for i := range l.TTFT {
			if float64(l.TTFT[i]) <= k.sla.TTFT && (k.sla.ITL == 0 || float64(l.ITL[i]) <= k.sla.ITL) {
				n++
			}
		}
		values["goodput_share"] = 100 * float64(n) / float64(k.requests)
		values["goodput_rps"] = 3.4 * float64(n) / float64(k.requests)
	}
	lengths := map[string][]float32{"ttft": l.TTFT, "itl": l.ITL, "tpot": l.ITL, "e2e": l.E2E}
	for _, m := range sweepdata.Metrics() {
		v, ok := values[m.Name]
		if list := lengths[m.Family]; list != nil {
			v, ok = statistic(list, m.Name), true
		}
		if !ok {
			v = math.NaN()
		}
		r.Metrics = append(r.Metrics, v)
	}
	q.Runs = append(q.Runs, r)
}

func statistic(list []float32, name string) float64 {
	s := append([]float32(nil), list...)
	sortFloats(s)
	at := func(q float64) float64 { return float64(s[int(math.Ceil(q*float64(len(s))))-1]) }
	switch name[:3] {
	case "mea":
		sum := 0.0
		for _, v := range s {
			sum += float64(v)
		}
		return sum / float64(len(s))
	case "p50":
		return at(0.5)
	case "p90":
		return at(0.9)
	case "p95":
		return at(0.95)
	case "p99":
		return at(0.99)
	}
	return at(1)
}

func (k *sample) latencies(s *sweepdata.Sweep, p int, seed uint64) *sweepdata.Latencies {
	ttft, itl := k.effects(s, p, seed)
	if math.IsInf(ttft, 0) {
		ttft = 40
	}
	l := &sweepdata.Latencies{}
	for i := range k.requests {
		t := 680 * ttft * math.Exp(0.8*normal(i, 9)) * (1 + 0.01*normal(i, p, int(seed), 10))
		g := 21.7 * itl * math.Exp(0.2*normal(i, 11))
		l.TTFT, l.ITL = append(l.TTFT, float32(t)), append(l.ITL, float32(g))
		l.E2E = append(l.E2E, float32(t+g*float64(s.Requests.OutputTokens[i])))
		l.Worker = append(l.Worker, int32(hash(i, p)*8))
		blocks := float64(s.Requests.InputTokens[i]) / 64
		found := math.Floor(blocks * math.Min(1, math.Max(0, hash(i, 12)*1.4-0.4)))
		believed := found
		if hash(i, 13) < 0.2 {
			believed = math.Min(blocks, found+math.Floor(blocks*hash(i, 14)*0.4))
		}
		l.Predicted, l.Reused = append(l.Predicted, float32(believed)), append(l.Reused, float32(found))
	}
	return l
}

// series makes up workers over time.
func series(p, workers int) page.Series {
	w := &sweepdata.WorkerSeries{Width: 11800}
	for i := range workers {
		s := sweepdata.Strip{}
		level := 0.5
		for b := range sweepdata.SeriesBuckets {
			level = math.Min(1, math.Max(0, level+0.1*normal(p, i, b)))
			s.KV = append(s.KV, float32(level))
			s.Running = append(s.Running, int32(60*level))
			s.Waiting = append(s.Waiting, int32(math.Max(0, 40*(level-0.7))))
		}
		w.Workers = append(w.Workers, s)
	}
	return page.Series{Point: p, Workers: w}
}
