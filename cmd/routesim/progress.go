package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a run is. A nil progress shows nothing.
type progress struct {
	bar  *progressbar.ProgressBar
	w    io.Writer
	what string
}

// newProgress returns a progress bar on w, or nil unless w is a terminal. The
// bar itself is only built once a run lasts longer than a moment.
func newProgress(w io.Writer, what string, quiet bool) *progress {
	f, ok := w.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{w: w, what: what}
}

// report is the callback of a run: done of total requests are finished.
func (p *progress) report(done, total int) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.what),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("requests"),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(30),
		)
	}
	_ = p.bar.Set(done) // a terminal that cannot be written to shows no bar
}

// clear removes the bar from the screen.
func (p *progress) clear() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}
