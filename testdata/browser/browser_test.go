// Package browser drives the report of a sweep in a real browser. It is a module
// of its own, so that the program needs none of what it takes.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const root = "../.."

var (
	pages string          // folder of the pages
	tabs  context.Context // of the browser
)

// TestMain makes the pages, unless ROUTESIM_READY names a folder that has them,
// and starts the browser. It fails where there is none.
func TestMain(m *testing.M) {
	code, err := setUp(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func setUp(m *testing.M) (int, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return 0, fmt.Errorf("chromium: not found; install Debian's package chromium")
	}
	if pages = os.Getenv("ROUTESIM_READY"); pages == "" {
		if pages, err = os.MkdirTemp("", "pages"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(pages)
		if err := makePages(); err != nil {
			return 0, err
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true))
	all, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var end context.CancelFunc
	tabs, end = chromedp.NewContext(all)
	defer end()
	if err := chromedp.Run(tabs); err != nil {
		return 0, fmt.Errorf("chromium: %w", err)
	}
	return m.Run(), nil
}

// gateSuite is a suite whose decisions a temperature changes.
const gateSuite = `gate: 1
settings: {workers: 4, router-temperature: %s}
scenarios:
  - {name: plain, trace: small.jsonl}
  - name: pools-with-a-long-name-and-conditional-disaggregation
    trace: small.jsonl
    settings: {prefill-workers: 2, decode-workers: 3, router-conditional-disagg: true}
`

// makeGate writes the page of a gate that found other decisions.
func makeGate() error {
	dir := filepath.Join(pages, "suite")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	trace, err := os.ReadFile(filepath.Join(root, "cmd", "routesim", "testdata", "traces", "small.jsonl"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"small.jsonl": string(trace), "cold.yaml": fmt.Sprintf(gateSuite, "0"), "hot.yaml": fmt.Sprintf(gateSuite, "3")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	gate := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", append([]string{"run", "./cmd/routesim", "gate"}, args...)...)
		cmd.Dir = root
		return cmd.CombinedOutput()
	}
	if out, err := gate("--suite", filepath.Join(dir, "cold.yaml"), "--update"); err != nil {
		return fmt.Errorf("the gate's baseline: %w\n%s", err, out)
	}
	// Its exit code is that of its verdict.
	out, _ := gate("--suite", filepath.Join(dir, "hot.yaml"), "--baseline", filepath.Join(dir, "cold.baseline.yaml"), "-o", dir)
	if err := os.Rename(filepath.Join(dir, "gate.html"), filepath.Join(pages, "gate.html")); err != nil {
		return fmt.Errorf("the gate's page: %w\n%s", err, out)
	}
	return nil
}

// makePages writes pages of made-up sweeps in every state, one of a real sweep
// of the start of a bundled trace, and that of a gate, all at once.
func makePages() error {
	real := filepath.Join(pages, "real")
	commands := [][]string{
		{"go", "test", "-count=1", "-run", "^TestPages$", "./reports/page"},
		{"go", "run", "./cmd/routesim", "sweep", "testdata/traces/mooncake_conversation.jsonl.zst", "--no-env", "-q", "--workers", "6", "--max-sim-time-ms", "500000",
			"--vary", "router-kv-overlap-score-credit=0,0.5,1,2", "--vary", "router-prefill-load-scale=0.5,1,4", "--sla-ttft-ms", "2000", "--seeds", "6", "-o", real},
	}
	done := make(chan error, len(commands)+1)
	go func() { done <- makeGate() }()
	for _, c := range commands {
		go func() {
			cmd := exec.Command(c[0], c[1:]...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "ROUTESIM_PAGES="+pages)
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), err, out)
			}
			done <- err
		}()
	}
	for range len(commands) + 1 {
		if err := <-done; err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(real, "report.html"), filepath.Join(pages, "real.html"))
}

// tab is a page in the browser, with all that went wrong in it.
type tab struct {
	*testing.T
	ctx  context.Context
	lock sync.Mutex
	bad  []string
}

// open loads a page. Whatever it asks of a network, and every error, is noted.
func open(t *testing.T, name, hash string, actions ...chromedp.Action) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(tabs)
	t.Cleanup(end)
	ctx, stop := context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx}
	address := "file://" + filepath.Join(pages, name+".html")
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; u != address && !strings.HasPrefix(u, "data:") {
				b.note("asked for " + u)
			}
		case *runtime.EventExceptionThrown:
			b.note("exception: " + e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.note(fmt.Sprintf("console %s: %v", e.Type, e.Args))
		case *log.EventEntryAdded:
			b.note("log: " + e.Entry.Text)
		case *page.EventJavascriptDialogOpening:
			b.note("dialog: " + e.Message)
		}
	})
	b.run(append([]chromedp.Action{network.Enable(), log.Enable(), emulation.SetDeviceMetricsOverride(1240, 1000, 1, false)}, actions...)...)
	b.run(chromedp.Navigate(address + hash))
	return b
}

// ready waits until the page's script has done its work, for 2 s.
func (b *tab) ready() *tab {
	b.Helper()
	for end := time.Now().Add(2 * time.Second); b.text(`document.documentElement.dataset.ready || ''`) != "1"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.clean()
			b.Fatal("the script was not ready within 2 s")
		}
	}
	return b
}

func (b *tab) note(text string) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.bad = append(b.bad, text)
}

// clean fails if anything went wrong.
func (b *tab) clean() {
	b.Helper()
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, text := range b.bad {
		b.Error(text)
	}
}

func (b *tab) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// eval gives the value of an expression.
func (b *tab) eval(expression string, to any) {
	b.Helper()
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(expression, to)); err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
}

func (b *tab) text(expression string) (s string) {
	b.Helper()
	b.eval("String("+expression+")", &s)
	return s
}

// same fails unless an expression has a value.
func (b *tab) same(expression, want string) {
	b.Helper()
	if got := b.text(expression); got != want {
		b.Errorf("%s: found %q, expected %q", expression, got, want)
	}
}

func (b *tab) size(width int64) {
	b.Helper()
	b.run(emulation.SetDeviceMetricsOverride(width, 1000, 1, false))
}

// theme sets what the system prefers.
func theme(dark bool) chromedp.Action {
	value := "light"
	if dark {
		value = "dark"
	}
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}})
}

// expected is what the program says a page shows.
type expected struct {
	Headline string
	Points   []struct {
		ID, Flags, Env, Kubernetes string
		Values                     map[string]string // by axis
	}
}

func expect(t *testing.T, name string) (e expected) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(pages, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// names lists the made-up pages.
func names(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pages, "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d pages, expected at least 10: %v", len(files), err)
	}
	for _, f := range files {
		list = append(list, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	return list
}

// hashOf is the state in the address.
func (b *tab) hashOf() url.Values {
	b.Helper()
	v, err := url.ParseQuery(strings.TrimPrefix(b.text("location.hash"), "#"))
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// shoot saves a picture if ROUTESIM_SHOTS names a folder.
func (b *tab) shoot(name string) {
	b.Helper()
	dir := os.Getenv("ROUTESIM_SHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.run(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.Fatal(err)
	}
}
