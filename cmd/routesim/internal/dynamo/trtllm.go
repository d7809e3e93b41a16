package dynamo

import (
	"slices"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/cmd/routesim/internal/settings"
)

func trtllm() *engine {
	flags := with(map[string]rule{
		"kv-block-size":              {what: blockSize, env: "DYN_TRTLLM_KV_BLOCK_SIZE"},
		"max-batch-size":             {what: field, to: "max_num_seqs", env: "DYN_TRTLLM_MAX_BATCH_SIZE"},
		"max-num-tokens":             {what: field, to: "max_num_batched_tokens", env: "DYN_TRTLLM_MAX_NUM_TOKENS"},
		"max-seq-len":                {what: field, to: "max_model_len", env: "DYN_TRTLLM_MAX_SEQ_LEN"},
		"publish-kv-events":          {what: eventSwitch, env: "DYN_TRTLLM_PUBLISH_KV_EVENTS"},
		"publish-events-and-metrics": {what: eventSwitch, env: "DYN_TRTLLM_PUBLISH_EVENTS_AND_METRICS"},
		"disaggregation-mode":        {what: mode, env: "DYN_TRTLLM_DISAGGREGATION_MODE"},
		"free-gpu-memory-fraction":   {what: unsupported, to: noFraction},
		"extra-engine-args":          {what: engineFile, env: "DYN_TRTLLM_EXTRA_ENGINE_ARGS"},
		"override-engine-args":       {what: engineText, env: "DYN_TRTLLM_OVERRIDE_ENGINE_ARGS"},
		"pipeline-parallel-size":     {what: unsupported, to: noParallelism},
		"expert-parallel-size":       {what: unsupported, to: noParallelism},
		"enable-attention-dp":        {what: unsupported, to: noParallelism},
		"publish-metrics":            {what: leaveSwitch},
		"modality":                   {what: leaveValue},
		"max-beam-width":             {what: leaveValue},
		"gpus-per-node":              {what: leaveValue},
	})
	return &engine{name: "trtllm", title: "TensorRT-LLM", blockSize: 32, flags: flags, keys: trtllmKeys()}
}

// trtllmKeys are the settings of a file for --extra-engine-args, by their path.
func trtllmKeys() map[string]rule {
	keys := map[string]rule{
		"tensor_parallel_size":                     {what: tensor},
		"max_batch_size":                           {what: field, to: "max_num_seqs"},
		"max_num_tokens":                           {what: field, to: "max_num_batched_tokens"},
		"max_seq_len":                              {what: field, to: "max_model_len"},
		"enable_chunked_prefill":                   {what: onSwitch, to: "enable_chunked_prefill"},
		"kv_cache_config":                          {what: nested},
		"kv_cache_config.enable_block_reuse":       {what: onSwitch, to: "enable_prefix_caching"},
		"kv_cache_config.tokens_per_block":         {what: blockSize},
		"kv_cache_config.max_tokens":               {what: poolTokens},
		"kv_cache_config.dtype":                    {what: kvDtype},
		"kv_cache_config.free_gpu_memory_fraction": {what: unsupported, to: noFraction},
		"kv_cache_config.host_cache_size":          {what: unsupported, to: noOffload},
		"pipeline_parallel_size":                   {what: unsupported, to: noParallelism},
		"moe_expert_parallel_size":                 {what: unsupported, to: noParallelism},
		"enable_attention_dp":                      {what: unsupported, to: noParallelism},
		"speculative_config":                       {what: unsupported, to: noSpeculation},
	}
	for _, name := range []string{"allreduce_strategy", "backend", "batch_wait_timeout_iters", "batch_wait_timeout_ms", "cache_transceiver_config", "cuda_graph_config",
		"disable_overlap_scheduler", "enable_autotuner", "enable_iter_perf_stats", "gpus_per_node", "moe_config", "num_postprocess_workers", "print_iter_log",
		"return_perf_metrics", "skip_tokenizer_init", "stream_interval", "trust_remote_code",
		"kv_cache_config.enable_partial_reuse", "kv_cache_config.event_buffer_max_size"} {
		keys[name] = rule{what: leaveValue}
	}
	return keys
}

// engineSettings takes the settings of the engine's own files, which win over
// its flags: those of a file first, then those given as JSON.
func (w *worker) engineSettings(g *graph) error {
	if f := w.file; f.exists() {
		m, fault := g.mounted(w.component, f.text, w.name+": "+f.flag, "", f.at)
		if fault != nil {
			g.report.unknown(w.component, f.flag+" "+show(f.text), f.at, "settings of the engine that are not among the manifests ("+fault.Error()+")")
		} else if err := w.engineKeys(m.held.File, m.text, f, g.report); err != nil {
			return err
		}
	}
	if f := w.text; f.exists() {
		text := strings.Repeat("\n", f.at.line-1) + f.text
		return w.engineKeys(f.at.file, []byte(text), f, g.report)
	}
	return nil
}

// engineKeys takes the settings of a text in YAML or JSON.
func (w *worker) engineKeys(file string, text []byte, from fact, r *report) error {
	objects, err := manifest.Parse(file, text)
	if err != nil {
		return err
	}
	switch len(objects) {
	case 0:
		return nil
	case 1:
	default:
		return objects[1].Node.Problem(w.name+": "+from.flag, "a second document", "one, a mapping with settings of the engine")
	}
	root := objects[0].Node
	if _, ok := root.Entries(); !ok {
		return root.Problem(w.name+": "+from.flag, root.Kind(), "a mapping with settings of the engine")
	}
	return w.keysUnder("", root, r)
}

// keysUnder takes the settings under a path of the engine's file.
func (w *worker) keysUnder(prefix string, n manifest.Node, r *report) error {
	entries, ok := n.Entries()
	if !ok {
		return n.Problem(w.name+": "+strings.TrimSuffix(prefix, "."), n.Kind(), "a mapping with settings of the engine")
	}
	for _, e := range entries {
		key := prefix + e.Key
		if !e.Value.Exists() {
			continue // as if it were not there
		}
		rule, known := w.engine.keys[key]
		switch {
		case rule.what == nested:
			if err := w.keysUnder(key+".", e.Value, r); err != nil {
				return err
			}
		case rule.what == leaveValue && known:
			r.leave(w.component, key)
		default:
			if err := w.key(key, rule, known, e, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// key takes one setting of the engine's file. One whose value switches off what
// is not modelled says nothing.
func (w *worker) key(name string, r rule, known bool, e manifest.Entry, rep *report) error {
	v := e.Value
	text, scalar := v.Text()
	if !known || r.what == unsupported {
		what := name
		if scalar {
			what += " " + show(text)
		}
		if off := []string{"1", "0", "false", "null", ""}; !known || !scalar || !slices.Contains(off, text) {
			rep.unknown(w.component, what, place{v.File, e.Line}, r.to)
		}
		return nil
	}
	f := fact{text, name, at(v)}
	if !scalar {
		return f.at.problem(w.name+": "+name, v.Kind(), "one value")
	}
	if r.what == onSwitch {
		if _, ok := (settings.Bool{}).Parse(text); !ok {
			return w.problem(f, "true or false")
		}
		w.take(r.to, f)
		return nil
	}
	return w.value(r, f)
}
