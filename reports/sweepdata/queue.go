package sweepdata

import (
	"math"
	"slices"

	"routesim/sim"
)

// Queue tells how the number of requests in the system, those that have arrived
// and not ended, developed while requests arrived.
type Queue struct {
	// Quarters are the means over the four quarters of the time from the first
	// to the last arrival; NaN where all arrived at once.
	Quarters [4]float64
	AtEnd    float64 // in the system right after the last arrival
	// WaitQuarters are the mean times to the first token in ms of the requests
	// that arrived in each quarter; one without any counts until it ended, or
	// until the run did. NaN for a quarter without arrivals.
	WaitQuarters [4]float64
	PerMinute    float64 // growth from the third quarter's mean to the fourth's, per minute
}

// Growth by this factor from the second quarter to the fourth is growth: under
// a constant overload both figures rise by 2.33, and half of that is left where
// there was something to begin with.
const growth = 1.5

// Growing is the rule for a saturated run. From the second quarter of the
// arrivals to the fourth the mean number of requests in the system rises quarter
// by quarter, by half in all and by at least one request per worker, and the
// requests of the fourth quarter wait half as long again for their first token
// as those of the second: more work came in than went out, and the latencies of
// a longer trace would be longer. More traffic alone makes more requests, but
// does not make them wait.
func (q *Queue) Growing(workers int) bool {
	n, w := &q.Quarters, &q.WaitQuarters
	return n[1] < n[2] && n[2] < n[3] && n[3] >= growth*n[1] && n[3]-n[1] >= float64(workers) && w[3] >= growth*w[1]
}

// queueOf measures the queue of a run.
func queueOf(r *sim.Result) Queue {
	nan := math.NaN()
	q := Queue{Quarters: [4]float64{nan, nan, nan, nan}, WaitQuarters: [4]float64{nan, nan, nan, nan}, AtEnd: nan, PerMinute: nan}
	first, last := math.Inf(1), math.Inf(-1)
	for i := range r.Requests {
		if a := r.Requests[i].Arrival; !math.IsNaN(a) {
			first, last = min(first, a), max(last, a)
		}
	}
	if !(first < last) {
		return q
	}
	var inSystem, waits, counts [4]float64
	quarter := (last - first) / 4
	q.AtEnd = 0
	for i := range r.Requests {
		s := &r.Requests[i]
		if math.IsNaN(s.Arrival) {
			continue
		}
		end := endOf(s, r.EndMS)
		if end > last {
			q.AtEnd++
		}
		for k := range inSystem {
			from, to := first+float64(float64(k)*quarter), first+float64(float64(k+1)*quarter)
			inSystem[k] += max(0, min(end, to)-max(s.Arrival, from))
		}
		k := min(3, int((s.Arrival-first)/quarter))
		token := s.FirstToken
		if math.IsNaN(token) {
			token = end
		}
		waits[k] += token - s.Arrival
		counts[k]++
	}
	for k := range inSystem {
		q.Quarters[k] = inSystem[k] / quarter
		if counts[k] > 0 {
			q.WaitQuarters[k] = waits[k] / counts[k]
		}
	}
	q.PerMinute = (q.Quarters[3] - q.Quarters[2]) / (quarter / 60_000)
	return q
}

// endOf is when a request left the system: its end, or the run's.
func endOf(s *sim.Request, end float64) float64 {
	if math.IsNaN(s.Terminal) {
		return end
	}
	return s.Terminal
}

// values lists the figures in the order of queueNames.
func (q *Queue) values() []float64 {
	return slices.Concat(q.Quarters[:], q.WaitQuarters[:], []float64{q.AtEnd, q.PerMinute})
}

// set is the inverse of values.
func (q *Queue) set(v []float64) {
	copy(q.Quarters[:], v[0:4])
	copy(q.WaitQuarters[:], v[4:8])
	q.AtEnd, q.PerMinute = v[8], v[9]
}

func queueNames() []string {
	return []string{
		"in_system_q1", "in_system_q2", "in_system_q3", "in_system_q4",
		"wait_q1_ms", "wait_q2_ms", "wait_q3_ms", "wait_q4_ms",
		"in_system_at_last_arrival", "in_system_growth_per_min",
	}
}
