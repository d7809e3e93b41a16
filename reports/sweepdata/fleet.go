package sweepdata

import (
	"fmt"
	"math"
	"strings"
)

// Disaggregated reports whether prefill and decode have workers of their own at
// the default point.
func (s *Sweep) Disaggregated() bool { return s.base("prefill-workers") != "" }

// WorkersText names the workers of the default point in words, "" where they are
// not known.
func (s *Sweep) WorkersText() string {
	if s.Disaggregated() {
		return s.base("prefill-workers") + " prefill and " + s.base("decode-workers") + " decode workers"
	}
	switch n := s.base("workers"); n {
	case "":
		return ""
	case "1":
		return "1 worker"
	default:
		return n + " workers"
	}
}

// GPUs returns how many GPUs a point's workers occupy, those of all pools
// together, from their GPU time and the run's length. 0 where no profile says how
// many a worker has, or the fleet changed during the run.
func (s *Sweep) GPUs(point int) int {
	p := &s.Points[point]
	if len(s.Profiles) == 0 || len(p.Runs) == 0 {
		return 0
	}
	m := p.Runs[0].Metrics
	hours, rate, completed := m[MetricIndex("gpu_hours")], m[MetricIndex("request_rate_rps")], m[MetricIndex("completed")]
	n := hours * 3600 * rate / completed
	if whole := math.Round(n); whole > 0 && math.Abs(n-whole) < 1e-6*whole {
		return int(whole)
	}
	return 0
}

// GPUName is the GPU of the default point's workers: H100; "" where they have
// several, or none that is known.
func (s *Sweep) GPUName() (name string) {
	for i := range s.Profiles {
		gpu, _, _ := strings.Cut(s.Profiles[i].ID, "/")
		gpu, _, _ = strings.Cut(gpu, "_")
		if i > 0 && strings.ToUpper(gpu) != name {
			return ""
		}
		name = strings.ToUpper(gpu)
	}
	return name
}

// base is a setting of the default point as text, "" where it is none.
func (s *Sweep) base(name string) string {
	v, ok := s.Base[name]
	if !ok || v == nil || v == "none" {
		return ""
	}
	return fmt.Sprint(v)
}
