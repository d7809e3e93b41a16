package router

import "routesim/sim/router/program"

// Counters count what the router's decisions had to go by: a setting can only
// matter where what it weighs differs between workers.
type Counters struct {
	Events         int64 // KV events applied to the index
	Decisions      int64 // made by cost
	Overlapping    int64 // in which some worker was believed to hold the prompt's beginning
	LowerTiers     int64 // in which some worker was believed to hold more of it below its device
	OverlapDiffers int64 // in which that overlap differed between workers
	Credited       int64 // in which some worker's cost had a credit for overlap
	PrefillDiffers int64 // in which the prefill backlog differed between workers
	ActiveDiffers  int64 // in which the projected active blocks differed between workers
	RequestsDiffer int64 // in which the number of active requests differed between workers
	SharedActive   int64 // in which active requests of some worker had blocks of the prompt
	Tied           int64 // in which several workers had the least cost
	Waited         int64 // requests that the queue held back
	Refused        int64 // requests that were turned away
	Expired        int64 // bookings of live requests that were taken for dead

	Classifier program.Counters
}

// contrast collects how the candidates of one decision differ from the first.
type contrast struct {
	first                                candidate
	overlap                              int32 // bits of any overlap
	overlaps, prefill, active, requested int64 // bits that differ
	credit, shared                       bool
}

// note adds worker w's figures.
func (d *contrast) note(w int, c *candidate, t *Terms) {
	if w == 0 {
		d.first = *c
	}
	d.overlap |= c.overlap
	d.overlaps |= int64(c.overlap ^ d.first.overlap)
	d.prefill |= c.prefillTokens ^ d.first.prefillTokens
	d.active |= (c.activeBlocks + c.newBlocks) ^ (d.first.activeBlocks + d.first.newBlocks)
	d.requested |= c.requests ^ d.first.requests
	d.credit = d.credit || t.Credit != 0
}

// count adds one decision.
func (n *Counters) count(d *contrast, tied int32) {
	n.Decisions++
	n.Overlapping += one(d.overlap != 0)
	n.OverlapDiffers += one(d.overlaps != 0)
	n.Credited += one(d.credit)
	n.PrefillDiffers += one(d.prefill != 0)
	n.ActiveDiffers += one(d.active != 0)
	n.RequestsDiffer += one(d.requested != 0)
	n.SharedActive += one(d.shared)
	n.Tied += one(tied > 1)
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// Add adds the counters of another router.
func (n *Counters) Add(m *Counters) {
	n.Events += m.Events
	n.Decisions += m.Decisions
	n.Overlapping += m.Overlapping
	n.LowerTiers += m.LowerTiers
	n.OverlapDiffers += m.OverlapDiffers
	n.Credited += m.Credited
	n.PrefillDiffers += m.PrefillDiffers
	n.ActiveDiffers += m.ActiveDiffers
	n.RequestsDiffer += m.RequestsDiffer
	n.SharedActive += m.SharedActive
	n.Tied += m.Tied
	n.Waited += m.Waited
	n.Refused += m.Refused
	n.Expired += m.Expired
	n.Classifier.Held += m.Classifier.Held
	n.Classifier.Paused += m.Classifier.Paused
	n.Classifier.Forced += m.Classifier.Forced
}
