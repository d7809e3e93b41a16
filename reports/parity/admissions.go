package parity

import "routesim/sim"

// fieldAdmissions is the list of a request's admissions: pool, time in ms and
// reused tokens of each.
const fieldAdmissions = "admissions"

// poolNames are the oracle's names of the pools.
var poolNames = [...]string{sim.Aggregated: "agg", sim.PrefillPool: "prefill", sim.DecodePool: "decode"}

// wantsAdmissions reports whether the recording lists admissions.
func (g *Golden) wantsAdmissions() bool {
	for _, r := range g.records {
		if _, ok := r[fieldAdmissions]; ok {
			return true
		}
	}
	return false
}

func (o ours) admissionList() any {
	log := o.result.AdmissionLog[o.row]
	list := make([]any, len(log))
	for i, a := range log {
		list[i] = []any{poolNames[a.Pool], a.At, int64(a.Reused)}
	}
	return list
}
