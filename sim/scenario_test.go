package sim

import (
	"context"
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/workloads"
)

// TestMain makes the property tests repeatable; the flags still override it.
func TestMain(m *testing.M) {
	for _, f := range [][2]string{{"rapid.seed", "20250801"}, {"rapid.checks", "400"}, {"rapid.nofailfile", "true"}, {"rapid.shrinktime", "10s"}} {
		if err := flag.Set(f[0], f[1]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// enough reports whether so much is drawn that something of every kind has to be
// among it; -short draws a fifth.
func enough() bool { return !testing.Short() }

// scenario is a small trace and a configuration to replay it under.
type scenario struct {
	rows []workloads.Row
	opts workloads.BuilderOptions
	cfg  Config
}

// dynamic reports whether prompts can repeat what earlier requests generated.
func (s *scenario) dynamic() bool {
	for _, r := range s.rows {
		if r.OutputTokenIDs != nil {
			return true
		}
	}
	return s.opts.Delta
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (s *scenario) trace(t fataler) *workloads.Trace {
	t.Helper()
	tr, err := workloads.FromRows(s.opts, s.rows...)
	if err != nil {
		t.Fatalf("the scenario's trace is refused: %v", err)
	}
	return tr
}

// run replays the scenario with every detail kept.
func (s *scenario) run(t fataler, change func(*Config)) (*Result, error) {
	t.Helper()
	c := s.cfg
	c.KeepTokenTimes, c.KeepAdmissions = true, true
	if change != nil {
		change(&c)
	}
	return Run(context.Background(), s.trace(t), &c)
}

// mustRun is run for scenarios that end.
func (s *scenario) mustRun(t fataler, change func(*Config)) *Result {
	t.Helper()
	r, err := s.run(t, change)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return r
}

func oneOf[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

// chance is true with a probability of about percent/100.
func chance(t *rapid.T, label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(t, label) >= 100-percent
}

// drawScenario makes a scenario in which everything is scarce: small pools,
// small budgets, few distinct prompts, arrivals that coincide.
func drawScenario(t *rapid.T) *scenario {
	s := &scenario{}
	bs := oneOf[int32](t, "block size", 2, 3, 4, 7, 8, 16, 64, 1)
	tbs := bs * oneOf[int32](t, "trace blocks", 1, 2, 3, 5)
	switch rapid.IntRange(0, 9).Draw(t, "trace block kind") {
	case 0:
		tbs = rapid.Int32Range(1, 40).Draw(t, "trace block size")
	case 1:
		tbs = bs * rapid.Int32Range(60, 140).Draw(t, "many blocks per trace block")
	}
	s.opts.BlockSize = tbs
	drawFleet(t, s, bs)
	drawRouter(t, &s.cfg.Router)
	drawRows(t, s)
	drawLoop(t, s)
	return s
}

func drawEngine(t *rapid.T, bs int32) engine.Params {
	p := engine.DefaultParams()
	p.BlockSize = bs
	p.NumGPUBlocks = rapid.Int32Range(12, 60).Draw(t, "pool")
	if chance(t, "big pool", 30) {
		p.NumGPUBlocks = rapid.Int32Range(60, 400).Draw(t, "big pool blocks")
	}
	p.MaxNumSeqs = oneOf[int32](t, "max seqs", 256, engine.Unlimited, 1, 2, 3, 6)
	p.MaxNumBatchedTokens = oneOf[int32](t, "token budget", 8192, engine.Unlimited, 512, 64, 24, 9, 3, 1)
	p.EnablePrefixCaching = !chance(t, "caching off", 12)
	p.EnableChunkedPrefill = !chance(t, "chunking off", 15)
	if chance(t, "fifo", 35) {
		p.Preemption = engine.FIFO
	}
	if chance(t, "context limit", 15) {
		p.MaxModelLen = rapid.Int32Range(5, 300).Draw(t, "max model len")
	}
	return p
}

func drawTiming(t *rapid.T, p *engine.Params) models.StepModel {
	if chance(t, "weighing", 20) {
		return weighing{}
	}
	return drawDynamoTiming(t, p)
}

// drawDynamoTiming draws one of the timing models that Dynamo's replay has.
func drawDynamoTiming(t *rapid.T, p *engine.Params) models.StepModel {
	o := models.TimingOptions{
		CapacityTokens: int64(p.NumGPUBlocks) * int64(p.BlockSize),
		SpeedupRatio:   oneOf(t, "speedup", 1.0, 1, 1, 0, 3.7), DecodeSpeedupRatio: oneOf(t, "decode speedup", 1.0, 1, 1.3),
	}
	if chance(t, "polynomial", 50) {
		m, err := models.NewPolynomial(o)
		if err != nil {
			t.Fatalf("%v", err)
		}
		return m
	}
	m, err := models.NewFixed(oneOf(t, "prefill ms", 10.0, 0, 5, 2.5), oneOf(t, "decode ms", 5.0, 0, 1, 2.5), o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

// weighing is a timing model in which every figure of a batch counts.
type weighing struct{}

// Step implements models.StepModel.
func (weighing) Step(b *models.Batch) (prefill, decode float64) {
	prefill = float64(b.PrefillSeqs + 3*b.PrefillContext + 7*b.PrefillPrefix + 11*b.PrefillPairs)
	decode = float64(13*b.DecodeSeqs + 17*b.DecodeContext + 19*b.ScheduledTokens)
	return prefill / 8192, decode / 8192
}

// DecodeRun implements models.StepModel.
func (m weighing) DecodeRun(start float64, seqs, context int64, ends []float64) {
	for i := range ends {
		_, d := m.Step(&models.Batch{DecodeSeqs: seqs, DecodeContext: context + int64(i)*seqs, ScheduledTokens: seqs})
		start += d
		ends[i] = start
	}
}

func drawFleet(t *rapid.T, s *scenario, bs int32) {
	groups := 1
	if chance(t, "two groups", 15) {
		groups = 2
	}
	for range groups {
		p := drawEngine(t, bs)
		n := oneOf(t, "workers", 1, 2, 3, 4)
		if chance(t, "many workers", 3) {
			n = 70
		}
		s.cfg.Fleet = append(s.cfg.Fleet, Group{Count: n, Engine: p, Timing: drawTiming(t, &p)})
	}
}

func drawRouter(t *rapid.T, p *router.Params) {
	*p = router.DefaultParams()
	if chance(t, "round robin", 20) {
		p.Mode = router.RoundRobin
		return
	}
	p.OverlapScoreCredit = oneOf(t, "credit", 1.0, 1, 0, 0.5, 1.7)
	p.OverlapScoreCreditDecay = oneOf(t, "decay", 0.0, 0, 0.3, 1)
	p.PrefillLoadScale = oneOf(t, "scale", 1.0, 1, 0, 2.5)
	p.DecodeActiveRequestWeight = oneOf(t, "request weight", 0.0, 0, 7.5, 0.1)
	p.Temperature = oneOf(t, "temperature", 0.0, 0, 0, 0.5, 2)
	p.TrackActiveBlocks = !chance(t, "no active blocks", 10)
	p.AssumeKVReuse = !chance(t, "no reuse", 10)
	p.TrackPrefillTokens = !chance(t, "no prefill tokens", 10)
	p.KVEventLagMS = oneOf(t, "lag", 0.0, 0, 0, 5, 33.25, 200)
	if chance(t, "queue", 35) {
		v := oneOf(t, "threshold", 0, 0.01, 0.1, 0.5, 1)
		p.QueueThreshold = &v
		p.QueuePolicy = oneOf(t, "order", router.FCFS, router.LCFS, router.WSPT)
	}
}

// drawRows draws prompts from a few families that share their beginnings.
func drawRows(t *rapid.T, s *scenario) {
	n := rapid.IntRange(1, 40).Draw(t, "rows")
	bs, tbs := int(s.cfg.Fleet[0].Engine.BlockSize), int(s.opts.BlockSize)
	room := min(int(s.cfg.Fleet[0].Engine.NumGPUBlocks)*bs, 900)
	step := oneOf(t, "time step", 5.0, 1, 16.5, 0.1, 60)
	sessions := chance(t, "sessions", 25)
	recorded := chance(t, "recorded answers", 8)
	priorities := s.cfg.Router.QueueThreshold != nil && chance(t, "priorities", 50)
	s.opts.Delta = sessions && chance(t, "delta", 40)
	last := map[string]float64{}
	for i := range n {
		r := workloads.Row{Timestamp: float64(rapid.IntRange(0, 25).Draw(t, "time")) * step}
		drawPrompt(t, &r, i, max(1, (room/oneOf(t, "prompt share", 3, 8, 1)+tbs-1)/tbs), tbs)
		r.OutputLength = rapid.Int32Range(0, oneOf[int32](t, "answer range", 4, 30, 90)).Draw(t, "answer")
		if recorded {
			r.OutputTokenIDs = []uint32{}
			for range r.OutputLength {
				r.OutputTokenIDs = append(r.OutputTokenIDs, rapid.Uint32Range(0, 1).Draw(t, "token"))
			}
		}
		if priorities {
			r.Priority = oneOf[int32](t, "priority", 0, 0, 1, 3, -5)
			r.StrictPriority = oneOf[uint32](t, "strict", 0, 0, 1, 4_000_000_000)
		}
		if sessions && chance(t, "in session", 70) {
			drawTurn(t, &r, last)
		}
		s.rows = append(s.rows, r)
	}
}

func drawPrompt(t *rapid.T, r *workloads.Row, row, blocks, tbs int) {
	k := rapid.IntRange(1, min(blocks, 30)).Draw(t, "prompt blocks")
	shared := rapid.IntRange(0, k).Draw(t, "shared")
	family := rapid.IntRange(0, 2).Draw(t, "family")
	for j := range k {
		switch {
		case j < shared:
			r.HashIDs = append(r.HashIDs, uint64(1000*family+j))
		case chance(t, "repeated id", 10):
			r.HashIDs = append(r.HashIDs, uint64(rapid.IntRange(0, 1).Draw(t, "id")))
		default:
			r.HashIDs = append(r.HashIDs, uint64(1_000_000+1000*row+j))
		}
	}
	if chance(t, "cut", 60) {
		r.InputLength = int32((k-1)*tbs + rapid.IntRange(1, tbs).Draw(t, "last block"))
	}
	if chance(t, "surplus id", 5) {
		r.InputLength = int32(k * tbs)
		r.HashIDs = append(r.HashIDs, uint64(rapid.IntRange(0, 2000).Draw(t, "surplus")))
	}
}

// drawTurn puts a row into a session. last holds each session's latest
// timestamp.
func drawTurn(t *rapid.T, r *workloads.Row, last map[string]float64) {
	r.SessionID = oneOf(t, "session", "a", "b", "c", "d")
	before, later := last[r.SessionID]
	if later {
		d := oneOf(t, "delay", 0.0, 0, 5, 12.5)
		if chance(t, "derived delay", 40) {
			r.Timestamp = before + d
		} else {
			r.Delay = &d
			r.Timestamp = before
		}
	}
	last[r.SessionID] = r.Timestamp
}

func drawLoop(t *rapid.T, s *scenario) {
	c := &s.cfg
	c.ArrivalSpeedup = oneOf(t, "arrival speedup", 1.0, 1, 1, 2, 0.5, 3.7)
	c.Seed = uint64(rapid.IntRange(0, 3).Draw(t, "seed"))
	if chance(t, "closed loop", 25) {
		c.Concurrency = oneOf(t, "concurrency", 1, 2, 5)
	}
	if chance(t, "soft stop", 10) {
		v := float64(rapid.IntRange(0, 80).Draw(t, "stop")) * 5
		c.MaxSimTimeMS = &v
	}
	if c.Router.Mode == router.KV && chance(t, "forced", 8) {
		for range s.rows {
			c.Force = append(c.Force, int32(rapid.IntRange(-1, c.Workers()-1).Draw(t, "worker")))
		}
	}
}

// drawTwins makes a scenario of recorded answers over two symbols on a tiny
// pool: blocks of generated tokens are hit while their owner still runs, and
// several copies of a block come and go.
func drawTwins(t *rapid.T) *scenario {
	s := &scenario{}
	bs := oneOf[int32](t, "block size", 1, 2, 3)
	s.opts.BlockSize = bs
	p := drawEngine(t, bs)
	p.NumGPUBlocks = rapid.Int32Range(3, 9).Draw(t, "tiny pool")
	p.MaxNumSeqs = 256
	p.EnablePrefixCaching, p.MaxModelLen = true, 0
	s.cfg.Fleet = []Group{{Count: 1, Engine: p, Timing: drawTiming(t, &p)}}
	drawRouter(t, &s.cfg.Router)
	for range rapid.IntRange(2, 12).Draw(t, "rows") {
		r := workloads.Row{Timestamp: float64(rapid.IntRange(0, 30).Draw(t, "time")) * 5, OutputTokenIDs: []uint32{}}
		r.HashIDs = []uint64{0}
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			r.HashIDs = append(r.HashIDs, uint64(rapid.IntRange(0, 1).Draw(t, "id")))
		}
		r.OutputLength = rapid.Int32Range(1, 3*bs+2).Draw(t, "answer")
		token := uint32(0)
		for i := range r.OutputLength {
			if i%bs == 0 {
				token = uint32(rapid.IntRange(0, 1).Draw(t, "token"))
			}
			r.OutputTokenIDs = append(r.OutputTokenIDs, token)
		}
		s.rows = append(s.rows, r)
	}
	s.cfg.ArrivalSpeedup = 1
	return s
}
