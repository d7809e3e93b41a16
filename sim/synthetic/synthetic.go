// Package synthetic makes traces of equal requests that arrive at random or in
// regular intervals, as the synthetic load of Dynamo's replay does.
package synthetic

import (
	"fmt"
	"math"
	"strconv"

	"routesim/workloads"
	"routesim/workloads/chacha"
)

// Load describes the requests. Exactly one of Rate, IntervalMS and ClosedLoop
// says when they come. No two requests share tokens.
type Load struct {
	Requests     int32 // sessions, of Turns requests each
	InputTokens  int32 // per request
	OutputTokens int32 // per request
	BlockSize    int32 // tokens per KV block of the engine

	Rate       float64 // sessions per second, with exponential gaps
	IntervalMS float64 // between sessions
	ClosedLoop bool    // sessions begin as others end
	Seed       uint64  // of the gaps

	Turns            int32   // requests of a session, one after the other; 0 counts as 1
	InterTurnDelayMS float64 // from the end of one to the next
}

// DefaultSeed is Dynamo's seed of the gaps.
const DefaultSeed = 42

// Trace makes the requests.
func (l *Load) Trace() (*workloads.Trace, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	b := workloads.NewBuilder(workloads.BuilderOptions{BlockSize: l.BlockSize, ClosedLoop: l.ClosedLoop})
	draws := chacha.New(l.Seed)
	blocks, next, at := int(l.InputTokens+l.BlockSize-1)/int(l.BlockSize), uint64(0), 0.0
	for i := range l.Requests {
		if i > 0 {
			at += l.gap(draws)
		}
		for turn := range max(1, l.Turns) {
			row := workloads.Row{Timestamp: at, InputLength: l.InputTokens, OutputLength: l.OutputTokens}
			if l.ClosedLoop {
				row.Timestamp = math.NaN()
			}
			for range blocks {
				row.HashIDs = append(row.HashIDs, next)
				next++
			}
			if l.Turns > 1 {
				row.SessionID = "session_" + strconv.Itoa(int(i))
			}
			if turn > 0 {
				row.Timestamp, row.Delay = math.NaN(), &l.InterTurnDelayMS
			}
			if err := b.Add(row); err != nil {
				return nil, err
			}
		}
	}
	return b.Build()
}

// gap returns the time to the next session in ms. A constant one takes the
// detour over the rate, as Dynamo's does, which can cost its last bit.
func (l *Load) gap(draws *chacha.Source) float64 {
	switch {
	case l.ClosedLoop:
		return 0
	case l.IntervalMS > 0:
		return 1000 / (1000 / l.IntervalMS)
	}
	const smallest = 0x1p-1022 // the smallest normal number
	u := max(smallest, min(1, 1-draws.Unit()))
	return float64(-(1000 / l.Rate) * log(u))
}

func (l *Load) validate() error {
	given := 0
	for _, yes := range []bool{l.Rate > 0, l.IntervalMS > 0, l.ClosedLoop} {
		if yes {
			given++
		}
	}
	switch {
	case l.Requests < 1 || l.InputTokens < 1 || l.OutputTokens < 0 || l.BlockSize < 1:
		return fmt.Errorf("synthetic load: found %d requests of %d and %d tokens in blocks of %d, expected at least one of each and no negative output", l.Requests, l.InputTokens, l.OutputTokens, l.BlockSize)
	case given != 1:
		return fmt.Errorf("synthetic load: found %d of a rate, an interval and a closed loop, expected exactly one", given)
	case !(l.Rate <= math.MaxFloat64) || !(l.IntervalMS <= math.MaxFloat64):
		return fmt.Errorf("synthetic load: found a rate of %v/s and an interval of %v ms, expected finite numbers", l.Rate, l.IntervalMS)
	case l.Turns < 0 || !(l.InterTurnDelayMS >= 0 && l.InterTurnDelayMS <= math.MaxFloat64):
		return fmt.Errorf("synthetic load: found %d turns %v ms apart, expected a number of turns and a delay of at least 0", l.Turns, l.InterTurnDelayMS)
	}
	return nil
}
