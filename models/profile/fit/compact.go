package fit

import (
	"context"
	"math"
	"slices"

	"routesim/models"
	"routesim/models/profile"
)

// Places of the numbers of a compact profile.
const (
	constPlace = iota
	bendPlace
	prefillPlace
	prefillTokenPlace
	pairPlace
	chunkPlace
	decodeSeqPlace
	contextPlace
	compactRequestPlace
	compactCount
)

// shape is the part of a step that depends on its tokens alone, in units of
// its value at 0: flat while the weights are read, then linear in the tokens,
// with a bend where both take equally long.
func shape(tokens, bend float64) float64 {
	r := tokens / bend
	r *= r
	return math.Sqrt(math.Sqrt(1 + float64(r*r)))
}

// compactSpace is the space of profiles whose curve bends at a number of
// tokens:
//
//	step = c + w*shape(T) + [P>0]*p0 + p1*P + p2*A + p3*C + d1*D + d2*K
//
// with T tokens, P of them new prompt tokens in C chunks with A query-key
// pairs, and D decoding sequences whose contexts sum to K.
func compactSpace(blank *profile.Profile, bend, least float64) *space {
	return &space{
		names: []string{
			"constant ms", "weights ms", "prefill ms", "prefill ms/token", "prefill ms/pair", "prefill ms/chunk",
			"decode ms/sequence", "decode ms/context token", "request_ms",
		},
		start:     []float64{0, least, 0, 0, 0, 0, 0, 0, 0},
		delta:     []float64{0.2, least / 10, 0.5, 0.005, 1e-6, 0.5, 0.01, 1e-5, 1},
		lettingGo: []int{constPlace, chunkPlace, prefillPlace, prefillTokenPlace, pairPlace, decodeSeqPlace, contextPlace, bendPlace, compactRequestPlace},
		request:   compactRequestPlace,
		row: func(b *models.Batch) []float64 {
			fresh := float64(b.PrefillContext - b.PrefillPrefix)
			row := make([]float64, compactCount)
			row[constPlace], row[bendPlace] = 1, shape(fresh+float64(b.DecodeSeqs), bend)
			if fresh > 0 {
				row[prefillPlace], row[prefillTokenPlace] = 1, fresh
				row[pairPlace], row[chunkPlace] = float64(b.PrefillPairs), float64(b.PrefillSeqs)
			}
			row[decodeSeqPlace], row[contextPlace] = float64(b.DecodeSeqs), float64(b.DecodeContext)
			return row
		},
		build: func(x []float64) (*profile.Profile, error) { return compactProfile(blank, bend, x), nil },
	}
}

// compactProfile writes the numbers as coefficients of the general formula.
func compactProfile(blank *profile.Profile, bend float64, x []float64) *profile.Profile {
	p := *blank
	c := &p.Coefficients
	*c = profile.Coefficients{TailMS: x[bendPlace] / bend}
	for _, k := range models.HybridKnots() {
		ms := math.Max(x[constPlace]+float64(x[bendPlace]*shape(float64(k), bend)), leastStepMS)
		c.TokensMS = append(c.TokensMS, round5(ms))
	}
	c.TailMS = round5(c.TailMS)
	c.PrefillMS = [4]float64{x[prefillPlace], x[prefillTokenPlace], x[pairPlace], x[chunkPlace]}
	c.DecodeMS = [4]float64{0, x[decodeSeqPlace], x[contextPlace], x[contextPlace]}
	c.ReadFloorMS = x[contextPlace]
	p.Calibration = profile.Calibration{GPUTimeScale: 1, RequestMS: x[compactRequestPlace]}
	return &p
}

// leastStepMS keeps every step longer than nothing.
const leastStepMS = 1e-3

// tried is a search with one bend.
type tried struct {
	bend float64
	s    *search
	at   *solution
}

// bestBend tries bends over the whole range of step sizes and then around the
// best of them, and returns the best search.
func (o *Options) bestBend(ctx context.Context) (*search, *solution, error) {
	least := o.shortest()
	var best *tried
	try := func(bend float64) error {
		s := &search{space: compactSpace(o.Blank, bend, least), data: o.Data, predict: o.Predict, rounds: mostRounds}
		if len(o.Data.Steps) == 0 {
			s.rounds, s.fixed = roughRounds, runsAlone()
			s.start[pairPlace], s.fixed[pairPlace] = o.pairs()
		}
		if s.from = s.start; best != nil {
			s.from = best.at.x
		}
		at, err := s.solve(ctx)
		if err != nil {
			return err
		}
		if best == nil || at.cost < best.at.cost {
			best = &tried{bend, s, at}
		}
		return nil
	}
	first, step := 8.0, 2.0
	if len(o.Data.Runs) > 0 {
		first = 32
	}
	for bend := first; bend <= mostBend; bend *= step {
		if err := try(bend); err != nil {
			return nil, nil, err
		}
	}
	for range o.refinements() {
		step = math.Sqrt(step)
		for _, bend := range [...]float64{best.bend / step, best.bend * step} {
			if err := try(bend); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(o.Data.Runs) > 0 {
		best.s.from, best.s.rounds = best.at.x, mostRounds
		at, err := best.s.solve(ctx)
		return best.s, at, err
	}
	return best.s, best.at, nil
}

// mostBend is the largest number of tokens that a curve is bent at.
const mostBend = 4096

// roughRounds is how many rounds a search takes when it only compares bends.
const roughRounds = 2

// runsAlone reports the numbers that serving runs without single steps cannot
// tell: a run has steps of few sizes, and its prefills are told apart from the
// curve of the tokens only by their query-key pairs.
func runsAlone() []bool {
	fixed := make([]bool, compactCount)
	for _, j := range [...]int{constPlace, prefillPlace, prefillTokenPlace, chunkPlace} {
		fixed[j] = true
	}
	return fixed
}

// pairEfficiency is the share of the peak rate that prefill attention is taken
// to reach where no measurement tells.
const pairEfficiency = 0.6

// pairs is the time of a query-key pair in ms as the hardware lets expect it.
// Runs with one prompt length per load tell it badly, and an error there grows
// with the square of the prompt.
func (o *Options) pairs() (ms float64, known bool) {
	f, err := o.Blank.Floor()
	if err != nil {
		return 0, false
	}
	return f.PairMS() / pairEfficiency, true
}

// refinements is how often the neighbourhood of the best bend is halved:
// simulations are slow, and sure of the bend only roughly.
func (o *Options) refinements() int {
	if len(o.Data.Runs) > 0 {
		return 2
	}
	return 6
}

// shortest is the shortest measured step in ms, a first guess of the time to
// read the weights.
func (o *Options) shortest() float64 {
	var all []float64
	for i := range o.Data.Steps {
		all = append(all, o.Data.Steps[i].MS)
	}
	for i := range o.Data.Runs {
		r := &o.Data.Runs[i]
		for _, ms := range [...]float64{r.TPOT, r.TTFT, 1000 * float64(r.Concurrency) / r.Throughput} {
			if ms > 0 {
				all = append(all, ms)
			}
		}
	}
	return slices.Min(all)
}
