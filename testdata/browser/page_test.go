package browser

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed check.js
var checks string

func (b *tab) list(expression string) (list []string) {
	b.Helper()
	b.eval(checks, nil)
	b.eval(expression, &list)
	return list
}

func plain(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\u00a0", " ")), " ")
}

// Every page says its verdict, draws nothing over anything else, is read without
// an error and a request, and the script draws what the program drew.
func TestEveryState(t *testing.T) {
	for _, name := range append(names(t), "real") {
		t.Run(name, func(t *testing.T) {
			b := open(t, name, "").ready()
			if name != "real" {
				if got, want := plain(b.text(`document.querySelector('h1').textContent`)), plain(expect(t, name).Headline); got != want {
					t.Errorf("the headline is %q, expected %q", got, want)
				}
			}
			b.same(`document.querySelectorAll('h1').length`, "1")
			b.same(`document.documentElement.classList.contains('js')`, "true") // no error took it away
			for _, bad := range append(b.list(`check.texts()`), b.list(`check.covers()`)...) {
				t.Error(bad)
			}
			b.size(390)
			time.Sleep(100 * time.Millisecond) // until the script has seen it
			for _, bad := range append(b.list(`check.cuts()`), b.list(`check.covers()`)...) {
				t.Errorf("390 px: %s", bad)
			}
			b.size(1240)
			if strings.Contains(b.text(`document.body.innerText`), "NaN") {
				t.Error("the page shows NaN")
			}
			b.sameAgain()
			b.same(`[...document.querySelectorAll('figure [data-p],figure [data-t]')].filter(e => { const a = boxOf(e), b = e.getBBox(); return ['x', 'y', 'width', 'height'].some(k => Math.abs(a[k] - b[k]) > 0.2); }).length`, "0")
			b.clean()
		})
	}
}

// Texts stay apart and inside their pictures, and can be read, at three widths
// and in both themes.
func TestTextsAndContrast(t *testing.T) {
	for _, name := range []string{"win", "real", "three", "scatter"} {
		b := open(t, name, "", theme(false)).ready()
		for _, dark := range []bool{false, true} {
			b.run(theme(dark))
			for _, width := range []int64{1240, 800, 390} {
				b.size(width)
				for _, bad := range b.list(`check.texts()`) {
					t.Errorf("%s, dark %t, %d px: %s", name, dark, width, bad)
				}
				if width != 800 && (name == "win" || name == "real") {
					b.shoot(fmt.Sprintf("%s-%s-%d", name, map[bool]string{false: "light", true: "dark"}[dark], width))
				}
			}
			for _, bad := range b.list(`check.contrast()`) {
				t.Errorf("%s, dark %t: contrast of %s", name, dark, bad)
			}
		}
		b.same(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 23, 29)")
		b.clean()
	}
}

// The gate's page fits too, and can be read in both themes; it has no script.
func TestGatePage(t *testing.T) {
	b := open(t, "gate", "")
	for _, dark := range []bool{false, true} {
		b.run(theme(dark))
		for _, width := range []int64{1240, 390} {
			b.size(width)
			for _, check := range []string{"cuts", "texts", "contrast"} {
				for _, bad := range b.list(`check.` + check + `()`) {
					t.Errorf("dark %t, %d px: %s", dark, width, bad)
				}
			}
			b.shoot(fmt.Sprintf("gate-%t-%d", dark, width))
		}
	}
	b.same(`document.querySelectorAll('section').length`, "2")
	b.clean()
}

// sameAgain fails unless the script draws what the program drew.
func (b *tab) sameAgain() {
	b.Helper()
	var before, after map[string][][]any
	b.eval(`check.drawn()`, &before)
	b.eval(`redraw()`, nil)
	b.eval(`check.drawn()`, &after)
	for id, list := range before {
		if len(list) != len(after[id]) {
			b.Errorf("%s: %d elements, then %d", id, len(list), len(after[id]))
			continue
		}
		for i := range list {
			if why := apart(list[i], after[id][i]); why != "" {
				b.Errorf("%s: element %d: %s: %v, then %v", id, i, why, list[i], after[id][i])
				break
			}
		}
	}
}

func apart(a, b []any) string {
	for i := range a {
		x, number := a[i].(float64)
		if !number {
			if a[i] != b[i] {
				return "differs"
			}
		} else if y, ok := b[i].(float64); !ok || math.Abs(x-y) > 1 {
			return "moves by more than 1 px"
		}
	}
	return ""
}

// A click on a field of the map selects its point everywhere.
func TestSelect(t *testing.T) {
	b := open(t, "win", "").ready()
	want := expect(t, "win")
	b.eval(`window.copied = ''; navigator.clipboard.writeText = t => { window.copied = t; return Promise.resolve(); }`, nil)
	for _, p := range []int{0, 40, 60} {
		b.run(chromedp.ScrollIntoView(`#heat`), chromedp.Click(fmt.Sprintf(`#heat [data-p="%d"]`, p)))
		q := want.Points[p]
		if got := b.hashOf().Get("p"); got != q.ID {
			t.Errorf("the address has point %q, expected %s", got, q.ID)
		}
		b.same(`document.querySelector('#table tr.on') ? document.querySelector('#table tr.on').dataset.p : ''`, strconv.Itoa(p))
		for form, text := range map[string]string{"flags": q.Flags, "env": q.Env, "k8s": q.Kubernetes} {
			if text == "" {
				continue
			}
			b.run(chromedp.Click(`#point [data-form] button[data-f=` + form + `]`))
			b.run(chromedp.Click(`#point [data-form] .copy`))
			b.same(`window.copied`, text)
		}
		for name, value := range parse(b.text(`document.querySelector('#point [data-form] pre[data-f=flags]').textContent`)) {
			if q.Values[name] != value {
				t.Errorf("the flags set %s to %q, expected %q", name, value, q.Values[name])
			}
		}
		alone := b.text(`document.getElementById('alone').textContent`)
		for name, value := range q.Values {
			if !strings.Contains(alone, "--"+name+"="+value) {
				t.Errorf("the command %q does not set %s to %s", alone, name, value)
			}
		}
	}
	b.shoot("selected")
	// The other marks and the rows of the table do the same.
	b.run(chromedp.ScrollIntoView(`#table tbody tr:nth-child(5)`), chromedp.Click(`#table tbody tr:nth-child(5) td:nth-child(3)`))
	row := b.text(`document.querySelector('#table tbody tr:nth-child(5)').dataset.p`)
	b.same(`String(state.p)`, row)
	b.run(chromedp.ScrollIntoView(`#pareto`), chromedp.Click(`#pareto .md`))
	b.same(`state.p === DEF`, "true")
	b.clean()
}

// parse reads flags as a shell would.
func parse(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(strings.TrimSpace(line), " \\")
		if name, value, ok := strings.Cut(strings.TrimPrefix(line, "--"), " "); ok && strings.HasPrefix(line, "--") {
			out[name] = value
		}
	}
	return out
}

// The script writes the flags of every point as the program does.
func TestFlagsOfEveryPoint(t *testing.T) {
	for _, name := range []string{"win", "three", "word", "hostile", "fails"} {
		want := expect(t, name)
		b := open(t, name, "").ready()
		var got []map[string]string
		b.eval(`D.ids.map((_, p) => forms(p))`, &got)
		if len(got) != len(want.Points) {
			t.Fatalf("%s: %d points, expected %d", name, len(got), len(want.Points))
		}
		for p, q := range want.Points {
			if q.Flags != "" && got[p]["flags"] != q.Flags || q.Env != "" && got[p]["env"] != q.Env || got[p]["k8s"] != q.Kubernetes {
				t.Errorf("%s: point %d: found %v, expected %+v", name, p, got[p], q)
			}
		}
	}
}

// Metric, statistic and axis change the pictures to the figures of points.csv.
func TestFigures(t *testing.T) {
	b := open(t, "real", "").ready()
	means := meansOf(t, filepath.Join(pages, "real", "points.csv"))
	var axes []struct {
		Name   string
		Values []string
	}
	b.eval(`D.axes`, &axes)
	var vals [][]int
	b.eval(`D.vals`, &vals)
	b.run(chromedp.Click(`[data-v=abs]`))
	for _, k := range []struct {
		metric, stat, column string
		scale                float64
	}{{"ttft", "p90", "p90_ttft_ms", 1}, {"ttft", "p99", "p99_ttft_ms", 1}, {"itl", "mean", "mean_itl_ms", 1}, {"e2e", "p50", "p50_e2e_ms", 1}, {"reuse_share", "", "reuse_share", 1}, {"preemptions", "", "preemptions", 1}} {
		b.run(chromedp.SetValue(`#metric`, k.metric), chromedp.Evaluate(`document.getElementById('metric').dispatchEvent(new Event('change'))`, nil))
		if k.stat != "" {
			b.run(chromedp.SetValue(`#stat`, k.stat), chromedp.Evaluate(`document.getElementById('stat').dispatchEvent(new Event('change'))`, nil))
		}
		// Ties are of the objective: maps of other metrics mark none.
		b.same(`!!document.querySelector('#heat .ft') === (metricOf() === D.objective && D.ids.some((_, p) => D.tied[p] === '1' && ![CHO, ALT, DEF].includes(p)))`, "true")
		scale := k.scale
		if b.text(`M[metricOf()].unit`) == "s" {
			scale = 1e-3
		}
		cells := map[string]string{}
		b.eval(`Object.fromEntries([...document.querySelectorAll('#heat .c')].map(c => [c.dataset.p, c.textContent]))`, &cells)
		checked := 0
		for p, text := range cells {
			at, err := strconv.Atoi(p)
			if err != nil {
				t.Fatal(err)
			}
			var key []string
			for a := range axes {
				key = append(key, axes[a].Values[vals[at][a]])
			}
			want, known := means[strings.Join(key, "/")][k.column]
			if !known || text == "sat." {
				continue
			}
			got, err := strconv.ParseFloat(strings.NewReplacer("\u202f", "", "\u2212", "-").Replace(text), 64)
			if unit := last(text); err != nil || math.Abs(got-want*scale) > 0.5001*unit {
				t.Errorf("%s at %v: found %q, expected %g", k.column, key, text, want*scale)
			}
			checked++
		}
		if checked < 10 {
			t.Errorf("%s: %d fields checked, expected at least 10", k.column, checked)
		}
	}
	b.run(chromedp.SetValue(`#metric`, "ttft"), chromedp.Evaluate(`document.getElementById('metric').dispatchEvent(new Event('change'))`, nil))
	before := ""
	for _, x := range []string{"0", "1"} {
		b.run(chromedp.Click(`[data-x="` + x + `"]`))
		now := b.text(`document.querySelector('#slice').innerHTML`)
		if now == before {
			t.Error("the line plot did not change with its axis")
		}
		before = now
		// Each mark lies where the labels of the axis put the mean of points.csv.
		var marks [][2]float64 // point, value
		b.eval(`(() => { const s = document.getElementById('slice'), ticks = [...s.querySelectorAll('.tk[text-anchor=end]')].map(e => [e.getAttribute('y') - 4, parseFloat(e.textContent)]);
			const [[y0, v0], [y1, v1]] = [ticks[0], ticks.at(-1)];
			return [...s.querySelectorAll('circle[data-p]')].map(e => [+e.dataset.p, v0 + (e.getAttribute('cy') - y0) / (y1 - y0) * (v1 - v0)]); })()`, &marks)
		if len(marks) < 3 {
			t.Fatalf("%d marks along axis %s, expected at least 3", len(marks), x)
		}
		scale := 1.0
		if b.text(`M[metricOf()].unit`) == "s" {
			scale = 1e-3
		}
		for _, m := range marks {
			key := axes[0].Values[vals[int(m[0])][0]] + "/" + axes[1].Values[vals[int(m[0])][1]]
			if want := means[key]["p50_ttft_ms"] * scale; math.Abs(m[1]-want) > 0.01*want {
				t.Errorf("along axis %s the mark of %s is at %.4g, expected %.4g", x, key, m[1], want)
			}
		}
	}
	state := b.text(`location.hash`)
	seen := b.text(`document.querySelector('#heat').textContent + document.querySelector('#slice').textContent`)
	c := open(t, "real", state).ready()
	c.same(`document.querySelector('#heat').textContent + document.querySelector('#slice').textContent`, seen)
	c.clean()
	d := open(t, "real", "#m=%zz&s=p12&p=nothing&x=99&o=a:b&q=1").ready()
	d.same(`JSON.stringify([state.m, state.s, state.p]) === JSON.stringify([HOME.m, HOME.s, HOME.p])`, "true")
	d.clean()
	b.clean()
}

// last is the value of a number's last digit.
func last(text string) float64 {
	_, rest, _ := strings.Cut(text, ".")
	if i := strings.Index(rest, " "); i >= 0 {
		rest = rest[:i]
	}
	return math.Pow10(-len(rest))
}

// meansOf reads points.csv: means over seeds, by the values of the swept
// settings.
func meansOf(t *testing.T, path string) map[string]map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows: %v", path, len(rows), err)
	}
	at := map[string]int{}
	for i, h := range rows[0] {
		at[h] = i
	}
	sums, n := map[string]map[string]float64{}, map[string]float64{}
	for _, r := range rows[1:] {
		if r[at["added"]] == "round-robin" || r[at["fresh"]] != "" && r[at["fresh"]] != "false" && r[at["fresh"]] != "0" {
			continue
		}
		key := r[axisColumn(t, at, "router-kv-overlap-score-credit")] + "/" + r[axisColumn(t, at, "router-prefill-load-scale")]
		if sums[key] == nil {
			sums[key] = map[string]float64{}
		}
		n[key]++
		for h, i := range at {
			if v, err := strconv.ParseFloat(r[i], 64); err == nil {
				sums[key][h] += v
			}
		}
	}
	for key := range sums {
		for h := range sums[key] {
			sums[key][h] /= n[key]
		}
	}
	return sums
}

func axisColumn(t *testing.T, at map[string]int, name string) int {
	t.Helper()
	for _, h := range []string{name, strings.ReplaceAll(name, "-", "_")} {
		if i, ok := at[h]; ok {
			return i
		}
	}
	t.Fatalf("points.csv has no column %s", name)
	return 0
}

// All of it is there without JavaScript.
func TestWithoutScript(t *testing.T) {
	for _, name := range []string{"win", "one", "word", "scatter", "real"} {
		b := open(t, name, "", emulation.SetScriptExecutionDisabled(true))
		b.same(`document.documentElement.dataset.ready`, "undefined")
		for what, expression := range map[string]string{
			"controls":       `[...document.querySelectorAll('.jsonly')].filter(e => e.getClientRects().length).length`,
			"hidden figures": `[...document.querySelectorAll('figure svg.plot')].filter(e => e.getBoundingClientRect().width < 100 || !e.querySelector('text')).length`,
			"hidden verdict": `[document.querySelector('h1'), document.querySelector('.words .lead'), document.querySelector('.chip')].filter(e => !e.getClientRects().length).length`,
			"hidden rows":    `[...document.querySelectorAll('#table tbody tr')].filter(e => !e.getClientRects().length).length`,
			"tools":          `document.querySelectorAll('.tools').length`,
			"hidden flags":   `[...document.querySelectorAll('pre')].filter(e => !e.getClientRects().length).length`,
		} {
			if got := b.text(expression); got != "0" {
				t.Errorf("%s: %s %s, expected none", name, got, what)
			}
		}
		if n, err := strconv.Atoi(b.text(`document.querySelectorAll('figure svg.plot').length`)); err != nil || n < 7 {
			t.Errorf("%s: %d pictures, expected at least 7", name, n)
		}
		if n, err := strconv.Atoi(b.text(`document.querySelectorAll('#table tbody tr').length`)); err != nil || n < 2 {
			t.Errorf("%s: %d rows, expected at least 2", name, n)
		}
		if name == "real" {
			b.shoot(name + "-plain")
		}
		b.clean()
	}
}

var pageObject = regexp.MustCompile(`/Type\s*/Page\b`)

// Print is light and short, whatever the screen shows.
func TestPrint(t *testing.T) {
	for _, name := range []string{"win", "real"} {
		b := open(t, name, "#t=dark", theme(true)).ready()
		var pdf []byte
		b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			pdf, _, err = page.PrintToPDF().WithPrintBackground(true).WithPreferCSSPageSize(true).WithPaperWidth(8.27).WithPaperHeight(11.69).Do(ctx)
			return err
		}))
		if n := len(pageObject.FindAll(pdf, -1)); n < 1 || n > 6 {
			t.Errorf("%s: %d printed pages, expected 1 to 6", name, n)
		}
		if dir := os.Getenv("ROUTESIM_SHOTS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, name+".pdf"), pdf, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b.same(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 23, 29)")
		b.run(emulation.SetEmulatedMedia().WithMedia("print"))
		b.same(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
		b.same(`getComputedStyle(document.body).color`, "rgb(20, 24, 29)")
		b.clean()
	}
}

// The map can be used with the keyboard alone.
func TestKeyboard(t *testing.T) {
	b := open(t, "win", "").ready()
	for i := 0; b.text(`document.activeElement.id`) != "heat"; i++ {
		if i == 60 {
			t.Fatal("60 tabs did not reach the map")
		}
		b.run(chromedp.KeyEvent(kb.Tab))
	}
	b.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowUp))
	said := b.text(`document.getElementById('live').textContent`)
	if !strings.Contains(said, "TTFT p90") {
		t.Errorf("the reader hears %q, expected figures", said)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	if said := b.text(`document.getElementById('live').textContent`); !strings.HasPrefix(said, "Selected ") {
		t.Errorf("the reader hears %q, expected what was selected", said)
	}
	if b.hashOf().Get("p") == "" {
		t.Error("nothing was selected")
	}
	b.same(`document.activeElement.id`, "heat")
	b.run(chromedp.KeyEvent(kb.Escape))
	b.same(`document.getElementById('tip').classList.contains('on')`, "false")
	b.clean()
}

// Names from the input stay texts.
func TestHostileNames(t *testing.T) {
	b := open(t, "hostile", "#p=x&m=%3Cimg%20src=x%20onerror=alert(1)%3E").ready()
	b.same(`document.querySelectorAll('img').length`, "0")
	b.same(`document.querySelectorAll('script').length`, "2")
	b.same(`document.querySelector('.meta').textContent.includes('</script><img src=x onerror=alert(1)>')`, "true")
	b.eval(`select(DEF, true); [...document.querySelectorAll('figure svg')].forEach(s => s.dispatchEvent(new PointerEvent('pointermove', {clientX: 300, clientY: 300})))`, nil)
	time.Sleep(200 * time.Millisecond)
	b.same(`document.querySelectorAll('img').length`, "0")
	b.clean()
}

// A hint shows the figures of the mark under the pointer; columns sort the table.
func TestHintsAndTable(t *testing.T) {
	b := open(t, "win", "").ready()
	b.run(chromedp.ScrollIntoView(`#pareto`))
	var at []float64
	b.eval(`(() => { const r = document.querySelector('#pareto .mc').getBoundingClientRect(); return [r.x + r.width / 2 + 7, r.y + r.height / 2 + 3]; })()`, &at)
	b.run(chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	if text := b.text(`document.getElementById('tip').classList.contains('on') + document.getElementById('tip').textContent`); !strings.HasPrefix(text, "true") || !strings.Contains(text, "chosen") || !strings.Contains(text, "TTFT p90") {
		t.Errorf("the hint is %q", text)
	}
	b.run(chromedp.ScrollIntoView(`#cdf0`))
	b.eval(`(() => { const r = document.querySelector('#cdf0').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, &at)
	b.run(chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	if text := b.text(`document.getElementById('tip').textContent`); !strings.Contains(text, "within ") || !strings.Contains(text, "default") {
		t.Errorf("the hint of a distribution is %q", text)
	}
	b.run(chromedp.ScrollIntoView(`#table`), chromedp.Click(`#table th:nth-child(5) button`))
	b.same(`document.querySelector('#table th:nth-child(5)').getAttribute('aria-sort')`, "ascending")
	b.same(`document.querySelector('#table tbody tr').dataset.p == DEF`, "true")
	b.same(`(() => { const v = [...document.querySelectorAll('#table tbody tr')].slice(1).map(r => value(+r.dataset.p, +document.querySelector('#table th:nth-child(5)').dataset.k)); return v.every((x, i) => !i || !(x < v[i - 1])); })()`, "true")
	b.clean()
}

// A thousand points are redrawn with each change of the metric. How long that
// takes, the layout of the page included, depends on the machine and is logged.
func TestThousandPoints(t *testing.T) {
	b := open(t, "thousand", "").ready()
	b.same(`D.ids.length >= 1000`, "true")
	for _, metric := range []string{"itl", "ttft", "reuse_share", "e2e"} {
		before := b.text(`document.getElementById('heat').textContent + document.getElementById('heat').innerHTML.length`)
		var ms float64
		b.eval(`(() => { const m = document.getElementById('metric'); m.value = '`+metric+`'; const t = performance.now(); m.dispatchEvent(new Event('change')); document.body.getBoundingClientRect(); return performance.now() - t; })()`, &ms)
		t.Logf("%s: %.1f ms", metric, ms)
		if b.text(`document.getElementById('heat').textContent + document.getElementById('heat').innerHTML.length`) == before {
			t.Errorf("%s: the map did not change", metric)
		}
	}
	b.clean()
}
