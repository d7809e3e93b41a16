package plot

import (
	"math"
)

// Tick is a mark on an axis with its label.
type Tick struct {
	Value float64
	Label string
}

// Scale describes an axis of panels, points and agreements.
type Scale struct {
	Label string // with the unit
	Log   bool   // logarithmic; a 0 has a place of its own left of a break
	// Ticks are the marks, e.g. the values of a sweep; nil: round numbers.
	Ticks []Tick
	// From and To pin the ends of the axis where From < To.
	From, To float64
	// Free lets the axis begin anywhere; otherwise it begins at 0 unless all
	// values lie far from it.
	Free bool
}

// finite keeps what an axis can show.
func (s *Scale) finite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!s.Log || v >= 0)
}

// axis returns the axis that shows all the values, of which there is at least
// one.
func (s *Scale) axis(values []float64) axis {
	e := newExtent()
	least, zero := math.Inf(1), false // above 0
	for _, v := range values {
		e.add([]float64{v})
		if v > 0 {
			least = math.Min(least, v)
		}
		zero = zero || v == 0
	}
	var a axis
	switch {
	case s.Log && e.hi <= 0:
		a = logAxis(s.Label, 1, 10)
	case s.Log:
		a = logAxis(s.Label, least, e.hi)
	case s.From < s.To:
		a = axis{label: s.Label, lo: s.From, hi: s.To, ticks: linearTicks(s.From, s.To)}
	default:
		a = s.linear(e.lo, e.hi)
	}
	if s.Log && zero {
		a.zero = true
		a.ticks = append([]tick{{0, "0"}}, a.ticks...)
	}
	if s.Ticks != nil {
		a.ticks = a.ticks[:0:0]
		for _, t := range s.Ticks {
			if t.Value >= a.lo && t.Value <= a.hi || a.zero && t.Value == 0 {
				a.ticks = append(a.ticks, tick{t.Value, t.Label})
			}
		}
	}
	return a
}

// linear returns a linear axis over a range with a margin at both ends. It
// begins at 0 where the values reach below 0.7 of the greatest, and never spans
// less than 2 % of its middle.
func (s *Scale) linear(lo, hi float64) axis {
	if s.Ticks == nil && lo > 0 && lo < 0.7*hi && !s.Free {
		lo = 0
	}
	if middle := (hi + lo) / 2; hi-lo < 0.02*math.Abs(middle) || hi == lo {
		d := 0.01 * math.Abs(middle)
		if d == 0 {
			d = 1
		}
		lo, hi = middle-d, middle+d
	}
	pad := 0.04 * (hi - lo)
	if lo != 0 {
		lo -= pad
	} else if s.Ticks != nil {
		lo -= pad // a sweep's first value off the edge
	}
	hi += pad
	return axis{label: s.Label, lo: lo, hi: hi, ticks: linearTicks(lo, hi)}
}

// cut reports whether a linear axis begins above 0.
func (a *axis) cut() bool { return !a.log && a.lo > 0 }
