package reports

import (
	"math"

	"routesim/sim"
	"routesim/sim/metrics"
	"routesim/workloads"
)

// Summary sums up one run. Figures that need a completed request are NaN when
// there is none, and null in JSON.
type Summary struct {
	CommittedPrefillTokens int64 // tokens scheduled for requests that scheduled prompt tokens
	Requests               int64 // released to the router
	Completed              int64
	InputTokens            int64 // of completed requests
	OutputTokens           int64 // of completed requests

	DurationMS    float64
	RequestRate   float64 // completed requests/s
	InputRate     float64 // tokens/s
	OutputRate    float64 // tokens/s
	TotalRate     float64 // tokens/s
	WorkerSeconds float64 // provisioned, of the workers that decode
	GPUsPerWorker float64 // of them, NaN when worker groups differ

	// The same for the prefill pool of disaggregated serving, 0 where there is
	// none.
	PrefillWorkerSeconds float64
	PrefillGPUsPerWorker float64

	GPUHours         float64
	Reused           float64       // share of input tokens, the most over all admissions
	ReusedFirst      float64       // share of input tokens, at first admission
	TTFT, TTST, TPOT metrics.Stats // ms, one value per request
	ITL              metrics.Stats // ms, one value per token gap
	E2E              metrics.Stats // ms, one value per request
	UserRate         metrics.Stats // tokens/s, one value per token gap above 0

	Goodput *Goodput      // nil without an SLA
	Disk    *DiskFigures  // nil without disk tiers
	Hosts   []HostFigures // host tiers that workers share

	Routesim Details
}

// Goodput counts the completed requests that kept within the SLA.
type Goodput struct {
	Bounds      sim.SLA
	Completed   int64
	RequestRate float64 // requests/s
	OutputRate  float64 // their tokens/s
}

// gpusPerGroup is the number of accelerators a worker of the group occupies.
func gpusPerGroup(g *sim.Group) float64 { return math.Max(float64(g.GPUs), 1) * float64(g.Ranks()) }

// Summarize computes the figures of a run of t under c.
func Summarize(t *workloads.Trace, c *sim.Config, r *sim.Result) *Summary {
	s := &Summary{
		CommittedPrefillTokens: r.CommittedPrefillTokens,
		Requests:               int64(r.Released),
		DurationMS:             r.DurationMS,
		WorkerSeconds:          r.WorkerSeconds,
		PrefillWorkerSeconds:   r.PrefillWorkerSeconds,
		ITL:                    r.Gaps.ITL.Stats(),
		UserRate:               r.Gaps.Rate.Stats(),
	}
	s.addRequests(c, r)
	s.addRates()
	s.addGPUs(c)
	s.Disk, s.Hosts = diskTier(c, r), sharedHosts(r)
	s.Routesim = details(t, c, r, s)
	return s
}

// addRequests sums over the completed requests.
func (s *Summary) addRequests(c *sim.Config, r *sim.Result) {
	var ttft, ttst, tpot, e2e []float64
	ttft = make([]float64, 0, len(r.Requests))
	ttst, tpot, e2e = make([]float64, 0, len(r.Requests)), make([]float64, 0, len(r.Requests)), make([]float64, 0, len(r.Requests))
	overhead := RequestMSByWorker(c)
	var good *Goodput
	if c.SLA.TTFT != nil || c.SLA.ITL != nil || c.SLA.E2E != nil {
		good = &Goodput{Bounds: c.SLA}
	}
	var reused, reusedFirst, goodTokens int64
	for i := range r.Requests {
		q := &r.Requests[i]
		if !counted(q) {
			continue
		}
		s.Completed++
		s.InputTokens += int64(q.InputTokens)
		s.OutputTokens += int64(q.OutputTokens)
		reused += int64(mostReused(r, i))
		reusedFirst += int64(q.FirstReused)
		l := RequestLatencies(q, overheadOf(q, overhead))
		if q.OutputTokens > 0 {
			ttft, e2e = append(ttft, l.TTFT), append(e2e, l.E2E)
		}
		if q.OutputTokens > 1 {
			ttst, tpot = append(ttst, l.TTST), append(tpot, l.TPOT)
		}
		if good != nil && meets(&c.SLA, q, l) {
			good.Completed++
			goodTokens += int64(q.OutputTokens)
		}
	}
	s.TTFT, s.TTST, s.TPOT, s.E2E = metrics.Exact(ttft), metrics.Exact(ttst), metrics.Exact(tpot), metrics.Exact(e2e)
	s.Reused = share(reused, s.InputTokens)
	s.ReusedFirst = share(reusedFirst, s.InputTokens)
	if good != nil {
		good.RequestRate = s.perSecond(good.Completed)
		good.OutputRate = s.perSecond(goodTokens)
		s.Goodput = good
	}
}

// mostReused returns the most tokens that a request reused at any admission, in
// either pool where there are two.
func mostReused(r *sim.Result, row int) int32 {
	n := r.Requests[row].MaxReused
	if r.Handoffs != nil {
		n = max(n, r.Handoffs[row].DecodeReused)
	}
	return n
}

func (s *Summary) addRates() {
	s.RequestRate = s.perSecond(s.Completed)
	s.InputRate = s.perSecond(s.InputTokens)
	s.OutputRate = s.perSecond(s.OutputTokens)
	s.TotalRate = s.perSecond(s.InputTokens + s.OutputTokens)
	if s.Completed == 0 {
		s.DurationMS = math.NaN()
	}
}

// perSecond divides by the run's duration, at least a nanosecond; NaN when
// nothing completed.
func (s *Summary) perSecond(n int64) float64 {
	if s.Completed == 0 {
		return math.NaN()
	}
	return float64(n) / math.Max(s.DurationMS/msPerSecond, 1e-9)
}

func (s *Summary) addGPUs(c *sim.Config) {
	var mean, prefill float64
	s.GPUsPerWorker, mean = gpusOf(c.Fleet)
	s.PrefillGPUsPerWorker, prefill = gpusOf(c.Prefill)
	s.GPUHours = (float64(s.PrefillWorkerSeconds*prefill) + float64(s.WorkerSeconds*mean)) / 3600
}

// gpusOf returns the accelerators of each worker of a pool, NaN where groups
// differ, and of its workers on average; 0 for no pool.
func gpusOf(groups []sim.Group) (each, mean float64) {
	total, gpus := 0.0, 0.0
	for i := range groups {
		g := &groups[i]
		per := gpusPerGroup(g)
		total += float64(g.Count)
		gpus += float64(float64(g.Count) * per)
		if i == 0 {
			each = per
		} else if per != each {
			each = math.NaN()
		}
	}
	if total == 0 {
		return 0, 0
	}
	return each, gpus / total
}

// share returns part/whole, NaN when the whole is nothing.
func share(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}
