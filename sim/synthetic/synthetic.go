// Package synthetic makes traces of equal requests that arrive at random or in
// regular intervals, as the synthetic load of Dynamo's replay does.
package synthetic

import (
	"math"
	"strconv"

	"routesim/workloads"
	"routesim/workloads/chacha"
)

// Load describes the requests. Exactly one of Rate, IntervalMS and ClosedLoop
// says when they come. Requests share no tokens but the prefixes of groups.
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

	// SharedPrefix is the share of a prompt's blocks, rounded to whole ones, that
	// all requests of the session's group begin with. Each session belongs to one
	// of Groups, drawn with the same chance. Without either nothing is shared.
	SharedPrefix float64
	Groups       int32
}

// Format is the format that a trace of synthetic load reports.
const Format = "synthetic"

// DefaultSeed is Dynamo's seed of the gaps, and the seed of the groups whatever
// that of the gaps is.
const DefaultSeed = 42

// groupBlock is the first of a group's block numbers, which no request of its
// own reaches.
func groupBlock(group uint32) uint64 { return 1<<62 | uint64(group)<<31 }

// Trace makes the requests.
func (l *Load) Trace() (*workloads.Trace, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	b := workloads.NewBuilder(workloads.BuilderOptions{Format: Format, File: "synthetic load", BlockSize: l.BlockSize, ClosedLoop: l.ClosedLoop})
	draws := chacha.New(l.Seed)
	groups, group := chacha.New(DefaultSeed), uint32(0)
	blocks, next, at := l.blocks(), uint64(0), 0.0
	shared := l.sharedBlocks()
	for i := range l.Requests {
		if i > 0 {
			at += l.gap(draws)
		}
		if !(at <= workloads.EndOfTimeMS) {
			return nil, l.tooLate(i, at)
		}
		if shared > 0 {
			group = groups.Below(uint32(l.Groups))
		}
		for turn := range max(1, l.Turns) {
			row := workloads.Row{Timestamp: at, InputLength: l.InputTokens, OutputLength: l.OutputTokens}
			if l.ClosedLoop {
				row.Timestamp = math.NaN()
			}
			for k := range shared {
				row.HashIDs = append(row.HashIDs, groupBlock(group)+uint64(k))
			}
			for range blocks - shared {
				row.HashIDs = append(row.HashIDs, next)
				next++
			}
			if l.Sessions() {
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

// Sessions reports whether requests belong to sessions that have names.
func (l *Load) Sessions() bool { return l.Turns > 1 || l.SharedPrefix > 0 && l.Groups > 0 }

// blocks returns the blocks of a prompt, the last one of which may be incomplete.
func (l *Load) blocks() int32 {
	return int32((int64(l.InputTokens) + int64(l.BlockSize) - 1) / int64(l.BlockSize))
}

// sharedBlocks returns those of them that a group has in common.
func (l *Load) sharedBlocks() int32 {
	if l.Groups == 0 {
		return 0
	}
	return int32(math.Round(float64(l.blocks()) * l.SharedPrefix))
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
