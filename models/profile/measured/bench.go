package measured

import (
	"encoding/json"
	"math"
	"strings"
)

// benchResult is what vLLM's and SGLang's bench_serving write about a run.
// Means and medians are in ms, the duration in s.
type benchResult struct {
	Backend        string          `json:"backend"`
	MaxConcurrency *float64        `json:"max_concurrency"`
	RequestRate    json.RawMessage `json:"request_rate"` // a number, "inf" or "trace"

	NumPrompts   int64   `json:"num_prompts"`
	Completed    int64   `json:"completed"`
	Duration     float64 `json:"duration"`
	InputTokens  int64   `json:"total_input_tokens"`
	OutputTokens int64   `json:"total_output_tokens"`

	OutputThroughput *float64 `json:"output_throughput"`
	MeanTTFT         *float64 `json:"mean_ttft_ms"`
	MedianTTFT       *float64 `json:"median_ttft_ms"`
	MeanTPOT         *float64 `json:"mean_tpot_ms"`
	MedianTPOT       *float64 `json:"median_tpot_ms"`
	MeanITL          *float64 `json:"mean_itl_ms"`

	// SGLang's random lengths are uniform between this share and the whole.
	RandomInputLen   *int     `json:"random_input_len"`
	RandomOutputLen  *int     `json:"random_output_len"`
	RandomRangeRatio *float64 `json:"random_range_ratio"`

	InputLens  []int `json:"input_lens"`
	OutputLens []int `json:"output_lens"`
}

// benchServing reads a run of bench_serving.
func benchServing(d *document) (Run, error) {
	var b benchResult
	if err := d.into(&b); err != nil {
		return Run{}, err
	}
	r := Run{File: d.file, Line: d.line, Format: "vLLM bench_serving", TTFT: math.NaN(), TPOT: math.NaN(), Throughput: math.NaN()}
	sglang := d.has("total_output_tokens_retokenized") || strings.HasPrefix(b.Backend, "sglang")
	if sglang {
		r.Format = "SGLang bench_serving"
	}
	if b.Completed < 1 || b.InputTokens < 1 || b.OutputTokens < 1 {
		return r, d.fail("completed: found %d requests with %d input and %d output tokens, expected a run that completed some", b.Completed, b.InputTokens, b.OutputTokens)
	}
	if b.NumPrompts > b.Completed {
		return r, d.fail("completed: found %d of %d requests, expected all: failures change the load", b.Completed, b.NumPrompts)
	}
	r.Requests = int(min(b.Completed, MostRequests+1))
	r.ISL = int(math.Round(float64(b.InputTokens) / float64(b.Completed)))
	r.OSL = int(math.Round(float64(b.OutputTokens) / float64(b.Completed)))
	if err := b.concurrency(d, &r); err != nil {
		return r, err
	}
	if int64(len(b.InputLens)) == b.Completed && len(b.OutputLens) == len(b.InputLens) {
		r.InputLens, r.OutputLens = b.InputLens, b.OutputLens
	} else if sglang {
		b.spread(&r)
	}
	r.TTFT, r.TTFTStat = firstOf(b.MeanTTFT, b.MedianTTFT)
	if r.TPOT, r.TPOTStat = firstOf(b.MeanTPOT, b.MedianTPOT); math.IsNaN(r.TPOT) && b.MeanITL != nil {
		r.TPOT, r.TPOTStat = *b.MeanITL, MeanGap
	}
	r.Throughput, _ = firstOf(b.OutputThroughput, nil)
	return finish(d, r)
}

// finish completes and checks a run that was read from a document.
func finish(d *document, r Run) (Run, error) {
	r.Defaults()
	for i := range r.InputLens {
		if r.InputLens[i] < 1 || r.OutputLens[i] < 1 || r.InputLens[i] > MostTokens || r.OutputLens[i] > MostTokens {
			return r, d.fail("found a request of %d input and %d output tokens, expected at least one each", r.InputLens[i], r.OutputLens[i])
		}
	}
	if err := r.Check(); err != nil {
		return r, d.fail("%v", err)
	}
	return r, nil
}

// concurrency is the limit that was set; a run without one sent everything at
// once, unless it sent at a rate.
func (b *benchResult) concurrency(d *document, r *Run) error {
	if b.MaxConcurrency != nil && *b.MaxConcurrency >= 1 {
		r.Concurrency = int(min(*b.MaxConcurrency, MostRequests+1))
	} else {
		r.Concurrency = r.Requests
	}
	rate := strings.ToLower(strings.Trim(string(b.RequestRate), `"`))
	if rate == "" || rate == "null" || strings.HasPrefix(rate, "inf") {
		return nil
	}
	return d.fail("request_rate: found %s, expected inf: only runs whose load is a fixed concurrency are replayed", rate)
}

// spread takes the range of SGLang's random lengths from its arguments, where
// the lengths that were sent agree with them.
func (b *benchResult) spread(r *Run) {
	if b.RandomInputLen == nil || b.RandomOutputLen == nil || b.RandomRangeRatio == nil {
		return
	}
	share := *b.RandomRangeRatio
	if !(share > 0 && share < 1) {
		return
	}
	middle := (1 + share) / 2
	near := func(mean, most int) bool { return math.Abs(float64(mean)/(float64(most)*middle)-1) < 0.05 }
	if near(r.ISL, *b.RandomInputLen) && near(r.OSL, *b.RandomOutputLen) {
		r.ISL, r.OSL, r.ShortestShare = *b.RandomInputLen, *b.RandomOutputLen, share
	}
}

// firstOf returns the mean, else the median, else NaN. What is not above 0 was
// not measured.
func firstOf(mean, median *float64) (float64, Statistic) {
	switch {
	case mean != nil && *mean > 0:
		return *mean, Mean
	case median != nil && *median > 0:
		return *median, Median
	}
	return math.NaN(), Mean
}
