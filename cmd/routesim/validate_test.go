package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// recordedTrace writes a request trace of two workers.
func recordedTrace(t *testing.T, ttft, itl, cached []float64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	if err := os.WriteFile(path, []byte(recordedText(ttft, itl, cached)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// recordedText is a request trace of two workers. ttft and itl are what was
// recorded of each request in ms, cached its cached tokens.
func recordedText(ttft, itl, cached []float64) string {
	var b strings.Builder
	for i := range ttft {
		at, input := 1000+150*(i/2), 700+(i*337)%2500
		hashes := make([]string, (input+63)/64)
		for j := range hashes {
			hashes[j] = strconv.Itoa(1 + 100*(i%4) + j)
			if j > 5 {
				hashes[j] = strconv.Itoa(10_000 + 100*i + j)
			}
		}
		fmt.Fprintf(&b, `{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":%d,"request":{"request_id":"r%d","output_tokens":%d,"request_received_ms":%d,"total_time_ms":400.0,"ttft_ms":%v,"avg_itl_ms":%v,"cached_tokens":%v,"worker":{"decode_worker_id":%d,"decode_dp_rank":0},"replay":{"trace_block_size":64,"input_length":%d,"input_sequence_hashes":[%s]}}}`+"\n",
			at+400, i, 10+i%30, at, ttft[i], itl[i], cached[i], 7+i%2, input, strings.Join(hashes, ","))
	}
	return b.String()
}

// slowFleet is what 60 requests see of a fleet whose steps take 1.25 times as long
// as the profile says.
func slowFleet(t *testing.T) (ttft, itl, cached []float64) {
	t.Helper()
	const n = 60
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	rows, err := csv.NewReader(strings.NewReader(validated(t, recordedTrace(t, ones, ones, ones), "--format=csv", "--speedup-ratio=0.8"))).ReadAll()
	if err != nil || len(rows) != n+1 {
		t.Fatalf("%d rows (%v)", len(rows), err)
	}
	for _, row := range rows[1:] {
		for i, to := range []*[]float64{&ttft, &itl, &cached} {
			v, err := strconv.ParseFloat(row[3+2*i], 64)
			if err != nil {
				t.Fatal(err)
			}
			*to = append(*to, v)
		}
	}
	return ttft, itl, cached
}

// TestRecordedFleet: the bundled recording is what it says it is.
func TestRecordedFleet(t *testing.T) {
	path := filepath.Join(root, "testdata", "recorded", "requests.jsonl")
	want := recordedText(slowFleet(t))
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s is not what routesim makes (%v); UPDATE=1 writes it", path, err)
	}
}

// validated runs routesim validate and returns its document.
func validated(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := command(context.Background(), nil, append([]string{"validate", "--quiet", "--profile=a100/llama-3.1-8b/tp1"}, args...)...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return stdout
}

// TestValidateFindsTheSpeed records such a fleet, and expects about that factor back: batches form
// differently at each speed, so that the loss has small local minima.
func TestValidateFindsTheSpeed(t *testing.T) {
	ttft, itl, cached := slowFleet(t)
	trace := recordedTrace(t, ttft, itl, cached)
	var doc, again struct {
		Errors     map[string]any
		Profile    []struct{ ID, Grade string }
		Correction *struct {
			Factor float64        `json:"step_time_factor"`
			Ratio  float64        `json:"speedup_ratio"`
			Before float64        `json:"typical_relative_error_before"`
			After  float64        `json:"typical_relative_error_after"`
			Left   map[string]any `json:"errors_left"`
		}
	}
	if err := json.Unmarshal([]byte(validated(t, trace, "--format=json")), &doc); err != nil {
		t.Fatal(err)
	}
	c := doc.Correction
	if c == nil || math.Abs(c.Factor/1.25-1) > 0.02 || c.Before < 0.15 || c.After > 0.05 {
		t.Fatalf("got %+v, want a factor of 1.25", c)
	}
	if len(doc.Profile) != 1 || doc.Profile[0].ID == "" || doc.Profile[0].Grade == "" {
		t.Errorf("profile: got %+v", doc.Profile)
	}
	// What is left is what the ratio gives when it is set.
	if err := json.Unmarshal([]byte(validated(t, trace, "--format=json", "--fit-speed=false", fmt.Sprintf("--speedup-ratio=%v", c.Ratio))), &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Errors, c.Left) || again.Correction != nil {
		t.Errorf("with the ratio set: got %v, want %v", again.Errors, c.Left)
	}
}
