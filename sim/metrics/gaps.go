// Package metrics accumulates the latencies of a run the way Dynamo's replay
// reports them: exact moments and a logarithmic sketch for token gaps, exact
// order statistics for per-request latencies.
package metrics

// Gaps holds the two distributions over token gaps: the inter-token latency in
// ms and its inverse, the tokens per second a user sees.
type Gaps struct {
	ITL  Dist // ms
	Rate Dist // tokens/s, gaps above 0 only
}

// AddTimes adds the len(times)-1 gaps between one request's token times (ms).
func (g *Gaps) AddTimes(times []float64) {}

// Dist is a distribution of positive values.
type Dist struct{}
