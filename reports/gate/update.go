package gate

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/reports/sweepdata"
	"routesim/workloads"
)

// TraceOf identifies a trace; name are its files, without folders.
func TraceOf(t *workloads.Trace, name string) Trace {
	digest := reports.TraceDigest(t)
	return Trace{Name: name, Requests: int64(t.Len()), Digest: hex.EncodeToString(digest[:])}
}

// CheckComplete refuses outcomes that no baseline can be made of: a later loss
// of requests would go unnoticed.
func CheckComplete(outcomes []Outcome) error {
	for i := range outcomes {
		o := &outcomes[i]
		if o.Problem != "" {
			return fmt.Errorf("scenario %s: expected one that runs: %s", o.Name, o.Problem)
		}
		for j := range o.Runs {
			if c := &o.Runs[j].Counts; !c.Complete() {
				return fmt.Errorf("scenario %s, seed %d: found %s of %s completed (%s), expected all; a baseline of incomplete runs would hide losses",
					o.Name, o.Runs[j].Seed, format.Count(c.Completed), format.Plural(c.Requests, "request"), c.short())
			}
		}
	}
	return nil
}

// WriteUpdate says what a new baseline changes in an old one, nil for none.
func WriteUpdate(w io.Writer, old, b *Baseline) error {
	t := &strings.Builder{}
	if old == nil {
		old = &Baseline{}
	} else if old.Version != b.Version {
		fmt.Fprintf(t, "routesim: %s -> %s\n", old.Version, b.Version)
	}
	for _, c := range changes(old.Definitions, b.Definitions, "") {
		if len(old.Definitions) > 0 {
			fmt.Fprintf(t, "definition of %s: %s\n", c.Name, c.Text)
		}
	}
	for i := range b.Outcomes {
		o := &b.Outcomes[i]
		at := slices.IndexFunc(old.Outcomes, func(x Outcome) bool { return x.Name == o.Name })
		if at < 0 {
			fmt.Fprintf(t, "%s: added (%s, %s)\n", o.Name, format.Plural(o.Trace.Requests, "request"), format.Plural(int64(len(o.Runs)), "seed"))
			continue
		}
		for _, line := range old.Outcomes[at].updates(o) {
			fmt.Fprintf(t, "%s: %s\n", o.Name, line)
		}
	}
	for i := range old.Outcomes {
		name := old.Outcomes[i].Name
		if !slices.ContainsFunc(b.Outcomes, func(x Outcome) bool { return x.Name == name }) {
			fmt.Fprintf(t, "%s: dropped\n", name)
		}
	}
	if t.Len() == 0 {
		t.WriteString("nothing changes\n")
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// updates lists what changes in a scenario.
func (o *Outcome) updates(to *Outcome) (out []string) {
	for _, v := range []struct{ name, a, b string }{
		{"trace", o.Trace.Name, to.Trace.Name}, {"trace digest", o.Trace.Digest, to.Trace.Digest},
		{"requests", format.Count(o.Trace.Requests), format.Count(to.Trace.Requests)},
		{"load", o.Load, to.Load}, {"SLA", o.SLA, to.SLA}, {"seeds", seedsOf(o), seedsOf(to)},
	} {
		if v.a != v.b {
			out = append(out, fmt.Sprintf("%s: %s -> %s", v.name, orNone(v.a), orNone(v.b)))
		}
	}
	for _, c := range append(changes(o.Settings, to.Settings, ""), changes(o.Profiles, to.Profiles, "profile ")...) {
		out = append(out, c.Name+": "+c.Text)
	}
	decisions, times := 0, 0
	for i := range min(len(o.Runs), len(to.Runs)) {
		if o.Runs[i].Decisions != to.Runs[i].Decisions {
			decisions++
		}
		if o.Runs[i].Times != to.Runs[i].Times {
			times++
		}
	}
	switch {
	case decisions > 0:
		out = append(out, fmt.Sprintf("decisions of %d of %s", decisions, format.Plural(int64(len(to.Runs)), "seed")))
	case times > 0:
		out = append(out, fmt.Sprintf("token times of %d of %s", times, format.Plural(int64(len(to.Runs)), "seed")))
	}
	for k, m := range sweepdata.Metrics() {
		a, b := meanAt(o, k), meanAt(to, k)
		if a == b || math.IsNaN(a) && math.IsNaN(b) {
			continue
		}
		line := fmt.Sprintf("%s: %s -> %s", m.Name, value(a, m.Unit), value(b, m.Unit))
		if text := format.Change(a, b); text != format.Missing {
			line += " (" + text + ")"
		}
		out = append(out, line)
	}
	return out
}

func seedsOf(o *Outcome) string {
	var out []string
	for i := range o.Runs {
		out = append(out, fmt.Sprint(o.Runs[i].Seed))
	}
	return strings.Join(out, " ")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
