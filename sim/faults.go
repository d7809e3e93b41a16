package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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

// FaultForm describes a list of faults in words.
const FaultForm = "crash:WORKER@FROM-TO, drain:WORKER@FROM-TO, slow:WORKERxFACTOR@FROM-TO or cancel:REQUEST@FROM in ms, -TO left out for good, separated by commas; with pools WORKER is prefill:N or decode:N"

// ParseFaults reads a list such as crash:2@5000-8000,drain:0@2000.
func ParseFaults(text string) ([]Fault, error) {
	var list []Fault
	for _, part := range strings.Split(text, ",") {
		f, ok := parseFault(strings.TrimSpace(part))
		if !ok {
			return nil, fmt.Errorf("found %q, expected %s", part, FaultForm)
		}
		list = append(list, f)
	}
	return list, nil
}

func parseFault(text string) (f Fault, ok bool) {
	kind, rest, ok := strings.Cut(text, ":")
	if pool, own, named := strings.Cut(rest, ":"); named {
		switch pool {
		case "prefill":
			f.Pool = PrefillPool
		case "decode":
			f.Pool = DecodePool
		default:
			return f, false
		}
		rest = own
	}
	whom, span, ok2 := strings.Cut(rest, "@")
	from, to, ends := strings.Cut(span, "-")
	if !ok || !ok2 || !timeOf(from, &f.From) {
		return f, false
	}
	f.To = math.Inf(1)
	if ends && (!timeOf(to, &f.To) || f.To <= f.From) {
		return f, false
	}
	number := &f.Worker
	switch kind {
	case Crash.String():
	case Drain.String():
		f.Kind = Drain
	case Slow.String():
		var factor string
		f.Kind = Slow
		if whom, factor, ok = strings.Cut(whom, "x"); !ok || !factorOf(factor, &f.Factor) {
			return f, false
		}
	case Cancel.String():
		f.Kind, number = Cancel, &f.Request
		ok = !ends && f.Pool == Aggregated
	default:
		return f, false
	}
	n, err := strconv.ParseUint(whom, 10, 31)
	*number = int32(n)
	return f, ok && err == nil
}

func timeOf(text string, to *float64) bool {
	v, err := strconv.ParseFloat(text, 64)
	*to = v
	return err == nil && v >= 0 && v <= endOfTime
}

// mostSlow bounds the factor of a slow worker.
const mostSlow = 1e6

func factorOf(text string, to *float64) bool {
	v, err := strconv.ParseFloat(text, 64)
	*to = v
	return err == nil && v > 0 && v <= mostSlow
}

// checkFaults refuses faults of workers that do not exist.
func (c *Config) checkFaults() error {
	if (len(c.Faults) > 0 || c.Clients.Leave()) && c.Router.Live == nil {
		return fmt.Errorf("faults: found faults or clients that leave under replay semantics, expected live ones")
	}
	for _, f := range c.Faults {
		n := c.Workers()
		if f.Pool == PrefillPool {
			n = c.PrefillWorkers()
		}
		switch {
		case f.Kind == Cancel:
		case c.Disaggregated() != (f.Pool != Aggregated):
			return fmt.Errorf("faults: found worker %d of %v, expected prefill:N or decode:N with pools and N without", f.Worker, f.Pool)
		case int(f.Worker) >= n:
			return fmt.Errorf("faults: found worker %d, expected 0 to %d", f.Worker, n-1)
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
			return fmt.Errorf("faults: found request %d, expected a row of the trace, 0 to %d", f.Request, s.trace.Len()-1)
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
	return fmt.Errorf("faults: found cancel:%d@%v, expected a time after the arrival of request %d%s", f.Request, f.From, f.Request, when)
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
