package sim

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/engine"
)

// TestNothingIsLost checks after every instant of random scenarios that each
// released request is in exactly one place, and at the end that everything
// balances.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOtherEngine(t, s)
		drawHost(t, s)
		s.cfg.Plain = rapid.Bool().Draw(t, "plain")
		s.cfg.KeepTokenTimes, s.cfg.KeepAdmissions = true, true
		run := stepThrough(t, s)
		if run == nil {
			return // a worker got stuck
		}
		res := run.finish()
		checkEnds(t, s, res)
		checkTokens(t, s, res)
		for i := range res.Requests {
			checkTimes(t, &res.Requests[i], res.TokenTimes[i], res.AdmissionLog[i])
			checkDecision(t, s, &res.Requests[i])
		}
		checkLittle(t, res)
		checkGaps(t, res)
		checkHost(t, s, res)
		if run.router != nil && !res.Stopped && (!run.router.Idle() || run.router.Waiting() > 0) {
			t.Fatal("the router holds load after the last request ended")
		}
	})
}

// stepThrough runs a scenario instant by instant. It returns nil where a worker
// got stuck.
func stepThrough(t *rapid.T, s *scenario) *simulation {
	run, err := newSimulation(s.trace(t), &s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	limit := math.Inf(1)
	if m := s.cfg.MaxSimTimeMS; m != nil {
		limit = *m
	}
	for at := 0.0; !math.IsInf(at, 1); {
		if at > limit {
			run.res.Stopped = true
			run.stop(limit)
			return run
		}
		if at < run.now {
			t.Fatalf("the clock goes back from %v to %v", run.now, at)
		}
		run.now = at
		run.instant()
		waiting, onWorkers := 0, 0
		if run.router != nil {
			waiting = run.router.Waiting()
		}
		for w, worker := range run.workers {
			onWorkers += worker.InFlight()
			for _, sig := range worker.Signals() {
				if !run.idle(w) && sig.Kind != engine.FirstToken {
					onWorkers++ // decided at the start of the pass, known at its end
				}
			}
			if run.idle(w) && worker.HasWork() && run.stuck == nil && math.IsInf(worker.NextTransfer(), 1) {
				t.Fatalf("worker %d idles at %v ms with %d requests", w, at, worker.InFlight())
			}
		}
		if got := run.done + waiting + onWorkers; got != run.res.Released || len(run.live)-len(run.spare) != waiting+onWorkers {
			t.Fatalf("at %v ms %d requests are released, but %d ended, %d wait in the router and %d are on workers",
				at, run.res.Released, run.done, waiting, onWorkers)
		}
		at = run.driver.next()
		for _, e := range run.ends {
			at = min(at, e)
		}
		at = min(at, run.nextTransfer())
	}
	if run.stuck != nil {
		return nil
	}
	return run
}

// checkEnds checks that every request is routed and ends exactly once.
func checkEnds(t *rapid.T, s *scenario, res *Result) {
	ends := slices.Repeat([]int{0}, len(s.rows))
	for _, row := range res.Finished {
		ends[row]++
	}
	for i, row := range res.Routed {
		if int(res.Requests[row].Order) != i {
			t.Fatalf("row %d is %d. in routing order and has order %d", row, i, res.Requests[row].Order)
		}
	}
	for i := range res.Requests {
		r := &res.Requests[i]
		want := 1
		if r.Status == Unfinished {
			want = 0
			if !res.Stopped {
				t.Fatalf("row %d did not end", i)
			}
		}
		if ends[i] != want || (r.Order >= 0) != (r.Worker >= 0) {
			t.Fatalf("row %d (%v, worker %d, order %d) ended %d times", i, r.Status, r.Worker, r.Order, ends[i])
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(res.Routed)))) != len(res.Routed) {
		t.Fatalf("a row was routed twice: %v", res.Routed)
	}
}

// checkTokens checks that workers generated what requests received, and
// computed what the caches did not serve.
func checkTokens(t *rapid.T, s *scenario, res *Result) {
	var generated, output, computed, prompts, preemptions, sent, routed int64
	for _, w := range res.Workers {
		generated += w.OutputTokens
		computed += w.PrefillTokens
		preemptions += w.Preemptions
		sent += w.Requests
	}
	for i := range res.Requests {
		r := &res.Requests[i]
		output += int64(r.OutputTokens)
		routed += int64(min(1, r.Order+1))
		if r.Admissions > 0 {
			prompts += int64(r.InputTokens - min(r.InputTokens, r.FirstReused))
		}
		if r.Status == Completed {
			want := s.rows[i].OutputLength
			for _, g := range s.cfg.Fleet {
				if m := g.Engine.MaxModelLen; m > 0 && len(s.cfg.Fleet) == 1 {
					want = min(want, m-r.InputTokens)
				}
				if p := &g.Engine; p.Backend == engine.TRTLLM {
					want = min(want, p.NumGPUBlocks*p.BlockSize-r.InputTokens)
				}
			}
			if len(s.cfg.Fleet) == 1 && r.OutputTokens != want {
				t.Fatalf("row %d got %d tokens, expected %d", i, r.OutputTokens, want)
			}
		}
		if r.Status == Rejected && (r.OutputTokens != 0 || r.Admissions != 0) {
			t.Fatalf("row %d was rejected after %d admissions and %d tokens", i, r.Admissions, r.OutputTokens)
		}
	}
	if generated != output || sent != routed {
		t.Fatalf("workers got %d requests and generated %d tokens, requests were routed %d times and received %d", sent, generated, routed, output)
	}
	if preemptions == 0 && !res.Stopped && computed != prompts {
		t.Fatalf("%d prompt tokens computed, expected %d", computed, prompts)
	}
	if computed < prompts && !res.Stopped {
		t.Fatalf("%d prompt tokens computed, expected at least %d", computed, prompts)
	}
}

// checkTimes checks the order of a request's times.
func checkTimes(t *rapid.T, r *Request, tokens []float64, admissions []Admission) {
	last := math.Inf(-1)
	for _, at := range []float64{r.Arrival, r.Dispatched, r.FirstAdmit, r.FirstToken, r.SecondToken, r.LastToken, r.Terminal} {
		if at < last {
			t.Fatalf("times go back: %+v", *r)
		}
		if !math.IsNaN(at) && !(at == r.SecondToken && r.Status == Unfinished) {
			last = at
		}
	}
	if r.Status == Unfinished {
		return
	}
	if !slices.IsSorted(tokens) || len(tokens) != int(r.OutputTokens) || len(admissions) != int(r.Admissions) {
		t.Fatalf("%d tokens and %d admissions, expected %d and %d, in order", len(tokens), len(admissions), r.OutputTokens, r.Admissions)
	}
	for _, a := range admissions {
		if a.Reused > r.MaxReused || a.At > r.Terminal || a.At < r.FirstAdmit {
			t.Fatalf("admission %+v does not fit %+v", a, *r)
		}
	}
	if n := len(tokens); n > 0 && (tokens[0] != r.FirstToken || tokens[n-1] != r.LastToken || r.Terminal != r.LastToken) {
		t.Fatalf("tokens at %v do not fit %+v", tokens, *r)
	}
	if r.Status == Completed && r.Admissions == 0 {
		t.Fatalf("completed without an admission: %+v", *r)
	}
}

// checkDecision checks a decision's terms and its place under the ceilings.
func checkDecision(t *rapid.T, s *scenario, r *Request) {
	d := &r.Decision
	if r.Order < 0 {
		return
	}
	if d.ChosenHeld > d.BestHeld || d.BestHeld > d.CeilingHeld && s.cfg.Router.QueueThreshold == nil {
		t.Fatalf("held %d, best %d, ceiling %d, expected them to ascend", d.ChosenHeld, d.BestHeld, d.CeilingHeld)
	}
	blocks := r.InputTokens / s.cfg.Fleet[0].Engine.BlockSize
	if d.CeilingHeld > blocks || d.Overlap > float64(blocks) || d.Overlap > d.BestOverlap {
		t.Fatalf("overlaps %+v for a prompt of %d blocks", *d, blocks)
	}
	if math.IsNaN(d.Cost) {
		return // round robin
	}
	if d.Cost != (d.PrefillTerm+d.DecodeTerm)+d.RequestTerm || d.MinCost > d.Cost || d.Tied < 1 || int(d.Tied) > s.cfg.Ranks() {
		t.Fatalf("terms %+v do not add up", *d)
	}
	if s.cfg.Router.Temperature == 0 && !d.Forced && d.Cost != d.MinCost {
		t.Fatalf("chosen at %v where %v is the least", d.Cost, d.MinCost)
	}
}

// checkLittle compares the area under the number of requests in the system
// with the sum of their sojourn times, walking the events in order of time.
func checkLittle(t *rapid.T, res *Result) {
	type event struct {
		at   float64
		step int
	}
	var events []event
	sum := 0.0
	for i := range res.Requests {
		r := &res.Requests[i]
		if math.IsNaN(r.Arrival) {
			continue
		}
		end := r.Terminal
		if math.IsNaN(end) {
			end = res.EndMS
		}
		sum += end - r.Arrival
		events = append(events, event{r.Arrival, 1}, event{end, -1})
	}
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return b.step - a.step
	})
	n, area, since := 0, 0.0, 0.0
	for _, e := range events {
		area += float64(n) * (e.at - since)
		since = e.at
		if n += e.step; n < 0 {
			t.Fatal("more requests ended than arrived")
		}
	}
	if n != 0 || math.Abs(area-sum) > 1e-9*(1+sum) || since > res.EndMS {
		t.Fatalf("area %v, sum of sojourn times %v, %d left, last event at %v of %v ms", area, sum, n, since, res.EndMS)
	}
}

// checkGaps compares the statistics of token gaps with the token times.
func checkGaps(t *rapid.T, res *Result) {
	var n, rates int64
	sum, rateSum, longest := 0.0, 0.0, 0.0
	for _, times := range res.TokenTimes {
		for i := 1; i < len(times); i++ {
			gap := times[i] - times[i-1]
			n++
			sum += gap
			longest = max(longest, gap)
			if gap > 0 {
				rates++
				rateSum += 1000 / gap
			}
		}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }
	g := &res.Gaps
	if g.ITL.Count() != n || g.Rate.Count() != rates {
		t.Fatalf("%d gaps and %d rates, expected %d and %d", g.ITL.Count(), g.Rate.Count(), n, rates)
	}
	if n > 0 && (!near(g.ITL.Mean(), sum/float64(n)) || g.ITL.Max() != longest) {
		t.Fatalf("mean gap %v, longest %v, expected %v and %v", g.ITL.Mean(), g.ITL.Max(), sum/float64(n), longest)
	}
	if rates > 0 && !near(g.Rate.Mean(), rateSum/float64(rates)) {
		t.Fatalf("mean rate %v, expected %v", g.Rate.Mean(), rateSum/float64(rates))
	}
}

// TestIndexStaysSmall checks that the router's index holds no more than the
// pools do, however many blocks a trace has.
func TestIndexStaysSmall(t *testing.T) {
	s := idleScenario(t, 2)
	s.cfg.Fleet[0].Engine.NumGPUBlocks = 50
	for i := range 400 {
		s.add(float64(5*i), 640, 1, uint64(2*i), uint64(2*i+1))
	}
	run, err := newSimulation(s.trace(t), &s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	evictions := int64(0)
	for _, w := range run.finish().Workers {
		evictions += w.Evictions
	}
	if evictions < 3000 {
		t.Fatalf("%d evictions, expected about 3900", evictions)
	}
	for i, w := range run.workers {
		run.router.Apply(int32(i), w.Events.Take(math.Inf(1)))
	}
	held := 0
	for row := range s.rows {
		var best int32
		q := run.newRequest(int32(row))
		for _, w := range run.workers {
			best += w.Held(q.req.Blocks)
		}
		held += int(best)
		if c, ok := run.router.Arrive(&q.req, run.now, 0); !ok || c.BestOverlap > 10 {
			t.Fatalf("row %d: %+v", row, c)
		} else if int32(c.BestOverlap) > best {
			t.Fatalf("row %d: the router believes in %v blocks, the pools hold %d", row, c.BestOverlap, best)
		}
	}
	if held > 100 {
		t.Errorf("the pools hold %d blocks of prompts, expected at most 100", held)
	}
}
