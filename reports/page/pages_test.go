package page_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"routesim/reports/page"
	"routesim/reports/paste"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

func sortFloats(s []float32) { slices.Sort(s) }

const (
	creditName = "router-kv-overlap-score-credit"
	scaleName  = "router-prefill-load-scale"
)

func credits() sweepdata.Axis {
	return numbers(creditName, "1", "0", "0.2", "0.4", "0.6", "0.8", "1", "1.2", "1.4", "1.6", "1.8", "2")
}

func scales() sweepdata.Axis {
	return numbers(scaleName, "1", "0.25", "0.5", "1", "2", "4", "8", "16", "32", "64")
}

// bowl has its best point at credit 1 and scale 8, and saturates at high credit
// with low scale.
func bowl(at []float64) float64 {
	c, s := at[0], math.Log2(at[1])
	if c >= 1.6 && s < 0 {
		return math.Inf(1)
	}
	return 0.8 + 0.12*(c-1)*(c-1) + 0.02*(s-3)*(s-3) + 0.05*math.Max(0, c-1)*math.Max(0, 3-s)
}

func samples() map[string]*sample {
	grid := []sweepdata.Axis{credits(), scales()}
	sla := sweepdata.SLA{TTFT: 2000, ITL: 40, Target: 0.9}
	flat := func([]float64) float64 { return 1 }
	list := map[string]*sample{
		"win":   {axes: grid, seeds: 6, requests: 240, sla: sla, effect: bowl, itl: func(at []float64) float64 { return 0.9 + 0.05*bowl(at) + 0.01*at[0] }, noise: 0.01},
		"tie":   {axes: grid, seeds: 6, requests: 240, effect: flat, noise: 0.02},
		"one":   {axes: grid[1:], seeds: 6, requests: 240, sla: sla, effect: func(at []float64) float64 { return 0.8 + 0.02*math.Pow(math.Log2(at[0])-3, 2) }, noise: 0.01},
		"word":  {axes: []sweepdata.Axis{numbers("router-mode", "kv", "kv", "round-robin")}, seeds: 6, requests: 240, effect: func(at []float64) float64 { return 1 + 0.3*at[0] }, noise: 0.01},
		"three": {axes: []sweepdata.Axis{numbers(creditName, "1", "0", "0.5", "1", "1.5"), numbers(scaleName, "1", "0.5", "1", "2", "4"), numbers("arrival-speedup-ratio", "1", "0.75", "1", "1.25")}, seeds: 6, requests: 200, sla: sla, effect: func(at []float64) float64 { return bowl(at) * at[2] * at[2] }, noise: 0.01},
		"few":   {axes: grid[1:], seeds: 2, requests: 200, effect: func(at []float64) float64 { return 0.8 + 0.02*math.Pow(math.Log2(at[0])-3, 2) }, noise: 0.01},
		"fails": {axes: grid[1:], seeds: 6, requests: 200, effect: flat, none: true},
		"lone":  {axes: nil, seeds: 6, requests: 200, effect: flat, noise: 0.01},
		"trade": {axes: grid[:1], seeds: 6, requests: 240, effect: func(at []float64) float64 { return 1.3 - 0.3*at[0] }, itl: func(at []float64) float64 { return 0.8 + 0.2*at[0]*at[0] }, noise: 0.005},
		"full":  {axes: grid, seeds: 6, requests: 200, effect: func([]float64) float64 { return math.Inf(1) }, noise: 0.01},
	}
	inert := credits()
	inert.Inert, inert.Remedy = "no prompt fills a block", "a trace with longer prompts"
	list["inert"] = &sample{axes: []sweepdata.Axis{inert}, seeds: 6, requests: 200, effect: flat}
	list["miss"] = &sample{axes: grid[1:], seeds: 6, requests: 200, sla: sweepdata.SLA{TTFT: 500, Target: 0.99}, effect: flat, noise: 0.01}
	list["capacity"] = &sample{axes: []sweepdata.Axis{numbers("workers", "8", "4", "8", "12"), numbers("arrival-speedup-ratio", "1", "0.5", "1", "1.5")}, seeds: 6, requests: 200, sla: sla,
		effect: func(at []float64) float64 { return at[1] * 8 / at[0] }, noise: 0.01}
	list["capacity"].sla.Target = 0.5
	thousand := &sample{axes: []sweepdata.Axis{numbers(creditName, "1"), numbers(scaleName, "1")}, seeds: 6, requests: 60, effect: bowl, noise: 0.01}
	for i := range 40 {
		thousand.axes[0].Values = append(thousand.axes[0].Values, short(float64(i)/20))
		if i < 25 {
			thousand.axes[1].Values = append(thousand.axes[1].Values, short(0.2*float64(i+1)))
		}
	}
	for a := range thousand.axes {
		thousand.axes[a] = numbers(thousand.axes[a].Name, "1", thousand.axes[a].Values...)
	}
	list["thousand"] = thousand
	hostile := *list["win"]
	hostile.trace, hostile.model = "</script><img src=x onerror=alert(1)>.jsonl", "<b>h100</b>/--><script>alert(2)</script>"
	list["hostile"] = &hostile
	scatter := &sample{axes: []sweepdata.Axis{numbers(creditName, "1"), numbers(scaleName, "1")}, seeds: 6, requests: 200, effect: bowl, noise: 0.01}
	for i := range 40 {
		c, s := short(2*hash(i, 1)), short(0.3+8*hash(i, 2))
		scatter.lists = append(scatter.lists, []string{c, s})
		scatter.axes[0].Values, scatter.axes[1].Values = append(scatter.axes[0].Values, c), append(scatter.axes[1].Values, s)
	}
	for a := range scatter.axes {
		values := slices.Compact(slices.Sorted(slices.Values(scatter.axes[a].Values)))
		scatter.axes[a] = numbers(scatter.axes[a].Name, "1", values...)
	}
	list["scatter"] = scatter
	for name, k := range list {
		if name != "hostile" {
			k.trace, k.model = "conversation_trace.jsonl", "h100/vllm/llama-3.1-70b/tp4"
		}
	}
	return list
}

// rendered is a page with what it is of.
type rendered struct {
	sweep   *sweepdata.Sweep
	verdict *verdict.Verdict
	html    []byte
}

// render judges a sweep and writes its page.
func render(t testing.TB, k *sample) rendered {
	t.Helper()
	s := k.sweep()
	v, err := verdict.Judge(s, verdict.Options{Resamples: 100, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	x := page.Extras{}
	if v.Default >= 0 && !k.none {
		x.Series = append(x.Series, series(v.Default, 8))
		if v.Chosen >= 0 && v.Chosen != v.Default {
			x.Series = append(x.Series, series(v.Chosen, 8))
		}
	}
	var b bytes.Buffer
	if err := page.Write(&b, s, v, x); err != nil {
		t.Fatal(err)
	}
	return rendered{s, v, b.Bytes()}
}

// save keeps a page with what a browser shall find on it.
func (r *rendered) save(t *testing.T, dir, name string) {
	t.Helper()
	type point struct {
		ID, Flags, Env, Kubernetes string
		Values                     map[string]string
	}
	e := struct {
		Headline string
		Points   []point
	}{Headline: r.verdict.Headline}
	for p := range r.sweep.Points {
		q := &r.sweep.Points[p]
		f, err := paste.Of(q.Flags, "")
		if err != nil {
			t.Fatal(err)
		}
		at := point{q.ID, f.Flags, f.Env, f.Kubernetes, map[string]string{}}
		for a := range r.sweep.Axes {
			at.Values[r.sweep.Axes[a].Name] = q.Values[a]
		}
		e.Points = append(e.Points, at)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, text := range map[string][]byte{".html": r.html, ".json": text} {
		if err := os.WriteFile(filepath.Join(dir, name+suffix), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPages writes a page for every state. ROUTESIM_PAGES names a folder to keep
// them in, for the tests in a browser.
func TestPages(t *testing.T) {
	states, ran := map[verdict.State]bool{}, 0
	list := samples()
	for name, k := range list {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "thousand" {
				t.Skip("in short mode: judges and draws a thousand points in one goroutine")
			}
			r := render(t, k)
			ran++
			states[r.verdict.State] = true
			checkPage(t, &r)
			if dir := os.Getenv("ROUTESIM_PAGES"); dir != "" {
				r.save(t, dir, name)
			}
		})
	}
	if ran < len(list) { // some were left out by their names
		return
	}
	for _, s := range []verdict.State{verdict.Win, verdict.Tie, verdict.Keep, verdict.Trade, verdict.FewSeeds, verdict.Overload, verdict.NoResult, verdict.Single, verdict.Inert, verdict.SLOMiss, verdict.Capacity} {
		if !states[s] {
			t.Errorf("no page is of the state %s", s)
		}
	}
}

// checkPage looks for what every page has to have, and must not have.
func checkPage(t *testing.T, r *rendered) {
	t.Helper()
	text := string(r.html)
	for _, never := range []string{"NaN", "Inf", "<img", "http:", "https:", "ZgotmplZ", "%!s", "%!d", "%!f", "MISSING"} {
		if strings.Contains(outside(outside(text, "<script>", "</script>"), "<style>", "</style>"), never) {
			t.Errorf("the page contains %s", never)
		}
	}
	for _, always := range []string{"default-src 'none'", "<h1>", `id="explore"`, `id="tradeoff"`, `id="latency"`, `id="cache"`, `id="workers"`, `id="advice"`, `id="points"`, `id="method"`, `id="reproduce"`} {
		if strings.Count(text, always) != 1 {
			t.Errorf("the page contains %s %d times, expected once", always, strings.Count(text, always))
		}
	}
	limit := 350_000
	if len(r.sweep.Points) > 200 {
		limit = 1_000_000
	}
	if len(r.html) > limit {
		t.Errorf("%d points make %d bytes, expected at most %d", len(r.sweep.Points), len(r.html), limit)
	}
}

// outside cuts what stands between two marks.
func outside(text, from, to string) string {
	before, rest, ok := strings.Cut(text, from)
	if !ok {
		return text
	}
	_, after, _ := strings.Cut(rest, to)
	return before + after
}

// TestCapacityShowsValues: points at different loads have no change to compare,
// so their map is of values, with a line for each rate beside it.
func TestCapacityShowsValues(t *testing.T) {
	for name, values := range map[string]bool{"capacity": true, "win": false, "three": false} {
		r := render(t, samples()[name])
		text := string(r.html)
		if got := strings.Contains(text, `data-v="abs" aria-pressed="true"`); got != values {
			t.Errorf("%s: the map is of values: %v, expected %v", name, got, values)
		}
		if got := strings.Contains(text, "one line for each value of "); got != values {
			t.Errorf("%s: a line for each rate: %v, expected %v", name, got, values)
		}
	}
	text := string(render(t, samples()["capacity"]).html)
	_, plot, _ := strings.Cut(text, `id="box-slice"`)
	plot, _, _ = strings.Cut(plot, "</figure>")
	for _, line := range []string{"0.5", "1", "1.5"} {
		if !strings.Contains(plot, ">rate "+line+"<") {
			t.Errorf("no line for rate %s in %s", line, plot)
		}
	}
	if n := strings.Count(text, " tried hold."); n != 1 {
		t.Errorf("found %d summaries of the loads, expected one", n)
	}
}

// TestCommandsOfThePage: the command of the sweep names a folder, and that of a
// point has no flag of sweeps.
func TestCommandsOfThePage(t *testing.T) {
	r := render(t, samples()["few"])
	s := r.sweep
	own := []string{"--sla-target=95", "--objective=p90_itl_ms", "--seeds=2", "--sample=lhs:4", "--points=a.csv", "--vary=workers=1", "--shard=0/2", "--shard-count=2", "--from=a.yaml"}
	s.Command = append([]string{"routesim", "sweep", "t.jsonl", "--sla-ttft-ms=900"}, own...)
	var b bytes.Buffer
	if err := page.Write(&b, s, r.verdict, page.Extras{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	_, alone, _ := strings.Cut(text, `id="alone"`)
	alone, _, _ = strings.Cut(alone, "</pre>")
	for _, flag := range own {
		if name, _, _ := strings.Cut(flag, "="); strings.Contains(alone, name) {
			t.Errorf("found %s in %s", name, alone)
		}
	}
	if !strings.Contains(alone, "--sla-ttft-ms=900") {
		t.Errorf("expected the bound in %s", alone)
	}
	if _, sweep, _ := strings.Cut(text, "This sweep"); !strings.Contains(sweep[:1000], " -o DIR</pre>") {
		t.Errorf("found no folder in %s", sweep[:1000])
	}
	if !strings.Contains(text, `<p class="note">to try</p>`) {
		t.Error("flags of too few seeds are not said to be to try")
	}
}

// The same sweep gives the same bytes.
func TestBytesRepeat(t *testing.T) {
	k := samples()["three"]
	if a, b := render(t, k), render(t, k); !bytes.Equal(a.html, b.html) {
		t.Error("the page differs from one time to the next")
	}
}

func short(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'g', -1, 64) }
