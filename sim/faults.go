package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// FaultKind is what goes wrong.
type FaultKind uint8

// The faults.
const (
	Crash  FaultKind = iota // the worker's requests fail and its cache is lost
	Drain                   // the worker gets no more requests and finishes those it has
	Slow                    // the worker's passes take Factor times as long
	Cancel                  // the client of a request leaves
)

// String returns the name of the kind in a list of faults.
func (k FaultKind) String() string { return [...]string{"crash", "drain", "slow", "cancel"}[k] }

// Fault is something that goes wrong, for a time or for good.
type Fault struct {
	Kind     FaultKind
	Worker   int32   // of all but Cancel
	Pool     Pool    // of the worker
	From, To float64 // ms; To is +Inf where it is for good
	Factor   float64 // of Slow
	Request  int32   // row of the trace, of Cancel
}

// String writes the fault as an entry of a list.
func (f *Fault) String() string {
	whom, pool, factor, to := f.Worker, "", "", ""
	switch f.Pool {
	case PrefillPool:
		pool = "prefill:"
	case DecodePool:
		pool = "decode:"
	}
	if f.Kind == Cancel {
		whom = f.Request
	}
	if f.Kind == Slow {
		factor = "x" + decimal(f.Factor)
	}
	if !math.IsInf(f.To, 1) {
		to = "-" + decimal(f.To)
	}
	return fmt.Sprintf("%v:%s%d%s@%s%s", f.Kind, pool, whom, factor, decimal(f.From), to)
}

// decimal writes a number without an exponent.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// checkFaults refuses faults of workers that do not exist.
func (c *Config) checkFaults() error {
	if (len(c.Faults) > 0 || c.Clients.Leave()) && c.Router.Live == nil {
		return fmt.Errorf("faults: found faults or clients that leave under replay semantics, expected live ones")
	}
	for i := range c.Faults {
		f := &c.Faults[i]
		n, of := c.Workers(), ""
		switch f.Pool {
		case PrefillPool:
			n, of = c.PrefillWorkers(), " of the prefill pool"
		case DecodePool:
			of = " of the decode pool"
		}
		switch {
		case f.Kind == Cancel:
		case c.Disaggregated() && f.Pool == Aggregated:
			return fmt.Errorf("faults: entry %d (%v): found worker %d of no pool, expected prefill:%d or decode:%d: there are pools", i+1, f, f.Worker, f.Worker, f.Worker)
		case !c.Disaggregated() && f.Pool != Aggregated:
			return fmt.Errorf("faults: entry %d (%v): found worker %d%s, expected %d alone: there are no pools", i+1, f, f.Worker, of, f.Worker)
		case int(f.Worker) >= n:
			return fmt.Errorf("faults: entry %d (%v): found worker %d%s, expected 0 to %d", i+1, f, f.Worker, of, n-1)
		}
	}
	return c.Clients.validate()
}

// checkCancels refuses cancellations of requests that do not exist or that, as
// far as their arrival is known beforehand, have not arrived by then.
func (s *simulation) checkCancels() error {
	for i := range s.cfg.Faults {
		f := &s.cfg.Faults[i]
		switch {
		case f.Kind != Cancel:
		case int(f.Request) >= s.trace.Len():
			return fmt.Errorf("faults: entry %d (%v): found request %d, expected a row of the trace, 0 to %d", i+1, f, f.Request, s.trace.Len()-1)
		case s.driver.knows(f.Request) && f.From <= s.driver.readyAt(f.Request):
			return f.early(s.driver.readyAt(f.Request))
		}
	}
	return nil
}

// early is the error for a cancellation before its request arrived.
func (f *Fault) early(arrival float64) error {
	when := ""
	if !math.IsNaN(arrival) {
		when = fmt.Sprintf(" at %v ms", arrival)
	}
	return fmt.Errorf("faults: found %v, expected a time after the arrival of request %d%s", f, f.Request, when)
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

// slowness returns how many times as long a worker's passes take that start at
// now: the product of what slows it down.
func (c *Config) slowness(pool Pool, worker int32, now float64) float64 {
	factor := 1.0
	for i := range c.Faults {
		if f := &c.Faults[i]; f.Kind == Slow && f.Pool == pool && f.Worker == worker && f.From <= now && now < f.To {
			factor *= f.Factor
		}
	}
	return factor
}
