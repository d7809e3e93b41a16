package sweepdata

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
)

// MarkInert finds the axes that changed nothing and says why, as far as what
// the runs counted tells. An axis is inert if runs that differ in its value
// alone, the seed being the same, took the same decisions at the same times
// with the same goodput, for every combination of the other axes and every
// seed. Where no two points differ in one axis alone, as in a sample, all axes
// are inert if all points did the same. Nothing is marked while runs are
// missing: the missing ones might differ.
func MarkInert(s *Sweep) {
	for i := range s.Axes {
		s.Axes[i].Inert, s.Axes[i].Remedy = "", ""
	}
	points := s.judged()
	if points == nil {
		return
	}
	total := sum(s, points)
	for i := range s.Axes {
		if same, ok := s.sameAlong(i, points); ok && same {
			s.Axes[i].Inert, s.Axes[i].Remedy = explainInert(s, i, &total)
		}
	}
}

// judged lists the points whose runs can be compared, nil where runs are
// missing. The round-robin reference differs in a setting that is no axis.
func (s *Sweep) judged() (list []int) {
	for i := range s.Points {
		p := &s.Points[i]
		if len(p.Runs)+len(p.Failed) < len(s.Seeds) {
			return nil
		}
		if !(p.Added && i == s.Reference) {
			list = append(list, i)
		}
	}
	return list
}

// sameAlong compares points that differ in one axis alone. ok is false if no
// comparison was possible, or not for every value.
func (s *Sweep) sameAlong(axis int, points []int) (same, ok bool) {
	groups, order := map[string][]int{}, []string{}
	for _, i := range points {
		v := s.Points[i].Values
		key := strings.Join(v[:axis], "\x00") + "\x01" + strings.Join(v[axis+1:], "\x00")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	compared := map[string]bool{}
	for _, key := range order {
		g := groups[key]
		for _, i := range g[1:] {
			if !s.sameRuns(g[0], i) {
				return false, true
			}
			compared[s.Points[g[0]].Values[axis]] = true
			compared[s.Points[i].Values[axis]] = true
		}
	}
	covered := len(compared) > 1
	for _, v := range s.Axes[axis].Values {
		covered = covered && compared[v]
	}
	if covered {
		return true, true
	}
	return s.allSame(points), len(points) > 1 && s.varies(axis, points)
}

// varies reports whether the points have different values on the axis.
func (s *Sweep) varies(axis int, points []int) bool {
	return slices.ContainsFunc(points, func(i int) bool { return s.Points[i].Values[axis] != s.Points[points[0]].Values[axis] })
}

func (s *Sweep) allSame(points []int) bool {
	for _, i := range points[1:] {
		if !s.sameRuns(points[0], i) {
			return false
		}
	}
	return true
}

// sameRuns reports whether two points did the same with every seed that both
// have run.
func (s *Sweep) sameRuns(one, other int) bool {
	n := 0
	for i := range s.Points[one].Runs {
		x := &s.Points[one].Runs[i]
		y := s.Points[other].run(x.Seed)
		if y == nil {
			continue
		}
		n++
		if x.DecisionDigest != y.DecisionDigest || x.TimeDigest != y.TimeDigest {
			return false
		}
		for j, m := range Metrics() {
			if a, b := x.Metrics[j], y.Metrics[j]; m.Family == "goodput" && a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
				return false
			}
		}
	}
	return n > 0
}

// totals are the counts of all runs that were compared.
type totals struct {
	counts  map[string]int64 // sums by counter
	peak    map[string]int64 // largest by counter
	metrics map[string]float64
	block   string // tokens of a KV block, "" where it varies
}

func sum(s *Sweep, points []int) totals {
	t := totals{counts: map[string]int64{}, peak: map[string]int64{}, metrics: map[string]float64{}}
	if b, ok := s.Base["block-size"]; ok && !slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Name == "block-size" }) {
		t.block = fmt.Sprint(b) + "-token "
	}
	for _, i := range points {
		for j := range s.Points[i].Runs {
			r := &s.Points[i].Runs[j]
			for k, c := range Counters() {
				t.counts[c.Name] += r.Counters[k]
				t.peak[c.Name] = max(t.peak[c.Name], r.Counters[k])
			}
			for k, m := range Metrics() {
				t.metrics[m.Name] += r.Metrics[k]
			}
		}
	}
	return t
}

// cause is a reason why a setting can change nothing, as a measurement.
type cause struct {
	holds  func(t *totals) bool
	text   func(t *totals) string
	remedy string
}

// none is a cause that holds where a counter stayed at 0; %s is the number of
// decisions that were looked at.
func none(counter, text, remedy string) cause {
	return cause{
		func(t *totals) bool { return t.counts[counter] == 0 && t.counts["routed"] > 0 },
		func(t *totals) string { return fmt.Sprintf(text, format.Count(t.counts["routed"])) }, remedy,
	}
}

// The causes, each by what is to be counted.
func noCost() cause {
	return none("scored", "none of %s decisions was made by cost, all were round robin", "set router-mode to kv")
}

func oneWorker() cause {
	return cause{
		func(t *totals) bool { return t.peak["fleet"] == 1 },
		func(t *totals) string {
			return fmt.Sprintf("there is one worker, and all %s decisions chose it", format.Count(t.counts["routed"]))
		}, "use more workers",
	}
}

func noBlocks() cause {
	return cause{
		func(t *totals) bool { return t.counts["prompts_with_full_blocks"] == 0 && t.counts["routed"] > 0 },
		func(t *totals) string {
			return fmt.Sprintf("none of %s prompts fills one %sKV block", format.Count(t.counts["routed"]), t.block)
		}, "use a smaller block-size, or traffic with longer prompts",
	}
}

func noEvents() cause {
	return none("kv_events", "no KV event reached the router in %s decisions", "switch prefix caching on and lower kv-event-lag-ms")
}

func noOverlap() cause {
	return none("scored_with_overlap", "the router believed no beginning of a prompt to be cached anywhere in %s decisions", "use traffic whose prompts share beginnings, or workers with larger caches")
}

func equalOverlap() cause {
	return none("scored_with_unequal_overlap", "all workers held equally much of the prompt in each of %s decisions", "use traffic with more distinct prefixes, or smaller caches")
}

func equalPrefill() cause {
	return none("scored_with_unequal_prefill", "the prefill backlog was the same on all workers in each of %s decisions", "raise the load with arrival-speedup-ratio")
}

func equalBlocks(more string) cause {
	return none("scored_with_unequal_blocks", "the active blocks were the same on all workers in each of %s decisions"+more, "raise the load with arrival-speedup-ratio")
}

// byPrefill holds where nothing but the prefill term tells workers apart, so
// that its scale cannot change their order.
func byPrefill() cause {
	return cause{
		func(t *totals) bool {
			return t.counts["scored_with_unequal_blocks"] == 0 && t.counts["scored_with_unequal_requests"] == 0 && t.counts["scored"] > 0
		},
		func(t *totals) string {
			return fmt.Sprintf("active blocks and requests were the same on all workers in each of %s decisions, so the prefill term alone told workers apart, whatever its scale", format.Count(t.counts["scored"]))
		}, "raise the load with arrival-speedup-ratio",
	}
}

func noQueue() cause {
	return none("held_in_router_queue", "the router's queue held back no request in %s decisions", "lower router-queue-threshold, or raise the load with arrival-speedup-ratio")
}

// followsEvents holds where the router's index was told what the caches hold.
func followsEvents() cause {
	return cause{
		func(t *totals) bool { return t.counts["kv_events"] > 0 },
		func(t *totals) string {
			return fmt.Sprintf("the router's index followed %s KV events, and what follows events does not expire", format.Count(t.counts["kv_events"]))
		}, "switch router-kv-events off",
	}
}

// never holds where a metric stayed at 0 in all runs.
func never(metric, text, remedy string) cause {
	return cause{
		func(t *totals) bool { return t.metrics[metric] == 0 },
		func(*totals) string { return text }, remedy,
	}
}

// causes lists what can keep a setting from changing anything, by what the
// setting acts on. Which of them holds is measured.
func causes(name string) []cause {
	router := []cause{noCost(), oneWorker()}
	cache := append(router, noBlocks(), noEvents(), noOverlap(), equalOverlap())
	switch name {
	case "router-kv-overlap-score-credit", "kv-event-lag-ms", "kv-event-delay-ms", "kv-event-loss":
		return cache
	case "router-kv-overlap-score-credit-decay":
		return append(cache, none("scored_with_credit", "no cost had a credit for overlap in %s decisions", "set router-kv-overlap-score-credit above 0"), equalPrefill())
	case "router-prefill-load-scale", "router-kv-overlap-score-weight":
		return append(router, byPrefill())
	case "router-decode-active-request-weight":
		return append(router, none("scored_with_unequal_requests", "the active requests were as many on all workers in each of %s decisions", "raise the load with arrival-speedup-ratio"))
	case "router-temperature":
		return router
	case "router-track-active-blocks":
		return append(router, equalBlocks(""))
	case "router-assume-kv-reuse":
		return append(router, noBlocks(), none("scored_with_shared_active_blocks", "no request shared a block with an active one in %s decisions", "use traffic whose prompts share beginnings, or a higher load"))
	case "router-track-prefill-tokens":
		return append(router, equalPrefill())
	case "router-ttl-secs", "router-approximate-cache-policy":
		return append(router, followsEvents())
	case "router-queue-threshold", "router-queue-policy", "overlap-refresh-after-secs":
		return append([]cause{noCost()}, noQueue())
	case "num-gpu-blocks", "gpu-memory-utilization":
		return []cause{never("evicted_blocks", "no worker ever had to drop a cached block", "try fewer blocks, or a higher load")}
	case "preemption-mode":
		return []cause{never("preemptions", "no request was ever preempted", "try fewer num-gpu-blocks, or a higher load")}
	case "max-model-len":
		return []cause{never("rejected", "no request was rejected, so none reached the limit", "try a lower limit")}
	case "enable-prefix-caching":
		return []cause{noBlocks(), never("ceiling_share", "no prompt begins like an earlier one", "use traffic whose prompts share beginnings")}
	}
	return nil
}

// explainInert says why an axis changed nothing and how to test it.
func explainInert(s *Sweep, axis int, t *totals) (why, remedy string) {
	a := &s.Axes[axis]
	for _, c := range causes(a.Name) {
		if c.holds(t) {
			return c.text(t), c.remedy
		}
	}
	if a.Name == "max-num-seqs" && a.Numbers != nil && t.counts["routed"] > 0 && float64(t.peak["peak_running"]) < slices.Min(a.Numbers) {
		return fmt.Sprintf("no worker ran more than %d requests at once, fewer than every limit tried", t.peak["peak_running"]), "try lower limits, or a higher load"
	}
	if a.Name == "router-host-cache-hit-weight" && t.counts["scored_with_lower_tiers"] == 0 {
		return fmt.Sprintf("none of %s decisions had a block to credit on a host", format.Count(t.counts["routed"])), "give the workers a host tier (num-host-blocks), or more memory pressure"
	}
	if a.Name == "router-disk-cache-hit-weight" {
		return fmt.Sprintf("none of %s decisions had a block to credit on a disk", format.Count(t.counts["routed"])), "give the workers a disk tier (num-disk-blocks) and the router live semantics: the replay's router hears of no disk"
	}
	return unexplained(t), "use other traffic or a higher load"
}

// unexplained says what was looked at where no cause was found.
func unexplained(t *totals) string {
	n := format.Count(t.counts["routed"])
	looked := []string{}
	for _, c := range [][2]string{
		{"kv_events", "KV events"}, {"scored_with_unequal_overlap", "decisions with unequal overlaps"},
		{"scored_with_unequal_prefill", "with unequal prefill backlogs"}, {"scored_with_unequal_blocks", "with unequal active blocks"},
		{"scored_with_ties", "with ties"}, {"held_in_router_queue", "requests held in the router's queue"},
	} {
		looked = append(looked, format.Count(t.counts[c[0]])+" "+c[1])
	}
	return fmt.Sprintf("all %s decisions and all token times were the same, and the counts tell no cause (%s)", n, strings.Join(looked, ", "))
}
