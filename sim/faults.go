package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// FaultKind is what happens to a worker.
type FaultKind uint8

// The faults.
const (
	Crash FaultKind = iota // its requests fail and its cache is lost
	Drain                  // it gets no more requests and finishes those it has
)

// Fault is a time during which a worker is not there.
type Fault struct {
	Kind     FaultKind
	Worker   int32
	From, To float64 // ms; To is +Inf where it does not come back
}

// FaultForm describes a list of faults in words.
const FaultForm = "crash:WORKER@FROM-TO or drain:WORKER@FROM-TO in ms, or @FROM alone, separated by commas"

// ParseFaults reads a list such as crash:2@5000-8000,drain:0@2000.
func ParseFaults(text string) ([]Fault, error) {
	var list []Fault
	for _, part := range strings.Split(text, ",") {
		kind, rest, ok := strings.Cut(strings.TrimSpace(part), ":")
		worker, span, ok2 := strings.Cut(rest, "@")
		from, to, ends := strings.Cut(span, "-")
		f := Fault{To: math.Inf(1)}
		switch kind {
		case "crash":
		case "drain":
			f.Kind = Drain
		default:
			ok = false
		}
		n, err := strconv.ParseUint(worker, 10, 31)
		f.Worker = int32(n)
		good := ok && ok2 && err == nil && timeOf(from, &f.From)
		if ends {
			good = good && timeOf(to, &f.To)
		}
		if !good || f.To <= f.From {
			return nil, fmt.Errorf("found %q, expected %s", part, FaultForm)
		}
		list = append(list, f)
	}
	return list, nil
}

func timeOf(text string, to *float64) bool {
	v, err := strconv.ParseFloat(text, 64)
	*to = v
	return err == nil && v >= 0 && v <= endOfTime
}

// checkFaults refuses faults of workers that do not exist.
func (c *Config) checkFaults() error {
	for _, f := range c.Faults {
		switch {
		case int(f.Worker) >= c.Workers():
			return fmt.Errorf("faults: found worker %d, expected 0 to %d", f.Worker, c.Workers()-1)
		case c.Disaggregated():
			return fmt.Errorf("faults: found some in disaggregated serving, expected none there")
		case c.Router.Live == nil:
			return fmt.Errorf("faults: found some under replay semantics, expected live ones")
		}
	}
	return nil
}

// faultEvent is the beginning or the end of a fault.
type faultEvent struct {
	at    float64
	fault *Fault
	back  bool
}

// faults are the events to come, by time.
func (c *Config) faultEvents() (list []faultEvent) {
	for i := range c.Faults {
		f := &c.Faults[i]
		list = append(list, faultEvent{f.From, f, false})
		if !math.IsInf(f.To, 1) {
			list = append(list, faultEvent{f.To, f, true})
		}
	}
	slices.SortStableFunc(list, func(a, b faultEvent) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return list
}

// nextFault returns when the next fault begins or ends, +Inf for never.
func (s *simulation) nextFault() float64 {
	if len(s.faults) == 0 {
		return math.Inf(1)
	}
	return s.faults[0].at
}

// strike lets the faults that are due begin and end.
func (s *simulation) strike() {
	due := false
	for len(s.faults) > 0 && s.faults[0].at <= s.now {
		e := s.faults[0]
		s.faults = s.faults[1:]
		due = true
		s.hear(s.now)
		for i := range s.workers {
			if s.workerOf(i) != e.fault.Worker {
				continue
			}
			for _, r := range s.fronts {
				r.SetAbsent(int32(i), !e.back)
			}
			if e.fault.Kind == Crash && !e.back {
				s.crash(i)
			}
		}
	}
	if due {
		s.drainAll()
	}
}

// workerOf returns the worker that a rank belongs to.
func (s *simulation) workerOf(rank int) int32 {
	if s.ranks == nil {
		return int32(rank)
	}
	return s.ranks[rank].worker
}

// crash fails every request of a rank and puts an empty engine in its place.
func (s *simulation) crash(i int) {
	old := s.workers[i]
	old.StopAt(s.now)
	var lost []*request
	old.Each(func(q *engine.Seq) { lost = append(lost, s.live[q.Tag]) })
	if !s.idle(i) {
		// The pass under way has let go of what it would have finished.
		for _, sig := range old.Signals() {
			if sig.Kind != engine.FirstToken {
				lost = append(lost, s.live[sig.Seq.Tag])
			}
		}
	}
	for _, q := range lost {
		q.seq.Generated = old.GeneratedBy(&q.seq, s.now, true)
	}
	old.Idle(s.now)
	s.retire(i, old)
	s.ends[i] = math.Inf(1)
	s.ready[i>>6] &^= 1 << (i & 63)
	w := s.newWorker(&s.groups[s.extra[i].group], i, s.sampler)
	w.Events = old.Events.Renew(w.Events)
	s.workers[i] = w
	for _, r := range s.fronts {
		r.Purge(int32(i))
	}
	for _, q := range lost {
		s.fail(q)
	}
}

// fail ends a request whose worker crashed.
func (s *simulation) fail(q *request) {
	r := &s.res.Requests[q.seq.Row]
	r.Status, r.Refusal, r.Terminal, r.OutputTokens = Rejected, router.WorkerLost, s.now, q.seq.Generated
	s.noteAdmissions(&q.seq)
	s.res.Finished = append(s.res.Finished, q.seq.Row)
	q.router.Free(&q.req)
	s.tell(s.now, q.router, &q.req, router.SyncFree)
	s.leave(q, false)
}

// retire keeps the totals of an engine that is gone.
func (s *simulation) retire(i int, w *engine.Worker) {
	if s.gone == nil {
		s.gone = make([][]*engine.Worker, len(s.workers))
	}
	s.gone[i] = append(s.gone[i], w)
}

// addGone adds the totals of a rank's earlier engines to those of its last.
func (s *simulation) addGone(i int, st engine.Stats) engine.Stats {
	if s.gone == nil {
		return st
	}
	for _, w := range s.gone[i] {
		o := w.Stats(s.now)
		st.OutputTokens += o.OutputTokens
		st.PrefillTokens += o.PrefillTokens
		st.Committed += o.Committed
		st.Passes += o.Passes
		st.OutOfRange += o.OutOfRange
		st.Preemptions += o.Preemptions
		st.Evictions += o.Evictions
		st.BusyMS += o.BusyMS
		st.BlockMS += o.BlockMS
		st.PeakBlocks = max(st.PeakBlocks, o.PeakBlocks)
		st.PeakRunning = max(st.PeakRunning, o.PeakRunning)
		st.PeakWaiting = max(st.PeakWaiting, o.PeakWaiting)
	}
	return st
}
