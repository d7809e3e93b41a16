package columnar

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// sample makes n requests of every status on three workers, in two groups.
func sample(t testing.TB, n int) (*workloads.Trace, *sim.Config, *sim.Result) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]workloads.Row, n)
	nan := math.NaN()
	r := &sim.Result{Workers: make([]sim.Worker, 3), EndMS: 1000}
	for i := range rows {
		rows[i] = workloads.Row{Timestamp: float64(i), InputLength: 100, OutputLength: int32(rng.IntN(9)), HashIDs: []uint64{uint64(i)}}
		if i%3 == 0 {
			rows[i].RequestID = fmt.Sprintf("request \"%d\", of %d", i, n)
		}
		if i%5 == 0 {
			rows[i].SessionID = fmt.Sprint("s", i/10)
		}
		q := sim.Request{Arrival: nan, Dispatched: nan, FirstAdmit: nan, FirstToken: nan, SecondToken: nan, LastToken: nan, Terminal: nan, Worker: -1, Order: -1, InputTokens: 100}
		if i%7 != 0 {
			at := 1000 * rng.Float64()
			q.Arrival, q.Dispatched, q.Worker, q.Order = at, at+rng.Float64(), int32(rng.IntN(3)), int32(len(r.Routed))
			r.Routed = append(r.Routed, int32(i))
			q.Decision = sim.Decision{
				Cost: 9 * rng.Float64(), MinCost: rng.Float64(), PrefillTerm: rng.Float64(), Credit: rng.Float64(), DecodeTerm: rng.Float64(),
				Overlap: float64(rng.IntN(5)), BestOverlap: 5, Tied: int32(rng.IntN(4)), Forced: i%2 == 0, ChosenHeld: 3, BestHeld: 4, CeilingHeld: 7,
			}
		}
		switch {
		case i%11 == 1 && q.Order >= 0:
			q.Status, q.Terminal = sim.Rejected, q.Dispatched
		case i%13 != 2 && q.Order >= 0:
			q.Status, q.Admissions, q.OutputTokens = sim.Completed, 1+int32(rng.IntN(2)), rows[i].OutputLength
			q.FirstAdmit = q.Dispatched + rng.Float64()
			q.Terminal = q.FirstAdmit + 30
			if q.OutputTokens > 0 {
				q.FirstToken, q.LastToken = q.FirstAdmit+20, q.Terminal
			}
			if q.OutputTokens > 1 {
				q.SecondToken = q.FirstToken + 5
			}
		}
		r.Requests = append(r.Requests, q)
	}
	r.Workers[1] = sim.Worker{Requests: 4, InputTokens: 5, OutputTokens: 6, PrefillTokens: 7, BusyMS: 800, Passes: 9, PeakBlocks: 100, MeanBlocks: 12.5, PeakRunning: 3, PeakWaiting: 2, Evictions: 1, Preemptions: 8, OutOfRange: 2}
	trace, err := workloads.FromRows(workloads.BuilderOptions{}, rows...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.NewFixed(7.5, 0.7, models.TimingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := sim.DefaultConfig(2, m)
	c.Fleet = append(c.Fleet, c.Fleet[0])
	c.Fleet[1].Count, c.Fleet[1].RequestMS, c.Fleet[1].Engine.NumGPUBlocks = 1, 2.5, 400
	return trace, &c, r
}

// column is a column read back: its values as CSV would show them.
type column struct {
	kind   string
	values []string
}

// readBack reads a Parquet file with the reader of the library.
func readBack(t testing.TB, data []byte) (names []string, columns map[string]column) {
	t.Helper()
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	columns = map[string]column{}
	for i := range f.MetaData().Schema.NumColumns() {
		node := f.MetaData().Schema.Column(i)
		var all column
		for g := range f.NumRowGroups() {
			group := f.RowGroup(g)
			reader, err := group.Column(i)
			if err != nil {
				t.Fatal(err)
			}
			part := readColumn(t, reader, int(group.NumRows()))
			all.kind, all.values = part.kind, append(all.values, part.values...)
		}
		if node.PhysicalType() == parquet.Types.ByteArray && node.LogicalType().String() != "String" {
			t.Errorf("%s is not marked as text: %s", node.Name(), node.LogicalType())
		}
		names = append(names, node.Name())
		columns[node.Name()] = all
	}
	return names, columns
}

func readColumn(t testing.TB, reader file.ColumnChunkReader, n int) column {
	t.Helper()
	nulls := reader.Descriptor().MaxDefinitionLevel() > 0
	switch r := reader.(type) {
	case *file.Int64ColumnChunkReader:
		return readValues(t, "int64", n, nulls, r.ReadBatch, func(v int64) string { return strconv.FormatInt(v, 10) })
	case *file.Float64ColumnChunkReader:
		return readValues(t, "double", n, nulls, r.ReadBatch, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
	case *file.ByteArrayColumnChunkReader:
		return readValues(t, "string", n, nulls, r.ReadBatch, func(v parquet.ByteArray) string { return string(v) })
	case *file.BooleanColumnChunkReader:
		return readValues(t, "boolean", n, nulls, r.ReadBatch, strconv.FormatBool)
	}
	t.Fatalf("column of type %T", reader)
	return column{}
}

func readValues[V any](t testing.TB, kind string, n int, nulls bool, read func(int64, []V, []int16, []int16) (int64, int, error), text func(V) string) column {
	t.Helper()
	out := column{kind: kind}
	for len(out.values) < n {
		values, levels := make([]V, n), make([]int16, n)
		total, present, err := read(int64(n), values, levels, nil)
		if err != nil || total == 0 {
			t.Fatalf("read %d of %d values: %v", len(out.values), n, err)
		}
		next := 0
		for _, level := range levels[:total] {
			if nulls && level == 0 {
				out.values = append(out.values, "")
				continue
			}
			out.values = append(out.values, text(values[next]))
			next++
		}
		if next != present {
			t.Fatalf("found %d values, expected %d", present, next)
		}
	}
	return out
}

// TestParquetHoldsWhatCSVHolds reads both forms back and compares every value.
// CSV is written value by value, Parquet column by column.
func TestParquetHoldsWhatCSVHolds(t *testing.T) {
	for _, mode := range []router.Mode{router.KV, router.RoundRobin} {
		trace, c, r := sample(t, 500)
		c.Router.Mode = mode
		var p, text bytes.Buffer
		if err := WriteRequests(&p, trace, c, r); err != nil {
			t.Fatal(err)
		}
		if err := WriteRequestsCSV(&text, trace, c, r); err != nil {
			t.Fatal(err)
		}
		compare(t, p.Bytes(), text.Bytes(), len(r.Requests))
		p.Reset()
		text.Reset()
		if err := WriteWorkers(&p, c, r); err != nil {
			t.Fatal(err)
		}
		if err := writeCSV(&text, Workers(), len(r.Workers), workerAt(c, r)); err != nil {
			t.Fatal(err)
		}
		compare(t, p.Bytes(), text.Bytes(), len(r.Workers))
	}
}

func compare(t *testing.T, data, text []byte, n int) {
	t.Helper()
	names, columns := readBack(t, data)
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(records[0], names) || len(records) != n+1 {
		t.Fatalf("found %d records with the heading %v, expected %d and %v", len(records)-1, records[0], n, names)
	}
	for i, record := range records[1:] {
		for j, name := range names {
			if got := columns[name].values[i]; got != record[j] {
				t.Fatalf("row %d, %s: found %q in Parquet, %q in CSV", i, name, got, record[j])
			}
		}
	}
}

// TestRequestValues checks rows against what they must hold.
func TestRequestValues(t *testing.T) {
	trace, c, r := sample(t, 300)
	var p bytes.Buffer
	if err := WriteRequests(&p, trace, c, r); err != nil {
		t.Fatal(err)
	}
	_, columns := readBack(t, p.Bytes())
	for i := range r.Requests {
		q := &r.Requests[i]
		get := func(name string) string {
			if len(columns[name].values) != len(r.Requests) {
				t.Fatalf("%s: found %d values", name, len(columns[name].values))
			}
			return columns[name].values[i]
		}
		number := func(v float64) string {
			if math.IsNaN(v) {
				return ""
			}
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		front := 0.0
		if q.Worker == 2 {
			front = 2.5
		}
		want := map[string]string{
			"row": strconv.Itoa(i), "line": strconv.Itoa(i + 1), "request_id": trace.RequestID(i),
			"terminal_status": q.Status.String(), "arrival_time_ms": number(q.Arrival),
			"queue_wait_ms": number(q.Dispatched - q.Arrival), "first_token_ms": number(q.FirstToken),
			"ttft_ms": number(q.FirstToken - q.Arrival + front), "requested_output_length": strconv.Itoa(int(trace.OutputTokens(i))),
			"output_length": strconv.Itoa(int(q.OutputTokens)), "prefill_worker_idx": "", "session_id": trace.SessionName(i),
		}
		if q.Order < 0 {
			for _, name := range []string{"routing_order", "decode_worker_idx", "cost", "tied_workers", "forced", "held_blocks", "regret_blocks"} {
				want[name] = ""
			}
		} else {
			want["routing_order"], want["decode_worker_idx"] = strconv.Itoa(int(q.Order)), strconv.Itoa(int(q.Worker))
			want["cost_regret"], want["regret_blocks"] = number(q.Decision.Cost-q.Decision.MinCost), "1"
			want["tied_workers"], want["forced"] = strconv.Itoa(int(q.Decision.Tied)), strconv.FormatBool(q.Decision.Forced)
		}
		for name, w := range want {
			if got := get(name); got != w {
				t.Fatalf("row %d, %s: found %q, expected %q", i, name, got, w)
			}
		}
	}
}

// TestPoolValues checks the columns of handoffs: of a request that went through
// both pools, of one that bypassed the prefill workers, and of one that never
// came.
func TestPoolValues(t *testing.T) {
	trace, c, r := sample(t, 3)
	nan := math.NaN()
	gone := sim.Handoff{PrefillAdmit: nan, SourceHeld: nan, Reserved: nan, Activated: nan, DecodeAdmit: nan, Released: nan, PrefillWorker: -1, DecodeWorker: -1, DecodeReused: -1}
	both, local := gone, gone
	both.PrefillWorker, both.DecodeWorker, both.SourceHeld, both.DecodeReused = 1, 2, 12.5, 64
	local.DecodeWorker, local.DecodeAdmit, local.Local = 0, 7, true
	both.Decode.Overlap, r.Requests[1].Decision.Overlap = 2, 3
	r.Handoffs = []sim.Handoff{gone, both, local}
	var p bytes.Buffer
	if err := WriteRequests(&p, trace, c, r); err != nil {
		t.Fatal(err)
	}
	_, columns := readBack(t, p.Bytes())
	block := int(c.Fleet[0].Engine.BlockSize)
	for name, want := range map[string][]string{
		"prefill_worker_idx": {"", "1", ""}, "source_held_ms": {"", "12.5", ""}, "decode_admit_ms": {"", "", "7"},
		"decode_reused_input_tokens": {"", "64", ""}, "local_prefill": {"", "false", "true"},
		"prefill_route_overlap_tokens": {"", strconv.Itoa(3 * block), ""}, "decode_route_overlap_tokens": {"", strconv.Itoa(2 * block), "0"},
	} {
		if got := columns[name].values; !slices.Equal(got, want) {
			t.Errorf("%s: found %q, expected %q", name, got, want)
		}
	}
}

func TestWorkerValues(t *testing.T) {
	_, c, r := sample(t, 1)
	var p bytes.Buffer
	if err := WriteWorkers(&p, c, r); err != nil {
		t.Fatal(err)
	}
	_, columns := readBack(t, p.Bytes())
	for name, want := range map[string]string{
		"worker": "1", "group": "0", "requests": "4", "busy_ms": "800", "busy_share": "0.8", "kv_pool_blocks": "16384",
		"peak_kv_usage": strconv.FormatFloat(100./16384, 'g', -1, 64), "preemptions": "8", "passes_out_of_range": "2",
	} {
		if got := columns[name].values[1]; got != want {
			t.Errorf("%s: found %s, expected %s", name, got, want)
		}
	}
	if columns["group"].values[2] != "1" || columns["kv_pool_blocks"].values[2] != "400" {
		t.Error("the third worker is not of the second group")
	}
}

// TestColumnList compares the page of columns with the files.
func TestColumnList(t *testing.T) {
	const name = "../columns.md"
	var page bytes.Buffer
	if err := WriteMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, page.Bytes()) {
		t.Errorf("%s is not the list of columns (UPDATE=1 rewrites it)", name)
	}
	trace, c, r := sample(t, 40)
	var requests, workers bytes.Buffer
	if err := WriteRequests(&requests, trace, c, r); err != nil {
		t.Fatal(err)
	}
	if err := WriteWorkers(&workers, c, r); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| (int64|double|string|boolean) \\| (|ms|tokens|blocks|bytes|1) \\| [A-Z].*\\. \\|$")
	var listed, found []string
	for _, m := range line.FindAllSubmatch(text, -1) {
		listed = append(listed, string(m[1])+" "+string(m[2]))
	}
	for _, data := range [][]byte{requests.Bytes(), workers.Bytes()} {
		names, columns := readBack(t, data)
		for _, n := range names {
			found = append(found, n+" "+columns[n].kind)
		}
	}
	if !slices.Equal(listed, found) {
		t.Errorf("the page lists %v\nthe files hold %v", listed, found)
	}
}

func TestEqualBytes(t *testing.T) {
	trace, c, r := sample(t, 200)
	write := func() (out []byte) {
		var p bytes.Buffer
		if err := WriteRequests(&p, trace, c, r); err != nil {
			t.Fatal(err)
		}
		return p.Bytes()
	}
	first := write()
	if !bytes.Equal(first, write()) {
		t.Error("the second file differs from the first")
	}
	r.Requests[9].FirstAdmit = math.Nextafter(r.Requests[9].FirstAdmit, 0)
	if bytes.Equal(first, write()) {
		t.Error("a changed result gave the same file")
	}
}

// TestRowGroups writes more rows than one group holds.
func TestRowGroups(t *testing.T) {
	type row struct{ i int }
	columns := []Column[row]{
		counts("i", "", "", func(r *row) int64 { return int64(r.i) }),
		integers("odd", "", "", func(r *row) (int64, bool) { return int64(r.i), r.i%2 == 1 }),
	}
	n := 2*groupRows + 17
	var p bytes.Buffer
	if err := writeParquet(&p, "rows", columns, n, func(i int) row { return row{i} }); err != nil {
		t.Fatal(err)
	}
	_, back := readBack(t, p.Bytes())
	for i := range n {
		odd := ""
		if i%2 == 1 {
			odd = strconv.Itoa(i)
		}
		if back["i"].values[i] != strconv.Itoa(i) || back["odd"].values[i] != odd {
			t.Fatalf("row %d: found %q and %q", i, back["i"].values[i], back["odd"].values[i])
		}
	}
}

func TestEmptyTables(t *testing.T) {
	_, c, _ := sample(t, 1)
	var p bytes.Buffer
	if err := WriteWorkers(&p, c, &sim.Result{}); err != nil {
		t.Fatal(err)
	}
	if names, _ := readBack(t, p.Bytes()); len(names) != len(Workers()) {
		t.Errorf("found %d columns", len(names))
	}
}

// failing refuses everything.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReported(t *testing.T) {
	trace, c, r := sample(t, 50)
	if err := WriteRequests(failing{}, trace, c, r); err == nil {
		t.Error("Parquet: found no error")
	}
	if err := WriteRequestsCSV(failing{}, trace, c, r); err == nil {
		t.Error("CSV: found no error")
	}
}

func BenchmarkWriteRequests(b *testing.B) {
	trace, c, r := sample(b, 12031)
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteRequests(io.Discard, trace, c, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteRequestsCSV(b *testing.B) {
	trace, c, r := sample(b, 12031)
	for b.Loop() {
		if err := WriteRequestsCSV(io.Discard, trace, c, r); err != nil {
			b.Fatal(err)
		}
	}
}
