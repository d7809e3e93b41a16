package verdict

import (
	"math"
	"strconv"
	"strings"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

// ASCII makes a text of a verdict plain, for terminals and files.
func ASCII(text string) string {
	text = strings.NewReplacer(format.Minus, "-", format.Narrow, ",", "\u00d7", "x", "\u2192", "->", "\u2248", "~",
		"\u201c", `"`, "\u201d", `"`, "\u2019", "'", "\u2013", "-").Replace(text)
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, text)
}

// number writes a measured number as on paper.
func number(v float64) string { return format.Typeset(format.Sig(v)) }

// given writes a number that was chosen, not measured: 2, 0.25, 60.
func given(v float64) string { return format.Typeset(strconv.FormatFloat(v, 'g', 3, 64)) }

func fixed(v float64, decimals int) string { return format.Typeset(format.Fixed(v, decimals)) }

// whole writes a mean of counts: exact, with a decimal only where it has one.
func whole(v float64) string {
	if v != math.Trunc(v) {
		return fixed(v, 1)
	}
	return fixed(v, 0)
}

func signed(text string, v float64) string {
	if v > 0 && strings.Trim(text, "0."+format.Narrow) != "" {
		return "+" + text
	}
	return text
}

// tenfold is the relative change in % from which on a factor is easier to read.
const tenfold = 900

// change writes a difference with its sign and unit.
func (k Kind) change(v float64, unit string) string {
	switch {
	case k == Relative && v >= tenfold:
		return number(1+v/100) + "\u00d7"
	case k == Relative:
		return signed(fixed(v, 1), v) + " %"
	case k == Share:
		return signed(fixed(v, 1), v) + " pp"
	case unit == "":
		return signed(number(v), v)
	}
	return signed(number(v), v) + " " + unit
}

// Text writes the difference with its sign and unit: −18.6 %. unit is the
// metric's own.
func (d *Diff) Text(unit string) string {
	if !d.OK {
		return "\u2013"
	}
	return d.Kind.change(d.Mean, unit)
}

// Range writes the interval: −21.0 % to −16.1 %; "" where there is none.
func (d *Diff) Range(unit string) string {
	if !d.OK || !d.Interval.OK {
		return ""
	}
	return d.Kind.change(d.Lo, unit) + " to " + d.Kind.change(d.Hi, unit)
}

// quoted is a difference with its interval in brackets.
func (d *Diff) quoted(unit string) string {
	text := d.Text(unit)
	if r := d.Range(unit); r != "" {
		text += " (" + r + ")"
	}
	return text
}

// units decide how figures are written in one document: a latency is in s
// where the default's p99 reaches a second.
type units struct {
	metrics []sweepdata.Metric
	seconds []bool // by metric
}

func newUnits(list []sweepdata.Metric, base []float64) units {
	u := units{list, make([]bool, len(list))}
	for i, m := range list {
		if m.Unit != "ms" || m.Family == "itl" || m.Family == "tpot" {
			continue
		}
		if k := metricOf(list, "p99_"+m.Family+"_ms"); k >= 0 && base != nil {
			u.seconds[i] = base[k] >= 1000
		}
	}
	return u
}

func metricOf(list []sweepdata.Metric, name string) int {
	for i := range list {
		if list[i].Name == name {
			return i
		}
	}
	return -1
}

// unit is the unit that a metric is written in.
func (u *units) unit(m int) string {
	if u.seconds[m] {
		return "s"
	}
	return u.metrics[m].Unit
}

// bare writes a value of a metric without its unit.
func (u *units) bare(m int, v float64) string {
	d := &u.metrics[m]
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "\u2013"
	case u.seconds[m]:
		return number(v / 1000)
	case d.Success():
		return kept(v)
	case d.Unit == "%":
		return fixed(v, 1)
	case d.Name == "imbalance_busy":
		return fixed(v, 2) + "\u00d7"
	case d.Name == "imbalance_tokens_cv":
		return fixed(v, 2)
	case d.Unit == "":
		return whole(v)
	}
	return number(v)
}

// value writes a value of a metric with its unit: 1.89 s.
func (u *units) value(m int, v float64) string {
	text := u.bare(m, v)
	if unit := u.unit(m); unit != "" && text != "\u2013" {
		text += " " + unit
	}
	return text
}

// list joins words: a, b and c.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// some joins the first few words and counts the rest.
func some(words []string, most int) string {
	if len(words) <= most {
		return list(words)
	}
	return strings.Join(words[:most], ", ") + " and " + plural(len(words)-most, "other")
}

func plural(n int, noun string) string {
	number, nouns, _ := strings.Cut(format.Plural(int64(n), noun), " ")
	return format.Typeset(number) + " " + nouns
}

func count(n int) string { return format.Typeset(format.Count(int64(n))) }

// verb returns the form of a verb for a count.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Short is a short name of an axis, for the heads of columns.
func Short(axis string) string {
	switch axis {
	case "router-kv-overlap-score-credit":
		return "credit"
	case "router-prefill-load-scale":
		return "scale"
	case "arrival-speedup-ratio":
		return "rate"
	}
	return strings.TrimPrefix(axis, "router-")
}
