package workloads

import (
	"math"
	"slices"
)

// SpreadArrivals returns the trace with requests that share a timestamp spread
// evenly over the step to the next timestamp: n requests at t arrive at t,
// t + step/n, t + 2*step/n, ... in file order. It undoes the coarse clock of
// traces that record arrivals to the nearest few seconds. The step is the gap
// to the next timestamp, but never more than the median gap of the trace, so
// that a burst before a pause stays a burst of the clock's resolution. Later
// turns of sessions keep their times: they follow the turn before.
//
// It also returns the median gap in ms, 0 if the trace has a single timestamp
// and nothing could be spread.
func SpreadArrivals(t *Trace) (spread *Trace, stepMS float64) {
	rows := make([]int32, 0, t.Len())
	for i := range t.Len() {
		if t.Prev(i) == NoRow && !math.IsNaN(t.arrival[i]) {
			rows = append(rows, int32(i))
		}
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		switch x, y := t.arrival[a], t.arrival[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	stepMS = medianGap(t.arrival, rows)
	arrival := slices.Clone(t.arrival)
	for i := 0; i < len(rows); {
		j, at := i+1, t.arrival[rows[i]]
		for j < len(rows) && t.arrival[rows[j]] == at {
			j++
		}
		step := stepMS
		if j < len(rows) {
			step = min(step, t.arrival[rows[j]]-at)
		}
		for k := i + 1; k < j; k++ {
			arrival[rows[k]] = at + float64(step*float64(k-i))/float64(j-i)
		}
		i = j
	}
	copied := *t
	copied.arrival = arrival
	return &copied, stepMS
}

// medianGap is the median difference of neighbouring distinct timestamps, 0 if
// there is only one. The rows are sorted by time.
func medianGap(arrival []float64, rows []int32) float64 {
	var gaps []float64
	for i := 1; i < len(rows); i++ {
		if gap := arrival[rows[i]] - arrival[rows[i-1]]; gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}
