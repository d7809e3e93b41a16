package page

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"routesim/reports/format"
)

// scale maps values to pixels, on a linear or a logarithmic axis. The script
// has the same, with the same constants.
type scale struct {
	log    bool
	lo, hi float64
	a, b   float64 // pixels at lo and hi
}

// at is the pixel of a value.
func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	if hi == lo {
		return (s.a + s.b) / 2
	}
	return s.a + float64((v-lo)/(hi-lo)*(s.b-s.a))
}

// tick is a labelled place of an axis.
type tick struct {
	v    float64
	text string
}

// ticks are at steps of 1, 2 or 5 times a power of ten, about n of them, with
// as many decimals as the step has.
func (s scale) ticks(n float64) []tick {
	if s.log {
		return s.logTicks()
	}
	if !(s.hi > s.lo) {
		return []tick{{s.lo, number(s.lo, significant)}}
	}
	rough := (s.hi - s.lo) / n
	mag := math.Pow(10, math.Floor(math.Log10(rough)+1e-9))
	step := 10 * mag
	for _, f := range []float64{1, 2, 5} {
		if f*mag >= rough*(1-1e-9) {
			step = f * mag
			break
		}
	}
	places := int(math.Max(0, -math.Floor(math.Log10(step)+1e-9)))
	var out []tick
	for k := math.Ceil(s.lo/step - 1e-6); k <= math.Floor(s.hi/step+1e-6); k++ {
		out = append(out, tick{k * step, pretty(format.Fixed(float64(k*step), places))})
	}
	return out
}

func (s scale) logTicks() []tick {
	steps := []float64{1}
	switch span := math.Log10(s.hi / s.lo); {
	case span <= 0.8:
		steps = []float64{1, 1.5, 2, 3, 4, 5, 6, 8}
	case span <= 1.6:
		steps = []float64{1, 2, 5}
	case span <= 3.2:
		steps = []float64{1, 3}
	}
	var out []tick
	for e := math.Floor(math.Log10(s.lo)); e <= math.Ceil(math.Log10(s.hi)); e++ {
		for _, f := range steps {
			v := f * math.Pow(10, e)
			if v < s.lo*(1-1e-6) || v > s.hi*(1+1e-6) {
				continue
			}
			places := math.Max(0, -e)
			if f == 1.5 {
				places = math.Max(0, 1-e)
			}
			out = append(out, tick{v, pretty(format.Fixed(v, int(places)))})
		}
	}
	return out
}

// span is the range of an axis for the values: 4 % of padding, and at least 2 %
// of its middle, so that noise does not fill the picture.
func span(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	if lo > hi {
		return 0, 1
	}
	mid := (lo + hi) / 2
	least := math.Abs(mid) * 0.02
	if least == 0 {
		least = 1
	}
	if hi-lo < least {
		lo, hi = mid-least/2, mid+least/2
	}
	pad := (hi - lo) * 0.04
	return lo - pad, hi + pad
}

// axis is a swept setting as the page shows it.
type axis struct {
	Name    string
	Title   string
	Unit    string
	Values  []string  // in the order of drawing
	Numbers []float64 // nil where a value is a word
	Base    int       // place of the default point's value, -1 where it is not among Values
	Log     bool
}

// newAxis puts the values of a setting into the order of drawing: numbers by
// size, words as they came. It returns the place of each value, too.
func newAxis(name, unit string, values []string, numbers []float64, base string) (axis, []int) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	if len(numbers) == len(values) && len(numbers) > 0 {
		slices.SortStableFunc(order, func(i, j int) int {
			if numbers[i] < numbers[j] {
				return -1
			} else if numbers[i] > numbers[j] {
				return 1
			}
			return 0
		})
	} else {
		numbers = nil
	}
	a := axis{Name: name, Title: axisTitle(name), Unit: unit, Base: -1}
	place := make([]int, len(values))
	for at, i := range order {
		place[i] = at
		a.Values = append(a.Values, values[i])
		if numbers != nil {
			a.Numbers = append(a.Numbers, numbers[i])
		}
		if values[i] == base {
			a.Base = at
		}
	}
	a.Log = geometric(a.Numbers)
	return a, place
}

// geometric reports whether values belong on a logarithmic axis: at least 16
// from end to end, and steps that keep about the same ratio. A first value of 0
// has a slot of its own beside the axis.
func geometric(v []float64) bool {
	if len(v) > 0 && v[0] == 0 {
		v = v[1:]
	}
	if len(v) < 3 || !(v[0] > 0) || v[len(v)-1]/v[0] < 16 {
		return false
	}
	least, most := math.Inf(1), 0.0
	for i := 1; i < len(v); i++ {
		r := math.Log(v[i] / v[i-1])
		least, most = math.Min(least, r), math.Max(most, r)
	}
	return least > 0 && most <= 2.5*least
}

// label is the axis' title with its unit.
func (a *axis) label() string {
	if a.Unit == "" {
		return a.Title
	}
	return a.Title + " (" + a.Unit + ")"
}

// labelIn is the label in at most n characters: without its unit where that is
// too long, and cut where that is not enough.
func (a *axis) labelIn(n int) string {
	if label := a.label(); utf8.RuneCountInString(label) <= n {
		return label
	}
	return shorten(a.Title, n)
}

// places are the pixels of the axis' values between from and to.
func (a *axis) places(from, to float64) []float64 {
	out := make([]float64, len(a.Values))
	n := len(a.Numbers)
	if n == 0 || n == 1 {
		for i := range out {
			out[i] = from + float64((to-from)*(float64(i)+0.5)/float64(len(out)))
		}
		return out
	}
	s, first := scale{a.Log, a.Numbers[0], a.Numbers[n-1], from, to}, 0
	if a.Log && a.Numbers[0] == 0 {
		out[0], first = from, 1
		s.lo, s.a = a.Numbers[1], from+36
	}
	for i := first; i < n; i++ {
		out[i] = s.at(a.Numbers[i])
	}
	return out
}

// axisTitle makes a setting's name readable: router-kv-overlap-score-credit is
// the overlap score credit.
func axisTitle(name string) string {
	switch name {
	case "arrival-speedup-ratio":
		return "arrival rate"
	}
	s := strings.TrimPrefix(strings.TrimPrefix(name, "router-"), "kv-")
	s = strings.TrimSuffix(s, "-ms")
	return strings.ReplaceAll(s, "-", " ")
}

// axisUnit is the unit of a setting's values.
func axisUnit(name, unit string) string {
	switch {
	case name == "arrival-speedup-ratio":
		return "× recorded"
	case unit == "" && strings.HasSuffix(name, "-ms"):
		return "ms"
	}
	return unit
}

// width estimates the width of a text in px, rather too wide than too narrow.
func width(text string, size float64) float64 {
	em := 0.0
	for _, r := range text {
		em += runeWidth(r)
	}
	return float64(em * size)
}

func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune(" .,:;'|ijl\u202f\u00a0", r):
		return 0.34
	case strings.ContainsRune("mwMW−+=≈→←×%@", r):
		return 0.95
	case r >= 'A' && r <= 'Z':
		return 0.74
	case r >= 0x2000:
		return 1
	}
	return 0.64
}

// shorten cuts a text to a number of characters, with an ellipsis.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// px writes a coordinate, rounded to a tenth of a pixel.
func px(v float64) string {
	s := strconv.FormatFloat(math.Round(v*10)/10, 'f', 1, 64)
	if s = strings.TrimSuffix(s, ".0"); s == "-0" {
		return "0"
	}
	return s
}
