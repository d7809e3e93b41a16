package sweepdata

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"routesim/models/profile"
	"routesim/reports"
	"routesim/reports/newfile"
)

func digestOf(text string) string {
	d := sha256.Sum256([]byte(text))
	return hex.EncodeToString(d[:])
}

// sampleRun makes a run with figures of all kinds, absent ones included.
func sampleRun(rng *rand.Rand, seed uint64, workers int) Run {
	r := Run{Seed: seed, DecisionDigest: digestOf(fmt.Sprint("d", rng.Uint64())), TimeDigest: digestOf(fmt.Sprint("t", rng.Uint64())), Saturated: rng.IntN(2) == 0}
	for i := range Metrics() {
		v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)-4))
		switch i % 9 {
		case 7:
			v = math.NaN()
		case 8:
			v = float64(rng.IntN(1000))
		}
		r.Metrics = append(r.Metrics, v)
	}
	for range Counters() {
		r.Counters = append(r.Counters, rng.Int64N(1e12))
	}
	r.Queue.set([]float64{1, 2.5, 3, math.NaN(), 5, 6, 7, 8, 9, -0.1})
	for range workers {
		r.Workers = append(r.Workers, Worker{Requests: rng.Int64N(100), Tokens: rng.Int64N(1e9), BusyShare: rng.Float64()})
	}
	return r
}

// sampleSweep makes a sweep with everything that one can have: failed, missing
// and fresh runs, added points, words as values, inert axes.
func sampleSweep(design string) *Sweep {
	rng := rand.New(rand.NewPCG(4, 2))
	s := &Sweep{
		Version: "1.2.3", Command: []string{"routesim", "sweep", "a trace.jsonl", "--vary=router-temperature=0,0.3"},
		Trace:      reports.TraceFacts{Name: "a trace.jsonl", Format: "mooncake", Rows: 3, Skipped: 1, BlockSize: 512, Digest: digestOf("trace")},
		TracePaths: []string{"dir/a trace.jsonl", "#odd: name"},
		Requests:   Requests{ArrivalMS: []float64{0, math.NaN(), 0.1}, InputTokens: []int32{1, 2, 3}, OutputTokens: []int32{4, 5, 1 << 30}},
		Base: map[string]any{
			"router-temperature": 0.3, "workers": "6xa,2xb@max_num_seqs=64", "max-num-seqs": "auto", "router-queue-threshold": nil,
			"seed": int64(7), "load-aware": false, "kv-event-lag-ms": 1e-7, "arrival-speedup-ratio": 0.5,
		},
		SLA: SLA{TTFT: 2000, ITL: 0.1, Target: 99.5}, Objective: "goodput_share", Seeds: []uint64{7, 8, 1 << 63},
		Default: 0, Reference: 4, Design: design, Notes: []string{"a note: with a colon", "- and a dash"},
		Profiles: []reports.ProfileFacts{{
			Group: 1, Count: 2, ID: "h100/x", Grade: "B", Flags: []string{"borrowed"}, Line: "h100/x: grade B",
			HeldOut: &profile.RunError{Runs: 3, TTFT: [3]float64{9.5, 20, 30}, TPOT: [3]float64{1, 2, 3}}, KVTokens: 5,
			KVBasis: reports.KVBasis{From: "profile", Utilization: reports.Number(math.NaN()), GPUMemoryGiB: 79.5},
		}},
		Axes: []Axis{
			{Name: "router-temperature", Values: []string{"0", "0.3"}, Numbers: []float64{0, 0.3}, Base: "0.3", Documented: math.NaN(), Dynamo: &Flag{Name: "--router-temperature", Env: "DYN_ROUTER_TEMPERATURE"}},
			{Name: "workers", Values: []string{"4", "6xa,2xb"}, Base: "6xa,2xb", Documented: math.NaN(), Inert: "no prompt fills one block", Remedy: "try: others"},
			{Name: "load-aware", Values: []string{"false"}, Base: "false", Documented: 1, Dynamo: &Flag{Name: "--load-aware", Env: "DYN_ROUTER_LOAD_AWARE", Bool: true}},
		},
	}
	for i, values := range [][]string{{"0.3", "6xa,2xb", "false"}, {"0", "4", "false"}, {"0", "6xa,2xb", "false"}, {"0.3", "4", "false"}, {"0.3", "6xa,2xb", "false"}} {
		key := digestOf(fmt.Sprint("point", i))
		p := Point{ID: key[:8], Key: key, Values: values, Beyond: i == 2, Flags: s.FlagsOf(values)}
		if i == 4 {
			p.Added, p.Flags = true, []Flag{{Name: "--router-mode", Env: "DYN_ROUTER_MODE", Value: "round-robin"}}
		}
		for j, seed := range s.Seeds {
			switch {
			case i == 1 && j == 1:
				p.Fail(seed, "worker 3, request of line 9: \"stuck\", found 1\nexpected 2")
			case i == 3 && j > 0: // missing
			default:
				p.Runs = append(p.Runs, sampleRun(rng, seed, 1+i))
			}
		}
		if i < 2 {
			p.Fresh = []Run{sampleRun(rng, 1007, 2), sampleRun(rng, 1008, 2)}
		}
		s.Points = append(s.Points, p)
	}
	s.Load = func(point int, seed uint64) (*Latencies, error) {
		f := float32(point) + float32(seed%100)/3
		nan := float32(math.NaN())
		return &Latencies{
			TTFT: []float32{f, nan, 1e-9}, ITL: []float32{nan, f, 2}, E2E: []float32{f, f, f},
			Worker: []int32{-1, 0, int32(point)}, Predicted: []float32{0, nan, f}, Reused: []float32{f, 1, nan},
		}, nil
	}
	return s
}

var equal = cmp.Options{
	cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Sweep{}, "Load", "ends"),
	cmp.Transformer("number", func(n reports.Number) float64 { return float64(n) }),
	cmp.AllowUnexported(Sweep{}),
}

// TestSaveAndOpen: what is saved is what is read.
func TestSaveAndOpen(t *testing.T) {
	for _, design := range []string{"grid", "lhs:4", "points"} {
		dir, want := t.TempDir(), sampleSweep(design)
		if err := Save(dir, want); err != nil {
			t.Fatal(err)
		}
		got, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, equal); d != "" {
			t.Errorf("%s: saved and read differ:\n%s", design, d)
		}
		for i := range want.Points {
			for _, r := range append(want.Points[i].Runs, want.Points[i].Fresh...) {
				x, _ := want.Load(i, r.Seed)
				y, err := got.Load(i, r.Seed)
				if d := cmp.Diff(x, y, equal); err != nil || d != "" {
					t.Errorf("point %d, seed %d: %v\n%s", i, r.Seed, err, d)
				}
			}
		}
		if _, err := got.Load(3, 8); err == nil {
			t.Error("a missing run was loaded")
		}
	}
}

// TestSavingRepeats: equal sweeps are equal files, read back or not.
func TestSavingRepeats(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	if err := Save(a, sampleSweep("lhs:4")); err != nil {
		t.Fatal(err)
	}
	read, err := Open(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := Save(b, read); err != nil {
		t.Fatal(err)
	}
	names := 0
	if err := filepath.WalkDir(a, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		names++
		rel, _ := filepath.Rel(a, name)
		x, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		y, err := os.ReadFile(filepath.Join(b, rel))
		if err != nil {
			return err
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", rel)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if names < 15 {
		t.Errorf("%d files, expected more", names)
	}
}

// TestFindRun: a run counts only with the key and the seed it was made with.
func TestFindRun(t *testing.T) {
	dir, s := t.TempDir(), sampleSweep("grid")
	if err := Save(dir, s); err != nil {
		t.Fatal(err)
	}
	p := s.Points[0]
	if r := FindRun(dir, &p, 7); r == nil || !r.Equal(&p.Runs[0]) {
		t.Errorf("got %v", r)
	}
	if FindRun(dir, &p, 9) != nil {
		t.Error("found a run of a seed that was not run")
	}
	other := p
	other.Key = p.ID + digestOf("another configuration")[8:]
	if FindRun(dir, &other, 7) != nil {
		t.Error("found a run of another configuration whose id is the same")
	}
	name := filepath.Join(dir, filepath.FromSlash(RunFile(p.ID, 7)))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 3, 10, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(name, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if FindRun(dir, &p, 7) != nil {
			t.Errorf("found a run in a file cut after %d bytes", cut)
		}
	}
	for at := 0; at < len(whole); at += 61 {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x55
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		FindRun(dir, &p, 7) // must not panic
		loadRun(dir, &p, 7)
	}
}

// TestOpenRefuses wants an error that names the file for everything that is
// broken in a folder.
func TestOpenRefuses(t *testing.T) {
	replace := func(name, old, with string) func(dir string) error {
		return func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if !strings.Contains(string(text), old) {
				return fmt.Errorf("%s lacks %q", name, old)
			}
			return os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(string(text), old, with, 1)), 0o644)
		}
	}
	id := sampleSweep("grid").Points[0].ID
	for _, c := range []struct {
		what   string
		damage func(dir string) error
		want   string
	}{
		{"no sweep.yaml", func(dir string) error { return os.Remove(filepath.Join(dir, ConfigFile)) }, "found no sweep.yaml"},
		{"no points", func(dir string) error { return os.Remove(filepath.Join(dir, pointsCSV)) }, "points.csv"},
		{"no requests", func(dir string) error { return os.Remove(filepath.Join(dir, requestsFile)) }, "requests.parquet"},
		{"schema", replace(ConfigFile, "schema: 2", "schema: 1"), "sweep.yaml: schema: found 1"},
		{"objective", replace(ConfigFile, "goodput_share", "goodness"), `sweep.yaml: objective: found "goodness"`},
		{"unknown key", replace(ConfigFile, "version:", "vresion:"), "sweep.yaml:3: expected valid YAML"},
		{"axis twice", replace(ConfigFile, "name: workers", "name: load-aware"), "sweep.yaml: axes[2].name"},
		{"syntax", replace(ConfigFile, "version: 1.2.3", "version: [1"), "sweep.yaml:"},
		{"default", replace(ConfigFile, "default_point: "+id, `default_point: "00000000"`), "found no point 00000000"},
		{"header", replace(pointsCSV, "mean_ttft_ms", "mean_tftt_ms"), "points.csv:1: column"},
		{"key", replace(pointsCSV, id+",", "zz,"), "points.csv:2: point"},
		{"seed", replace(pointsCSV, "false,7,false,done", "false,9,false,done"), "points.csv: seed: found 9"},
		{"seed twice", replace(pointsCSV, "false,8,false,done", "false,7,false,done"), "points.csv: seed: found 7"},
		{"status", replace(pointsCSV, "false,7,false,done", "false,7,false,gone"), `points.csv:2: status: found "gone"`},
		{"boolean", replace(pointsCSV, "false,7,false,done", "maybe,7,false,done"), `points.csv:2: beyond: found "maybe"`},
		{"requests of another trace", func(dir string) error {
			s := sampleSweep("grid")
			s.Requests = Requests{ArrivalMS: []float64{1}, InputTokens: []int32{1}, OutputTokens: []int32{1}}
			return newfile.Write(filepath.Join(dir, requestsFile), s.writeRequests)
		}, "requests.parquet: found other columns or rows"},
	} {
		dir := t.TempDir()
		if err := Save(dir, sampleSweep("grid")); err != nil {
			t.Fatal(err)
		}
		if err := c.damage(dir); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q in one line", c.what, err, c.want)
		}
	}
}

// TestUnlike finds each difference that matters, and none where there is none.
func TestUnlike(t *testing.T) {
	if field, _, _ := Unlike(sampleSweep("grid"), sampleSweep("grid")); field != "" {
		t.Errorf("equal sweeps differ in %s", field)
	}
	for want, change := range map[string]func(*Sweep){
		"version":                 func(s *Sweep) { s.Version = "9" },
		"trace digest":            func(s *Sweep) { s.Trace.Digest = digestOf("other") },
		"seeds":                   func(s *Sweep) { s.Seeds = s.Seeds[:2] },
		"objective":               func(s *Sweep) { s.Objective = "p50_ttft_ms" },
		"sla":                     func(s *Sweep) { s.SLA.TTFT = 1 },
		"axis 1":                  func(s *Sweep) { s.Axes[0].Name = "x" },
		"router-temperature":      func(s *Sweep) { s.Axes[0].Values = []string{"0"} },
		"setting seed":            func(s *Sweep) { s.Base["seed"] = int64(8) },
		"setting kv-event-lag-ms": func(s *Sweep) { delete(s.Base, "kv-event-lag-ms") },
		"key of point 2":          func(s *Sweep) { s.Points[1].Key = digestOf("x") },
		"number of points":        func(s *Sweep) { s.Points = s.Points[:4] },
		"number of axes":          func(s *Sweep) { s.Axes = s.Axes[:2] },
		"design":                  func(s *Sweep) { s.Design = "lhs:4" },
		"command":                 func(s *Sweep) { s.Command = nil },
	} {
		s := sampleSweep("grid")
		change(s)
		if field, _, _ := Unlike(s, sampleSweep("grid")); field != want {
			t.Errorf("found a difference in %q, want %q", field, want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, design := range []string{"grid", "points"} {
		var b bytes.Buffer
		if err := sampleSweep(design).writeConfig(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("schema: 2\nseeds: [1]\nobjective: p90_ttft_ms\naxes: []\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseConfig("sweep.yaml", text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		var b bytes.Buffer
		if err := s.writeConfig(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ParseConfig("sweep.yaml", b.Bytes())
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, b.Bytes())
		}
		again.Points, s.Points = nil, nil
		if d := cmp.Diff(s, again, equal); d != "" {
			t.Errorf("written and read differ:\n%s", d)
		}
	})
}

func FuzzReadPoints(f *testing.F) {
	var b bytes.Buffer
	if err := sampleSweep("grid").WritePointsCSV(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	lines := strings.SplitAfter(b.String(), "\n")
	f.Add(lines[0])
	f.Add(lines[0] + lines[2])
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		s := sampleSweep("grid")
		if err := s.ReadPointsCSV("points.csv", strings.NewReader(text)); err != nil {
			if !strings.HasPrefix(err.Error(), "points.csv") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		var one, two bytes.Buffer
		if err := s.WritePointsCSV(&one); err != nil {
			t.Fatal(err)
		}
		again := sampleSweep("grid")
		if err := again.ReadPointsCSV("points.csv", bytes.NewReader(one.Bytes())); err != nil {
			t.Fatalf("cannot read what was written: %v", err)
		}
		again.Default, again.Reference = s.Default, s.Reference
		if err := again.WritePointsCSV(&two); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Error("written, read and written again differs")
		}
	})
}

// TestParseConfigErrors says what is wrong with a text without the names of the
// program's own parts, and refuses what no parser could take.
func TestParseConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"schema: x\n":                                       "sweep.yaml:1: found a text, expected a whole number",
		"schema: 2\nseeds: {a: 1}\n":                        "sweep.yaml:2: expected valid YAML as a sweep writes it: mapping was used where sequence is expected",
		"schema: 2\nseeds: [a]\n":                           "sweep.yaml:2: found a text, expected a whole number of at least 0",
		"schema: 2\ntrace: 7\n":                             "sweep.yaml:2: expected valid YAML as a sweep writes it: int was used where mapping is expected",
		"schema: 2\ntrace:\n  rows: 99999999999999999999\n": "sweep.yaml:3: found",
		"schema: 2\nmore: 1\n":                              `sweep.yaml:2: expected valid YAML as a sweep writes it: unknown field "more"`,
		"schema: 2\nnotes: " + strings.Repeat("[", 100_000): "sweep.yaml:2: found YAML nested deeper than 64 levels, expected fewer",
		"schema: 2\nnotes: &a [x]\nprofiles: [*a, *a]\n":    "sweep.yaml:3: found an alias",
	} {
		_, err := ParseConfig("sweep.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: found %v, expected %s", text, err, want)
			continue
		}
		for _, inner := range []string{"Go ", "uint", "int64", "[]", "config."} {
			if strings.Contains(err.Error(), inner) {
				t.Errorf("%.40q: found %q in %v, expected none of the program's names", text, inner, err)
			}
		}
	}
}
