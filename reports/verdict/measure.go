package verdict

import (
	"strings"

	"routesim/reports/sweepdata"
)

// measure computes a metric from a point's tally over any blocks: a percentile
// of a latency, or one sum over another. Sums stand for the metric up to a
// factor: what is resampled is scaled to the mean that the runs report.
type measure struct {
	metric   int
	family   int // -1 for sums
	p        float64
	num, den int
}

func (q *measure) of(t *tally, starts []int32) float64 {
	if q.family >= 0 {
		return t.hist[q.family].quantile(starts, t.blocks.cells, q.p)
	}
	num, den := 0.0, 0.0
	for _, s := range starts {
		num += t.sums[q.num][s]
		den += t.sums[q.den][s]
	}
	return num / den
}

// measures lists the metrics that can be had over traffic. why says, by metric,
// what keeps the others from it.
func measures(metrics []sweepdata.Metric, sla *sweepdata.SLA) (list []measure, why []string) {
	why = make([]string, len(metrics))
	for i := range metrics {
		q, reason := measureOf(&metrics[i], sla)
		why[i] = reason
		if reason == "" {
			q.metric = i
			list = append(list, q)
		}
	}
	return list, why
}

// measureOf returns the measure for a metric, or why it has none.
func measureOf(m *sweepdata.Metric, sla *sweepdata.SLA) (measure, string) {
	sums := func(num, den int) (measure, string) {
		return measure{family: -1, num: num, den: den}, ""
	}
	switch m.Name {
	case "mean_ttft_ms":
		return sums(colTTFT, colTTFTs)
	case "mean_itl_ms":
		return sums(colGap, colGaps)
	case "mean_tpot_ms":
		return sums(colITL, colITLs)
	case "mean_e2e_ms":
		return sums(colE2E, colE2Es)
	case "goodput_share":
		if sla.TTFT > 0 || sla.ITL > 0 || sla.E2E > 0 {
			q, _ := sums(colGood, colRows)
			return q, ""
		}
	case "goodput_rps":
		if sla.TTFT > 0 || sla.ITL > 0 || sla.E2E > 0 {
			return sums(colGood, colBlocks)
		}
	case "reuse_share":
		return sums(colReused, colInput)
	}
	return percentileOf(m)
}

func percentileOf(m *sweepdata.Metric) (measure, string) {
	p := map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
	family := map[string]int{"ttft": famTTFT, "tpot": famTPOT, "e2e": famE2E}
	statistic, _, _ := strings.Cut(m.Name, "_")
	f, known := family[m.Family]
	rank, ranked := p[statistic]
	switch {
	case known && ranked:
		return measure{family: f, p: rank}, ""
	case statistic == "max" && m.Unit == "ms":
		return measure{}, "a maximum cannot be resampled"
	case m.Family == "itl":
		return measure{}, "single token gaps are not kept by request; TPOT has one"
	case m.Family == "goodput":
		return measure{}, "no SLO was given"
	}
	return measure{}, "it is a figure of the whole run, not of single requests"
}
