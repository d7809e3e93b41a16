package engine

// link is one direction between the device and the host. Transfers take turns
// in the order in which they were submitted; the wait for a transfer's first
// byte overlaps with the transfers before it.
type link struct {
	gbPerSecond float64 // decimal, 0 = no limit
	latencyMS   float64
	free        float64 // ms, end of the last transfer
}

// submit returns when a transfer of bytes that is submitted at now ends.
func (l *link) submit(now, bytes float64) (end float64) {
	end = max(l.free, now+l.latencyMS)
	if l.gbPerSecond > 0 {
		end += bytes / float64(l.gbPerSecond*1e6)
	}
	l.free = end
	return end
}
