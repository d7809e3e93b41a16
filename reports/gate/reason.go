package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/sim/router"
)

// decisions finds out what the runs decided differently.
func (j *judge) decisions(res *Result, before, now *Outcome) {
	shown := -1 // run whose decisions are shown
	for i := range now.Runs {
		a, b := &before.Runs[i], &now.Runs[i]
		if a.Decisions != b.Decisions && !j.options.SkipDigests {
			res.ChangedSeeds = append(res.ChangedSeeds, b.Seed)
			if shown < 0 && a.Record != nil && b.Record != nil {
				shown = i
			}
		}
		res.TimesChanged = res.TimesChanged || a.Decisions == b.Decisions && a.Times != b.Times
	}
	if len(now.Runs) > 0 {
		at := max(shown, 0)
		for _, p := range now.Profiles {
			res.profiles = append(res.profiles, p.Name)
		}
		res.before, res.after = before.Runs[at].Record, now.Runs[at].Record
	}
	if shown < 0 {
		if len(res.ChangedSeeds) > 0 {
			res.Notes = append(res.Notes, "Which decisions differ is not known: the file of decisions beside the baseline cannot be used.")
		}
		return
	}
	seed := now.Runs[shown].Seed
	letter := now.letter()
	res.Moved = moved(letter, seed, res.before, res.after)
	if text := stagesNote(before, now, res.before, res.after); text != "" {
		res.Notes = append(res.Notes, text)
	}
	if res.before.Unordered || res.after.Unordered {
		res.Notes = append(res.Notes, "The order of decisions is not known, so that the first different one cannot be told.")
		return
	}
	if res.Divergence = diverge(letter, seed, res.before, res.after); res.Divergence == nil {
		res.Notes = append(res.Notes, fmt.Sprintf("The digests of seed %d differ in something other than %s.", seed, compared(res.before, res.after, now.pooled())))
	}
}

// stagesNote says that decode workers alone are compared although a side has
// pools, "" where that is not so.
func stagesNote(before, now *Outcome, a, b *Record) string {
	switch {
	case before.pooled() != now.pooled():
		return "Prefill has a pool of its own on one side only: the workers that decode are compared."
	case now.pooled() && !knowPrefill(a, b):
		return "Prefill choices were not kept on both sides: the workers that decode are compared."
	}
	return ""
}

// knowPrefill reports whether both sides know their prefill workers.
func knowPrefill(a, b *Record) bool { return a.Prefill != nil && b.Prefill != nil }

// compared names what of the decisions is compared.
func compared(a, b *Record, pooled bool) string {
	switch {
	case !pooled:
		return "request, worker and overlap"
	case knowPrefill(a, b):
		return "request, prefill worker, decode worker and overlap"
	}
	return "request, decode worker and overlap"
}

// diverge finds the first decision that differs, nil for none.
func diverge(letter string, seed uint64, a, b *Record) *Divergence {
	d := &Divergence{Seed: seed, letter: letter}
	stages := knowPrefill(a, b)
	for i := range max(len(a.Rows), len(b.Rows)) {
		inA, inB := i < len(a.Rows), i < len(b.Rows)
		if inA && inB && d.FirstCost == 0 && a.Rows[i] == b.Rows[i] && !equalCosts(a.Table(i), b.Table(i)) {
			d.FirstCost, d.FirstCostRow = i+1, b.Rows[i]
		}
		if inA && inB && a.Rows[i] == b.Rows[i] && a.Workers[i] == b.Workers[i] && a.Overlaps[i] == b.Overlaps[i] &&
			(!stages || a.Prefill[i] == b.Prefill[i]) {
			continue
		}
		d.Decision = i + 1
		d.RowBefore, d.WorkerBefore = -1, -1
		d.RowAfter, d.WorkerAfter = -1, -1
		d.PrefillBefore, d.PrefillAfter = -1, -1
		if stages && inA {
			d.PrefillBefore = a.Prefill[i]
		}
		if stages && inB {
			d.PrefillAfter = b.Prefill[i]
		}
		if inA {
			d.RowBefore, d.WorkerBefore, d.OverlapBefore, d.CostsBefore = a.Rows[i], a.Workers[i], a.Overlaps[i], a.Table(i)
		}
		if inB {
			d.RowAfter, d.WorkerAfter, d.OverlapAfter, d.CostsAfter = b.Rows[i], b.Workers[i], b.Overlaps[i], b.Table(i)
		}
		if d.FirstCost == d.Decision {
			d.FirstCost = 0
		}
		// With a prefill pool on one side only the costs are those of unlike routers.
		if i < len(a.Chosen) && i < len(b.Chosen) && (a.Prefill == nil) == (b.Prefill == nil) {
			d.ChosenBefore, d.ChosenAfter = &a.Chosen[i], &b.Chosen[i]
		}
		d.Why = d.why()
		return d
	}
	return nil
}

// equalCosts reports whether two tables agree; a table that is not known agrees
// with all.
func equalCosts(a, b []router.Terms) bool { return a == nil || b == nil || slices.Equal(a, b) }

// why says in a sentence what differs in the first divergent decision.
func (d *Divergence) why() string {
	switch {
	case d.RowBefore < 0:
		return fmt.Sprintf("Request %d was not routed before.", d.RowAfter)
	case d.RowAfter < 0:
		return fmt.Sprintf("Request %d is no longer routed.", d.RowBefore)
	case d.RowBefore != d.RowAfter:
		return fmt.Sprintf("Another request was next: %d before, %d now. The order of the router's queue or the time of an event moved.", d.RowBefore, d.RowAfter)
	}
	text := ""
	switch {
	case d.decodeOnly():
		text = "The costs of the decode router are not kept."
	case d.ChosenBefore != nil:
		text = fmt.Sprintf("Chosen before: %s. Chosen now: %s.", d.chosen(d.PrefillBefore, d.WorkerBefore, d.ChosenBefore), d.chosen(d.PrefillAfter, d.WorkerAfter, d.ChosenAfter))
	case d.CostsBefore == nil || d.CostsAfter == nil:
		text = "The costs are not known on both sides."
	case len(d.CostsBefore) != len(d.CostsAfter):
		text = fmt.Sprintf("There were %d candidates before and %d now.", len(d.CostsBefore), len(d.CostsAfter))
	case slices.Equal(d.CostsBefore, d.CostsAfter):
		text = "All costs are as in the baseline: the choice among them differs (ties or temperature)."
	default:
		text = d.differing(d.CostsBefore, d.CostsAfter)
	}
	if d.WorkerBefore == d.WorkerAfter && d.PrefillBefore == d.PrefillAfter {
		return fmt.Sprintf("The same worker was chosen with an overlap of %s blocks before and %s now. ", format.Sig(d.OverlapBefore), format.Sig(d.OverlapAfter)) + text
	}
	return text
}

// decodeOnly reports whether a prefill router chose the same worker on both
// sides and the decode router did not. The costs of a decision are those of the
// prefill router where there is one.
func (d *Divergence) decodeOnly() bool {
	return d.PrefillBefore >= 0 && d.PrefillBefore == d.PrefillAfter && d.WorkerBefore != d.WorkerAfter
}

// mostTerms is how many differing terms a sentence names.
const mostTerms = 3

// differing names the terms that differ.
func (d *Divergence) differing(a, b []router.Terms) string {
	var parts []string
	n := 0
	for w := range a {
		for _, t := range []struct {
			name   string
			before float64
			after  float64
		}{
			{"prefill term", a[w].Prefill, b[w].Prefill}, {"credit", a[w].Credit, b[w].Credit},
			{"decode term", a[w].Decode, b[w].Decode}, {"request term", a[w].Request, b[w].Request},
		} {
			if t.before == t.after {
				continue
			}
			if n++; n <= mostTerms {
				parts = append(parts, fmt.Sprintf("%s of %s%d %s -> %s", t.name, d.letter, w, exact(t.before), exact(t.after)))
			}
		}
	}
	text := "Costs differ: " + strings.Join(parts, ", ")
	if n > mostTerms {
		text += fmt.Sprintf(" and %d more terms", n-mostTerms)
	}
	return text + "."
}

// moved finds the requests that went to another worker, be it for prefill or for
// decode.
func moved(letter string, seed uint64, a, b *Record) *Moved {
	m := &Moved{Seed: seed, letter: letter, Pools: knowPrefill(a, b)}
	was := map[int32]int{} // place in a
	for i, row := range a.Rows {
		was[row] = i
	}
	var sums [2][2]float64 // by moved or not: TTFT before and after
	var counts [2]float64
	for i, row := range b.Rows {
		at, ok := was[row]
		if !ok {
			continue
		}
		m.Total++
		q := MovedRequest{
			Row: row, WorkerBefore: a.Workers[at], WorkerAfter: b.Workers[i], PrefillBefore: -1, PrefillAfter: -1,
			TTFTBefore: a.ttft(row), TTFTAfter: b.ttft(row),
		}
		if m.Pools {
			q.PrefillBefore, q.PrefillAfter = a.Prefill[at], b.Prefill[i]
		}
		kind := 1
		if q.PrefillBefore != q.PrefillAfter {
			m.Prefill++
		}
		if q.WorkerBefore != q.WorkerAfter {
			m.Decode++
		}
		if q.WorkerBefore != q.WorkerAfter || q.PrefillBefore != q.PrefillAfter {
			m.Requests = append(m.Requests, q)
			kind = 0
		}
		if !math.IsNaN(q.TTFTBefore) && !math.IsNaN(q.TTFTAfter) {
			counts[kind]++
			sums[kind][0] += q.TTFTBefore
			sums[kind][1] += q.TTFTAfter
		}
	}
	m.MovedBefore, m.MovedAfter = sums[0][0]/counts[0], sums[0][1]/counts[0]
	m.OtherBefore, m.OtherAfter = sums[1][0]/counts[1], sums[1][1]/counts[1]
	return m
}

// ttft returns the TTFT of a request in ms, NaN where it is not known.
func (r *Record) ttft(row int32) float64 {
	if row < 0 || int(row) >= len(r.TTFT) {
		return math.NaN()
	}
	return float64(r.TTFT[row])
}

// chosen names the worker whose router knows the cost, with its cost where it
// has one: the prefill worker where there is one.
func (d *Divergence) chosen(prefill, worker int32, t *router.Terms) string {
	name := workerName(d.letter, worker)
	if prefill >= 0 {
		name = workerName(prefillLetter, prefill)
	}
	if math.IsNaN(t.Cost) {
		return name + " without costs"
	}
	return fmt.Sprintf("%s at %s (prefill %s after a credit of %s, decode %s, requests %s)",
		name, exact(t.Cost), exact(t.Prefill), exact(t.Credit), exact(t.Decode), exact(t.Request))
}
