package settings

import (
	"strings"
	"testing"
)

// wantPart wants an error that has a text in it.
func wantPart(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
		t.Errorf("found %v, expected %s", err, part)
	}
}

// TestEventsConfig holds vLLM's description of KV events to its keys and their
// types.
func TestEventsConfig(t *testing.T) {
	for text, want := range map[string]string{
		`{"enable_kv_cache_events": "true"}`: "of enable_kv_cache_events, expected true or false",
		`{"enable_kv_cache_event": true}`:    "--kv-events-config: found the unknown key enable_kv_cache_event (did you mean enable_kv_cache_events?), expected one of buffer_steps, enable",
		`{"publisher": "kafka"}`:             "of publisher, expected zmq or null",
		`{"hwm": 1.5}`:                       "found 1.5 of hwm, expected a whole number",
		`{"buffer_steps": true}`:             "found true of buffer_steps, expected a whole number",
		`{"max_queue_size": "9"}`:            "of max_queue_size, expected a whole number",
		`{"hwm": 1, "hwm": 2}`:               "found the key hwm again, expected each key once",
		`{"topic": null}`:                    "found null of topic, expected a text",
		`{"endpoint": 7}`:                    "found 7 of endpoint, expected a text",
		`{"replay_endpoint": []}`:            "found [] of replay_endpoint, expected a text or null",
		`[]`:                                 "expected vLLM's JSON object",
		`null x`:                             "expected vLLM's JSON object",
	} {
		_, err := resolveWith(t, Input{}, "--kv-events-config="+text)
		wantPart(t, err, want)
	}
	for _, text := range []string{
		`{"enable_kv_cache_events": true, "publisher": "zmq", "endpoint": "tcp://*:5557", "replay_endpoint": null, "buffer_steps": 10000, "hwm": 100000, "max_queue_size": 100000, "topic": ""}`,
		`{"enable_kv_cache_events": true, "publisher": null, "replay_endpoint": "tcp://*:5558"}`,
	} {
		if r := mustResolve(t, Input{}, "--kv-events-config="+text); !r.Run.WorkerKVEvents {
			t.Errorf("%s: found workers without KV events, expected them", text)
		}
	}
}

// TestRanksAreBounded counts the ranks of all workers, whoever says how many.
func TestRanksAreBounded(t *testing.T) {
	for _, c := range []struct {
		blames string
		args   []string
	}{
		{"data-parallel-size", []string{"--workers=65535", "--data-parallel-size=65535"}},
		{"data-parallel-size", []string{"--workers=2", "--data-parallel-size=32768"}},
		{"data-parallel-size", []string{"--workers=40000,20000@data_parallel_size=2"}},
		{"data-parallel-size", []string{"--prefill-workers=2", `--prefill-engine-args={"dp_size": 40000}`}},
		{"prefill-workers", []string{"--prefill-workers=65535"}},
		{"decode-workers", []string{"--prefill-workers=40000", "--decode-workers=40000"}},
	} {
		_, err := resolveWith(t, Input{}, c.args...)
		wantPart(t, err, c.blames+": found ")
		wantPart(t, err, "ranks of all workers together, expected at most 65535")
	}
	mustResolve(t, Input{}, "--workers=3", "--data-parallel-size=21845")
}
