package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// zoomed are pictures of each kind whose x axis can be zoomed, by page.
var zoomed = map[string][]string{
	"win": {"heat", "slice", "pareto", "balance", "goodput", "cdf0"}, "one": {"line0", "line1"}, "word": {"rows"}, "scatter": {"knob0"},
}

// ticks are the labels of a picture's x axis, from left to right.
func (b *tab) ticks(id string) string {
	b.Helper()
	return b.text(fmt.Sprintf(`[...document.querySelectorAll('#%s .tk')].filter(e => e.getAttribute('y') > document.getElementById('%s').area.b).map(e => e.textContent).join(' ')`, id, id))
}

// place is a place of a picture on the screen, from shares of its area: 0 1 is
// the left end of the x axis.
func (b *tab) place(id string, x, y float64) (float64, float64) {
	b.Helper()
	var at []float64
	b.run(chromedp.ScrollIntoView("#" + id))
	b.eval(fmt.Sprintf(`(() => { const s = document.getElementById('%s'), a = s.area, r = s.getBoundingClientRect(), f = r.width / s.viewBox.baseVal.width;
		return [r.x + (a.l + (a.r - a.l) * %g) * f, r.y + a.b * %g * f]; })()`, id, x, y), &at)
	return at[0], at[1]
}

// drag moves the pressed pointer along a picture.
func (b *tab) drag(id string, from, to float64) {
	b.Helper()
	x, y := b.place(id, from, 0.5)
	end, _ := b.place(id, to, 0.5)
	b.run(chromedp.MouseEvent(input.MouseMoved, x, y), chromedp.MouseEvent(input.MousePressed, x, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseMoved, (x+end)/2, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseMoved, end, y, chromedp.ButtonLeft))
	b.same(`document.querySelectorAll('.band').length`, "1")
	b.run(chromedp.MouseEvent(input.MouseReleased, end, y, chromedp.ButtonLeft))
	b.same(`document.querySelectorAll('.band').length`, "0")
}

func (b *tab) tool(id, kind string) string { return fmt.Sprintf(`figure:has(#%s) .tools %s`, id, kind) }

// A drag zooms an axis to what it went over, and Reset shows the whole again.
func TestZoomByDragging(t *testing.T) {
	for name, ids := range zoomed {
		b := open(t, name, "").ready()
		b.eval(`redraw()`, nil)
		hash, shown := "", "" // of one picture
		for _, id := range ids {
			whole, picture, state := b.ticks(id), b.text(fmt.Sprintf(`document.getElementById('%s').innerHTML`, id)), b.text(`location.hash`)
			reset := fmt.Sprintf(`document.querySelector('%s').getClientRects().length`, b.tool(id, `[data-z="0"]`))
			b.same(reset, "0")
			b.run(chromedp.Click(b.tool(id, `[data-z="1"]`)))
			b.drag(id, 0.3, 0.62)
			if got := b.ticks(id); got == whole {
				t.Errorf("%s: %s: the ticks are %q as before", name, id, got)
			}
			b.same(reset, "1")
			b.same(`state.p`, b.text(`HOME.p`)) // a drag selects nothing
			if z := b.hashOf().Get("z"); !strings.HasPrefix(z, id+":") {
				t.Errorf("%s: %s: the address has %q", name, id, z)
			}
			for _, bad := range b.list(`check.texts()`) {
				t.Errorf("%s: zoomed: %s", name, bad)
			}
			if outside := b.text(fmt.Sprintf(`(() => { const s = document.getElementById('%s'), a = s.area; return [...s.querySelectorAll('[data-p]')].filter(e => { const r = e.getBBox(), x = r.x + r.width / 2; return x < a.l - 2 || x > a.r + 2; }).length; })()`, id)); outside != "0" {
				t.Errorf("%s: %s: %s marks lie outside the axis", name, id, outside)
			}
			if id == "pareto" {
				b.shoot(name + "-zoomed-" + id)
			}
			hash, shown = b.text(`location.hash`), b.text(fmt.Sprintf(`document.getElementById('%s').textContent`, id))
			b.run(chromedp.Click(b.tool(id, `[data-z="0"]`)), chromedp.Click(b.tool(id, `[data-z="1"]`)))
			if got := b.ticks(id); got != whole {
				t.Errorf("%s: %s: after Reset the ticks are %q, expected %q", name, id, got, whole)
			}
			if b.text(fmt.Sprintf(`document.getElementById('%s').innerHTML`, id)) != picture {
				t.Errorf("%s: %s: Reset does not bring the picture back", name, id)
			}
			b.same(`location.hash`, state)
			b.same(reset, "0")
		}
		b.clean()
		id, _, _ := strings.Cut(strings.TrimPrefix(hash, "#z="), ":")
		c := open(t, name, hash).ready()
		c.same(fmt.Sprintf(`document.getElementById('%s').textContent`, id), shown)
		c.clean()
	}
}

// A double click below the axis halves what is shown, keys zoom in and out, the
// wheel scrolls, and a part is forgotten with the axis that it was of.
func TestZoomOtherwise(t *testing.T) {
	b := open(t, "win", "").ready()
	b.eval(`redraw()`, nil)
	whole := b.ticks("pareto")
	x, y := b.place("pareto", 0.4, 1.05)
	b.run(chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
	b.same(`zooms.pareto.to - zooms.pareto.from`, "500")
	if b.ticks("pareto") == whole {
		t.Error("a double click does not change the ticks")
	}
	b.run(chromedp.Focus(`#pareto`, chromedp.ByQuery), chromedp.KeyEvent("+"))
	b.same(`zooms.pareto.to - zooms.pareto.from`, "250")
	b.run(chromedp.KeyEvent("-"), chromedp.KeyEvent("-"))
	b.same(`'pareto' in zooms`, "false")
	if got := b.ticks("pareto"); got != whole {
		t.Errorf("zoomed out, the ticks are %q, expected %q", got, whole)
	}
	x, y = b.place("pareto", 0.5, 0.5)
	top := b.text(`scrollY`)
	b.run(chromedp.MouseEvent(input.MouseWheel, x, y, func(p *input.DispatchMouseEventParams) *input.DispatchMouseEventParams {
		return p.WithDeltaX(0).WithDeltaY(300)
	}))
	b.waitFor(`scrollY != ` + top)
	b.same(`Object.keys(zooms).length`, "0")
	b.run(chromedp.KeyEvent("+"))
	b.same(`'pareto' in zooms`, "true")
	b.run(chromedp.SetValue(`#stat`, "p99"), chromedp.Evaluate(`document.getElementById('stat').dispatchEvent(new Event('change'))`, nil))
	b.same(`'pareto' in zooms`, "false")
	for _, bad := range []string{"z=pareto:1:2:3", "z=nothing:1:500", "z=heat:700:200", "z=heat:-5:500", "z=heat:a:b", "z=overlap:100:500"} {
		c := open(t, "win", "#"+bad).ready()
		c.same(`Object.keys(zooms).length`, "0")
		c.clean()
	}
	b.clean()
}

// A copied picture stands alone: it parses, has its heading, colours of the light
// theme and nothing that needs the page, and its PNG is twice its size.
func TestCopyPicture(t *testing.T) {
	for name, ids := range map[string][]string{"win": {"heat", "slice", "cdf0", "pareto", "strip", "waterfall", "overlap"}, "real": {"heat", "workers0", "cdf1"}, "word": {"rows"}} {
		b := open(t, name, "", theme(true)).ready()
		b.eval(`window.copied = null; window.saved = []; window.ClipboardItem = class { constructor(of) { this.of = of; } };
			navigator.clipboard.write = async ([item]) => { const blob = await item.of['image/png']; const r = new FileReader(); await new Promise(done => { r.onload = done; r.readAsDataURL(blob); }); window.copied = r.result; };
			HTMLAnchorElement.prototype.click = function() { window.saved.push([this.download, this.href]); }`, nil)
		for _, id := range ids {
			b.eval(`window.copied = null; window.saved = []`, nil)
			b.run(chromedp.ScrollIntoView("#"+id), chromedp.Click(b.tool(id, `[data-pic=svg]`)))
			b.waitFor(`window.saved.length === 1`)
			text := b.saved(name + "-" + id + ".svg")
			w, h := standsAlone(t, name+": "+id, text)
			for _, want := range colours[name+" "+id] {
				if !bytes.Contains(text, []byte(want)) {
					t.Errorf("%s: %s: the picture has no %s", name, id, want)
				}
			}
			b.run(chromedp.Click(b.tool(id, `[data-pic=png]`)))
			b.waitFor(`window.copied`)
			b.same(fmt.Sprintf(`document.querySelector('%s').textContent`, b.tool(id, `[data-pic=png]`)), "Copied")
			b.picture(name+"-"+id, b.text(`window.copied`), w, h)
			b.same(`document.querySelectorAll('svg.plot').length`, b.text(`document.querySelectorAll('figure .plot,.lines .plot').length`))
		}
		// Where there is no clipboard the picture is saved.
		b.eval(`navigator.clipboard.write = () => Promise.reject(new Error('denied')); window.saved = []`, nil)
		b.run(chromedp.Click(b.tool(ids[0], `[data-pic=png]`)))
		b.waitFor(`window.saved.length === 1`)
		if file := b.text(`window.saved[0][0]`); !strings.HasPrefix(file, "routesim-") || !strings.HasSuffix(file, ".png") {
			t.Errorf("%s: saved as %q", name, file)
		}
		b.same(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 23, 29)") // the page stays as it was
		b.same(`'theme' in document.documentElement.dataset`, "false")
		b.clean()
	}
}

// colours are some of the light theme that pictures must have, and texts.
var colours = map[string][]string{
	"win heat": {"fill: rgb(181, 210, 234)", "fill: rgb(180, 83, 15)", "fill: rgb(255, 255, 255); font-size: 12px", "Thick frame"}, "real workers0": {"stroke: rgb(211, 224, 234)", "stroke-width: 11px"},
	"win pareto": {"fill: rgb(0, 114, 178)", "fill: rgb(110, 120, 131)"}, "win cdf0": {"stroke: rgb(0, 114, 178)", "stroke-dasharray: 7px, 4px", "(chosen)"}, "win slice": {"opacity: 0.17"},
	"win strip": {"font-weight", "font-size: 12.5px"},
}

// waitFor waits until an expression is true.
func (b *tab) waitFor(expression string) {
	b.Helper()
	b.run(chromedp.Poll(expression, nil))
}

// saved is the text of the SVG that was saved last.
func (b *tab) saved(name string) []byte {
	b.Helper()
	_, escaped, _ := strings.Cut(b.text(`window.saved[0][1]`), ",")
	text, err := url.PathUnescape(escaped)
	if err != nil {
		b.Fatal(err)
	}
	b.keep(name, []byte(text))
	return []byte(text)
}

// keep saves a file if ROUTESIM_SHOTS names a folder.
func (b *tab) keep(name string, text []byte) {
	b.Helper()
	if dir := os.Getenv("ROUTESIM_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// picture checks a PNG, given as a data URL: twice the size of the SVG, on white
// ground, with something on it.
func (b *tab) picture(name, address string, w, h float64) {
	b.Helper()
	_, text, _ := strings.Cut(address, "base64,")
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		b.Fatal(err)
	}
	b.keep(name+".png", raw)
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	size := img.Bounds().Size()
	if math.Abs(float64(size.X)-2*w) > 1 || math.Abs(float64(size.Y)-2*h) > 1 {
		b.Errorf("%s: the PNG is %v, expected twice %g x %g", name, size, w, h)
	}
	dark := 0
	for x := 0; x < size.X; x++ {
		for y := 0; y < size.Y; y++ {
			if r, g, blue, a := img.At(x, y).RGBA(); a == 0xffff && r+g+blue < 3*0x8000 {
				dark++
			}
		}
	}
	if r, g, blue, a := img.At(1, 1).RGBA(); r&g&blue&a != 0xffff || dark < 500 || dark > size.X*size.Y/2 {
		b.Errorf("%s: the PNG has %d dark points of %v and the corner %v", name, dark, size, img.At(1, 1))
	}
}

// standsAlone checks an SVG and returns its size.
func standsAlone(t *testing.T, name string, text []byte) (w, h float64) {
	t.Helper()
	ids, texts := map[string]bool{}, 0
	var uses []string
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch {
			case a.Name.Local == "id":
				ids[a.Value] = true
			case a.Name.Local == "class":
				t.Errorf("%s: <%s> needs the class %s", name, e.Name.Local, a.Value)
			case e.Name.Local == "svg" && a.Name.Local == "width":
				w, _ = strconv.ParseFloat(a.Value, 64)
			case e.Name.Local == "svg" && a.Name.Local == "height":
				h, _ = strconv.ParseFloat(a.Value, 64)
			}
			for rest := a.Value; strings.Contains(rest, "#"); {
				_, rest, _ = strings.Cut(rest, "#")
				id, _, found := strings.Cut(rest, `"`)
				if found || strings.Contains(rest, ")") {
					id, _, _ = strings.Cut(id, ")")
					uses = append(uses, id)
				}
			}
			if strings.Contains(a.Value, "var(") || strings.Contains(a.Value, "light-dark") {
				t.Errorf("%s: <%s> has %s=%q", name, e.Name.Local, a.Name.Local, a.Value)
			}
		}
		if e.Name.Local == "text" {
			texts++
		}
	}
	for _, id := range uses {
		if !ids[id] {
			t.Errorf("%s: nothing has the id %s", name, id)
		}
	}
	if texts < 5 || !(w > 300) || !(h > 100) || bytes.Count(text, []byte("<svg")) != 1 {
		t.Errorf("%s: %d texts on %g x %g", name, texts, w, h)
	}
	for _, want := range []string{"requests", "workers"} { // of the line that says what was run
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: the picture does not say %q", name, want)
		}
	}
	return w, h
}
