package page

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// fact is a term with its value.
type fact struct{ Term, Text string }

// base is a setting of the default point as text, "" where it is not set.
func (m *model) base(name string) string {
	v, ok := m.s.Base[name]
	if !ok || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// meta is the line above the verdict.
func (m *model) meta() []string {
	t := &m.s.Trace
	out := []string{t.Name}
	loop := "open loop"
	if c := m.base("replay-concurrency"); c != "" && c != "none" {
		loop = "closed loop of " + c
	}
	out = append(out, requests(int64(t.Rows))+", "+loop+m.rateText())
	out = append(out, m.s.WorkersText())
	for i := range m.s.Profiles {
		if id := m.s.Profiles[i].ID; !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	if len(m.s.Profiles) == 0 {
		out = append(out, m.base("timing"))
	}
	points := pretty(format.Plural(int64(len(m.s.Points)), "point"))
	if d := len(m.distinct()); d != len(m.s.Points) {
		points += ", " + pretty(format.Count(int64(d))) + " distinct"
	}
	out = append(out, points+" × "+seedsText(len(m.s.Seeds)), "routesim "+m.s.Version)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func (m *model) rateText() string {
	d := m.duration()
	if !(d > 0) {
		return ""
	}
	return ", " + number(float64(len(m.s.Requests.ArrivalMS))/d*1000, significant) + hard + "req/s"
}

// duration is the time from the first arrival to the last in ms, as recorded.
func (m *model) duration() float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range m.s.Requests.ArrivalMS {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	return hi - lo
}

// workload describes the trace.
func (m *model) workload() []fact {
	t := &m.s.Trace
	out := []fact{{"trace", t.Name}, {"format", t.Format}}
	rows := pretty(format.Count(int64(t.Rows)))
	if t.Skipped > 0 {
		rows += ", " + pretty(format.Count(int64(t.Skipped))) + " rows skipped"
	}
	out = append(out, fact{"requests", rows})
	if d := m.duration(); d > 0 {
		out = append(out, fact{"time", format.Duration(d) + " from the first arrival to the last" + m.rateText() + " on average"})
		out = append(out, fact{"busiest minute", m.busiestMinute()})
	}
	if len(m.s.Requests.InputTokens) > 0 {
		out = append(out, fact{"prompt (ISL)", tokens(m.s.Requests.InputTokens)}, fact{"output (OSL)", tokens(m.s.Requests.OutputTokens)})
	}
	for _, p := range []int{m.v.Default, m.v.Chosen} {
		if c := m.mean(p, sweepdata.MetricIndex("ceiling_share")); !math.IsNaN(c) {
			out = append(out, fact{"reusable", number(c, oneDecimal) + hard + "% of the prompt tokens, by one endless cache"})
			break
		}
	}
	out = append(out, fact{"trace block", pretty(format.Count(int64(t.BlockSize))) + " tokens"})
	if t.Digest != "" {
		out = append(out, fact{"digest", t.Digest[:min(16, len(t.Digest))]})
	}
	return slices.DeleteFunc(out, func(f fact) bool { return f.Text == "" })
}

// tokens sums up lengths.
func tokens(list []int32) string {
	if len(list) == 0 {
		return missing
	}
	s := slices.Sorted(slices.Values(list))
	sum := 0.0
	for _, v := range s {
		sum += float64(v)
	}
	at := func(share float64) string {
		return pretty(format.Count(int64(s[min(max(int(math.Ceil(share*float64(len(s))))-1, 0), len(s)-1)])))
	}
	return fmt.Sprintf("mean %s, p50 %s, p90 %s, p99 %s, max %s tokens", number(sum/float64(len(s)), significant), at(0.5), at(0.9), at(0.99), at(1))
}

func (m *model) busiestMinute() string {
	const minute = 60e3
	counts := map[int64]int{}
	most := 0
	for _, v := range m.s.Requests.ArrivalMS {
		k := int64(math.Floor(v / minute))
		counts[k]++
		most = max(most, counts[k])
	}
	return fmt.Sprintf("%s, %s req/s", requests(int64(most)), number(float64(most)/60, significant))
}

// profile describes what models the workers of one group.
type profile struct {
	Title string
	Facts []fact
}

func (m *model) profiles() (out []profile) {
	for i := range m.s.Profiles {
		f := &m.s.Profiles[i]
		p := profile{Title: fmt.Sprintf("%s × %s", pretty(format.Count(int64(f.Count))), f.ID)}
		p.Facts = append(p.Facts, fact{"grade", f.Grade + gradeFlags(f.Flags)})
		if e := f.HeldOut; e != nil {
			p.Facts = append(p.Facts, fact{"error against servers", fmt.Sprintf("median TTFT %s\u00a0%%, TPOT %s\u00a0%%; p90 TTFT %s\u00a0%%, TPOT %s\u00a0%% (%s)",
				number(e.TTFT[0], significant), number(e.TPOT[0], significant), number(e.TTFT[1], significant), number(e.TPOT[1], significant), verdict.HeldOutRuns(f))})
		} else {
			p.Facts = append(p.Facts, fact{"error against servers", "never compared"})
		}
		if e := f.FitError; e != nil {
			p.Facts = append(p.Facts, fact{"error of the fit", fmt.Sprintf("median, against measured operators: decode %s\u00a0%%, prefill %s\u00a0%%, mixed %s\u00a0%%",
				number(e.Decode[0], significant), number(e.PrefillNoPrefix[0], significant), number(e.Mixed[0], significant))})
		}
		p.Facts = append(p.Facts, calibration(f), fact{"KV memory", kvText(f)})
		if f.MaxModelLen > 0 {
			p.Facts = append(p.Facts, fact{"longest sequence", pretty(format.Count(f.MaxModelLen)) + " tokens"})
		}
		if r := float64(f.RequestMS); r > 0 {
			p.Facts = append(p.Facts, fact{"front end", number(r, significant) + " ms per request, within TTFT"})
		}
		out = append(out, p)
	}
	return out
}

func gradeFlags(flags []string) string {
	text := ""
	for i, f := range flags {
		text += map[bool]string{true: ": ", false: ", "}[i == 0] + f
	}
	return text
}

func calibration(f *reports.ProfileFacts) fact {
	text := f.Calibration
	if text == "" {
		text = "none"
	}
	if other := f.OtherRuns(); other != "" {
		text += ", of " + other
	}
	return fact{"calibration", text}
}

func kvText(f *reports.ProfileFacts) string {
	text := fmt.Sprintf("%s tokens, %s blocks of %s", pretty(format.Count(f.KVTokens)), pretty(format.Count(f.KVBlocks)), pretty(format.Count(f.BlockSize)))
	if u := float64(f.KVBasis.Utilization); !math.IsNaN(u) && u > 0 {
		text += ", at a memory utilization of " + number(u, significant)
	}
	return text
}

// settings are all settings of the default point.
func (m *model) settings() (out []fact) {
	for _, k := range slices.Sorted(maps.Keys(m.s.Base)) {
		v := "none"
		if x := m.s.Base[k]; x != nil {
			v = fmt.Sprint(x)
		}
		out = append(out, fact{k, shorten(v, 120)})
	}
	return out
}

// varied describes the axes.
func (m *model) varied() (out []fact) {
	for i := range m.axes {
		a := &m.axes[i]
		text := ""
		for j, v := range a.Values {
			if j == 24 {
				text += ", …"
				break
			}
			if j > 0 {
				text += ", "
			}
			text += v
		}
		if b := m.s.Axes[i].Base; b != "" {
			text += "; default " + b
		}
		if r := m.s.Axes[i].Inert; r != "" {
			text += "; changed no decision: " + r
		}
		out = append(out, fact{a.Name, text})
	}
	return out
}
