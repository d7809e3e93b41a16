package page

import (
	"math"
	"strconv"
	"strings"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

// Signs of the page. Copied text has none of them.
const (
	minus   = format.Minus
	narrow  = format.Narrow
	hard    = "\u00a0" // between a number and its unit
	missing = "–"
	tied    = "≈"
)

// kind says how a metric's values are written.
type kind string

const (
	significant kind = "s" // three significant digits
	oneDecimal  kind = "p" // shares in %
	success     kind = "d" // shares of success in %, rounded down
	ratio       kind = "x" // two decimals, ×
	count       kind = "n" // whole where it is whole
)

// pretty replaces the ASCII signs of package format by those of the page.
func pretty(s string) string {
	if s == format.Missing {
		return missing
	}
	return format.Typeset(s)
}

// decimals is the number of decimals of a value in its metric's form. The
// script's function of this name does the same.
func decimals(v float64, k kind) int {
	switch k {
	case oneDecimal, success:
		return 1
	case ratio:
		return 2
	case count:
		if v == math.Trunc(v) {
			return 0
		}
		return 1
	}
	a, d := math.Abs(v), 0
	if a == 0 {
		return 0
	}
	for d < 5 && math.Round(float64(a*math.Pow10(d+1))) < 1000 {
		d++
	}
	return d
}

// number writes a value in its metric's form, without unit.
func number(v float64, k kind) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return missing
	}
	if k == success {
		return pretty(format.Success(v))
	}
	return pretty(format.Fixed(v, decimals(v, k)))
}

// compact writes a value with at most two significant digits, for narrow cells.
func compact(v float64) string {
	d := 0
	for a := math.Abs(v); a > 0 && d < 3 && math.Round(float64(a*math.Pow10(d+1))) < 100; {
		d++
	}
	return pretty(format.Fixed(v, d))
}

// typed writes a number that somebody gave, with the digits it was given with.
func typed(v float64) string {
	return pretty(strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64))
}

// tenths rounds a change to tenths, the form in which it is kept.
func tenths(v float64) int64 { return int64(math.Round(v * 10)) }

// tenfold is the relative change, in tenths of a percent, from which on a factor
// is easier to read.
const tenfold = 9000

// change writes a change kept in tenths, with its sign.
func change(t int64, unit string) string {
	if t >= tenfold && unit == "%" {
		return number(1+float64(t)/1000, significant) + "×"
	}
	s := strconv.FormatInt(abs(t)%10, 10)
	s = pretty(format.Count(abs(t)/10)) + "." + s
	switch {
	case t < 0:
		s = minus + s
	case t > 0:
		s = "+" + s
	}
	return s + hard + unit
}

// brief writes a change kept in tenths for a cell: points below ten with their
// decimal, all else without.
func brief(t int64, points bool) string {
	if points && t != 0 && abs(t) < 100 {
		return strings.TrimSuffix(change(t, ""), hard)
	}
	return whole(t)
}

// whole writes a change kept in tenths without decimals and unit.
func whole(t int64) string {
	n := (abs(t) + 5) / 10
	s := pretty(format.Count(n))
	switch {
	case n == 0:
		return "0"
	case t < 0:
		return minus + s
	}
	return "+" + s
}

func abs(t int64) int64 {
	if t < 0 {
		return -t
	}
	return t
}

// encode writes a value for the data block in as few digits as still give the
// same text in the metric's form. Where the cut falls in the middle between two
// texts it is avoided: languages differ in the way they round it.
func encode(v float64, k kind) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "null"
	}
	want := number(v, k)
	digits := 4
	if k == ratio { // of which only the part above 1 tells
		digits = 5
	}
	for ; digits <= 17; digits++ {
		s := strconv.FormatFloat(v, 'g', digits, 64)
		x, err := strconv.ParseFloat(s, 64)
		if err == nil && number(x, k) == want && !halfway(x, decimals(x, k)) {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	for _, near := range []float64{v * (1 - 1e-9), v * (1 + 1e-9)} {
		if number(near, k) == want {
			return strconv.FormatFloat(near, 'g', -1, 64)
		}
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// halfway reports whether the shortest form of a value has just one digit more
// than it is shown with, a 5.
func halfway(v float64, decimals int) bool {
	_, rest, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	return len(rest) == decimals+1 && strings.HasSuffix(rest, "5")
}

// measure is a metric as the page shows it.
type measure struct {
	sweepdata.Metric
	Unit  string  // in which it is shown
	Scale float64 // of the metric's unit into Unit
	Kind  kind
	Dir   int // -1 less is better, 1 more is better, 0 neither
}

// text writes a value of the metric's own unit, without unit.
func (m *measure) text(v float64) string { return number(v*m.Scale, m.Kind) }

// full is text with the unit.
func (m *measure) full(v float64) string {
	s := m.text(v)
	if s == missing || m.Unit == "" {
		return s
	}
	return s + hard + m.Unit
}

// label is the title with the unit, for axes.
func (m *measure) label() string {
	if m.Unit == "" {
		return m.Title
	}
	return m.Title + " (" + m.Unit + ")"
}

// points tells whether differences of the metric are in percentage points.
func (m *measure) points() bool { return m.Metric.Unit == "%" }

// changeUnit is the unit of the metric's changes.
func (m *measure) changeUnit() string {
	if m.points() {
		return "pp"
	}
	return "%"
}

// measures decides on unit and form of every metric: seconds for a latency
// whose p99 at the default point is a second or more.
func measures(typical func(metric int) float64) []measure {
	list := sweepdata.Metrics()
	out := make([]measure, len(list))
	for i, m := range list {
		out[i] = measure{Metric: m, Unit: m.Unit, Scale: 1, Kind: significant, Dir: m.Better}
		switch {
		case m.Family == "ttft" || m.Family == "e2e":
			if p := sweepdata.MetricIndex("p99_" + m.Family + "_ms"); p >= 0 && typical(p) >= 1000 {
				out[i].Unit, out[i].Scale = "s", 1e-3
			}
		case m.Success():
			out[i].Kind = success
		case m.Unit == "%":
			out[i].Kind = oneDecimal
		case m.Name == "imbalance_busy":
			out[i].Kind, out[i].Unit = ratio, "×"
		case m.Name == "imbalance_tokens_cv":
			out[i].Kind = ratio
		case m.Unit == "":
			out[i].Kind = count
		}
	}
	return out
}
