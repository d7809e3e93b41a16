package measured

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// aiperfMetric is a figure of AIPerf: a single value of a request's record, or
// the mean over a run.
type aiperfMetric struct {
	Value json.RawMessage `json:"value"`
	Avg   *float64        `json:"avg"`
	Unit  string          `json:"unit"`
}

// perMS returns how many ms a unit of time has, 0 for none of time.
func perMS(unit string) float64 {
	switch strings.ToLower(unit) {
	case "ms", "milliseconds":
		return 1
	case "s", "sec", "seconds":
		return 1000
	case "us", "µs", "microseconds":
		return 1e-3
	case "ns", "nanoseconds":
		return 1e-6
	}
	return 0
}

// number returns the metric's value, scaled to ms if it is a time.
func (m *aiperfMetric) number() (float64, bool) {
	v := math.NaN()
	if m.Avg != nil {
		v = *m.Avg
	} else if err := json.Unmarshal(m.Value, &v); err != nil {
		return 0, false
	}
	if scale := perMS(m.Unit); scale > 0 {
		v *= scale
	}
	return v, v > 0 && !math.IsInf(v, 0)
}

// aiperfSummary reads the summary of a run.
func aiperfSummary(d *document) (Run, error) {
	r := Run{File: d.file, Line: d.line, Format: "AIPerf summary", TTFT: math.NaN(), TPOT: math.NaN(), Throughput: math.NaN()}
	get := func(name string) float64 {
		var m aiperfMetric
		if raw, ok := d.keys[name]; ok && json.Unmarshal(raw, &m) == nil {
			if v, ok := m.number(); ok {
				return v
			}
		}
		return math.NaN()
	}
	r.TTFT, r.TPOT, r.Throughput = get("time_to_first_token"), get("inter_token_latency"), get("output_token_throughput")
	isl, osl, count := get("input_sequence_length"), get("output_sequence_length"), get("request_count")
	if math.IsNaN(isl) || math.IsNaN(osl) || math.IsNaN(count) {
		return r, d.fail("found no input_sequence_length, output_sequence_length or request_count, expected the summary of a streaming run")
	}
	if failed := get("error_request_count"); failed > 0 {
		return r, d.fail("error_request_count: found %v failed requests, expected none: failures change the load", failed)
	}
	r.ISL, r.OSL, r.Requests = int(math.Round(isl)), int(math.Round(osl)), int(math.Round(min(count, MostRequests+1)))
	if rate, found := requestRate(d.keys["input_config"]); found {
		return r, d.fail("request_rate: found %v, expected none: only runs whose load is a fixed concurrency are replayed", rate)
	}
	if c, ok := statedConcurrency(d.keys["input_config"]); ok {
		r.Concurrency = c
	} else {
		// Little's law: rate times latency is the mean number in flight.
		r.Concurrency = int(math.Round(min(get("request_throughput")*get("request_latency")/1000, MostRequests+1)))
	}
	return finish(d, r)
}

// statedConcurrency looks for the concurrency in a run's configuration, whose
// shape differs between versions: below loadgen, or in the phase that is
// measured.
func statedConcurrency(config json.RawMessage) (int, bool) {
	v, ok := findNumber(config, "concurrency")
	return int(min(v, MostRequests+1)), ok && v >= 1 && v == math.Trunc(v)
}

func requestRate(config json.RawMessage) (float64, bool) {
	for _, key := range []string{"request_rate", "rate"} {
		if v, ok := findNumber(config, key); ok && v > 0 {
			return v, true
		}
	}
	return 0, false
}

// findNumber returns the number under a key of a JSON value, the outermost
// first, and in a list of phases the last.
func findNumber(text json.RawMessage, key string) (float64, bool) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil {
		for _, one := range slices.Backward(list) {
			if v, ok := findNumber(one, key); ok {
				return v, true
			}
		}
		return 0, false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return 0, false
	}
	if raw, ok := object[key]; ok {
		var v float64
		if json.Unmarshal(raw, &v) == nil {
			return v, true
		}
	}
	for _, below := range []string{"loadgen", "phases", "profiling", "load"} {
		if v, ok := findNumber(object[below], key); ok {
			return v, true
		}
	}
	return 0, false
}

// aiperfRecord is one request of AIPerf's records; times are in ns.
type aiperfRecord struct {
	Metadata struct {
		Start     int64  `json:"request_start_ns"`
		End       int64  `json:"request_end_ns"`
		Phase     string `json:"benchmark_phase"`
		Credit    string `json:"credit_phase"`
		Cancelled bool   `json:"was_cancelled"`
	} `json:"metadata"`
	Metrics map[string]aiperfMetric `json:"metrics"`
	Error   json.RawMessage         `json:"error"`
}

func (a *aiperfRecord) failed() bool {
	return a.Metadata.Cancelled || len(a.Error) > 0 && string(a.Error) != "null"
}

// leastLoad is the share of the largest number of requests in flight that a
// run under a fixed concurrency keeps up on average, the end included, when
// the last ones run out.
const leastLoad = 0.5

// aiperfRecords sums up the records of a run.
func aiperfRecords(documents []document) (Run, error) {
	first := &documents[0]
	r := Run{File: first.file, Line: first.line, Format: "AIPerf records", Throughput: math.NaN()}
	var ttft, tpot mean
	var start, end, inFlight, tokens int64
	order := []aiperfSent{}
	for i := range documents {
		d := &documents[i]
		var a aiperfRecord
		if err := d.into(&a); err != nil {
			return r, err
		}
		if a.Metadata.Phase == "warmup" || a.Metadata.Credit == "warmup" {
			continue
		}
		if a.failed() {
			return r, d.fail("error: found a failed request, expected none: failures change the load")
		}
		isl, osl := a.metric("input_sequence_length"), a.metric("output_sequence_length")
		m := &a.Metadata
		if math.IsNaN(isl) || math.IsNaN(osl) || m.End <= m.Start {
			return r, d.fail("found no input_sequence_length, output_sequence_length or times of start and end, expected the record of a streamed request")
		}
		ttft.add(a.metric("time_to_first_token"))
		tpot.add(a.metric("inter_token_latency"))
		if len(order) == 0 || m.Start < start {
			start = m.Start
		}
		end = max(end, m.End)
		inFlight += m.End - m.Start
		tokens += int64(osl)
		order = append(order, aiperfSent{m.Start, m.End, int(isl), int(osl)})
	}
	if len(order) == 0 {
		return r, first.fail("found no request of the profiling phase, expected at least one")
	}
	slices.SortStableFunc(order, func(a, b aiperfSent) int { return cmp.Compare(a.start, b.start) })
	var input, output mean
	for _, s := range order {
		r.InputLens, r.OutputLens = append(r.InputLens, s.isl), append(r.OutputLens, s.osl)
		input.add(float64(s.isl))
		output.add(float64(s.osl))
	}
	r.ISL, r.OSL, r.Requests = int(math.Round(input.value())), int(math.Round(output.value())), len(order)
	r.TTFT, r.TPOT = ttft.value(), tpot.value()
	r.Throughput = float64(tokens) / (float64(end-start) / 1e9)
	r.Concurrency = mostInFlight(order)
	if share := float64(inFlight) / float64(end-start) / float64(r.Concurrency); share < leastLoad && len(order) > r.Concurrency {
		return r, first.fail("found %d requests in flight at most and %.0f %% of that on average, expected a run under a fixed concurrency", r.Concurrency, 100*share)
	}
	return finish(first, r)
}

// mostInFlight is the largest number of requests under way at once. Under a
// fixed concurrency it is the limit; a request that starts as another ends
// does not count beside it.
func mostInFlight(order []aiperfSent) int {
	type change struct {
		at int64
		by int
	}
	var changes []change
	for _, s := range order {
		changes = append(changes, change{s.start, 1}, change{s.end, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

// aiperfSent is when a request was sent and ended, in ns, and its lengths.
type aiperfSent struct {
	start, end int64
	isl, osl   int
}

func (a *aiperfRecord) metric(name string) float64 {
	if m, ok := a.Metrics[name]; ok {
		if v, ok := m.number(); ok {
			return v
		}
	}
	return math.NaN()
}

// mean is the mean of what was added, NaN without anything.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) {
	if !math.IsNaN(v) {
		m.sum += v
		m.n++
	}
}

func (m *mean) value() float64 { return m.sum / float64(m.n) }
