package sweep

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"routesim/sim/fmath"
	"routesim/sim/rng"
)

// Design is a list of points over axes.
type Design struct {
	Axes   []*Axis
	Points [][]string // a value per axis
	// Repeated is how many drawn points were left out because they equalled
	// another one.
	Repeated int
}

// Grid returns every combination of the axes' values, the last axis changing
// fastest.
func Grid(axes []*Axis) (*Design, error) {
	n := 1
	for _, a := range axes {
		if a.Range != nil {
			return nil, fmt.Errorf("%s: found a range, expected a list of values, or --sample lhs:N to draw from it", a.Name)
		}
		if n *= len(a.Values); n > MaxPoints {
			return nil, fmt.Errorf("found a grid of more than %d points, expected at most as many; --sample lhs:N draws N of them", MaxPoints)
		}
	}
	d := &Design{Axes: axes, Points: make([][]string, n)}
	for i := range d.Points {
		point, rest := make([]string, len(axes)), i
		for j, a := range slices.Backward(axes) {
			point[j] = a.Values[rest%len(a.Values)]
			rest /= len(a.Values)
		}
		d.Points[i] = point
	}
	return d, nil
}

// ParseSample reads lhs:N.
func ParseSample(text string) (n int, err error) {
	digits, ok := strings.CutPrefix(text, "lhs:")
	n, bad := strconv.Atoi(digits)
	if !ok || bad != nil || n < 1 || n > MaxPoints {
		return 0, fmt.Errorf("found %q, expected lhs:N with N from 1 to %d", text, MaxPoints)
	}
	return n, nil
}

// Draw returns n points of a Latin hypercube: on every axis the range, or the
// list, is cut into n equal parts and each part is used once. It depends on the
// seed only. Points that rounding made equal are kept once.
func Draw(axes []*Axis, n int, seed uint64) (*Design, error) {
	d := &Design{Points: make([][]string, n)}
	for i := range d.Points {
		d.Points[i] = make([]string, len(axes))
	}
	for j, a := range axes {
		order := permutation(n, seed, drawOrder+2*rng.Purpose(j))
		for i := range n {
			u := rng.Draw(seed, i, drawInside+2*rng.Purpose(j)) >> 11
			text, err := a.draw(order[i], n, u)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			d.Points[i][j] = text
		}
	}
	d.dropRepeated()
	d.Axes = axesOf(names(axes), d.Points)
	return d, nil
}

// The purposes of a sample's draws, for axis 0; two further on for the next.
const (
	drawOrder  rng.Purpose = 1 << 32
	drawInside rng.Purpose = 1<<32 + 1
)

// permutation shuffles 0..n-1.
func permutation(n int, seed uint64, p rng.Purpose) []int {
	order := make([]int, n)
	for i := range order {
		j := rng.Below(rng.Draw(seed, i, p), i+1)
		order[i] = order[j]
		order[j] = i
	}
	return order
}

// draw returns the value at (part + u/2^53)/parts of the way.
func (a *Axis) draw(part, parts int, u uint64) (string, error) {
	if a.Range == nil {
		way := new(big.Int).Mul(big.NewInt(int64(len(a.Values))), wayOf(part, u))
		way.Quo(way, wholeOf(parts))
		return a.Values[way.Int64()], nil
	}
	r := a.Range
	text := r.linear(part, parts, u)
	if r.log {
		t := (float64(part) + float64(u)*0x1p-53) / float64(parts)
		lo, hi := fmath.Log(r.lo.float()), fmath.Log(r.hi.float())
		v := fmath.Exp(lo + float64(t*(hi-lo)))
		text = round(min(max(v, r.lo.float()), r.hi.float()), r.whole)
	}
	canon, ok := r.canon(text)
	if !ok {
		return "", fmt.Errorf("found no value at %s of the range %s..%s", text, r.lo, r.hi)
	}
	return canon, nil
}

// wayOf and wholeOf are numerator and denominator of (part + u/2^53)/parts,
// both times 2^53.
func wayOf(part int, u uint64) *big.Int {
	way := new(big.Int).Lsh(big.NewInt(int64(part)), 53)
	return way.Add(way, new(big.Int).SetUint64(u))
}

func wholeOf(parts int) *big.Int { return new(big.Int).Lsh(big.NewInt(int64(parts)), 53) }

// minSteps is the least number of steps that a range is divided into.
const minSteps = 10_000

// linear returns the value on a grid of decimals with at least minSteps steps,
// or of whole numbers, each as likely as the next.
func (r *Range) linear(part, parts int, u uint64) string {
	places := max(r.lo.places, r.hi.places)
	lo, hi := r.lo.at(places), r.hi.at(places)
	span := new(big.Int).Sub(hi.units, lo.units)
	for !r.whole && span.Cmp(big.NewInt(minSteps)) < 0 {
		places++
		lo, span = lo.at(places), span.Mul(span, big.NewInt(10))
	}
	span.Add(span, big.NewInt(1))
	way := span.Mul(span, wayOf(part, u))
	way.Quo(way, wholeOf(parts))
	return decimal{way.Add(way, lo.units), places}.String()
}

func (d *Design) dropRepeated() {
	seen := map[string]bool{}
	all := d.Points
	d.Points = d.Points[:0:0]
	for _, p := range all {
		key := strings.Join(p, "\x00")
		if !seen[key] {
			d.Points = append(d.Points, p)
		}
		seen[key] = true
	}
	d.Repeated = len(all) - len(d.Points)
}

func names(axes []*Axis) (list []string) {
	for _, a := range axes {
		list = append(list, a.Name)
	}
	return list
}

// axesOf lists the values that points have, numbers in rising order, words in
// the order of appearance.
func axesOf(names []string, points [][]string) []*Axis {
	axes := make([]*Axis, len(names))
	for j, name := range names {
		a := &Axis{Name: name}
		seen := map[string]bool{}
		for _, p := range points {
			if !seen[p[j]] {
				a.Values = append(a.Values, p[j])
			}
			seen[p[j]] = true
		}
		if numbers := Numbers(a.Values); numbers != nil {
			of := make(map[string]float64, len(numbers))
			for i, v := range a.Values {
				of[v] = numbers[i]
			}
			slices.SortStableFunc(a.Values, func(x, y string) int { return cmp.Compare(of[x], of[y]) })
		}
		axes[j] = a
	}
	return axes
}

// Numbers returns values as numbers, nil where one of them is a word.
func Numbers(values []string) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || strings.Trim(v, "0123456789.eE+-") != "" {
			return nil
		}
		out[i] = n
	}
	return out
}
