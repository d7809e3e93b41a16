// Package measured holds what was measured on real servers, as input for
// fitting profiles and for judging them: single engine steps, and serving runs
// under a fixed concurrency. It reads the files that benchmark tools write.
package measured

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/models"
)

// Step is one engine step whose duration was measured.
type Step struct {
	File  string
	Line  int
	Batch models.Batch
	MS    float64 // duration in ms
}

// Run is a serving run in which a fixed number of requests was always in
// flight. Lengths are in tokens, times in ms, rates in tokens/s; NaN stands for
// what was not measured.
type Run struct {
	File   string
	Line   int
	Format string // of the file it was read from

	Concurrency int
	Requests    int
	ISL, OSL    int // nominal, or the mean where lengths vary
	// ShortestShare is the shortest prompt and answer as a share of ISL and
	// OSL: lengths are uniform from there up to 1.
	ShortestShare float64
	// InputLens and OutputLens are the lengths of every request in the order of
	// sending; nil where only ISL and OSL are known.
	InputLens, OutputLens []int

	MaxNumBatchedTokens int64 // of the engine, 0 = its default
	MaxNumSeqs          int64 // of the engine, 0 = its default

	TTFT, TPOT, Throughput float64
	TTFTStat, TPOTStat     Statistic
}

// Limits of what a run may ask for.
const (
	MostTokens   = 1 << 24
	MostRequests = 1 << 20
)

// Defaults completes a run: a number of requests that was not stated is ten
// times the concurrency, or six times where answers exceed 2,000 tokens, which
// is what published sweeps use.
func (r *Run) Defaults() {
	if r.ShortestShare == 0 {
		r.ShortestShare = 1
	}
	if r.Requests == 0 {
		times := 10
		if r.OSL > 2000 {
			times = 6
		}
		r.Requests = times * r.Concurrency
	}
}

// Check refuses a run that cannot be replayed or says nothing.
func (r *Run) Check() error {
	for _, v := range [...]struct {
		name        string
		value, most int
	}{
		{"concurrency", r.Concurrency, MostRequests}, {"requests", r.Requests, MostRequests},
		{"isl", r.ISL, MostTokens}, {"osl", r.OSL, MostTokens},
	} {
		if v.value < 1 || v.value > v.most {
			return fmt.Errorf("%s: found %d, expected 1 to %d", v.name, v.value, v.most)
		}
	}
	if math.IsNaN(r.TTFT) && math.IsNaN(r.TPOT) && math.IsNaN(r.Throughput) {
		return fmt.Errorf("found neither TTFT nor TPOT nor output tokens/s, expected at least one")
	}
	return nil
}

// DerivedThroughput is the output rate in tokens/s that follows from a run's
// concurrency and latencies in ms: every request in flight yields OSL tokens
// in TTFT + (OSL-1) x TPOT.
func (r *Run) DerivedThroughput(ttft, tpot float64) float64 {
	return 1000 * float64(r.Concurrency) * float64(r.OSL) / (ttft + float64(float64(r.OSL-1)*tpot))
}

// Statistic says what a published figure is of its requests.
type Statistic uint8

// The statistics of published figures.
const (
	Mean           Statistic = iota // over requests
	Median                          // over requests
	MeanGap                         // over the gaps between tokens of all requests
	MedianGap                       // over the gaps between tokens of all requests
	PerToken                        // mean over requests of the whole time over all output tokens
	OtherStatistic                  // one that no run is replayed for
)

// String returns the statistic's name.
func (s Statistic) String() string {
	return [...]string{"mean", "median", "mean ITL", "median ITL", "mean E2E per token", "other"}[s]
}

// statistics maps the words of data files to statistics.
func statistics() map[string]Statistic {
	return map[string]Statistic{
		"mean": Mean, "average": Mean, "avg": Mean,
		"median": Median, "p50": Median, "median of repeats": Median,
		"mean itl": MeanGap, "median itl": MedianGap, "median per-token": MedianGap,
		"mean over the whole request": PerToken, "mean e2e per token": PerToken,
	}
}

// Statistic reads a cell that names a statistic; an empty one is the mean. A
// name that is not known is a problem, unless AnyStatistic was called.
func (t *Table) Statistic(column string) Statistic {
	text := strings.ToLower(t.Text(column))
	if text == "" {
		return Mean
	}
	s, ok := statistics()[text]
	if !ok && t.anyStatistic {
		return OtherStatistic
	}
	if !ok {
		t.Fail(column, strconv.Quote(text), "one of "+strings.Join(slices.Sorted(maps.Keys(statistics())), ", "))
	}
	return s
}

// Run reads the columns of a serving run from the current row: isl, osl,
// concurrency, ttft_ms, tpot_ms, output_tok_s, ttft_stat, tpot_stat,
// n_requests_used or n_requests, max_num_batched_tokens, max_num_seqs and
// shortest_share.
func (t *Table) Run() Run {
	r := Run{
		File: t.name, Line: t.line, Format: "CSV of serving runs",
		ISL: int(t.Count("isl", 1, MostTokens, 0)), OSL: int(t.Count("osl", 1, MostTokens, 0)),
		Concurrency: int(t.Count("concurrency", 1, MostRequests, 0)),
		Requests:    int(t.Count("n_requests_used", 1, MostRequests, 0)),
		TTFT:        t.Positive("ttft_ms"), TPOT: t.Positive("tpot_ms"), Throughput: t.Positive("output_tok_s"),
		TTFTStat: t.Statistic("ttft_stat"), TPOTStat: t.Statistic("tpot_stat"),
		MaxNumBatchedTokens: t.Count("max_num_batched_tokens", 1, math.MaxInt32, 0),
		MaxNumSeqs:          t.Count("max_num_seqs", 1, math.MaxInt32, 0),
		ShortestShare:       1,
	}
	if r.Requests == 0 {
		r.Requests = int(t.Count("n_requests", 1, MostRequests, 0))
	}
	if share := t.Positive("shortest_share"); share > 1 {
		t.Fail("shortest_share", t.Text("shortest_share"), "a share above 0 and up to 1")
	} else if share > 0 {
		r.ShortestShare = share
	}
	r.Defaults()
	return r
}
