package sweepdata

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/sim/sweep"
	"routesim/workloads"
)

// experiment sweeps one or two settings over a small trace.
type experiment struct {
	axes   []Axis
	rows   []workloads.Row
	change func(c *sim.Config, values []string)
	seeds  int
}

// traffic makes n requests of some blocks each; of different families if they
// share no beginnings.
func traffic(n int, tokens int32, families uint64) (rows []workloads.Row) {
	for i := range n {
		ids := []uint64{}
		for k := int32(0); k*512 < tokens; k++ {
			ids = append(ids, 1000*(uint64(i*7)%families)+uint64(k)+1)
		}
		rows = append(rows, workloads.Row{Timestamp: float64(40 * i), InputLength: tokens, OutputLength: int32(5 + i%20), HashIDs: ids})
	}
	return rows
}

func values(name string, list ...string) Axis {
	return Axis{Name: name, Values: list, Numbers: sweep.Numbers(list), Base: list[0], Documented: math.NaN()}
}

func (e *experiment) sweep(t *testing.T) *Sweep {
	t.Helper()
	trace, err := workloads.FromRows(workloads.BuilderOptions{}, e.rows...)
	if err != nil {
		t.Fatal(err)
	}
	timing, err := models.NewFixed(20, 1, models.TimingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &Sweep{Axes: e.axes, Default: -1, Reference: -1, Base: map[string]any{"block-size": int64(64)}}
	for i := range max(e.seeds, 2) {
		s.Seeds = append(s.Seeds, uint64(i))
	}
	points := [][]string{{}}
	for i := range e.axes {
		var next [][]string
		for _, p := range points {
			for _, v := range e.axes[i].Values {
				next = append(next, append(append([]string{}, p...), v))
			}
		}
		points = next
	}
	for i, v := range points {
		p := Point{Values: v, Key: digestOf(fmt.Sprint(i))}
		for _, seed := range s.Seeds {
			c := sim.DefaultConfig(3, timing)
			c.Seed = seed
			e.change(&c, v)
			r, err := sim.Run(context.Background(), trace, &c)
			if err != nil {
				t.Fatal(err)
			}
			run, _ := Measure(trace, &c, r)
			p.Runs = append(p.Runs, *run)
		}
		s.Points = append(s.Points, p)
	}
	MarkInert(s)
	return s
}

// TestInertAxes: for each cause a sweep in which it holds, and the same setting
// on traffic where it matters.
func TestInertAxes(t *testing.T) {
	shared := traffic(60, 2000, 5)
	number := func(text string) float64 { return sweep.Numbers([]string{text})[0] }
	credit := func(c *sim.Config, v []string) { c.Router.OverlapScoreCredit = number(v[0]) }
	with := func(f func(c *sim.Config, v []string), more func(c *sim.Config)) func(*sim.Config, []string) {
		return func(c *sim.Config, v []string) { more(c); f(c, v) }
	}
	queue := func(c *sim.Config, v []string) {
		if v[0] != "none" {
			x := number(v[0])
			c.Router.QueueThreshold = &x
		}
	}
	for _, c := range []struct {
		what string
		e    experiment
		want string // "" for an axis that is not inert
	}{
		{"credit", experiment{[]Axis{values("router-kv-overlap-score-credit", "0", "1", "2")}, shared, credit, 2}, ""},
		{"short prompts", experiment{[]Axis{values("router-kv-overlap-score-credit", "0", "1")}, traffic(60, 60, 5), credit, 2}, "none of 240 prompts fills one 64-token KV block"},
		{"round robin", experiment{[]Axis{values("router-kv-overlap-score-credit", "0", "1")}, shared, with(credit, func(c *sim.Config) { c.Router.Mode = router.RoundRobin }), 2}, "all were round robin"},
		{"one worker", experiment{[]Axis{values("router-kv-overlap-score-credit", "0.5", "1")}, shared, with(credit, func(c *sim.Config) { c.Fleet[0].Count = 1 }), 2}, "there is one worker"},
		{"no events", experiment{[]Axis{values("router-kv-overlap-score-credit", "0.5", "1")}, shared, with(credit, func(c *sim.Config) { c.Router.KVEventLagMS = 1e9 }), 2}, "no KV event reached the router"},
		{"no caching", experiment{[]Axis{values("router-kv-overlap-score-credit", "0.5", "1")}, shared, with(credit, func(c *sim.Config) { c.Fleet[0].Engine.EnablePrefixCaching = false }), 2}, "no KV event reached the router"},
		{"nothing shared", experiment{[]Axis{values("router-kv-overlap-score-credit", "0.5", "1")}, traffic(60, 2000, 1e6), credit, 2}, "the router believed no beginning of a prompt to be cached"},
		{"decay without credit", experiment{[]Axis{values("router-kv-overlap-score-credit-decay", "0", "1")}, shared, func(c *sim.Config, v []string) {
			c.Router.OverlapScoreCredit, c.Router.OverlapScoreCreditDecay = 0, number(v[0])
		}, 2}, "no cost had a credit for overlap"},
		{"queue unused", experiment{[]Axis{values("router-queue-threshold", "none", "100")}, shared, queue, 2}, "the router's queue held back no request in 240 decisions"},
		{"queue used", experiment{[]Axis{values("router-queue-threshold", "none", "0")}, shared, with(queue, func(c *sim.Config) { c.ArrivalSpeedup = 20 }), 2}, ""},
		{"batches", experiment{[]Axis{values("max-num-seqs", "64", "256")}, shared, func(c *sim.Config, v []string) { c.Fleet[0].Engine.MaxNumSeqs = int32(number(v[0])) }, 2}, "fewer than every limit tried"},
		{"preemption", experiment{[]Axis{values("preemption-mode", "lifo", "fifo")}, shared, func(c *sim.Config, v []string) {
			if v[0] == "fifo" {
				c.Fleet[0].Engine.Preemption = 1
			}
		}, 2}, "no request was ever preempted"},
		{"host cache", experiment{[]Axis{values("router-host-cache-hit-weight", "0", "1")}, shared, func(c *sim.Config, v []string) { c.Router.HostCacheHitWeight = number(v[0]) }, 2}, "on a host"},
		{"unknown", experiment{[]Axis{values("some-setting", "a", "b")}, shared, func(*sim.Config, []string) {}, 2}, "the counts tell no cause"},
		{"workers", experiment{[]Axis{values("workers", "2", "3")}, shared, func(c *sim.Config, v []string) { c.Fleet[0].Count = int(number(v[0])) }, 2}, ""},
		// Round robin decides the same whatever the load, at other times.
		{"load", experiment{[]Axis{values("arrival-speedup-ratio", "1", "2")}, shared, func(c *sim.Config, v []string) { c.Router.Mode, c.ArrivalSpeedup = router.RoundRobin, number(v[0]) }, 2}, ""},
		{"one value", experiment{[]Axis{values("router-temperature", "0")}, shared, func(*sim.Config, []string) {}, 2}, ""},
	} {
		s := c.e.sweep(t)
		got := s.Axes[0].Inert
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: inert %q, want %q", c.what, got, c.want)
		}
		if (got == "") != (s.Axes[0].Remedy == "") {
			t.Errorf("%s: inert %q, remedy %q", c.what, got, s.Axes[0].Remedy)
		}
	}
}

// TestInertAmongOthers: one axis matters and the other does not, until one run
// says otherwise or is missing.
func TestInertAmongOthers(t *testing.T) {
	e := experiment{
		[]Axis{values("router-kv-overlap-score-credit", "0", "1"), values("preemption-mode", "lifo", "fifo")}, traffic(60, 2000, 5),
		func(c *sim.Config, v []string) { c.Router.OverlapScoreCredit = sweep.Numbers(v[:1])[0] }, 3,
	}
	s := e.sweep(t)
	if s.Axes[0].Inert != "" || s.Axes[1].Inert == "" {
		t.Fatalf("inert: %q and %q, want the second only", s.Axes[0].Inert, s.Axes[1].Inert)
	}
	run := &s.Points[3].Runs[1]
	for _, part := range []*string{&run.DecisionDigest, &run.TimeDigest} {
		whole := *part
		*part = digestOf("another")
		if MarkInert(s); s.Axes[1].Inert != "" {
			t.Error("an axis is inert although one run differs")
		}
		*part = whole
	}
	at := MetricIndex("goodput_share")
	run.Metrics[at] = 50
	if MarkInert(s); s.Axes[1].Inert != "" {
		t.Error("an axis is inert although goodput differs")
	}
	run.Metrics[at] = math.NaN()
	if MarkInert(s); s.Axes[1].Inert == "" {
		t.Error("the axis is no longer inert")
	}
	s.Points[3].Runs = s.Points[3].Runs[:2]
	if MarkInert(s); s.Axes[1].Inert != "" {
		t.Error("an axis is inert although a run is missing")
	}
	s.Points[3].Fail(2, "failed")
	if MarkInert(s); s.Axes[1].Inert == "" {
		t.Error("a failed run hides that the others are equal")
	}
}

// TestInertSamples: in a sample no two points differ in one axis alone.
func TestInertSamples(t *testing.T) {
	run := func(text string) []Run {
		return []Run{{DecisionDigest: digestOf(text), TimeDigest: digestOf(text), Metrics: make([]float64, len(Metrics())), Counters: make([]int64, len(Counters()))}}
	}
	s := &Sweep{Axes: []Axis{values("a", "1", "2"), values("b", "3", "4")}, Seeds: []uint64{0}, Reference: -1, Points: []Point{
		{Values: []string{"1", "3"}, Runs: run("x")}, {Values: []string{"2", "4"}, Runs: run("x")},
	}}
	if MarkInert(s); s.Axes[0].Inert == "" || s.Axes[1].Inert == "" {
		t.Error("all points did the same, and an axis is not inert")
	}
	s.Points[1].Runs = run("y")
	if MarkInert(s); s.Axes[0].Inert != "" || s.Axes[1].Inert != "" {
		t.Error("points differ, and an axis is inert")
	}
}

// TestSaturation: the queue of an overloaded fleet grows to the end; one that
// keeps up, one that is busy, and one whose traffic grows do not count.
func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		what  string
		every func(i int) float64 // ms between arrivals
		want  bool
	}{
		{"idle", func(int) float64 { return 400 }, false},
		{"busy", func(int) float64 { return 80 }, false},
		{"overloaded", func(int) float64 { return 10 }, true},
		{"twice overloaded", func(int) float64 { return 5 }, true},
		{"growing traffic", func(i int) float64 { return 800 / (1 + float64(i)/150) }, false},
		{"a burst in the middle", func(i int) float64 {
			if i > 150 && i < 250 {
				return 20
			}
			return 300
		}, false},
	} {
		rows, at := traffic(600, 1000, 1e6), 0.0
		for i := range rows {
			rows[i].Timestamp = at
			rows[i].OutputLength = 50
			at += c.every(i)
		}
		trace, err := workloads.FromRows(workloads.BuilderOptions{}, rows...)
		if err != nil {
			t.Fatal(err)
		}
		timing, err := models.NewFixed(60, 4, models.TimingOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cfg := sim.DefaultConfig(2, timing)
		cfg.Fleet[0].Engine.MaxNumSeqs = 8
		r, err := sim.Run(context.Background(), trace, &cfg)
		if err != nil {
			t.Fatal(err)
		}
		run, _ := Measure(trace, &cfg, r)
		if run.Saturated != c.want {
			t.Errorf("%s: saturated %v, want %v (%+v)", c.what, run.Saturated, c.want, run.Queue)
		}
		if c.want && !(run.Queue.AtEnd > 20 && run.Queue.PerMinute > 0) {
			t.Errorf("%s: %v requests at the end, growing by %v per minute", c.what, run.Queue.AtEnd, run.Queue.PerMinute)
		}
	}
}

// TestQueueIsCounted checks the figures on three requests by hand.
func TestQueueIsCounted(t *testing.T) {
	nan := math.NaN()
	r := &sim.Result{EndMS: 90, Requests: []sim.Request{
		{Arrival: 0, Terminal: 20, FirstToken: 10},
		{Arrival: 10, Terminal: 70, FirstToken: nan},
		{Arrival: 40, Terminal: nan, FirstToken: nan},
		{Arrival: nan, Terminal: nan},
	}}
	q := queueOf(r)
	// Quarters of 10 ms: 0-10 one request, 10-20 two, 20-30 one, 30-40 one.
	if q.Quarters != [4]float64{1, 2, 1, 1} || q.AtEnd != 2 || q.PerMinute != 0 {
		t.Errorf("got %+v", q)
	}
	if w := q.WaitQuarters; w[0] != 10 || w[1] != 60 || !math.IsNaN(w[2]) || w[3] != 50 {
		t.Errorf("waits %v", w)
	}
}
