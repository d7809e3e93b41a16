package measured

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"routesim/models"
)

func parse(t *testing.T, text string) *Data {
	t.Helper()
	d, err := Parse("data", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSteps(t *testing.T) {
	d := parse(t, "\ufeffstep_ms, prefill_tokens,prefill_chunks,prefill_cached_tokens,decode_seqs,decode_context_tokens,gpu\n"+
		"15.5,0,0,0,8,8192,x\n20,100,2,50,,,\n31.25,512,1,1024,4,4000,\n")
	want := []Step{
		{File: "data", Line: 2, MS: 15.5, Batch: models.Batch{DecodeSeqs: 8, DecodeContext: 8192, ScheduledTokens: 8}},
		// two chunks of 50 tokens, each after 25: 2 * (50*25 + 50*51/2)
		{File: "data", Line: 3, MS: 20, Batch: models.Batch{PrefillSeqs: 2, PrefillContext: 150, PrefillPrefix: 50, PrefillPairs: 5050, ScheduledTokens: 100}},
		{File: "data", Line: 4, MS: 31.25, Batch: models.Batch{PrefillSeqs: 1, PrefillContext: 1536, PrefillPrefix: 1024, PrefillPairs: 512*1024 + 512*513/2,
			DecodeSeqs: 4, DecodeContext: 4000, ScheduledTokens: 516}},
	}
	if diff := cmp.Diff(want, d.Steps); diff != "" {
		t.Error(diff)
	}
	d = parse(t, strings.Join(StepColumns(), ",")+",prefill_pairs\n100,2,0,0,0,9,7777\n")
	if got := d.Steps[0].Batch.PrefillPairs; got != 7777 {
		t.Errorf("found %d pairs, expected those given", got)
	}
}

// run completes the fields that most expected runs share.
func run(r Run) Run {
	r.File = "data"
	if r.Line == 0 {
		r.Line = 1
	}
	if r.ShortestShare == 0 {
		r.ShortestShare = 1
	}
	return r
}

func TestRuns(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		text string
		want Run
	}{
		"csv": {
			"isl,osl,concurrency,ttft_ms,tpot_ms,output_tok_s,tpot_stat,max_num_batched_tokens,max_num_seqs,shortest_share,n_requests\n1024,128,8,154.25,18,,mean ITL,2048,64,0.8,40\n",
			Run{Line: 2, Format: "CSV of serving runs", Concurrency: 8, Requests: 40, ISL: 1024, OSL: 128, ShortestShare: 0.8, MaxNumBatchedTokens: 2048, MaxNumSeqs: 64,
				TTFT: 154.25, TPOT: 18, Throughput: nan, TPOTStat: MeanGap},
		},
		"csv with usual number of requests": {
			"isl,osl,concurrency,output_tok_s\n100,4000,3,55\n",
			Run{Line: 2, Format: "CSV of serving runs", Concurrency: 3, Requests: 18, ISL: 100, OSL: 4000, TTFT: nan, TPOT: nan, Throughput: 55},
		},
		"vllm": {
			`{"backend":"vllm","max_concurrency":4,"request_rate":"inf","num_prompts":2,"completed":2,"duration":2.0,"total_input_tokens":300,"total_output_tokens":5,
			"output_throughput":2.5,"mean_ttft_ms":50.0,"median_ttft_ms":45.0,"mean_tpot_ms":12.5,"ttfts":[0.04,0.06],"itls":[[0.01,0.02],[0.01]],"input_lens":[100,200],"output_lens":[3,2],"errors":["",""]}`,
			Run{Format: "vLLM bench_serving", Concurrency: 4, Requests: 2, ISL: 150, OSL: 3, InputLens: []int{100, 200}, OutputLens: []int{3, 2}, TTFT: 50, TPOT: 12.5, Throughput: 2.5},
		},
		"vllm without a limit": {
			`{"max_concurrency":null,"request_rate":Infinity,"completed":9,"total_input_tokens":900,"total_output_tokens":90,"median_ttft_ms":45.0,"median_tpot_ms":11}`,
			Run{Format: "vLLM bench_serving", Concurrency: 9, Requests: 9, ISL: 100, OSL: 10, TTFT: 45, TTFTStat: Median, TPOT: 11, TPOTStat: Median, Throughput: nan},
		},
		"sglang": {
			"\n" + `{"backend":"sglang","request_rate":Infinity,"max_concurrency":16,"random_input_len":1000,"random_output_len":200,"random_range_ratio":0.5,"duration":10,"completed":100,
			"total_input_tokens":75100,"total_output_tokens":14900,"total_output_tokens_retokenized":14880,"output_throughput":1490.0,"accept_length":NaN,"tag":"NaN, -Infinity \" Infinity","mean_ttft_ms":80.5,"mean_itl_ms":9.5}`,
			Run{Line: 2, Format: "SGLang bench_serving", Concurrency: 16, Requests: 100, ISL: 1000, OSL: 200, ShortestShare: 0.5, TTFT: 80.5, TPOT: 9.5, TPOTStat: MeanGap, Throughput: 1490},
		},
		"aiperf summary": {
			`{"schema_version":"1.5","input_config":{"phases":[{"name":"warmup","concurrency":2},{"name":"profiling","concurrency":10}]},
			"time_to_first_token":{"unit":"ms","avg":41.5,"p50":40},"inter_token_latency":{"unit":"ms","avg":7.25},"output_token_throughput":{"unit":"tokens/sec","avg":900},
			"input_sequence_length":{"unit":"tokens","avg":550.2},"output_sequence_length":{"unit":"tokens","avg":99.9},"request_count":{"unit":"requests","avg":200},"request_latency":{"unit":"ms","avg":760}}`,
			Run{Format: "AIPerf summary", Concurrency: 10, Requests: 200, ISL: 550, OSL: 100, TTFT: 41.5, TPOT: 7.25, Throughput: 900},
		},
		"aiperf summary by Little's law": {
			`{"input_config":{"loadgen":{"request_rate":null}},"time_to_first_token":{"unit":"s","avg":0.05},"inter_token_latency":{"unit":"us","avg":7250},
			"input_sequence_length":{"unit":"tokens","avg":10},"output_sequence_length":{"unit":"tokens","avg":20},"request_count":{"avg":50},"request_latency":{"unit":"ms","avg":500},"request_throughput":{"unit":"requests/sec","avg":12}}`,
			Run{Format: "AIPerf summary", Concurrency: 6, Requests: 50, ISL: 10, OSL: 20, TTFT: 50, TPOT: 7.25, Throughput: nan},
		},
		"aiperf records": {
			`{"metadata":{"request_start_ns":0,"request_end_ns":900000000,"benchmark_phase":"warmup"},"metrics":{}}
{"metadata":{"request_start_ns":1000000000,"request_end_ns":2000000000},"metrics":{"time_to_first_token":{"value":100,"unit":"ms"},"inter_token_latency":{"value":10,"unit":"ms"},"input_sequence_length":{"value":30,"unit":"tokens"},"output_sequence_length":{"value":91,"unit":"tokens"}},"error":null}
{"metadata":{"request_start_ns":1000000000,"request_end_ns":3000000000},"metrics":{"time_to_first_token":{"value":300,"unit":"ms"},"inter_token_latency":{"value":20,"unit":"ms"},"input_sequence_length":{"value":50,"unit":"tokens"},"output_sequence_length":{"value":86,"unit":"tokens"}}}
{"metadata":{"request_start_ns":2000000000,"request_end_ns":3000000000},"metrics":{"time_to_first_token":{"value":200,"unit":"ms"},"inter_token_latency":{"value":15,"unit":"ms"},"input_sequence_length":{"value":40,"unit":"tokens"},"output_sequence_length":{"value":3,"unit":"tokens"}}}
`,
			Run{Line: 1, Format: "AIPerf records", Concurrency: 2, Requests: 3, ISL: 40, OSL: 60, InputLens: []int{30, 50, 40}, OutputLens: []int{91, 86, 3}, TTFT: 200, TPOT: 15, Throughput: 90},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, c.text)
			if diff := cmp.Diff([]Run{run(c.want)}, d.Runs, cmpopts.EquateNaNs()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeveralRuns(t *testing.T) {
	one := `{"completed":9,"total_input_tokens":900,"total_output_tokens":90,"mean_ttft_ms":45.0,"total_output_tokens_retokenized":90,"max_concurrency":%d}`
	lines := strings.ReplaceAll(one, "%d", "1") + "\n" + strings.ReplaceAll(one, "%d", "2") + "\n"
	list := "[" + strings.ReplaceAll(one, "%d", "1") + ",\n" + strings.ReplaceAll(one, "%d", "2") + "]"
	for name, text := range map[string]string{"lines": lines, "list": list} {
		d := parse(t, text)
		if len(d.Runs) != 2 || d.Runs[0].Concurrency != 1 || d.Runs[1].Concurrency != 2 {
			t.Errorf("%s: found %+v", name, d.Runs)
		}
	}
	if d := parse(t, lines); d.Runs[1].Line != 2 {
		t.Errorf("found line %d, expected 2", d.Runs[1].Line)
	}
}

func TestProblems(t *testing.T) {
	const steps = "prefill_tokens,prefill_chunks,prefill_cached_tokens,decode_seqs,decode_context_tokens,step_ms\n"
	const bench = `{"completed":2,"total_input_tokens":20,"total_output_tokens":20,"mean_ttft_ms":1`
	const record = `{"metadata":{"request_start_ns":1,"request_end_ns":9},"metrics":{"input_sequence_length":{"value":1},"output_sequence_length":{"value":1}}}`
	for _, c := range []struct{ text, want string }{
		{"", "data: found an empty file, expected a line of column names"},
		{"a,b\n1,2\n", "data: found an unknown format, expected a CSV with step_ms"},
		{"step_ms,decode_seqs\n1,2\n", "data:1: found no column prefill_tokens, expected the columns prefill_tokens, prefill_chunks"},
		{"step_ms,step_ms\n", "data:1: step_ms: found the column again, expected it once"},
		{steps + "1,2,3\n", "data:2: found 3 fields, expected 6 as in the first line"},
		{steps + "0,0,0,1,1,\n", "data:2: step_ms: found nothing, expected the step's duration in ms"},
		{steps + "0,0,0,1,1,-3\n", `data:2: step_ms: found "-3", expected a number above 0, or an empty cell`},
		{steps + "0,0,0,2,1,3\n", "data:2: decode_context_tokens: found 1, expected at least one token for each of decode_seqs"},
		{steps + "10,0,0,0,0,3\n", "data:2: prefill_chunks: found 0, expected 1 up to the number of prefill_tokens"},
		{steps + "0,1,0,1,1,3\n", "data:2: prefill_tokens: found 0 beside chunks or cached tokens"},
		{steps + "0,0,0,0,0,3\n", "data:2: prefill_tokens: found a step without work"},
		{steps + "0,0,0,1.5,3,3\n", `data:2: decode_seqs: found "1.5", expected a whole number from 0`},
		{steps + "\"0,0\n", "data:2: found unusable CSV"},
		{"isl,osl,ttft_ms\n1,1,1\n", "data:1: found no column concurrency, expected the columns isl, osl, concurrency"},
		{"isl,osl,concurrency,ttft_ms\n1,1,1,\n", "data:2: row: found an unusable run, expected found neither TTFT nor TPOT"},
		{"isl,osl,concurrency,ttft_ms\n,1,1,3\n", "data:2: row: found an unusable run, expected isl: found 0, expected 1 to"},
		{"isl,osl,concurrency,ttft_ms,ttft_stat\n1,1,1,3,p99\n", `data:2: ttft_stat: found "p99", expected one of average, avg, mean`},
		{"isl,osl,concurrency,ttft_ms,shortest_share\n1,1,1,3,2\n", "data:2: shortest_share: found 2, expected a share above 0 and up to 1"},
		{"Metric,avg,min\n", "data: found AIPerf's CSV summary, which does not tell the concurrency"},
		{`{"a":1}`, "data:1: found an unknown format"},
		{"{\"a\":1}\n[3]", "data:2: found 3, expected a JSON object"},
		{`{"a":`, "data:1: found unusable JSON"},
		{bench + `,"request_rate":3.5}`, "data:1: request_rate: found 3.5, expected inf"},
		{bench + `,"num_prompts":3}`, "data:1: completed: found 2 of 3 requests, expected all"},
		{`{"completed":0,"mean_ttft_ms":1}`, "data:1: completed: found 0 requests with 0 input"},
		{bench + `,"completed":"x"}`, "data:1: completed: found a string, expected a int64"},
		{bench + `,"input_lens":[0,1],"output_lens":[1,1]}`, "data:1: found a request of 0 input and 1 output tokens"},
		{`{"time_to_first_token":{"avg":1}}`, "data:1: found no input_sequence_length"},
		{`{"time_to_first_token":{"avg":1},"input_sequence_length":{"avg":1},"output_sequence_length":{"avg":1},"request_count":{"avg":4},"error_request_count":{"avg":2}}`, "data:1: error_request_count: found 2 failed requests"},
		{`{"time_to_first_token":{"avg":1},"input_sequence_length":{"avg":1},"output_sequence_length":{"avg":1},"request_count":{"avg":4},"input_config":{"loadgen":{"request_rate":2}}}`, "data:1: request_rate: found 2, expected none"},
		{record + "\n" + `{"metadata":{},"metrics":{},"error":{"code":499}}`, "data:2: error: found a failed request"},
		{`{"metadata":{},"metrics":{}}`, "data:1: found no input_sequence_length"},
		{`{"metadata":{"benchmark_phase":"warmup"},"metrics":{}}`, "data:1: found no request of the profiling phase"},
		{strings.Repeat(record+"\n", 3) + `{"metadata":{"request_start_ns":1000,"request_end_ns":1009},"metrics":{"input_sequence_length":{"value":1},"output_sequence_length":{"value":1}}}`,
			"data:1: found 3 requests in flight at most and 1 % of that on average, expected a run under a fixed concurrency"},
	} {
		_, err := Parse("data", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: found %v, expected %s", c.text, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error has several lines", c.text)
		}
	}
}

func TestReadJoinsFiles(t *testing.T) {
	dir := t.TempDir()
	steps, runs := filepath.Join(dir, "steps.csv"), filepath.Join(dir, "runs.csv")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(steps, strings.Join(StepColumns(), ",")+"\n0,0,0,1,10,5\n")
	write(runs, "isl,osl,concurrency,tpot_ms\n10,10,1,5\n10,10,2,6\n")
	d, err := Read(steps, runs)
	if err != nil || len(d.Steps) != 1 || len(d.Runs) != 2 {
		t.Errorf("found %+v, %v", d, err)
	}
	if _, err := Read(filepath.Join(dir, "gone.csv")); err == nil {
		t.Error("a file that is not there: found no error")
	}
}

func TestDerivedThroughput(t *testing.T) {
	r := Run{Concurrency: 4, OSL: 101}
	if got := r.DerivedThroughput(1000, 10); got != 202 {
		t.Errorf("found %v tokens/s, expected 4 x 101 tokens in 2 s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(strings.Join(StepColumns(), ",") + "\n10,1,5,2,20,3.5\n"))
	f.Add([]byte("isl,osl,concurrency,ttft_ms,tpot_ms\n10,10,1,5,2\n"))
	f.Add([]byte(`{"completed":2,"total_input_tokens":20,"total_output_tokens":20,"mean_ttft_ms":1,"input_lens":[1,2],"output_lens":[3,4]}`))
	f.Add([]byte(`[{"time_to_first_token":{"avg":1,"unit":"s"},"input_sequence_length":{"avg":1},"output_sequence_length":{"avg":1},"request_count":{"avg":4},"input_config":{"phases":[{"concurrency":4}]}}]`))
	f.Add([]byte(`{"metadata":{"request_start_ns":1,"request_end_ns":9},"metrics":{"input_sequence_length":{"value":1},"output_sequence_length":{"value":1},"time_to_first_token":{"value":[1],"unit":"ms"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse("data", text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		for i := range d.Runs {
			r := &d.Runs[i]
			if err := r.Check(); err != nil {
				t.Errorf("an unusable run was read: %v", err)
			}
			if r.InputLens != nil && len(r.InputLens) != r.Requests {
				t.Errorf("%d lengths for %d requests", len(r.InputLens), r.Requests)
			}
			if !(r.ShortestShare > 0 && r.ShortestShare <= 1) {
				t.Errorf("shortest share %v", r.ShortestShare)
			}
		}
		for i := range d.Steps {
			if b := &d.Steps[i].Batch; !(d.Steps[i].MS > 0) || b.ScheduledTokens < 1 || b.PrefillPairs < 0 {
				t.Errorf("an unusable step was read: %+v", d.Steps[i])
			}
		}
	})
}
