package sweepdata

import (
	"math"

	"routesim/reports"
	"routesim/sim/metrics"
)

// Metrics lists the figures of a run, in the order of points.csv.
func Metrics() []Metric {
	list := []Metric{}
	for _, l := range []struct {
		name, title string
		of          func(*reports.Summary) *metrics.Stats
	}{
		{"ttft", "TTFT", func(s *reports.Summary) *metrics.Stats { return &s.TTFT }},
		{"itl", "ITL", func(s *reports.Summary) *metrics.Stats { return &s.ITL }},
		{"tpot", "TPOT", func(s *reports.Summary) *metrics.Stats { return &s.TPOT }},
		{"e2e", "E2E", func(s *reports.Summary) *metrics.Stats { return &s.E2E }},
	} {
		list = append(list, latencyMetrics(l.name, l.title, l.of)...)
	}
	return append(list, otherMetrics()...)
}

// latencyMetrics are the statistics of one latency.
func latencyMetrics(name, title string, of func(*reports.Summary) *metrics.Stats) (list []Metric) {
	for _, s := range []struct {
		name, title string
		of          func(*metrics.Stats) float64
	}{
		{"mean", "mean", func(s *metrics.Stats) float64 { return s.Mean }},
		{"p50", "p50", func(s *metrics.Stats) float64 { return s.Median }},
		{"p90", "p90", func(s *metrics.Stats) float64 { return s.P90 }},
		{"p95", "p95", func(s *metrics.Stats) float64 { return s.P95 }},
		{"p99", "p99", func(s *metrics.Stats) float64 { return s.P99 }},
		{"max", "max", func(s *metrics.Stats) float64 { return s.Max }},
	} {
		list = append(list, Metric{
			Name: s.name + "_" + name + "_ms", Title: title + " " + s.title, Unit: "ms", Family: name, Better: -1,
			Of: func(sum *reports.Summary) float64 { return s.of(of(sum)) },
		})
	}
	return list
}

// otherMetrics are the figures that are not latencies.
func otherMetrics() []Metric {
	share := func(part, whole float64) float64 {
		if whole == 0 {
			return math.NaN()
		}
		return part / whole
	}
	return []Metric{
		{"goodput_share", "within SLA", "%", "goodput", 1, func(s *reports.Summary) float64 {
			if s.Goodput == nil {
				return math.NaN()
			}
			return share(100*float64(s.Goodput.Completed), float64(s.Requests))
		}},
		{"goodput_rps", "goodput", "req/s", "goodput", 1, func(s *reports.Summary) float64 {
			if s.Goodput == nil {
				return math.NaN()
			}
			return s.Goodput.RequestRate
		}},
		{"request_rate_rps", "completed requests", "req/s", "throughput", 1, func(s *reports.Summary) float64 { return s.RequestRate }},
		{"output_rate_tps", "output tokens", "tok/s", "throughput", 1, func(s *reports.Summary) float64 { return s.OutputRate }},
		{"total_rate_tps", "all tokens", "tok/s", "throughput", 1, func(s *reports.Summary) float64 { return s.TotalRate }},
		{"gpu_hours", "GPU time", "h", "throughput", -1, func(s *reports.Summary) float64 { return s.GPUHours }},
		{"reuse_share", "prefix reuse", "%", "cache", 1, func(s *reports.Summary) float64 { return 100 * s.ReusedFirst }},
		{"ceiling_share", "endless cache", "%", "cache", 0, func(s *reports.Summary) float64 { return 100 * float64(s.Routesim.Waterfall.Ceiling) }},
		{"best_share", "best available", "%", "cache", 0, func(s *reports.Summary) float64 { return 100 * float64(s.Routesim.Waterfall.Best) }},
		{"chosen_share", "on chosen worker", "%", "cache", 0, func(s *reports.Summary) float64 { return 100 * float64(s.Routesim.Waterfall.Chosen) }},
		{"believed_share", "router believed", "%", "cache", 0, func(s *reports.Summary) float64 { return 100 * float64(s.Routesim.Waterfall.Believed) }},
		{"regret_blocks", "regret", "blocks", "cache", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Regret.MeanBlocks) }},
		{"tied_share", "tied decisions", "%", "load", 0, func(s *reports.Summary) float64 { return 100 * float64(s.Routesim.Regret.TiedShare) }},
		{"imbalance_busy", "busiest over mean", "", "load", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Imbalance.BusyMaxOverMean) }},
		{"imbalance_tokens_cv", "spread of tokens", "", "load", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Imbalance.TokensCV) }},
		{"peak_kv_usage", "peak KV use", "%", "load", 0, func(s *reports.Summary) float64 { return 100 * float64(s.Routesim.Imbalance.PeakKVUsage) }},
		{"queue_wait_mean_ms", "router queue wait mean", "ms", "load", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.QueueWait.Mean) }},
		{"queue_peak", "router queue peak", "", "load", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.QueuePeak) }},
		{"completed", "completed", "", "requests", 1, func(s *reports.Summary) float64 { return float64(s.Completed) }},
		{"completed_share", "completed", "%", "requests", 1, func(s *reports.Summary) float64 {
			return share(100*float64(s.Completed), float64(s.Routesim.Trace.Rows))
		}},
		{"rejected", "rejected", "", "requests", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Rejected) }},
		{"lost", "lost to crashes", "", "requests", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Lost) }},
		{"cancelled", "cancelled", "", "requests", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Cancelled) }},
		{"unfinished", "unfinished", "", "requests", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Unfinished) }},
		{"preemptions", "preemptions", "", "requests", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Preemptions) }},
		{"evicted_blocks", "evicted blocks", "", "cache", -1, func(s *reports.Summary) float64 { return float64(s.Routesim.Evictions) }},
	}
}
