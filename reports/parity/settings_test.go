package parity

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/engine"
	"routesim/sim/router"
)

func decodeDict(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var m map[string]any
	if err := decode("test", []byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// settingsCase is a call of the oracle and how it changes the default settings.
type settingsCase struct {
	options, engine, router string
	change                  func(s *settings)
}

func settingsCases() map[string]settingsCase {
	bound := func(v float64) *float64 { return &v }
	return map[string]settingsCase{
		"defaults": {change: func(*settings) {}},
		"nulls are defaults": {options: `{"num_workers": null, "replay_concurrency": null, "trace_block_size": null}`,
			router: `{"router_queue_threshold": null}`, change: func(*settings) {}},
		"options": {options: `{"num_workers": 3, "arrival_speedup_ratio": 2.5, "replay_concurrency": 7, "max_sim_time_ms": 10,
			"sla_ttft_ms": 1, "sla_itl_ms": 2, "kv_event_lag_ms": 4, "trace_block_size": 16, "trace_format": "mooncake_delta", "capture_per_request": true}`,
			change: func(s *settings) {
				s.traceFormat, s.traceBlockSize = "mooncake-delta", 16
				s.config.Fleet[0].Count = 3
				s.config.ArrivalSpeedup, s.config.Concurrency, s.config.MaxSimTimeMS = 2.5, 7, bound(10)
				s.config.SLA = sim.SLA{TTFT: bound(1), ITL: bound(2)}
				s.config.Router.KVEventLagMS = 4
			}},
		"the whole latency": {options: `{"sla_e2e_ms": 3}`, change: func(s *settings) { s.config.SLA.E2E = bound(3) }},
		"dynamo traces say their block size": {options: `{"trace_format": "dynamo", "trace_block_size": 512}`,
			change: func(s *settings) { s.traceFormat, s.traceBlockSize = "dynamo", 0 }},
		"engine": {engine: `{"engine": {"backend": "vllm", "num_gpu_blocks": 100, "block_size": 16, "max_model_len": 99, "max_num_seqs": 4,
			"max_num_batched_tokens": 128, "enable_prefix_caching": false, "enable_chunked_prefill": false, "preemption_mode": "fifo"}, "dp_size": 1}`,
			change: func(s *settings) {
				e := &s.config.Fleet[0].Engine
				e.NumGPUBlocks, e.BlockSize, e.MaxModelLen, e.MaxNumSeqs, e.MaxNumBatchedTokens = 100, 16, 99, 4, 128
				e.EnablePrefixCaching, e.EnableChunkedPrefill, e.Preemption = false, false, engine.FIFO
			}},
		"another engine": {engine: `{"engine": {"backend": "sglang", "block_size": 16, "sglang": {"schedule_policy": "lpm", "max_prefill_tokens": 50,
			"chunked_prefill_size": 32, "clip_max_new_tokens": 6, "schedule_conservativeness": 0.5}}, "dp_size": 3}`,
			change: func(s *settings) {
				e := &s.config.Fleet[0].Engine
				e.Backend, e.BlockSize, e.DPSize = engine.SGLang, 16, 3
				e.SGLang = engine.SGLangParams{LPM: true, MaxPrefillTokens: 50, ChunkedPrefillSize: 32, ClipMaxNewTokens: 6, ScheduleConservativeness: 0.5}
			}},
		"drafts": {engine: `{"engine": {"aic_nextn": 3, "aic_nextn_accept_rates": "0.5,1", "aic_mtp_seed": 7}}`,
			change: func(s *settings) {
				s.config.Fleet[0].Engine.Draft = engine.Draft{Tokens: 3, Accept: [engine.MaxDraft]float64{0.5, 1}, Seed: 7}
			}},
		"GPUs": {engine: `{"tensor_parallel_size": 4}`, change: func(s *settings) { s.config.Fleet[0].GPUs = 4 }},
		"no limits": {engine: `{"engine": {"max_num_seqs": null, "max_num_batched_tokens": null, "max_model_len": null}}`,
			change: func(s *settings) {
				s.config.Fleet[0].Engine.MaxNumSeqs, s.config.Fleet[0].Engine.MaxNumBatchedTokens = engine.Unlimited, engine.Unlimited
			}},
		"router": {router: `{"overlap_score_credit": 0.5, "overlap_score_credit_decay": 0.25, "prefill_load_scale": 2, "decode_active_request_weight": 3,
			"host_cache_hit_weight": 0.1, "disk_cache_hit_weight": 0.2, "router_temperature": 0.7, "router_track_active_blocks": false,
			"router_assume_kv_reuse": false, "router_track_prefill_tokens": false, "router_queue_threshold": 0.5, "router_queue_policy": "wspt"}`,
			change: func(s *settings) {
				s.config.Router = router.Params{OverlapScoreCredit: 0.5, OverlapScoreCreditDecay: 0.25, PrefillLoadScale: 2,
					DecodeActiveRequestWeight: 3, HostCacheHitWeight: 0.1, DiskCacheHitWeight: 0.2, Temperature: 0.7,
					QueueThreshold: bound(0.5), QueuePolicy: router.WSPT}
			}},
		"the old weight is the scale": {router: `{"overlap_score_weight": 2}`, change: func(s *settings) { s.config.Router.PrefillLoadScale = 2 }},
		"the old weight turns credit off": {router: `{"overlap_score_weight": 0}`, change: func(s *settings) {
			s.config.Router.PrefillLoadScale, s.config.Router.OverlapScoreCredit = 0, 0
		}},
		"the engine's queue order wins": {engine: `{"dynamo": {"router_queue_policy": "lcfs"}}`, router: `{"router_queue_policy": "wspt"}`,
			change: func(s *settings) { s.config.Router.QueuePolicy = router.LCFS }},
		"what replay does not honour": {router: `{"use_kv_events": false, "router_ttl_secs": 3, "router_event_threads": 1, "router_track_output_blocks": true}`,
			change: func(*settings) {}},
		"what only live workers have": {engine: `{"engine": {"emit_kv_events": true}, "startup_time": 3}`, change: func(*settings) {}},
	}
}

func TestSettingsReachTheSimulator(t *testing.T) {
	for name, c := range settingsCases() {
		t.Run(name, func(t *testing.T) {
			got, err := readCall(call{mode: "kv_router", options: decodeDict(t, c.options), engine: decodeDict(t, c.engine), router: decodeDict(t, c.router)})
			if err != nil {
				t.Fatal(err)
			}
			want := settings{config: sim.DefaultConfig(1, nil), traceFormat: "mooncake", traceBlockSize: 512}
			want.config.Fleet[0].GPUs = 1
			c.change(&want)
			ignore := cmpopts.IgnoreFields(sim.Group{}, "Timing")
			if d := cmp.Diff(want, got, cmp.AllowUnexported(settings{}), ignore); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTimingReachesTheSimulator(t *testing.T) {
	for _, c := range []struct{ engine, tables, want string }{
		{`{}`, ``, "dynamo-polynomial"},
		{`{"engine": {"timing_model": {"type": "polynomial"}}}`, ``, "dynamo-polynomial"},
		{`{"engine": {"timing_model": {"type": "fixed", "prefill_ms": 7.5, "decode_ms": 0.5}}}`, ``, "fixed:7.5,0.5"},
		{`{"engine": {"timing_model": {"type": "external", "provider": "dynamo_profile", "config": {"path": "x"}}}}`,
			`{"prefill_isl": [1, 2], "prefill_ttft_ms": [1, 2], "decode_active_kv_tokens": [1, 2], "decode_context_length": [1, 2], "decode_itl": [[1, 2], [3, 4]]}`,
			"table:npz_arrays"},
	} {
		g, _, err := readEngine(decodeDict(t, c.engine), decodeDict(t, c.tables), "aggregated")
		if err != nil {
			t.Errorf("%s: %v", c.engine, err)
			continue
		}
		if got := g.Timing.(models.Describer).Describe(); got != c.want {
			t.Errorf("%s: timing %s, expected %s", c.engine, got, c.want)
		}
	}
}

func TestSpeedupRatiosReachTheTiming(t *testing.T) {
	g, _, err := readEngine(decodeDict(t, `{"engine": {"timing_model": {"type": "fixed", "prefill_ms": 8, "decode_ms": 8}, "speedup_ratio": 2, "decode_speedup_ratio": 4}}`), nil, "aggregated")
	if err != nil {
		t.Fatal(err)
	}
	b := models.Batch{PrefillSeqs: 1, PrefillContext: 5, DecodeSeqs: 1, DecodeContext: 5}
	if prefill, decode := g.Timing.Step(&b); prefill != 4 || decode != 1 {
		t.Errorf("prefill %v ms, decode %v ms, expected 4 and 1", prefill, decode)
	}
}

func TestUnsupportedSettingsAreNamed(t *testing.T) {
	for _, c := range []struct{ where, text, want string }{
		{"options", `{"trace_format": "weka"}`, `trace format "weka"`},
		{"options", `{"trace_format": "agentic_mooncake", "execution_model": "m"}`, `trace format "agentic_mooncake"`},
		{"options", `{"agentic_lanes": 3}`, "agentic"},
		{"options", `{"num_decode_workers": 2}`, "options.num_decode_workers=2"},
		{"options", `{"trace_shared_prefix_ratio": 0.5}`, "options.trace_shared_prefix_ratio=0.5"},
		{"options", `{"planner_config": {"x": 1}}`, "planner"},
		{"options", `{"frobnicate": 1}`, "unknown key options.frobnicate"},
		{"options", `{"extra_engine_args": {"engine": {"backend": "tgi"}}}`, `backend "tgi"`},
		{"engine", `{"engine": {"backend": "trtllm", "trtllm": {"capacity_scheduler_policy": "max_utilization"}}}`, "TensorRT-LLM scheduling"},
		{"engine", `{"engine": {"backend": "sglang", "prefill_decode_interval": 2}}`, "SGLang scheduling"},
		{"engine", `{"engine": {"sglang": {"schedule_policy": "lpm"}}}`, "SGLang"},
		{"engine", `{"engine": {"timing_model": {"type": "external", "provider": "ais", "config": {}}}}`, `"ais"`},
		{"engine", `{"engine": {"frobnicate": null}}`, "unknown key extra_engine_args.engine.frobnicate"},
		{"engine", `{"engine": {"prefill_schedule_interval": 2}, "dp_size": 2}`, "data-parallel"},
		{"engine", `{"frobnicate": 0}`, "unknown key extra_engine_args.frobnicate"},
		{"engine", `{"dynamo": {"frobnicate": 0}}`, "unknown key extra_engine_args.dynamo.frobnicate"},
		{"router", `{"router_policy_config": "p.yaml"}`, "policy file"},
		{"router", `{"router_prefill_load_model": "ais"}`, "prefill load model"},
		{"router", `{"router_tracking_hash": "keyed-xxh3-v1"}`, "keyed tracking hashes"},
		{"router", `{"frobnicate": 0}`, "unknown key router.frobnicate"},
		{"mode", `random`, `router mode "random"`},
	} {
		in := call{mode: "kv_router"}
		switch c.where {
		case "options":
			in.options = decodeDict(t, c.text)
		case "engine":
			in.engine = decodeDict(t, c.text)
		case "router":
			in.router = decodeDict(t, c.text)
		case "mode":
			in.mode = c.text
		}
		_, err := readCall(in)
		reason, ok := asUnsupported(err)
		if !ok || !strings.Contains(reason, c.want) {
			t.Errorf("%s %s: %v, expected unsupported for %q", c.where, c.text, err, c.want)
		}
	}
}

func TestDefaultsSpelledOutAreSupported(t *testing.T) {
	_, err := readCall(call{mode: "kv_router",
		options: decodeDict(t, `{"replay_mode": "offline", "num_prefill_workers": 1, "trace_shared_prefix_ratio": 0, "telemetry_options": null, "agentic_lanes": null}`),
		engine:  decodeDict(t, `{"dp_size": 1, "tensor_parallel_size": 1, "engine": {"worker_type": "aggregated", "aic_mtp_seed": 42, "sglang": {}, "kv_transfer_timing_mode": "full_prompt"}}`),
		router:  decodeDict(t, `{"router_prefill_load_model": "none", "router_tracking_hash": "public-xxh3-v1", "conditional_disagg_enabled": false}`)})
	if err != nil {
		t.Error(err)
	}
}

func TestNumbersKeepTheirBits(t *testing.T) {
	var v any = json.Number("60.76032299999999")
	if f, ok := number(v); !ok || f != 60.76032299999999 {
		t.Errorf("%v", f)
	}
}
