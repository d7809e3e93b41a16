package sim

import (
	"fmt"
	"math"
	"slices"
)

// tooLate is the error for a pass of rank w that ends beyond the end of time.
func (f *fleet) tooLate(w int, now, end float64) error {
	first, n := f.together(w)
	for _, rank := range f.workers[first : first+n] {
		if begins := now + rank.Waited(); begins > endOfTime {
			return tooLateTransfer(begins)
		}
	}
	return fmt.Errorf("timing: found a pass that starts at %v ms and ends at %v ms, expected an end by %v ms; check the step times (timing or profile), speedup-ratio and slow workers of faults", now, end, endOfTime)
}

// tooLateTransfer is the same for a transfer between the tiers of a worker.
func tooLateTransfer(at float64) error {
	return fmt.Errorf("num-host-blocks: found a transfer between the tiers of a worker that ends at %v ms, expected an end by %v ms; check host-offload-d2h-bandwidth-gbps, host-offload-h2d-bandwidth-gbps, host-offload-latency-ms, kv-cache-bytes-per-token and the settings disk-offload-...", at, endOfTime)
}

// beyond is the error for a run whose next event lies beyond the end of time.
// Passes that end there fail when they start.
func (s *simulation) beyond(at float64) error {
	t := s.trace
	if turns := s.driver.turns; len(turns) > 0 && turns[0].at == at {
		row := int(turns[0].row)
		return fmt.Errorf("%s: found %v ms before the request of line %d, which would begin at %v ms, expected a beginning by %v ms", s.driver.delayName(), t.Delay(row), t.Line(row), at, endOfTime)
	}
	if s.offloads && s.nextTransfer() == at {
		return tooLateTransfer(at)
	}
	if s.pd != nil && slices.ContainsFunc(s.pd.transfers, func(h *handoff) bool { return h.arrives == at }) {
		return fmt.Errorf("kv-transfer-bandwidth: found a transfer between the pools that ends at %v ms, expected an end by %v ms; check kv-transfer-bandwidth and kv-transfer-bytes-per-token", at, endOfTime)
	}
	return fmt.Errorf("clock: found the next event at %v ms, expected one by %v ms", at, endOfTime)
}

// unfinished returns an error where a run has nothing left to happen though
// requests that reached a router have not ended.
func (s *simulation) unfinished() error {
	switch {
	case s.stuck != nil && s.pd == nil:
		return s.stuck
	case s.done == s.res.Released:
		return nil
	case s.pd != nil:
		if err := s.pd.unfinished(); err != nil {
			return err
		}
	}
	for row := range s.res.Requests {
		r := &s.res.Requests[row]
		if r.Status != Unfinished || math.IsNaN(r.Arrival) {
			continue
		}
		where := "its router's queue"
		if r.Worker >= 0 {
			where = fmt.Sprintf("worker %d", r.Worker)
		}
		return fmt.Errorf("request of line %d: found it waiting in %s with nothing left to happen at %v ms, %d of %d requests unfinished, expected every request to end; raise num-gpu-blocks or the limits that hold it back",
			s.trace.Line(row), where, s.now, s.res.Released-s.done, s.res.Released)
	}
	return fmt.Errorf("clock: found %d of %d requests unfinished with nothing left to happen at %v ms, expected every request to end", s.res.Released-s.done, s.res.Released, s.now)
}
