package validation

import (
	"fmt"
	"math"
	"strconv"
)

// Bounds of the search for a correction, as factors on step times, and the
// accuracy to which its logarithm is found.
const (
	slowest     = 8.0
	fastest     = 1 / slowest
	gridSteps   = 12 // a factor of sqrt(2) each; the middle one is 1
	logAccuracy = 0.002
	ratioDigits = 4 // significant digits of the speedup ratio
)

// Correction is the one factor on all step times with which a run comes closest
// to what was recorded.
type Correction struct {
	Factor  float64     // on step times; above 1 the recorded workers are slower than modelled
	Ratio   float64     // the same as a speedup ratio, 1/Factor
	Before  float64     // Loss without it
	After   float64     // Loss with it
	AtBound bool        // the best factor is the largest or smallest tried
	Runs    int         // simulations made
	Left    *Comparison // the run with it: what it leaves unexplained
}

// Loss is the mean of |ln(simulated/recorded)| over the requests, averaged over
// TTFT and ITL; NaN where nothing can be compared. The logarithm weighs twice
// as slow like twice as fast, the absolute value lets outliers count once.
func (c *Comparison) Loss() float64 {
	sum, kinds := 0.0, 0
	for _, pair := range []func(*Row) (float64, float64){
		func(r *Row) (float64, float64) { return r.TTFT, r.SimTTFT },
		func(r *Row) (float64, float64) { return r.ITL, r.SimITL },
	} {
		total, n := 0.0, 0
		for i := range c.Rows {
			if a, b := pair(&c.Rows[i]); a > 0 && b > 0 {
				total += math.Abs(math.Log(b / a))
				n++
			}
		}
		if n > 0 {
			sum += total / float64(n)
			kinds++
		}
	}
	return sum / float64(kinds)
}

// Correct looks for the factor on all step times with the least loss: on a
// coarse grid, then by golden sections around the best place of it. Batches form
// differently at each speed, so the loss is a little rough and the factor is
// good to a percent or so, not to the digits of the search. run
// simulates with a speedup ratio, by which durations are divided. It returns
// nil where nothing can be compared.
func Correct(run func(ratio float64) (*Comparison, error)) (*Correction, error) {
	s := &search{run: run, best: math.Inf(1)}
	step := math.Log(slowest/fastest) / gridSteps
	// From the middle outwards: of equal losses the one nearest to 1 stays.
	for i := range gridSteps + 1 {
		k := (i + 1) / 2
		if i%2 == 1 {
			k = -k
		}
		loss, err := s.at(float64(step * float64(k)))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if s.before = loss; math.IsNaN(loss) {
				return nil, nil
			}
		}
	}
	middle := s.bestLog
	if err := s.golden(middle-step, middle+step); err != nil {
		return nil, err
	}
	return s.result(math.Abs(s.bestLog) > math.Log(slowest)-logAccuracy)
}

// search keeps the best logarithm of a factor found so far.
type search struct {
	run           func(ratio float64) (*Comparison, error)
	best, bestLog float64
	before        float64
	runs          int
}

func (s *search) at(logFactor float64) (float64, error) {
	c, err := s.run(math.Exp(-logFactor))
	if err != nil {
		return 0, err
	}
	s.runs++
	loss := c.Loss()
	if loss < s.best {
		s.best, s.bestLog = loss, logFactor
	}
	return loss, nil
}

// golden narrows an interval around the minimum by golden sections.
func (s *search) golden(lo, hi float64) error {
	limit := math.Log(slowest)
	lo, hi = max(lo, -limit), min(hi, limit)
	const section = 0.6180339887498949 // (sqrt(5)-1)/2
	a, b := hi-float64(section*(hi-lo)), lo+float64(section*(hi-lo))
	fa, err := s.at(a)
	if err != nil {
		return err
	}
	fb, err := s.at(b)
	if err != nil {
		return err
	}
	for hi-lo > logAccuracy {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - float64(section*(hi-lo))
			fa, err = s.at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(section*(hi-lo))
			fb, err = s.at(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// result runs once more with the ratio as it is printed, so that giving it
// repeats the figures. Without a gain, the correction is 1.
func (s *search) result(atBound bool) (*Correction, error) {
	ratio, err := strconv.ParseFloat(strconv.FormatFloat(math.Exp(-s.bestLog), 'g', ratioDigits, 64), 64)
	if err != nil {
		return nil, err
	}
	left, err := s.run(ratio)
	if err != nil {
		return nil, err
	}
	c := &Correction{Factor: 1 / ratio, Ratio: ratio, Before: s.before, After: left.Loss(), AtBound: atBound, Runs: s.runs + 1, Left: left}
	if c.After > c.Before {
		if c.Left, err = s.run(1); err != nil {
			return nil, err
		}
		c.Factor, c.Ratio, c.After, c.AtBound = 1, 1, c.Before, false
		c.Runs++
	}
	return c, nil
}

// percent is a loss as a relative error: how far a typical value is off.
func percent(loss float64) float64 { return math.Expm1(loss) }

// sentence tells the correction to people.
func (c *Correction) sentence() string {
	bound := ""
	if c.AtBound {
		bound = fmt.Sprintf(" That is the end of the range tried (1/%g to %g): something else is wrong.", slowest, slowest)
	}
	if c.Factor == 1 {
		return "No common factor on step times fits this trace better." + bound
	}
	what := "slower"
	if c.Factor < 1 {
		what = "faster"
	}
	return fmt.Sprintf("The recorded workers fit best when every step is %.4g times as long\n(%s than modelled; multiply --speedup-ratio by %g).%s", c.Factor, what, c.Ratio, bound)
}
