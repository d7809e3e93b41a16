package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"routesim/sim/engine"
	"routesim/sim/metrics"
	"routesim/workloads"
)

func newResult(t *workloads.Trace, workers int, c *Config) *Result {
	r := &Result{
		Requests: make([]Request, t.Len()), Workers: make([]Worker, workers),
		Routed: make([]int32, 0, t.Len()), Finished: make([]int32, 0, t.Len()),
	}
	for i := range r.Requests {
		r.Requests[i] = Request{
			Arrival: NaN, Dispatched: NaN, FirstAdmit: NaN, FirstToken: NaN,
			SecondToken: NaN, LastToken: NaN, Terminal: NaN,
			InputTokens: t.InputTokens(i), Worker: -1, Order: -1,
		}
	}
	if len(c.Fleet) > 1 {
		r.GroupGaps = make([]metrics.Gaps, len(c.Fleet))
	}
	if c.KeepAdmissions {
		r.AdmissionLog = make([][]Admission, t.Len())
	}
	if c.KeepTokenTimes {
		r.TokenTimes = make([][]float64, t.Len())
	}
	return r
}

// record notes the end of a request.
func (s *simulation) record(w int, q *request, kind engine.SignalKind) {
	r := &s.res.Requests[q.seq.Row]
	r.Terminal = s.now
	r.Status = Completed
	if kind == engine.Refused {
		r.Status = Rejected
	}
	if q.hand != nil {
		s.pd.notePools(q, r)
	} else {
		s.noteAdmissions(&q.seq)
	}
	s.noteTokens(w, &q.seq, r)
	s.res.Finished = append(s.res.Finished, q.seq.Row)
	if r.Status == Completed {
		s.res.DurationMS = max(s.res.DurationMS, s.now)
	}
}

func (s *simulation) noteAdmissions(q *engine.Seq) {
	r := &s.res.Requests[q.Row]
	if r.Admissions = q.Admissions; q.Admissions > 0 {
		r.FirstAdmit, r.FirstReused, r.MaxReused = q.FirstAdmit, q.FirstReused, q.MaxReused
		r.HostReused = q.HostReused
	}
	r.OutputTokens = q.Generated
}

// noteTokens notes the times of the request's tokens.
func (s *simulation) noteTokens(w int, q *engine.Seq, r *Request) {
	batch := s.tokens.open
	from := len(batch.times)
	s.workers[w].TokenTimes(q, func(part []float64) { batch.times = append(batch.times, part...) })
	times := batch.times[from:]
	if len(times) == 0 {
		return
	}
	r.FirstToken, r.LastToken = times[0], times[len(times)-1]
	if len(times) > 1 {
		r.SecondToken = times[1]
	}
	if s.res.TokenTimes != nil {
		s.res.TokenTimes[q.Row] = slices.Clone(times)
	}
	s.tokens.add(int(q.Row), s.extra[w].group)
}

// finish sums up the run.
func (s *simulation) finish() *Result {
	res := s.res
	s.tokens.close()
	res.EndMS = s.now
	if s.disks != nil {
		res.Disk = s.disks.Content()
	}
	if s.hostPool != nil {
		res.HostPool = s.hostPool.Content()
	}
	for _, g := range s.stages {
		for _, r := range g.fronts {
			res.Counters.Add(&r.Counters)
		}
		for _, w := range g.workers {
			res.LostBatches += w.Events.Dropped
		}
	}
	for _, q := range s.live {
		if r := &res.Requests[q.seq.Row]; r.Status == Unfinished {
			if q.hand != nil {
				s.pd.notePools(q, r)
			} else {
				s.noteAdmissions(&q.seq)
			}
		}
	}
	pool := Aggregated
	if s.pd != nil {
		pool = DecodePool
		res.Prefill = make([]Worker, len(s.pd.prefill.workers))
		s.sumUp(res.Prefill, &s.pd.prefill, PrefillPool)
		res.PrefillWorkerSeconds = float64(s.cfg.PrefillWorkers()) * (s.now / 1000)
	}
	s.sumUp(res.Workers, &s.stage, pool)
	res.WorkerSeconds = float64(s.cfg.Workers()) * (s.now / 1000)
	res.TokenDigest = tokenDigest(res.Requests)
	return res
}

// sumUp fills in the totals of a pool's workers.
func (s *simulation) sumUp(out []Worker, g *stage, pool Pool) {
	res := s.res
	for i, w := range g.workers {
		st := w.Stats(s.now)
		st = g.extra[i].addGone(st, s.now)
		out[i] = Worker{
			Requests: g.extra[i].requests, InputTokens: g.extra[i].input,
			OutputTokens: st.OutputTokens, PrefillTokens: st.PrefillTokens,
			BusyMS: st.BusyMS, Passes: st.Passes, OutOfRange: st.OutOfRange,
			PeakBlocks: st.PeakBlocks, PeakRunning: st.PeakRunning, PeakWaiting: st.PeakWaiting,
			Evictions: st.Evictions, Preemptions: st.Preemptions, Host: st.Host, Disk: st.Disk,
		}
		if s.now > 0 {
			out[i].MeanBlocks = st.BlockMS / s.now
		}
		res.CommittedPrefillTokens += st.Committed
		for _, a := range w.Admissions {
			res.AdmissionLog[a.Row] = append(res.AdmissionLog[a.Row], Admission{At: a.At, Reused: a.Reused, Pool: pool})
		}
	}
}

// tokenDigest is the SHA-256 over (row, number of tokens, hash of token times)
// of the requests that ended, in row order, each as a little-endian 64-bit word.
func tokenDigest(requests []Request) [32]byte {
	h := sha256.New()
	var buf [24]byte
	for i := range requests {
		r := &requests[i]
		if r.Status == Unfinished {
			continue
		}
		binary.LittleEndian.PutUint64(buf[0:], uint64(i))
		binary.LittleEndian.PutUint64(buf[8:], uint64(r.OutputTokens))
		binary.LittleEndian.PutUint64(buf[16:], r.TokenHash)
		h.Write(buf[:])
	}
	return [32]byte(h.Sum(nil))
}
