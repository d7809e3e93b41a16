package reports

import (
	"bytes"
	"encoding/json"
	"io"
	"math"

	"routesim/sim/metrics"
)

// Number is a float64 that JSON shows as null when it is not finite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// UnmarshalJSON implements json.Unmarshaler: null is NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// member is one key of a JSON object.
type member struct {
	key   string
	value any
}

// object is a JSON object whose keys keep their order.
type object []member

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, v := range [2]any{m.key, m.value} {
			text, err := marshal(v)
			if err != nil {
				return nil, err
			}
			if j > 0 {
				b.WriteByte(':')
			}
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal without the escapes that only web pages need.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// oracle lists the summary under the names, in the order and in the units of
// Dynamo's own replay report.
func (s *Summary) oracle() object {
	o := object{
		{"kv_eviction_policy", "lru"},
		{"committed_prefill_tokens", s.CommittedPrefillTokens},
		{"num_requests", s.Requests},
		{"completed_requests", s.Completed},
		{"total_input_tokens", s.InputTokens},
		{"total_output_tokens", s.OutputTokens},
		{"duration_ms", Number(s.DurationMS)},
		{"request_throughput_rps", Number(s.RequestRate)},
		{"input_throughput_tok_s", Number(s.InputRate)},
		{"output_throughput_tok_s", Number(s.OutputRate)},
		{"total_throughput_tok_s", Number(s.TotalRate)},
		{"prefill_worker_seconds", Number(s.PrefillWorkerSeconds)},
		{"decode_worker_seconds", Number(s.WorkerSeconds)},
		{"prefill_gpus_per_worker", Number(s.PrefillGPUsPerWorker)},
		{"decode_gpus_per_worker", Number(s.GPUsPerWorker)},
		{"gpu_hours", Number(s.GPUHours)},
	}
	if s.Disk != nil {
		o = append(o, member{"g3_offload", s.Disk})
	}
	if s.Hosts != nil {
		o = append(o, member{"g2_domains", s.Hosts})
	}
	if g := s.Goodput; g != nil {
		o = append(o, object{
			{"goodput_completed_requests", g.Completed},
			{"goodput_request_throughput_rps", Number(g.RequestRate)},
			{"goodput_output_throughput_tok_s", Number(g.OutputRate)},
		}...)
	}
	o = append(o, object{
		{"power_w", nil},
		{"power_coverage", nil},
		{"processed_tokens", s.InputTokens + s.OutputTokens},
		{"prefix_cache_reused_ratio", Number(s.Reused)},
		{"first_admission_prefix_cache_reused_ratio", Number(s.ReusedFirst)},
		{"num_ttft_samples", s.TTFT.N},
		{"num_tpot_samples", s.TPOT.N},
		{"num_e2e_latency_samples", s.E2E.N},
	}...)
	for _, d := range []struct {
		name  string
		stats *metrics.Stats
	}{
		{"ttft_ms", &s.TTFT},
		{"ttst_ms", &s.TTST},
		{"tpot_ms", &s.TPOT},
		{"itl_ms", &s.ITL},
		{"e2e_latency_ms", &s.E2E},
		{"output_token_throughput_per_user", &s.UserRate},
	} {
		o = append(o, object{
			{"mean_" + d.name, Number(d.stats.Mean)},
			{"min_" + d.name, Number(d.stats.Min)},
			{"max_" + d.name, Number(d.stats.Max)},
			{"median_" + d.name, Number(d.stats.Median)},
			{"p75_" + d.name, Number(d.stats.P75)},
			{"p90_" + d.name, Number(d.stats.P90)},
			{"p95_" + d.name, Number(d.stats.P95)},
			{"p99_" + d.name, Number(d.stats.P99)},
			{"std_" + d.name, Number(d.stats.Std)},
		}...)
	}
	return o
}

// Values returns the figures that Dynamo's replay reports, by its names, those
// inside others by their paths: int64, float64 (NaN where there is none), string
// or nil.
func (s *Summary) Values() map[string]any {
	out := map[string]any{}
	for _, m := range s.oracle() {
		switch v := m.value.(type) {
		case Number:
			out[m.key] = float64(v)
		case int:
			out[m.key] = int64(v)
		case *DiskFigures:
			v.values(out)
		case []HostFigures:
			for i := range v {
				v[i].values(i, out)
			}
		default:
			out[m.key] = v
		}
	}
	return out
}

// MarshalJSON implements json.Marshaler: the names of Dynamo's replay first,
// then the program's own under "routesim".
func (s *Summary) MarshalJSON() ([]byte, error) {
	return append(s.oracle(), member{"routesim", &s.Routesim}).MarshalJSON()
}

// Write writes the summary as an indented JSON document. Equal summaries give
// equal bytes.
func (s *Summary) Write(w io.Writer) error {
	text, err := marshal(s)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}
