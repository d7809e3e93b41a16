package synthetic

import (
	"fmt"
	"math"

	"routesim/workloads"
)

// The most of a load, all its requests taken together. A run keeps every request
// and every block of a prompt in memory, and computes every token.
const (
	MaxRequests = 1_000_000
	MaxTokens   = 10_000_000_000 // of prompts and answers
	MaxBlocks   = 100_000_000    // of prompts
)

// Validate reports the first setting that no load can be made of.
func (l *Load) Validate() error {
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
	case !(l.SharedPrefix >= 0 && l.SharedPrefix <= 1) || l.Groups < 0:
		return fmt.Errorf("synthetic load: found a shared prefix of %v and %d groups, expected a number from 0 to 1 and at least 0 groups", l.SharedPrefix, l.Groups)
	case l.Turns < 0 || !(l.InterTurnDelayMS >= 0 && l.InterTurnDelayMS <= math.MaxFloat64):
		return fmt.Errorf("synthetic load: found %d turns %v ms apart, expected a number of turns and a delay of at least 0", l.Turns, l.InterTurnDelayMS)
	}
	return l.checkSize()
}

// checkSize refuses a load that no machine has room for.
func (l *Load) checkSize() error {
	turns := max(1, l.Turns)
	requests := float64(l.Requests) * float64(turns)
	tokens := requests * (float64(l.InputTokens) + float64(l.OutputTokens))
	blocks := requests * float64(l.blocks())
	if requests <= MaxRequests && tokens <= MaxTokens && blocks <= MaxBlocks {
		return nil
	}
	return fmt.Errorf("request-count: found %d sessions with turns-per-session %d, input-tokens %d and output-tokens %d, together %.0f requests of %.0f tokens with %.0f prompt blocks of %d tokens, expected at most %d requests, %d tokens and %d prompt blocks",
		l.Requests, turns, l.InputTokens, l.OutputTokens, requests, tokens, blocks, l.BlockSize, MaxRequests, int64(MaxTokens), MaxBlocks)
}

// tooLate is the error for a session that begins beyond the end of time.
func (l *Load) tooLate(session int32, at float64) error {
	name, value := "request-rate", l.Rate
	if l.IntervalMS > 0 {
		name, value = "arrival-interval-ms", l.IntervalMS
	}
	return fmt.Errorf("%s: found %v, with which session %d begins at %v ms, expected every session to begin by %v ms", name, value, session+1, at, workloads.EndOfTimeMS)
}
