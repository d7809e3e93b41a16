package page_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"routesim/reports/page"
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
		"win":   {axes: grid, seeds: 6, requests: 600, sla: sla, effect: bowl, itl: func(at []float64) float64 { return 0.9 + 0.05*bowl(at) + 0.01*at[0] }, noise: 0.01},
		"tie":   {axes: grid, seeds: 6, requests: 600, effect: flat, noise: 0.02},
		"one":   {axes: grid[1:], seeds: 6, requests: 600, sla: sla, effect: func(at []float64) float64 { return 0.8 + 0.02*math.Pow(math.Log2(at[0])-3, 2) }, noise: 0.01},
		"word":  {axes: []sweepdata.Axis{numbers("router-mode", "kv", "kv", "round-robin")}, seeds: 6, requests: 600, effect: func(at []float64) float64 { return 1 + 0.3*at[0] }, noise: 0.01},
		"three": {axes: []sweepdata.Axis{numbers(creditName, "1", "0", "0.5", "1", "1.5"), numbers(scaleName, "1", "0.5", "1", "2", "4"), numbers("arrival-speedup-ratio", "1", "0.75", "1", "1.25")}, seeds: 6, requests: 400, sla: sla, effect: func(at []float64) float64 { return bowl(at) * at[2] * at[2] }, noise: 0.01},
		"few":   {axes: grid[1:], seeds: 2, requests: 300, effect: func(at []float64) float64 { return 0.8 + 0.02*math.Pow(math.Log2(at[0])-3, 2) }, noise: 0.01},
		"fails": {axes: grid[1:], seeds: 6, requests: 300, effect: flat, none: true},
		"lone":  {axes: nil, seeds: 6, requests: 300, effect: flat, noise: 0.01},
		"trade": {axes: grid[:1], seeds: 6, requests: 600, effect: func(at []float64) float64 { return 1.3 - 0.3*at[0] }, itl: func(at []float64) float64 { return 0.8 + 0.2*at[0]*at[0] }, noise: 0.005},
		"full":  {axes: grid, seeds: 6, requests: 300, effect: func([]float64) float64 { return math.Inf(1) }, noise: 0.01},
	}
	hostile := *list["win"]
	hostile.trace, hostile.model = "</script><img src=x onerror=alert(1)>.jsonl", "<b>h100</b>/--><script>alert(2)</script>"
	list["hostile"] = &hostile
	scatter := &sample{axes: []sweepdata.Axis{numbers(creditName, "1"), numbers(scaleName, "1")}, seeds: 6, requests: 300, effect: bowl, noise: 0.01}
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

// render judges a sweep and writes its page.
func render(t testing.TB, k *sample) []byte {
	t.Helper()
	s := k.sweep()
	v, err := verdict.Judge(s, verdict.Options{Resamples: 200, Parallel: 2})
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
	return b.Bytes()
}

// TestPages writes a page for every state. ROUTESIM_PAGES names a folder to keep
// them in, for the tests in a browser.
func TestPages(t *testing.T) {
	for name, k := range samples() {
		t.Run(name, func(t *testing.T) {
			html := render(t, k)
			if dir := os.Getenv("ROUTESIM_PAGES"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, name+".html"), html, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func short(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'g', -1, 64) }
