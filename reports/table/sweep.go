package table

import (
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"routesim/reports/format"
	"routesim/reports/paste"
	"routesim/reports/sweepdata"
	judgement "routesim/reports/verdict"
)

// SweepOptions say what the terminal can show and where the files are.
type SweepOptions struct {
	Options
	Width  int      // columns, 0 for 80; never more than 80 are used
	Points string   // path of the table of all points, "" for none
	Report string   // path of the report, "" for none
	Plots  string   // path of the plots and what they are, "" for none
	Folder string   // of the results, for commands to paste; "" for a word that stands for it
	Said   []string // notes that the reader has seen already
}

const (
	sweepGutter = 11 // columns of the label before a line
	sweepRows   = 8  // points shown, the default among them
	leastWidth  = 40
)

// sweepPage is a page with what it shows.
type sweepPage struct {
	page
	width int
	s     *sweepdata.Sweep
	v     *judgement.Verdict
	at    map[string]int // metrics
	gap   bool           // a blank line comes before the next label
}

// Sweep writes the summary of a sweep: the verdict, its best points, and what to
// know and do. Its last line is a path or a command where the options name one.
func Sweep(w io.Writer, s *sweepdata.Sweep, v *judgement.Verdict, o SweepOptions) error {
	p := &sweepPage{page: page{o: o.Options}, width: width, s: s, v: v, at: map[string]int{}}
	if o.Width > 0 {
		p.width = max(min(o.Width, width), leastWidth)
	}
	for i, m := range sweepdata.Metrics() {
		p.at[m.Name] = i
	}
	p.what()
	p.line("")
	p.verdict()
	if p.hasRows() {
		p.line("")
		p.rows(o.Points)
	}
	p.remarks(o.Said)
	p.steps(&o)
	_, err := io.WriteString(w, p.String())
	return err
}

// plain is a text of the verdict as the terminal can show it.
func (p *sweepPage) plain(text string) string {
	if !p.o.UTF8 {
		text = judgement.ASCII(text)
	}
	return p.printable(strings.ReplaceAll(text, "\u202f", ","))
}

// labelled writes text beside a label, wrapped to the width, after a blank line
// where one is due.
func (p *sweepPage) labelled(style, label, text string) {
	if p.gap {
		p.gap = false
		p.line("")
	}
	for _, line := range wrap(p.plain(text), p.width-sweepGutter) {
		if utf8.RuneCountInString(label) > sweepGutter-1 {
			p.line(p.styled(style, label))
			label = ""
		}
		p.line(p.styled(style, label) + left("", sweepGutter-utf8.RuneCountInString(label)) + line)
		label = ""
	}
}

// what says what ran.
func (p *sweepPage) what() {
	points, distinct, runs := len(p.s.Points), 0, 0
	for i := range p.v.Points {
		if p.v.Points[i].Same == i {
			distinct++
		}
		runs += len(p.s.Points[i].Runs)
	}
	text := format.Plural(int64(points), "point")
	if distinct < points {
		text += " (" + format.Count(int64(distinct)) + " distinct)"
	}
	text += " x " + format.Plural(int64(len(p.s.Seeds)), "seed") + ", " + format.Plural(int64(runs), "run")
	if p.s.Trace.Name != "" {
		text += ", trace " + p.s.Trace.Name
	}
	label := "sweep  "
	for _, line := range wrap(p.plain(text), p.width-len(label)) {
		p.line(label + line)
		label = "       "
	}
}

// verdict writes the state, what to set, and how sure that is.
func (p *sweepPage) verdict() {
	v := p.v
	chip := strings.ToUpper(v.Chip)
	p.labelled(bold, chip, v.Headline)
	if brief := p.brief(); brief != "" {
		p.labelled("", "", brief)
	} else if evidence, _, _ := strings.Cut(v.Evidence, judgement.AddSeeds); evidence != "" {
		p.labelled("", "", evidence) // the command stands below, whole
	}
	costs, ties, _ := strings.Cut(strings.TrimPrefix(v.Costs, "Costs: "), ". ")
	for _, e := range []struct{ label, text string }{
		{" costs", costs}, {" ties", ties}, {" sure", v.Certainty}, {" model", v.Trust},
	} {
		if e.text != "" {
			p.labelled("", e.label, strings.TrimSuffix(e.text, "."))
		}
	}
	for _, text := range v.Added {
		p.labelled(yellow, " note", text)
	}
	p.capacity()
}

// brief is the evidence of a win in one line.
func (p *sweepPage) brief() string {
	i := slices.IndexFunc(p.v.Deltas, func(d judgement.Delta) bool { return d.Metric == p.v.Objective })
	if p.v.State != judgement.Win || i < 0 || p.v.Withdrawn {
		return ""
	}
	d := &p.v.Deltas[i]
	text := d.Title + " " + d.BaseText + " \u2192 " + d.ValueText
	if d.Unit != "" {
		text += " " + d.Unit
	}
	text += ", " + d.Text
	if d.Range != "" {
		text += " (95 %: " + strings.ReplaceAll(d.Range, " %", "") + ")"
	}
	return text + ", " + format.Count(int64(d.Agree)) + "/" + format.Count(int64(d.N)) + " seeds"
}

// remarks are the notices, without those that were said already.
func (p *sweepPage) remarks(said []string) {
	p.gap = true
	for _, n := range p.v.Notices {
		if n.Code == "note" && slices.Contains(said, n.Fact) {
			continue
		}
		label := map[string]string{"less-work": "less work", "other-load": "compare", "short-trace": "trace", "semantics": "router"}[n.Code]
		if label == "" {
			label = n.Code
		}
		p.labelled(yellow, " "+label, n.Fact+" "+n.Consequence)
	}
}

// steps are what to paste, and where to read on.
func (p *sweepPage) steps(o *SweepOptions) {
	p.gap = true
	label := " " + p.part("paste")
	for _, point := range []int{p.v.Chosen, p.v.Alternative} {
		if point < 0 || len(p.s.Points[point].Flags) == 0 {
			continue
		}
		f, err := paste.Of(p.s.Points[point].Flags, "")
		if err == nil && f.Line != "" {
			p.labelled("", label, f.Line)
		}
		label = " or"
	}
	p.moreSeeds(o.Folder)
	for _, e := range []struct{ label, text string }{{" report", o.Report}, {" plots", o.Plots}, {" next", o.Next}} {
		if e.text != "" {
			p.labelled("", e.label, e.text)
		}
	}
}

// part is a word for the point to set, or what keeps it from being one.
func (p *sweepPage) part(word string) string {
	switch p.v.Label {
	case "":
		return word
	case judgement.ToTry:
		return judgement.ToTry
	}
	return "closest"
}

// moreSeeds writes the command that adds seeds, on lines that a shell joins.
func (p *sweepPage) moreSeeds(folder string) {
	command := p.v.MoreSeeds
	if command == "" {
		return
	}
	if at := strings.LastIndex(command, " -o "+judgement.Folder+" "); at >= 0 && folder != "" {
		command = command[:at] + " -o " + judgement.Quoted(folder) + strings.TrimPrefix(command[at:], " -o "+judgement.Folder)
	}
	if p.gap {
		p.gap = false
		p.line("")
	}
	label, line := " add seeds", ""
	flush := func(more string) {
		p.line(left(label, sweepGutter) + line + more)
		label = ""
	}
	for _, word := range shellWords(p.plain(command)) {
		switch {
		case line == "":
			line = word
		case sweepGutter+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word)+2 > p.width:
			flush(" \\")
			line = word
		default:
			line += " " + word
		}
	}
	flush("")
}

// shellWords splits a command at the blanks outside quotes, which stay.
func shellWords(command string) (words []string) {
	quoted := false
	return strings.FieldsFunc(command, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}

// hasRows reports whether there is a default to compare with.
func (p *sweepPage) hasRows() bool {
	return p.v.Default >= 0 && p.v.State != judgement.NoResult && len(p.s.Points[p.v.Default].Runs) > 0
}

// list chooses the points to show: the default, the chosen one, the other one of
// a trade, then the best ones, and round robin.
func (p *sweepPage) list() (list []int) {
	most := sweepRows
	reference := p.v.Reference >= 0 && p.v.Reference != p.v.Default && p.v.Points[p.v.Reference].Status == judgement.Compare
	if reference {
		most--
	}
	for _, i := range append([]int{p.v.Default, p.v.Chosen, p.v.Alternative}, p.v.Order...) {
		if i >= 0 && len(list) < most && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	if reference {
		list = append(list, p.v.Reference)
	}
	return list
}

// column is a column of the table of points.
type column struct {
	head   string
	metric int
	width  int
	kind   kind // portion: absolute share; ratio: absolute; duration: change
	drop   int  // the higher, the earlier it goes; 0 stays
}

// columns are those that fit beside names of some width.
func (p *sweepPage) columns(names int) (list []column) {
	metrics := sweepdata.Metrics()
	for i, name := range []string{metrics[p.v.Objective].Name, "p90_ttft_ms", "p90_itl_ms", "p90_e2e_ms"} {
		m := p.at[name]
		if i > 0 && m == p.v.Objective {
			continue
		}
		if name == "goodput_share" {
			continue // it has a column of its own
		}
		head := metrics[m].Title
		list = append(list, column{head: head, metric: m, width: max(utf8.RuneCountInString(head), 8) + 1, kind: duration, drop: i})
	}
	list = append(list,
		column{"reuse", p.at["reuse_share"], 8, duration, 5},
		column{"imbal", p.at["imbalance_busy"], 7, ratio, 6},
		column{"in SLO", p.at["goodput_share"], 8, portion, 7},
		column{"done", p.at["completed_share"], 7, portion, 0},
	)
	base := p.v.Points[p.v.Default].Mean
	list = slices.DeleteFunc(list, func(c column) bool { return math.IsNaN(base[c.metric]) && c.head != "done" })
	for {
		total, worst := names, -1
		for i, c := range list {
			total += c.width
			if c.drop > 0 && (worst < 0 || c.drop > list[worst].drop) {
				worst = i
			}
		}
		if total <= p.width || worst < 0 {
			return list
		}
		list = slices.Delete(list, worst, worst+1)
	}
}

// rows writes the table of points.
func (p *sweepPage) rows(csv string) {
	list := p.list()
	head := p.axes()
	names := utf8.RuneCountInString(head)
	labels := make([]string, len(list))
	for i, point := range list {
		labels[i] = p.rowName(point)
		names = max(names, utf8.RuneCountInString(labels[i]))
	}
	names = min(names, p.width/3) + 2
	columns := p.columns(names)
	line := left(" "+clipTo(head, names-2), names)
	for _, c := range columns {
		line += right(c.head, c.width)
	}
	p.line(p.styled(bold, line))
	unsure := false
	for i, point := range list {
		line := left(" "+clipTo(labels[i], names-2), names)
		for _, c := range columns {
			text, known := p.cell(point, &c)
			unsure = unsure || !known
			line += right(clipTo(text, c.width-1), c.width)
		}
		p.line(line)
	}
	p.legend(len(list), csv, unsure)
}

// legend explains the signs below the table.
func (p *sweepPage) legend(shown int, csv string, unsure bool) {
	parts := []string{p.sign("~", "\u2248") + " no difference shown", "p percentage points"}
	if unsure {
		parts[0] = "changes without an interval"
	}
	if rest := len(p.s.Points) - shown; rest > 0 {
		text := format.Plural(int64(rest), "more point")
		if csv != "" {
			text += " in " + csv
		}
		parts = append(parts, text)
	}
	line := ""
	flush := func() {
		if utf8.RuneCountInString(line) < p.width {
			p.line(" " + line)
			return
		}
		for _, wrapped := range wrap(line, p.width-1) {
			p.line(" " + wrapped)
		}
	}
	for _, part := range parts {
		part = p.plain(part)
		switch {
		case line == "":
			line = part
		case utf8.RuneCountInString(line)+3+utf8.RuneCountInString(part) < p.width:
			line += "   " + part
		default:
			flush()
			line = part
		}
	}
	flush()
}

// axes heads the column of names.
func (p *sweepPage) axes() string {
	var parts []string
	for i := range p.s.Axes {
		if p.s.Axes[i].Inert == "" {
			parts = append(parts, judgement.Short(p.s.Axes[i].Name))
		}
	}
	if len(parts) == 0 {
		return "point"
	}
	return p.plain(strings.Join(parts, "/"))
}

// rowName is a point's name with its part in the verdict.
func (p *sweepPage) rowName(point int) string {
	name := p.v.Points[point].Name
	switch {
	case point == p.v.Default && name != "default":
		name += " default"
	case point == p.v.Default:
	case point == p.v.Chosen:
		name += " " + p.part(p.v.Part())
	case p.v.Points[point].Tied && p.v.State == judgement.Win:
		name += "  " + p.sign("~", "\u2248")
	}
	return p.plain(name)
}

// cell is a figure of a point: absolute for the default and for shares of
// success, else the change. known is false for a change without an interval.
func (p *sweepPage) cell(point int, c *column) (text string, known bool) {
	q := &p.v.Points[point]
	value, d := q.Mean[c.metric], q.Diff[c.metric]
	if i := slices.IndexFunc(p.v.Deltas, func(d judgement.Delta) bool { return d.Metric == c.metric }); i >= 0 && p.v.Confirmed {
		switch point { // as in the verdict
		case p.v.Chosen:
			value, d = p.v.Deltas[i].Value, p.v.Deltas[i].Diff
		case p.v.Default:
			value = p.v.Deltas[i].Base
		}
	}
	switch {
	case math.IsNaN(value):
		return format.Missing, true
	case c.kind == portion:
		return success(value), true
	case c.kind == ratio:
		return format.Fixed(value, 2), true
	case point == p.v.Default || q.Base == point: // of another fleet or load, whose latencies are no change
		return p.absolute(c.metric, value), true
	case !d.OK:
		return format.Missing, true
	case d.Interval.OK && !d.Shown:
		return p.sign("~", "\u2248"), true
	}
	text = p.plain(d.Text(""))
	if d.Kind == judgement.Share {
		text = strings.Replace(text, " pp", "p", 1)
	}
	return text, d.Interval.OK
}

// success writes a share of success; what is not quite all is not 100 %.
func success(percent float64) string {
	if percent == 100 {
		return "100 %"
	}
	return format.Success(percent) + " %"
}

// absolute is a value of a metric with its unit.
func (p *sweepPage) absolute(metric int, value float64) string {
	m := sweepdata.Metrics()[metric]
	switch {
	case m.Success():
		return success(value)
	case m.Unit == "%":
		return format.Fixed(value, 1) + " %"
	case m.Unit == "ms" && m.Family != "itl" && m.Family != "tpot":
		u := unitOf(p.v.Points[p.v.Default].Mean[p.at["p99_"+p99Family(m.Family)+"_ms"]])
		return format.Sig(value/u.ms) + " " + u.name
	case m.Unit == "":
		return format.Sig(value)
	}
	return format.Sig(value) + " " + m.Unit
}

// p99Family is the latency whose p99 decides the unit of a time.
func p99Family(family string) string {
	if family == "e2e" {
		return "e2e"
	}
	return "ttft"
}

// clipTo cuts a text to n columns.
func clipTo(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:max(n, 0)])
	}
	return text
}
