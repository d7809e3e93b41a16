package explain

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// crowd is a trace of prompts that share prefixes and arrive in bursts.
func crowd(t *testing.T) *workloads.Trace {
	t.Helper()
	var text strings.Builder
	for i := range 60 {
		ids := []string{"1", "2", "3", "4"}[:1+i%4]
		line := `{"timestamp":` + []string{"0", "900", "1000", "2500"}[i/15] + `,"input_length":` + []string{"512", "1000", "1500", "2048"}[i%4] +
			`,"output_length":` + []string{"5", "40", "200"}[i%3] + `,"hash_ids":[` + strings.Join(ids, ",") + "]}\n"
		text.WriteString(line)
	}
	trace, err := workloads.Open("-", workloads.Options{Stdin: strings.NewReader(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func base(t *testing.T, change func(*sim.Config)) *Base {
	t.Helper()
	timing, err := models.NewPolynomial(models.TimingOptions{CapacityTokens: 16384 * 64, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := sim.DefaultConfig(3, timing)
	c.Seed = 7
	if change != nil {
		change(&c)
	}
	trace := crowd(t)
	r, err := sim.Run(context.Background(), trace, &c)
	if err != nil {
		t.Fatal(err)
	}
	return &Base{Trace: trace, Config: &c, Result: r}
}

// TestAlternatives compares what is told of a decision with the run itself and
// with runs in which only that decision is another.
func TestAlternatives(t *testing.T) {
	for name, change := range map[string]func(*sim.Config){
		"kv":          nil,
		"temperature": func(c *sim.Config) { c.Router.Temperature = 0.7 },
		"round robin": func(c *sim.Config) { c.Router.Mode = router.RoundRobin },
	} {
		b := base(t, change)
		rows := []int32{0, 17, 40, 59}
		var runs atomic.Int64
		list, err := b.Decisions(context.Background(), rows, 2, func() { runs.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		if got, want := runs.Load(), int64(len(rows)*3); got != want {
			t.Errorf("%s: told of %d runs, want %d", name, got, want)
		}
		for i, row := range rows {
			check(t, name, b, &list[i], row)
		}
	}
}

func check(t *testing.T, name string, b *Base, d *Decision, row int32) {
	t.Helper()
	q := &b.Result.Requests[row]
	if d.Row != int(row) || d.Worker != q.Worker || len(d.Candidates) != 3 {
		t.Fatalf("%s: row %d: told of row %d on worker %d with %d candidates", name, row, d.Row, d.Worker, len(d.Candidates))
	}
	sum := 0.0
	for w := range d.Candidates {
		c := &d.Candidates[w]
		sum += float64(c.Probability)
		if c.Chosen != (int32(w) == q.Worker) {
			t.Errorf("%s: row %d: worker %d chosen: %v", name, row, w, c.Chosen)
		}
		if c.Chosen && b.Config.Router.Mode == router.KV && (float64(c.Cost) != q.Decision.Cost || float64(*c.Overlap) != q.Decision.Overlap) {
			t.Errorf("%s: row %d: cost %v at overlap %v, the run had %v at %v", name, row, c.Cost, *c.Overlap, q.Decision.Cost, q.Decision.Overlap)
		}
		r := forced(t, b, row, int32(w))
		if got, want := float64(c.TTFT), r.Requests[row].FirstToken-r.Requests[row].Arrival; got != want {
			t.Errorf("%s: row %d: TTFT %v on worker %d, want %v", name, row, got, w, want)
		}
		moved := 0
		for i := range r.Requests {
			if int32(i) != row && r.Requests[i].Worker != b.Result.Requests[i].Worker {
				moved++
			}
		}
		if c.Moved != moved || c.Chosen && moved != 0 {
			t.Errorf("%s: row %d: %d requests moved by worker %d, want %d", name, row, c.Moved, w, moved)
		}
	}
	if b.Config.Router.Mode == router.KV && math.Abs(sum-1) > 1e-12 {
		t.Errorf("%s: row %d: probabilities add up to %v", name, row, sum)
	}
}

// forced runs the trace with one decision given.
func forced(t *testing.T, b *Base, row, worker int32) *sim.Result {
	t.Helper()
	c := *b.Config
	c.Force = make([]int32, b.Trace.Len())
	for i := range c.Force {
		c.Force[i] = -1
	}
	c.Force[row] = worker
	r, err := sim.Run(context.Background(), b.Trace, &c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWorst checks that decisions come by falling regret and that none without
// any is among them.
func TestWorst(t *testing.T) {
	b := base(t, func(c *sim.Config) { c.Router.Temperature = 2 })
	rows := b.Worst(1000)
	if len(rows) < 5 || len(rows) == b.Trace.Len() {
		t.Fatalf("%d of %d decisions have regret, want some", len(rows), b.Trace.Len())
	}
	last := int32(math.MaxInt32)
	for _, row := range rows {
		d := &b.Result.Requests[row].Decision
		regret := d.BestHeld - d.ChosenHeld
		if regret > last || regret <= 0 && d.Cost <= d.MinCost {
			t.Errorf("row %d with a regret of %d blocks after one of %d", row, regret, last)
		}
		last = regret
	}
	if got := b.Worst(3); len(got) != 3 || got[0] != rows[0] {
		t.Errorf("the worst three are %v, want the first of %v", got, rows[:5])
	}
}

func TestRowsOutsideTheRun(t *testing.T) {
	b := base(t, nil)
	for _, row := range []int32{-1, 60} {
		if _, err := b.Decisions(context.Background(), []int32{row}, 1, nil); err == nil || !strings.Contains(err.Error(), "expected a row from 0 to 59") {
			t.Errorf("row %d: got error %v", row, err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	b := base(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Decisions(ctx, []int32{3}, 2, nil); err == nil {
		t.Error("an interrupted explanation reports no error")
	}
}
