package workloads

import (
	"fmt"
	"math"
	"slices"
)

// Stats sums up a trace.
type Stats struct {
	Requests  int
	Sessions  int
	SpanMS    float64 // from the first to the last recorded arrival
	PerSecond float64 // requests per second of the span, 0 for an empty span
	Input     Lengths // prompt tokens; in a delta trace only those the rows add
	Output    Lengths // requested output tokens

	BlockRefs     int     // trace blocks over all prompts
	Blocks        int     // distinct ones, a block counting together with its predecessors
	RepeatedShare float64 // 1 - Blocks/BlockRefs: what an endless cache of trace blocks would have seen before

	Arrivals    int // distinct recorded arrivals
	MaxTogether int // most requests on one arrival
}

// Lengths sums up a column of token counts.
type Lengths struct {
	Min, Max int32
	Total    int64
	Mean     float64
}

// Stats returns the summary of the trace.
func (t *Trace) Stats() Stats {
	s := Stats{
		Requests: t.Len(), Sessions: t.Len(),
		Input: lengthsOf(t.isl), Output: lengthsOf(t.osl),
		BlockRefs: len(t.nodes), Blocks: int(t.numNode),
	}
	if t.sessions != nil {
		s.Sessions = len(t.sessions.nameOf)
	}
	if s.BlockRefs > 0 {
		s.RepeatedShare = 1 - float64(s.Blocks)/float64(s.BlockRefs)
	}
	at := slices.DeleteFunc(slices.Clone(t.arrival), math.IsNaN)
	slices.Sort(at)
	for i := 0; i < len(at); {
		j := i + 1
		for j < len(at) && at[j] == at[i] {
			j++
		}
		s.Arrivals++
		s.MaxTogether = max(s.MaxTogether, j-i)
		i = j
	}
	if len(at) > 0 {
		s.SpanMS = at[len(at)-1] - at[0]
	}
	if s.SpanMS > 0 {
		s.PerSecond = float64(len(at)) / (s.SpanMS / 1000)
	}
	return s
}

// UnitDoubt says why the timestamps may not be the milliseconds they are taken
// for, "" if nothing speaks against it. A trace in other units replays without
// any error, only with an absurd load.
func (s Stats) UnitDoubt() string {
	const month = 30 * 24 * 3600e3 // ms
	switch {
	case s.SpanMS > month:
		return fmt.Sprintf("arrivals span %.0f days: are the timestamps milliseconds?", s.SpanMS/(24*3600e3))
	case s.SpanMS > 0 && s.SpanMS < 1:
		return fmt.Sprintf("all arrivals lie within %g ms: are the timestamps milliseconds?", s.SpanMS)
	case s.PerSecond > 10000:
		return fmt.Sprintf("%.0f requests arrive per second: are the timestamps milliseconds?", s.PerSecond)
	}
	return ""
}

func lengthsOf(column []int32) Lengths {
	if len(column) == 0 {
		return Lengths{}
	}
	l := Lengths{Min: column[0], Max: column[0]}
	for _, n := range column {
		l.Min, l.Max = min(l.Min, n), max(l.Max, n)
		l.Total += int64(n)
	}
	l.Mean = float64(l.Total) / float64(len(column))
	return l
}

// ShorterThan returns the number of prompts of fewer than n tokens. Prompts
// shorter than an engine block can never be found in a cache.
func (t *Trace) ShorterThan(n int32) int {
	count := 0
	for _, isl := range t.isl {
		if isl < n {
			count++
		}
	}
	return count
}

// Sorted reports whether sessions start in file order. Replay sorts them
// stably; an unsorted file may still be worth a warning.
func (t *Trace) Sorted() bool {
	last := math.Inf(-1)
	for i, at := range t.arrival {
		if t.Prev(i) != NoRow || math.IsNaN(at) {
			continue
		}
		if at < last {
			return false
		}
		last = at
	}
	return true
}
