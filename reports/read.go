package reports

import (
	"encoding/json"
	"fmt"

	"routesim/sim"
	"routesim/sim/metrics"
)

// ReadSummary reads what Summary.Write wrote. Figures that are not in the
// document, such as the bounds of goodput, stay as they are in an empty summary.
func ReadSummary(text []byte) (*Summary, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("found malformed JSON (%s), expected a summary.json", Malformed(err))
	}
	own, ok := members["routesim"]
	if !ok {
		return nil, fmt.Errorf(`found no key "routesim", expected a summary.json`)
	}
	s := &Summary{}
	if err := json.Unmarshal(own, &s.Routesim); err != nil {
		return nil, fmt.Errorf("routesim: %s (is it a summary.json of this version?)", Malformed(err))
	}
	r := memberReader{members: members}
	s.Requests, s.Completed = r.whole("num_requests"), r.whole("completed_requests")
	s.CommittedPrefillTokens = r.whole("committed_prefill_tokens")
	s.InputTokens, s.OutputTokens = r.whole("total_input_tokens"), r.whole("total_output_tokens")
	s.DurationMS, s.WorkerSeconds = r.real("duration_ms"), r.real("decode_worker_seconds")
	s.RequestRate, s.InputRate = r.real("request_throughput_rps"), r.real("input_throughput_tok_s")
	s.OutputRate, s.TotalRate = r.real("output_throughput_tok_s"), r.real("total_throughput_tok_s")
	s.GPUsPerWorker, s.GPUHours = r.real("decode_gpus_per_worker"), r.real("gpu_hours")
	s.Reused, s.ReusedFirst = r.real("prefix_cache_reused_ratio"), r.real("first_admission_prefix_cache_reused_ratio")
	s.TTFT, s.TTST, s.TPOT = r.stats("ttft_ms"), r.stats("ttst_ms"), r.stats("tpot_ms")
	s.ITL, s.E2E, s.UserRate = r.stats("itl_ms"), r.stats("e2e_latency_ms"), r.stats("output_token_throughput_per_user")
	s.TTFT.N, s.TPOT.N, s.E2E.N = r.whole("num_ttft_samples"), r.whole("num_tpot_samples"), r.whole("num_e2e_latency_samples")
	if _, ok := members["g3_offload"]; ok {
		r.read("g3_offload", &s.Disk)
	}
	if _, ok := members["g2_domains"]; ok {
		r.read("g2_domains", &s.Hosts)
	}
	if _, ok := members["goodput_completed_requests"]; ok {
		s.Goodput = &Goodput{
			Bounds: sim.SLA{}, Completed: r.whole("goodput_completed_requests"),
			RequestRate: r.real("goodput_request_throughput_rps"), OutputRate: r.real("goodput_output_throughput_tok_s"),
		}
	}
	return s, r.err
}

// memberReader reads the figures of a document and keeps the first problem.
type memberReader struct {
	members map[string]json.RawMessage
	err     error
}

func (r *memberReader) read(key string, to any) {
	text, ok := r.members[key]
	if !ok {
		text = []byte("missing")
	}
	if err := json.Unmarshal(text, to); err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: found %.40q, expected a number (is it a summary.json of this version?)", key, text)
	}
}

func (r *memberReader) whole(key string) (n int64) {
	r.read(key, &n)
	return n
}

func (r *memberReader) real(key string) float64 {
	var n Number
	r.read(key, &n)
	return float64(n)
}

func (r *memberReader) stats(name string) metrics.Stats {
	return metrics.Stats{
		Mean: r.real("mean_" + name), Min: r.real("min_" + name), Max: r.real("max_" + name), Median: r.real("median_" + name),
		P75: r.real("p75_" + name), P90: r.real("p90_" + name), P95: r.real("p95_" + name), P99: r.real("p99_" + name),
		Std: r.real("std_" + name),
	}
}
