package measured

import (
	"io"
	"math"
	"strconv"

	"routesim/models"
)

// StepColumns are the columns of a CSV of engine steps. A step computes
// prefill_tokens new prompt tokens in prefill_chunks chunks, which see
// prefill_cached_tokens tokens that were cached or computed before, and one
// token for each of decode_seqs sequences, whose contexts sum to
// decode_context_tokens. It took step_ms. prefill_pairs, the query-key pairs
// of the chunks, may be added; without it the chunks of a step are taken to be
// equal.
func StepColumns() []string {
	return []string{"prefill_tokens", "prefill_chunks", "prefill_cached_tokens", "decode_seqs", "decode_context_tokens", "step_ms"}
}

// readSteps reads a CSV of engine steps.
func readSteps(t *Table) ([]Step, error) {
	var steps []Step
	for t.Next() {
		s := t.step()
		if t.Err() == nil {
			steps = append(steps, s)
		}
	}
	return steps, t.Err()
}

func (t *Table) step() Step {
	const most = 1 << 32
	count := func(column string) int64 { return t.Count(column, 0, most, 0) }
	fresh, chunks, cached := count("prefill_tokens"), count("prefill_chunks"), count("prefill_cached_tokens")
	s := Step{File: t.name, Line: t.line, MS: t.Positive("step_ms"), Batch: models.Batch{
		PrefillSeqs: chunks, PrefillContext: fresh + cached, PrefillPrefix: cached,
		DecodeSeqs: count("decode_seqs"), DecodeContext: count("decode_context_tokens"),
	}}
	b := &s.Batch
	b.ScheduledTokens = fresh + b.DecodeSeqs
	b.PrefillPairs = t.Count("prefill_pairs", 0, 1<<52, equalChunks(fresh, cached, chunks))
	switch {
	case math.IsNaN(s.MS):
		t.Fail("step_ms", "nothing", "the step's duration in ms")
	case fresh > 0 && (chunks < 1 || chunks > fresh):
		t.Fail("prefill_chunks", strconv.FormatInt(chunks, 10), "1 up to the number of prefill_tokens")
	case fresh == 0 && (chunks > 0 || cached > 0):
		t.Fail("prefill_tokens", "0 beside chunks or cached tokens", "at least one new token per chunk")
	case b.DecodeSeqs > b.DecodeContext || b.DecodeSeqs == 0 && b.DecodeContext > 0:
		t.Fail("decode_context_tokens", strconv.FormatInt(b.DecodeContext, 10), "at least one token for each of decode_seqs, and none without")
	case b.ScheduledTokens == 0:
		t.Fail("prefill_tokens", "a step without work", "prefill tokens or decoding sequences")
	}
	return s
}

// equalChunks is the number of query-key pairs of chunks that share a step's
// tokens equally: new*cached + new*(new+1)/2, summed.
func equalChunks(fresh, cached, chunks int64) int64 {
	if chunks < 1 {
		return 0
	}
	n, c := float64(fresh)/float64(chunks), float64(cached)/float64(chunks)
	return int64(math.Round(float64(chunks) * (float64(n*c) + float64(n*(n+1))/2)))
}

// readRuns reads a CSV of serving runs.
func readRuns(t *Table) ([]Run, error) {
	var runs []Run
	for t.Next() {
		r := t.Run()
		if err := r.Check(); err != nil && t.err == nil {
			t.Fail("row", "an unusable run", err.Error())
		}
		if t.Err() == nil {
			runs = append(runs, r)
		}
	}
	return runs, t.Err()
}

// readCSV tells the kind of a CSV by its columns and reads it.
func readCSV(name string, r io.Reader) (*Data, error) {
	t, err := NewTable(name, r)
	if err != nil {
		return nil, err
	}
	d := &Data{}
	switch {
	case t.Has("step_ms"):
		if err := t.require(StepColumns()); err != nil {
			return nil, err
		}
		d.Steps, err = readSteps(t)
	case t.Has("ttft_ms") || t.Has("tpot_ms") || t.Has("output_tok_s"):
		if err := t.require([]string{"isl", "osl", "concurrency"}); err != nil {
			return nil, err
		}
		d.Runs, err = readRuns(t)
	default:
		return nil, unknownFormat(name)
	}
	return d, err
}
