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
	if res.before.Unordered || res.after.Unordered {
		res.Notes = append(res.Notes, "The order of decisions is not known, so that the first different one cannot be told.")
		return
	}
	if res.Divergence = diverge(letter, seed, res.before, res.after); res.Divergence == nil {
		res.Notes = append(res.Notes, fmt.Sprintf("The digests of seed %d differ in something other than request, worker and overlap.", seed))
	}
}

// diverge finds the first decision that differs, nil for none.
func diverge(letter string, seed uint64, a, b *Record) *Divergence {
	d := &Divergence{Seed: seed, letter: letter}
	for i := range max(len(a.Rows), len(b.Rows)) {
		inA, inB := i < len(a.Rows), i < len(b.Rows)
		if inA && inB && d.FirstCost == 0 && a.Rows[i] == b.Rows[i] && !equalCosts(a.Table(i), b.Table(i)) {
			d.FirstCost, d.FirstCostRow = i+1, b.Rows[i]
		}
		if inA && inB && a.Rows[i] == b.Rows[i] && a.Workers[i] == b.Workers[i] && a.Overlaps[i] == b.Overlaps[i] {
			continue
		}
		d.Decision = i + 1
		d.RowBefore, d.WorkerBefore = -1, -1
		d.RowAfter, d.WorkerAfter = -1, -1
		if inA {
			d.RowBefore, d.WorkerBefore, d.OverlapBefore, d.CostsBefore = a.Rows[i], a.Workers[i], a.Overlaps[i], a.Table(i)
		}
		if inB {
			d.RowAfter, d.WorkerAfter, d.OverlapAfter, d.CostsAfter = b.Rows[i], b.Workers[i], b.Overlaps[i], b.Table(i)
		}
		if d.FirstCost == d.Decision {
			d.FirstCost = 0
		}
		if i < len(a.Chosen) && i < len(b.Chosen) {
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
	case d.ChosenBefore != nil:
		text = fmt.Sprintf("Chosen before: %s. Chosen now: %s.", d.chosen(d.WorkerBefore, d.ChosenBefore), d.chosen(d.WorkerAfter, d.ChosenAfter))
	case d.CostsBefore == nil || d.CostsAfter == nil:
		text = "The costs are not known on both sides."
	case len(d.CostsBefore) != len(d.CostsAfter):
		text = fmt.Sprintf("There were %d candidates before and %d now.", len(d.CostsBefore), len(d.CostsAfter))
	case slices.Equal(d.CostsBefore, d.CostsAfter):
		text = "All costs are as in the baseline: the choice among them differs (ties or temperature)."
	default:
		text = d.differing(d.CostsBefore, d.CostsAfter)
	}
	if d.WorkerBefore == d.WorkerAfter {
		return fmt.Sprintf("The same worker was chosen with an overlap of %s blocks before and %s now. ", format.Sig(d.OverlapBefore), format.Sig(d.OverlapAfter)) + text
	}
	return text
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

// moved finds the requests that went to another worker.
func moved(letter string, seed uint64, a, b *Record) *Moved {
	m := &Moved{Seed: seed, letter: letter}
	was := map[int32]int32{}
	for i, row := range a.Rows {
		was[row] = a.Workers[i]
	}
	var sums [2][2]float64 // by moved or not: TTFT before and after
	var counts [2]float64
	for i, row := range b.Rows {
		before, ok := was[row]
		if !ok {
			continue
		}
		m.Total++
		q := MovedRequest{Row: row, WorkerBefore: before, WorkerAfter: b.Workers[i], TTFTBefore: a.ttft(row), TTFTAfter: b.ttft(row)}
		kind := 1
		if q.WorkerBefore != q.WorkerAfter {
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

// chosen names a worker with its cost, where it has one.
func (d *Divergence) chosen(worker int32, t *router.Terms) string {
	if math.IsNaN(t.Cost) {
		return fmt.Sprintf("%s%d without costs", d.letter, worker)
	}
	return fmt.Sprintf("%s%d at %s (prefill %s after a credit of %s, decode %s, requests %s)",
		d.letter, worker, exact(t.Cost), exact(t.Prefill), exact(t.Credit), exact(t.Decode), exact(t.Request))
}
