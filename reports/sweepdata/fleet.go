package sweepdata

import "fmt"

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

// base is a setting of the default point as text, "" where it is none.
func (s *Sweep) base(name string) string {
	v, ok := s.Base[name]
	if !ok || v == nil || v == "none" {
		return ""
	}
	return fmt.Sprint(v)
}
