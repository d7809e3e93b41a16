package explain

import (
	"context"
	"fmt"
	"math"
	"sync"

	"routesim/reports"
	"routesim/sim"
)

// job is one candidate of a decision to be run.
type job struct {
	choice    Choice
	decision  int // in the list
	candidate int
}

// alternatives does the jobs, and with them fills in what would have come of
// each candidate.
func (b *Base) alternatives(ctx context.Context, list []Decision, jobs []job, parallel int, done func()) error {
	queue := make(chan job)
	failed := make(chan error, max(1, parallel))
	var group sync.WaitGroup
	for range max(1, parallel) {
		group.Go(func() {
			for j := range queue {
				if err := b.alternative(ctx, j, &list[j.decision].Candidates[j.candidate]); err != nil {
					failed <- err
					for range queue { // nobody else needs them
					}
					return
				}
				if done != nil {
					done()
				}
			}
		})
	}
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

// alternative fills in one candidate.
func (b *Base) alternative(ctx context.Context, j job, c *Candidate) error {
	r := b.Result
	if !c.Chosen {
		config := *b.Config
		config.Progress = nil
		config.Divert = &sim.Diversion{Row: j.choice.Row, Pool: j.choice.Pool, Worker: c.Worker}
		var err error
		if r, err = sim.Run(ctx, b.Trace, &config); err != nil {
			return fmt.Errorf("row %d on worker %s: %w", j.choice.Row, c.Name, err)
		}
		c.Moved = b.moved(r, j.choice.Row)
	}
	held := kept(r, j.choice).ChosenHeld
	c.Held = &held
	overhead := reports.RequestMSByWorker(b.Config)
	own := latencies(&r.Requests[j.choice.Row], overhead)
	c.TTFT, c.ITL, c.E2E = reports.Number(own.TTFT), reports.Number(own.TPOT), reports.Number(own.E2E)
	var ttft, itl, e2e mean
	for i := range r.Requests {
		l := latencies(&r.Requests[i], overhead)
		if !math.IsNaN(l.E2E) {
			ttft.add(l.TTFT)
			e2e.add(l.E2E)
		}
		if !math.IsNaN(l.TPOT) {
			itl.add(l.TPOT)
		}
	}
	c.MeanTTFT, c.MeanITL, c.MeanE2E = ttft.number(), itl.number(), e2e.number()
	return nil
}

// mean is a mean in the making.
type mean struct{ sum, n float64 }

func (m *mean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }

func (m *mean) number() reports.Number { return reports.Number(m.sum / m.n) }

// moved counts the other requests that went to another worker than in the run.
func (b *Base) moved(r *sim.Result, row int32) (n int) {
	pools := []sim.Pool{sim.Aggregated}
	if b.Config.Disaggregated() {
		pools = []sim.Pool{sim.PrefillPool, sim.DecodePool}
	}
	for i := range int32(len(r.Requests)) {
		for _, pool := range pools {
			if i != row && worker(r, i, pool) != worker(b.Result, i, pool) {
				n++
				break
			}
		}
	}
	return n
}

// latencies of a request, NaN where it did not complete.
func latencies(q *sim.Request, overhead []float64) reports.Latencies {
	if q.Status != sim.Completed {
		nan := math.NaN()
		return reports.Latencies{TTFT: nan, TTST: nan, TPOT: nan, E2E: nan}
	}
	return reports.RequestLatencies(q, overhead[q.Worker])
}
