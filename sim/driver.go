package sim

import (
	"fmt"
	"math"
	"slices"

	"routesim/sim/internal/heap"
	"routesim/sim/synthetic"
	"routesim/workloads"
)

// driver releases requests: at their recorded times (open loop), or as earlier
// ones end (closed loop). A session's later turns follow the end of the turn
// before in both cases.
type driver struct {
	trace *workloads.Trace
	speed float64 // divides recorded times and, in open loop, delays
	base  float64 // recorded time that becomes 0

	first  []int32 // rows of the first turns: by arrival (open loop) or in file order
	cursor int
	turns  heap.Heap[ready, *ready] // released by an event: later turns, and closed-loop starts
	closed bool
}

// newDriver orders the first turns and, in a closed loop, starts the first of
// them.
func newDriver(t *workloads.Trace, c *Config) (*driver, error) {
	d := &driver{trace: t, speed: c.ArrivalSpeedup, closed: c.Concurrency > 0}
	d.first = make([]int32, 0, t.Len())
	for i := 0; i < t.Len(); i++ {
		if t.Prev(i) == workloads.NoRow {
			d.first = append(d.first, int32(i))
		}
	}
	if d.closed {
		for range min(c.Concurrency, len(d.first)) {
			d.startNext(0)
		}
		return d, nil
	}
	d.base = math.Inf(1)
	sorted := true
	last := math.Inf(-1)
	for _, row := range d.first {
		a := t.Arrival(int(row))
		if math.IsNaN(a) {
			return nil, fmt.Errorf("timestamp: found none in row %d (line %d), expected one on the first turn of every session; set replay-concurrency to replay without arrival times", row, t.Line(int(row)))
		}
		d.base = min(d.base, a)
		sorted = sorted && a >= last
		last = a
	}
	if err := d.checkSpan(); err != nil {
		return nil, err
	}
	if !sorted {
		slices.SortStableFunc(d.first, func(a, b int32) int {
			x, y := t.Arrival(int(a)), t.Arrival(int(b))
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	return d, nil
}

// endOfTime is the latest virtual time in ms.
const endOfTime = workloads.EndOfTimeMS

// checkSpan refuses arrivals beyond the end of time.
func (d *driver) checkSpan() error {
	for _, row := range d.first {
		switch at := d.readyAt(row); {
		case at <= endOfTime:
		case d.synthetic():
			return fmt.Errorf("arrival-speedup-ratio: found %v, at which session %d begins at %v ms, expected a beginning by %v ms; raise the ratio", d.speed, d.trace.Session(int(row))+1, at, endOfTime)
		default:
			return fmt.Errorf("timestamp: found %v in line %d, which is %v ms after the first arrival at arrival-speedup-ratio %v, expected at most %v ms; mend the timestamp or raise the ratio",
				d.trace.Arrival(int(row)), d.trace.Line(int(row)), at, d.speed, endOfTime)
		}
	}
	return nil
}

// startNext makes the next session in file order ready at now.
func (d *driver) startNext(now float64) {
	if d.cursor < len(d.first) {
		row := d.first[d.cursor]
		d.cursor++
		d.turns.Push(ready{at: now, session: d.trace.Session(int(row)), turn: 0, row: row})
	}
}

// next returns the time of the next release, +Inf for none.
func (d *driver) next() float64 {
	at := math.Inf(1)
	if len(d.turns) > 0 {
		at = d.turns[0].at
	}
	if !d.closed && d.cursor < len(d.first) {
		at = min(at, d.readyAt(d.first[d.cursor]))
	}
	return at
}

// synthetic reports whether the requests were made by settings.
func (d *driver) synthetic() bool { return d.trace.Format() == synthetic.Format }

// delayName names what a delay between turns is from.
func (d *driver) delayName() string {
	if d.synthetic() {
		return "inter-turn-delay-ms"
	}
	return "delay"
}

// knows reports whether the time at which a row becomes ready depends on nothing
// but the trace.
func (d *driver) knows(row int32) bool {
	return !d.closed && d.trace.Prev(int(row)) == workloads.NoRow
}

func (d *driver) readyAt(row int32) float64 {
	return (d.trace.Arrival(int(row)) - d.base) / d.speed
}

// release takes the next request that is ready by now, in the order of ready
// time, session and turn.
func (d *driver) release(now float64) (row int32, at float64, ok bool) {
	var f ready
	have := false
	if !d.closed && d.cursor < len(d.first) {
		row := d.first[d.cursor]
		f = ready{at: d.readyAt(row), session: d.trace.Session(int(row)), row: row}
		have = f.at <= now
	}
	if len(d.turns) > 0 && d.turns[0].at <= now && (!have || d.turns[0].Before(&f)) {
		t := d.turns.Pop()
		return t.row, t.at, true
	}
	if have {
		d.cursor++
	}
	return f.row, f.at, have
}

// ended tells the driver that a request ended at now, completed or not.
func (d *driver) ended(row int32, now float64) {
	next := d.trace.Next(int(row))
	if next == workloads.NoRow {
		if d.closed {
			d.startNext(now)
		}
		return
	}
	delay := d.trace.Delay(int(next))
	if !d.closed {
		delay /= d.speed
	}
	d.turns.Push(ready{at: now + delay, session: d.trace.Session(int(next)), turn: d.trace.Turn(int(next)), row: next})
}

// failed tells the driver that a request failed at now. The later turns of its
// session never come.
func (d *driver) failed(now float64) {
	if d.closed {
		d.startNext(now)
	}
}

// ready is a turn that waits for its time.
type ready struct {
	at      float64
	session int32
	turn    int32
	row     int32
}

func (a *ready) Before(b *ready) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.session != b.session {
		return a.session < b.session
	}
	return a.turn < b.turn
}
