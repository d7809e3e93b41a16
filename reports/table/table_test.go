package table

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"routesim/reports"
	"routesim/sim"
	"routesim/sim/metrics"
)

func ptr(v float64) *float64 { return &v }

// around makes statistics about a mean.
func around(n int64, mean float64) metrics.Stats {
	return metrics.Stats{N: n, Mean: mean, Min: mean / 4, Median: mean * 0.7, P75: mean * 1.3, P90: mean * 1.9, P95: mean * 2.5, P99: mean * 4.1, Max: mean * 9.3, Std: mean}
}

func sample() *reports.Summary {
	s := &reports.Summary{
		Requests: 12031, Completed: 12031, InputTokens: 144_000_000, OutputTokens: 4_126_000, CommittedPrefillTokens: 101_000_000,
		DurationMS: 3_537_000, RequestRate: 3.40, OutputRate: 1166, InputRate: 40_886,
		TTFT: around(12031, 984), TTST: around(12031, 22), ITL: around(4_000_000, 22.2), TPOT: around(12000, 22), E2E: around(12031, 8600),
		Goodput: &reports.Goodput{Bounds: sim.SLA{TTFT: ptr(2000), ITL: ptr(40)}, Completed: 10_430, RequestRate: 2.9},
	}
	s.Routesim = reports.Details{
		Meta: reports.Meta{Model: []string{"grade A, error TTFT 11 %, ITL 6 % (held-out runs)"}, Notes: []string{"router-mode kv is the default here; Dynamo's own is round-robin."}},
		Seed: 1, RouterMode: "kv", Loop: "open", Workers: 8, Timing: []string{"h100/vllm/llama-3.1-70b/tp4/bf16/bf16"},
		Trace: reports.TraceFacts{Name: "conversation_trace.jsonl"}, DecisionDigest: "7c1e40a2ffff", Preemptions: 61,
		QueuePeak: 12, QueueWait: reports.StatsMS{N: 12031, Mean: 14, P99: 1500, Max: 4000},
		Waterfall: reports.Waterfall{Ceiling: 0.366, Best: 0.32, Chosen: 0.295, Delivered: 0.284, Believed: 0.291},
		Regret:    reports.Regret{Decisions: 12031, MeanBlocks: 1.24, WorseShare: 0.12, TiedShare: 0.312},
		Imbalance: reports.Imbalance{BusyMaxOverMean: 1.12, Busiest: 2, BusiestShare: 0.14, Idlest: 7, IdlestShare: 0.112, PeakKVUsage: 0.97, PeakKVWorker: 4},
		Warnings:  []reports.Warning{{Code: reports.BusyQueue, Text: "w2 had requests waiting for 71 % of the time; the others at most 20 %."}},
	}
	return s
}

// mixed is a run of two worker groups.
func mixed(scale float64) *reports.Summary {
	s := sample()
	d := &s.Routesim
	stats := func(mean float64) reports.StatsMS {
		m := around(5, mean)
		return reports.StatsMS{N: m.N, Mean: reports.Number(m.Mean), Median: reports.Number(m.Median), P99: reports.Number(m.P99)}
	}
	d.Timing = []string{"h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16", "a100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16"}
	d.Model = []string{"grade A", "grade B"}
	d.Groups = []reports.GroupFigures{
		{Workers: 7, Requests: 11_000, InputTokens: 130_000_000, OutputTokens: 4_000_000, BusyShare: 0.81, TTFT: stats(scale / 10), ITL: stats(scale / 500)},
		{Group: 1, FirstWorker: 7, Workers: 1, Requests: 1031, InputTokens: 14_000_000, OutputTokens: 126_000, BusyShare: reports.Number(math.NaN()), TTFT: stats(scale / 5), ITL: stats(scale / 200)},
	}
	return s
}

// nothing is a run in which no request completed.
func nothing() *reports.Summary {
	nan := math.NaN()
	none := metrics.Stats{Mean: nan, Min: nan, Max: nan, Median: nan, P75: nan, P90: nan, P95: nan, P99: nan, Std: nan}
	no := reports.Number(nan)
	s := &reports.Summary{Requests: 4, DurationMS: nan, RequestRate: nan, OutputRate: nan, InputRate: nan, TTFT: none, TTST: none, ITL: none, TPOT: none, E2E: none}
	s.Routesim = reports.Details{
		RouterMode: "round-robin", Loop: "closed", Workers: 2, Rejected: 4,
		Waterfall: reports.Waterfall{Ceiling: no, Best: no, Chosen: no, Delivered: no, Believed: no},
		Regret:    reports.Regret{MeanBlocks: no, TiedShare: no}, Imbalance: reports.Imbalance{BusyMaxOverMean: no, BusiestShare: no, IdlestShare: no},
	}
	return s
}

func run(t testing.TB, s *reports.Summary, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Run(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compared(t testing.TB, a, b *reports.Summary, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Compare(&out, Named{Name: "round-robin", Summary: a}, Named{Name: "kv", Summary: b}, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPages compares whole pages with those that were read and found right.
func TestPages(t *testing.T) {
	base := sample()
	base.TTFT, base.E2E, base.Goodput.Completed = around(12031, 1310), around(12031, 9100), 8600
	base.Routesim.Waterfall.Delivered, base.Routesim.Preemptions = 0.2, 0
	base.Routesim.Warnings = append(base.Routesim.Warnings, reports.Warning{Text: "Only the first run says this."})
	for name, text := range map[string]string{
		"run.txt":     run(t, sample(), Options{Next: "routesim sweep conversation_trace.jsonl --vary router-prefill-load-scale"}),
		"utf8.txt":    run(t, sample(), Options{UTF8: true}),
		"nothing.txt": run(t, nothing(), Options{}),
		"groups.txt":  run(t, mixed(12031), Options{}),
		"compare.txt": compared(t, base, sample(), Options{Next: "routesim replay --help"}),
	} {
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
			t.Errorf("%s: not a number:\n%s", name, text)
		}
		if bad := regexp.MustCompile(`\b[0-9.]+(ms|s)\b`).FindString(text); bad != "" && !strings.Contains(bad, "m") {
			t.Errorf("%s: %q lacks the blank before its unit", name, bad)
		}
		path := "testdata/" + name
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s differs (UPDATE=1 rewrites it):\n%s", path, text)
		}
	}
}

// checkPage checks what every page must keep to.
func checkPage(t interface{ Fatalf(string, ...any) }, text string, o Options) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if n := utf8.RuneCountInString(line); n > width {
			t.Fatalf("%d columns: %q", n, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Fatalf("trailing space: %q", line)
		}
		for _, r := range line {
			if !unicode.IsPrint(r) || r >= 0x80 && !o.UTF8 {
				t.Fatalf("character %q in %q", r, line)
			}
		}
	}
}

// TestLoadOfPools: each pool has a load of its own, under its name and with names
// of its workers.
func TestLoadOfPools(t *testing.T) {
	load := func(prefill, decode int) string {
		s := sample()
		d := &s.Routesim
		d.Workers, d.PrefillWorkers = decode, prefill
		d.PrefillImbalance = &reports.Imbalance{BusyMaxOverMean: 1.5, Busiest: 1, BusiestShare: 0.75, Idlest: 0, IdlestShare: 0.25, PeakKVUsage: 0.5}
		text := run(t, s, Options{})
		return text[strings.Index(text, "\nload")+1 : strings.Index(text, "\nmodel")+1]
	}
	const prefill = "load    prefill: busiest 1.50x the mean  p1    |##################|  75.0 %\n" +
		"        KV pool at most 50.0 % (p0)      p0    |######            |  25.0 %\n"
	const decode = "        decode: busiest 1.12x the mean   d2    |##################|  14.0 %\n" +
		"        KV pool at most 97.0 % (d4)      d7    |##############    |  11.2 %\n"
	for _, c := range []struct {
		prefill, decode int
		want            string
	}{
		{2, 8, prefill + decode},
		{2, 1, prefill + "        decode: KV pool at most 97.0 % (d4)\n"},
		{1, 8, "load    prefill: KV pool at most 50.0 % (p0)\n" + decode},
	} {
		if got := load(c.prefill, c.decode); got != c.want {
			t.Errorf("%d prefill and %d decode workers: found\n%sexpected\n%s", c.prefill, c.decode, got, c.want)
		}
	}
}

func TestPagesKeepToTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sample()
		if rapid.Bool().Draw(t, "nothing completed") {
			s = nothing()
		}
		o := Options{UTF8: rapid.Bool().Draw(t, "UTF-8"), Next: rapid.String().Draw(t, "next")}
		scale := math.Exp(rapid.Float64Range(-12, 16).Draw(t, "scale"))
		if s.Completed > 0 {
			s.TTFT, s.E2E, s.ITL = around(5, scale), around(5, 10*scale), around(5, scale/10)
			s.OutputRate, s.DurationMS = 1e3*scale, 1e4*scale
		}
		s.Requests = rapid.Int64Range(0, 1e12).Draw(t, "requests")
		s.Routesim.Workers = rapid.IntRange(1, 5000).Draw(t, "workers")
		s.Routesim.Imbalance.Busiest = s.Routesim.Workers - 1
		if rapid.Bool().Draw(t, "pools") {
			pool := s.Routesim.Imbalance
			s.Routesim.PrefillWorkers = rapid.IntRange(1, 5000).Draw(t, "prefill workers")
			pool.Busiest, s.Routesim.PrefillImbalance = s.Routesim.PrefillWorkers-1, &pool
		}
		s.Routesim.Trace.Name = rapid.String().Draw(t, "trace")
		s.Routesim.Timing = []string{rapid.String().Draw(t, "timing")}
		if rapid.Bool().Draw(t, "groups") {
			m := &mixed(scale).Routesim
			s.Routesim.Groups, s.Routesim.Timing, s.Routesim.Model = m.Groups, append(m.Timing[:1:1], s.Routesim.Timing...), m.Model
			s.Routesim.Groups[1].FirstWorker = rapid.IntRange(0, 65535).Draw(t, "first worker")
		}
		s.Routesim.Warnings = append(s.Routesim.Warnings, reports.Warning{Text: rapid.String().Draw(t, "warning")})
		var b bytes.Buffer
		if err := Run(&b, s, o); err != nil {
			t.Fatal(err)
		}
		checkPage(t, b.String(), o)
		b.Reset()
		if err := Compare(&b, Named{Name: rapid.String().Draw(t, "name"), Given: rapid.String().Draw(t, "given"), Summary: sample()}, Named{Name: "x", Summary: s}, o); err != nil {
			t.Fatal(err)
		}
		checkPage(t, b.String(), o)
	})
}

func TestColorsOnlyDecorate(t *testing.T) {
	plain, colored := run(t, sample(), Options{}), run(t, sample(), Options{Color: true})
	if plain == colored {
		t.Error("no colour")
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(colored, ""); got != plain {
		t.Errorf("without colours the page is another one:\n%s", got)
	}
}

func TestWrapKeepsEveryWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé]{1,30}`)).Draw(t, "words")
		n := rapid.IntRange(5, 40).Draw(t, "width")
		lines := wrap(strings.Join(words, " "), n)
		if got := strings.Join(lines, ""); strings.ReplaceAll(got, " ", "") != strings.Join(words, "") {
			t.Fatalf("found %q", lines)
		}
		for i, line := range lines {
			if size := utf8.RuneCountInString(line); size > n || size == 0 {
				t.Fatalf("%d characters: %q", size, line)
			}
			if i > 0 {
				first, _, _ := strings.Cut(line, " ")
				if len(first) < n && utf8.RuneCountInString(lines[i-1])+1+utf8.RuneCountInString(first) <= n && !cut(words, lines[i-1], first) {
					t.Fatalf("%q would fit behind %q", first, lines[i-1])
				}
			}
		}
	})
}

// cut reports whether the last word of a line and the first of the next are
// parts of one word.
func cut(words []string, line, next string) bool {
	last := line[strings.LastIndexByte(line, ' ')+1:]
	for _, w := range words {
		if strings.Contains(w, last+next) {
			return true
		}
	}
	return false
}

// TestVerdicts checks the words beside the changes.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		f    figure
		x, y float64
		want string
	}{
		{figure{better: lower, kind: duration}, 100, 81.4, "-18.6 %  better"},
		{figure{better: lower, kind: duration}, 100, 118.6, "+18.6 %  worse"},
		{figure{better: higher, kind: rate}, 100, 118.6, "+18.6 %  better"},
		{figure{better: higher, kind: portion}, 0.1, 0.05, "-5.0 pp  worse"},
		{figure{better: neither, kind: portion}, 0.1, 0.05, "-5.0 pp"},
		{figure{better: lower, kind: whole}, 0, 5, "-  worse"},
		{figure{better: lower, kind: rate}, 7, 7, "0.0 %"},
		{figure{better: lower, kind: rate}, 7, 7.001, "0.0 %  same"},
		{figure{better: higher, kind: duration}, 7, 6.999, "0.0 %  same"},
		{figure{better: higher, kind: portion}, 0.5, 0.5001, "0.0 pp  same"},
		{figure{better: higher, kind: duration}, 7, 7.01, "+0.1 %  better"},
		{figure{better: lower, kind: rate}, math.NaN(), 7, "-"},
	} {
		if got := strings.TrimSpace(c.f.change(c.x, c.y)); got != c.want {
			t.Errorf("%v to %v: found %q, expected %q", c.x, c.y, got, c.want)
		}
	}
}

func TestLosses(t *testing.T) {
	p := &page{}
	for _, c := range []struct {
		w    reports.Waterfall
		want string
	}{
		{reports.Waterfall{Ceiling: 0.5, Best: 0.4, Chosen: 0.3, Delivered: 0.25},
			"lost: no longer or not yet held 10.0, on another worker 10.0, between decision and admission 5.0 (points)"},
		{reports.Waterfall{Ceiling: 0.5, Best: 0.4, Chosen: 0.3, Delivered: 0.32},
			"lost: no longer or not yet held 10.0, on another worker 10.0; gained: between decision and admission 2.0 (points)"},
	} {
		if got := p.losses(&c.w); got != c.want {
			t.Errorf("found %q, expected %q", got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	s := sample()
	s.TTFT = around(5, 100)
	if got := run(t, s, Options{}); !strings.Contains(got, "TTFT   ms") || !strings.Contains(got, "E2E    s ") {
		t.Errorf("units follow the 99th percentile:\n%s", got)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrors(t *testing.T) {
	if Run(failing{}, sample(), Options{}) == nil || Compare(failing{}, Named{Name: "a", Summary: sample()}, Named{Name: "b", Summary: sample()}, Options{}) == nil {
		t.Error("found no error")
	}
}

func ExampleCompare() {
	var b bytes.Buffer
	_ = Compare(&b, Named{Name: "round-robin", Summary: sample()}, Named{Name: "kv", Summary: sample()}, Options{})
	first, _, _ := strings.Cut(b.String(), "\n")
	fmt.Println(first)
	// Output:                                 round-robin              kv      change
}
