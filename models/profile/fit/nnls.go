package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// system is a linear least-squares problem over named, non-negative unknowns:
// rows of coefficients and what they should sum to.
type system struct {
	names  []string
	rows   [][]float64
	target []float64
	weight []float64 // by row, of its error
}

func (s *system) add(target, weight float64, row []float64) {
	s.rows = append(s.rows, row)
	s.target = append(s.target, target)
	s.weight = append(s.weight, weight)
}

// nnls minimises |a x - b| over x >= 0 by the active-set method of Lawson and
// Hanson (Solving Least Squares Problems, 1974, chapter 23).
func nnls(a *mat.Dense, b []float64) ([]float64, error) {
	m, n := a.Dims()
	x, passive := make([]float64, n), make([]bool, n)
	residual := append([]float64(nil), b...)
	scale := columnNorms(a)
	for range 3 * (n + 1) {
		j := steepest(a, residual, scale, passive)
		if j < 0 {
			return x, nil
		}
		passive[j] = true
		z, err := solvePassive(a, b, passive)
		if err != nil {
			return nil, err
		}
		if z[j] <= 0 { // rounding chose a column that does not help
			return x, nil
		}
		for !towards(x, z, passive) {
			if z, err = solvePassive(a, b, passive); err != nil {
				return nil, err
			}
		}
		for i := range m {
			residual[i] = b[i] - floats.Dot(a.RawRowView(i), x)
		}
	}
	return x, nil
}

// towards moves x to z, or as far as it stays non-negative, and then lets go
// of the columns that stop it. It reports whether it got there.
func towards(x, z []float64, passive []bool) bool {
	step, stop := 1.0, -1
	for i, p := range passive {
		if p && z[i] < 0 {
			if s := x[i] / (x[i] - z[i]); s < step {
				step, stop = s, i
			}
		}
	}
	for i, p := range passive {
		if p {
			x[i] += float64(step * (z[i] - x[i]))
		}
	}
	if stop < 0 {
		return true
	}
	for i, p := range passive {
		if p && (i == stop || x[i] <= 0) {
			x[i], passive[i] = 0, false
		}
	}
	return false
}

func columnNorms(a *mat.Dense) []float64 {
	_, n := a.Dims()
	norms := make([]float64, n)
	for j := range norms {
		norms[j] = mat.Norm(a.ColView(j), 2)
	}
	return norms
}

// steepest returns the unused column along which the error falls fastest, -1
// if it falls along none.
func steepest(a *mat.Dense, residual, norms []float64, passive []bool) int {
	const tolerance = 1e-11
	size := floats.Norm(residual, 2)
	best, at := tolerance, -1
	for j, used := range passive {
		if used || norms[j] == 0 || size == 0 {
			continue
		}
		gain := 0.0
		for i, r := range residual {
			gain += float64(a.At(i, j) * r)
		}
		if gain /= norms[j] * size; gain > best {
			best, at = gain, j
		}
	}
	return at
}

// solvePassive solves the unconstrained problem over the passive columns.
func solvePassive(a *mat.Dense, b []float64, passive []bool) ([]float64, error) {
	m, n := a.Dims()
	var columns []int
	for j, p := range passive {
		if p {
			columns = append(columns, j)
		}
	}
	if len(columns) == 0 {
		return make([]float64, n), nil
	}
	sub, norms := mat.NewDense(m, len(columns), nil), columnNorms(a)
	for k, j := range columns {
		for i := range m {
			sub.Set(i, k, a.At(i, j)/norms[j])
		}
	}
	var qr mat.QR
	qr.Factorize(sub)
	var z mat.VecDense
	if err := qr.SolveVecTo(&z, false, mat.NewVecDense(m, b)); err != nil {
		if _, ok := err.(mat.Condition); !ok {
			return nil, fmt.Errorf("least squares: %w", err)
		}
	}
	out := make([]float64, n)
	for k, j := range columns {
		out[j] = z.AtVec(k) / norms[j]
	}
	return out, nil
}

// Constants of the robust fit.
const (
	// roundShare is the relative error below which the fit squares errors and
	// above which it takes their size, so that single bad rows do not decide.
	roundShare = 0.005
	rounds     = 40
)

// solve finds the unknowns with the least sum of weighted relative errors:
// non-negative least squares, repeated with the weights of the errors' size
// until nothing moves.
func (s *system) solve() ([]float64, error) {
	m, n := len(s.rows), len(s.names)
	a, b := mat.NewDense(max(m, n), n, nil), make([]float64, max(m, n))
	var x []float64
	for round := range rounds {
		for i, row := range s.rows {
			w := s.weight[i]
			if x != nil {
				w /= math.Sqrt(math.Max(s.weight[i]*math.Abs(floats.Dot(row, x)-s.target[i]), roundShare))
			}
			for j, v := range row {
				a.Set(i, j, w*v)
			}
			b[i] = w * s.target[i]
		}
		next, err := nnls(a, b)
		if err != nil {
			return nil, err
		}
		moved := x == nil
		for j := range next {
			moved = moved || math.Abs(next[j]-x[j]) > 1e-7*(math.Abs(next[j])+1e-12)
		}
		if x = next; !moved && round > 0 {
			break
		}
	}
	return x, nil
}

// determined reports which unknowns the rows tell apart from the others. The
// unknowns are asked in the given order, and one that is not told apart no
// longer counts for those after it.
func (s *system) determined(order []int) []bool {
	keep := make([]bool, len(s.names))
	for j := range keep {
		keep[j] = true
	}
	for _, j := range order {
		keep[j] = s.unexplained(j, keep) >= leastUnexplained
	}
	return keep
}

// leastUnexplained is the share of a column, weighted as in the fit, that the
// other columns must leave over for its unknown to be determined.
const leastUnexplained = 0.01

// unexplained is the share of column j that the other kept columns cannot
// make up.
func (s *system) unexplained(j int, keep []bool) float64 {
	m := len(s.rows)
	var others []int
	for k, used := range keep {
		if used && k != j {
			others = append(others, k)
		}
	}
	column := make([]float64, m)
	for i, row := range s.rows {
		column[i] = s.weight[i] * row[j]
	}
	size := floats.Norm(column, 2)
	if size == 0 || m <= len(others) {
		return 0
	}
	a := mat.NewDense(m, max(len(others), 1), nil)
	for k, o := range others {
		norm := 0.0
		for i, row := range s.rows {
			norm = math.Hypot(norm, s.weight[i]*row[o])
		}
		if norm == 0 {
			norm = 1
		}
		for i, row := range s.rows {
			a.Set(i, k, s.weight[i]*row[o]/norm)
		}
	}
	return leftOver(a, column) / size
}

// leftOver is the length of what remains of a vector after the columns'
// directions have been taken out of it, one after the other.
func leftOver(a *mat.Dense, v []float64) float64 {
	_, n := a.Dims()
	var basis [][]float64
	rest := append([]float64(nil), v...)
	for k := range n {
		q := mat.Col(nil, k, a)
		before := floats.Norm(q, 2)
		orthogonalise(q, basis)
		if size := floats.Norm(q, 2); size > 1e-9*before && size > 0 {
			floats.Scale(1/size, q)
			basis = append(basis, q)
		}
	}
	orthogonalise(rest, basis)
	return floats.Norm(rest, 2)
}

// orthogonalise takes the directions of an orthonormal basis out of v, twice
// for the sake of rounding.
func orthogonalise(v []float64, basis [][]float64) {
	for range 2 {
		for _, q := range basis {
			floats.AddScaled(v, -floats.Dot(v, q), q)
		}
	}
}
