package sweepdata

import "strings"

// Loads reports whether a setting changes the work, the machines that do it or
// what goes wrong with either, and not how requests are routed and batched: its
// values are not to be chosen among.
func Loads(name string) bool {
	switch name {
	case "arrival-speedup-ratio", "replay-concurrency", "arrival-spread", "max-sim-time-ms", "profile", "timing",
		"request-count", "input-tokens", "output-tokens", "request-rate", "arrival-interval-ms", "arrival-seed",
		"shared-prefix-ratio", "num-prefix-groups", "turns-per-session", "inter-turn-delay-ms",
		"faults", "client-timeout-ms", "client-first-token-timeout-ms", "cancel-rate", "cancel-after-ms":
		return true
	}
	return strings.HasSuffix(name, "workers") && !strings.HasPrefix(name, "router-")
}
