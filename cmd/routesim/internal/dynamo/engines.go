package dynamo

// what says what a flag of a worker means.
type what uint8

const (
	leaveValue  what = iota // has a value that no replay depends on
	leaveSwitch             // a switch that no replay depends on
	unsupported             // changes the run in a way that is not modelled
	field                   // a number that a setting takes as it is
	human                   // a number that may have a suffix, as in 32k
	onSwitch                // a switch of a setting, with a no- form
	offSwitch               // a switch that turns a setting off
	blockSize               // tokens per KV block
	poolTokens              // tokens of the KV pool
	model                   // the model's name or folder
	served                  // the name under which it is served
	tensor                  // GPUs of a worker
	ranks                   // data-parallel ranks
	kvDtype                 // arithmetic of the KV cache
	quantized               // how the weights are quantised
	weights                 // arithmetic of the weights
	events                  // JSON of the KV events
	eventSwitch             // KV events, as a switch
	mode                    // role of the worker in disaggregated serving
	engineFile              // a file of the engine's settings
	engineText              // the engine's settings as JSON
	nested                  // a mapping with settings of its own
	override                // JSON that overrides the model's configuration
	prefillRole             // a switch for such a role
	decodeRole
)

// rule says what becomes of a flag.
type rule struct {
	what what
	to   string // the setting in snake case, or why it is not modelled
	env  string // the variable that stands for the flag, "" for none
}

// engine describes the flags of one backend's workers.
type engine struct {
	name      string // as settings and profiles name it
	title     string // as people do
	blockSize int    // tokens per KV block where nothing is said
	flags     map[string]rule
	keys      map[string]rule // of the engine's own file of settings, by path
}

// engines lists the backends by their module.
func engines() map[string]*engine {
	return map[string]*engine{"dynamo.vllm": vllm(), "dynamo.sglang": sglang(), "dynamo.trtllm": trtllm()}
}

// Why a flag changes a run in a way that is not modelled.
const (
	noParallelism = "only tensor parallelism is modelled"
	noSpeculation = "speculative decoding of this kind is not modelled"
	noGraphs      = "a profile's durations are those of an engine with CUDA graphs"
	noOffload     = "KV blocks in host memory or on disk are not taken from the manifests"
	noPriority    = "the scheduler is modelled first come, first served"
	noLoRA        = "adapters are not modelled"
	noFraction    = "give --num-gpu-blocks, which it decides"
)

// common are flags that the workers of every backend have.
func common() map[string]rule {
	flags := map[string]rule{
		"model": {what: model}, "model-path": {what: model}, "served-model-name": {what: served},
		"tensor-parallel-size": {what: tensor}, "disaggregation-mode": {what: mode},
		"hf-overrides": {what: override}, "json-model-override-args": {what: override}, "rope-scaling": {what: override},
		"connector":         {what: leaveValue},
		"trust-remote-code": {what: leaveSwitch},
	}
	for _, name := range []string{"endpoint", "namespace", "discovery-backend", "request-plane", "response-plane", "event-plane", "dyn-tool-call-parser", "dyn-reasoning-parser",
		"dyn-default-thinking-mode", "dyn-structural-tag", "custom-jinja-template", "health-check-payload", "endpoint-types", "dump-config-to", "revision", "seed", "load-format",
		"download-dir", "tokenizer", "tokenizer-mode", "store-kv", "kv-transfer-config", "host", "port", "log-level"} {
		flags[name] = rule{what: leaveValue}
	}
	return flags
}

// with adds rules to those that every backend has.
func with(flags map[string]rule) map[string]rule {
	all := common()
	for name, r := range flags {
		all[name] = r
	}
	return all
}

func vllm() *engine {
	flags := with(map[string]rule{
		"tp": {what: tensor}, "block-size": {what: blockSize}, "dp": {what: ranks}, "data-parallel-size": {what: ranks},
		"disaggregation-mode":          {what: mode, env: "DYN_VLLM_DISAGGREGATION_MODE"},
		"is-prefill-worker":            {what: prefillRole, env: "DYN_VLLM_IS_PREFILL_WORKER"},
		"is-decode-worker":             {what: decodeRole, env: "DYN_VLLM_IS_DECODE_WORKER"},
		"max-num-seqs":                 {what: human, to: "max_num_seqs"},
		"max-num-batched-tokens":       {what: human, to: "max_num_batched_tokens"},
		"max-model-len":                {what: human, to: "max_model_len"},
		"gpu-memory-utilization":       {what: field, to: "gpu_memory_utilization"},
		"num-gpu-blocks-override":      {what: field, to: "num_gpu_blocks"},
		"enable-prefix-caching":        {what: onSwitch, to: "enable_prefix_caching"},
		"enable-chunked-prefill":       {what: onSwitch, to: "enable_chunked_prefill"},
		"kv-cache-dtype":               {what: kvDtype},
		"quantization":                 {what: quantized},
		"q":                            {what: quantized},
		"dtype":                        {what: weights},
		"kv-events-config":             {what: events},
		"enforce-eager":                {what: unsupported, to: noGraphs},
		"pipeline-parallel-size":       {what: unsupported, to: noParallelism},
		"enable-expert-parallel":       {what: unsupported, to: noParallelism},
		"speculative-config":           {what: unsupported, to: noSpeculation},
		"cpu-offload-gb":               {what: unsupported, to: noOffload},
		"kv-offloading-size":           {what: unsupported, to: noOffload},
		"scheduling-policy":            {what: unsupported, to: noPriority},
		"enable-lora":                  {what: unsupported, to: noLoRA},
		"async-scheduling":             {what: leaveSwitch},
		"enable-log-requests":          {what: leaveSwitch},
		"disable-log-requests":         {what: leaveSwitch},
		"disable-log-stats":            {what: leaveSwitch},
		"use-vllm-tokenizer":           {what: leaveSwitch},
		"compilation-config":           {what: leaveValue},
		"prefix-caching-hash-algo":     {what: leaveValue},
		"distributed-executor-backend": {what: leaveValue},
	})
	return &engine{name: "vllm", title: "vLLM", blockSize: 16, flags: flags}
}

func sglang() *engine {
	flags := with(map[string]rule{
		"tp": {what: tensor}, "tp-size": {what: tensor}, "page-size": {what: blockSize},
		"dp": {what: ranks}, "dp-size": {what: ranks}, "data-parallel-size": {what: ranks},
		"context-length":                  {what: field, to: "max_model_len"},
		"max-running-requests":            {what: field, to: "max_num_seqs"},
		"max-total-tokens":                {what: poolTokens},
		"disable-radix-cache":             {what: offSwitch, to: "enable_prefix_caching"},
		"max-prefill-tokens":              {what: field, to: "engine.sglang.max_prefill_tokens"},
		"chunked-prefill-size":            {what: field, to: "engine.sglang.chunked_prefill_size"},
		"schedule-policy":                 {what: field, to: "engine.sglang.schedule_policy"},
		"schedule-conservativeness":       {what: field, to: "engine.sglang.schedule_conservativeness"},
		"kv-cache-dtype":                  {what: kvDtype},
		"quantization":                    {what: quantized},
		"dtype":                           {what: weights},
		"kv-events-config":                {what: events},
		"mem-fraction-static":             {what: unsupported, to: noFraction},
		"disable-cuda-graph":              {what: unsupported, to: noGraphs},
		"pp-size":                         {what: unsupported, to: noParallelism},
		"ep-size":                         {what: unsupported, to: noParallelism},
		"enable-dp-attention":             {what: unsupported, to: noParallelism},
		"speculative-algorithm":           {what: unsupported, to: noSpeculation},
		"enable-hierarchical-cache":       {what: unsupported, to: noOffload},
		"hicache-ratio":                   {what: unsupported, to: noOffload},
		"skip-tokenizer-init":             {what: leaveSwitch},
		"use-sglang-tokenizer":            {what: leaveSwitch},
		"enable-metrics":                  {what: leaveSwitch},
		"disaggregation-transfer-backend": {what: leaveValue},
		"disaggregation-bootstrap-port":   {what: leaveValue},
		"attention-backend":               {what: leaveValue},
	})
	return &engine{name: "sglang", title: "SGLang", blockSize: 1, flags: flags}
}
