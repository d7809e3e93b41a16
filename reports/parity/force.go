package parity

import (
	"fmt"

	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// isKV reports whether workers were chosen by cost.
func isKV(s settings) bool { return s.config.Router.Mode == router.KV }

// workerKeys are the names of the chosen worker in the two formats and of the
// one chosen for a request that it could not take; prefillKeys are those of the
// chosen prefill worker.
var (
	workerKeys  = [...]string{"worker", "decode_worker_idx", "decode_route"}
	prefillKeys = [...]string{"prefill_worker", "prefill_worker_idx", "prefill_route"}
)

// forcedWorkers returns the recorded worker of every trace row, -1 where the
// recording names none. Besides what identifies a record, the worker is all
// that is read of it here.
func forcedWorkers(records []record, keys [3]string, rows []int32, requests, workers int) ([]int32, error) {
	force := make([]int32, requests)
	for i := range force {
		force[i] = -1
	}
	for i, r := range records {
		if rows[i] == workloads.NoRow {
			continue
		}
		for _, key := range keys {
			v := r[key]
			if v == nil {
				continue
			}
			w, ok := number(v)
			if !ok || w < 0 || w >= float64(workers) || w != float64(int32(w)) {
				return nil, fmt.Errorf("request %d: %s: found %s, expected a worker from 0 to %d", i, key, show(v), workers-1)
			}
			force[rows[i]] = int32(w)
		}
	}
	return force, nil
}

// runConfig returns the settings of the run: in kv mode every request goes
// where the recording sent it.
func (g *Golden) runConfig(o Options) (*sim.Config, error) {
	c := g.settings.config
	c.Plain = o.Plain
	c.KeepAdmissions = g.wantsAdmissions()
	if !isKV(g.settings) {
		return &c, nil
	}
	var err error
	c.Force, err = forcedWorkers(g.records, workerKeys, g.rows, g.trace.Len(), c.Ranks())
	if err == nil && c.Disaggregated() {
		c.ForcePrefill, err = forcedWorkers(g.records, prefillKeys, g.rows, g.trace.Len(), c.PrefillRanks())
	}
	return &c, err
}
