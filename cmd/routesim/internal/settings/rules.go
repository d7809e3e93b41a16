package settings

import (
	"fmt"
	"os"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/sim/router"
)

// check applies the rules that tie settings to each other.
func (r *resolution) check() error {
	run := &r.Run
	if err := r.chooseModel(); err != nil {
		return err
	}
	if err := run.checkRanks(); err != nil {
		return err
	}
	if b := run.RouterBlockSize; b != 0 && b != run.Engine.BlockSize {
		return fmt.Errorf("router-block-size: found %d (%s) and a block-size of %d (%s), expected the same size: blocks hashed at another size never match the engine's",
			b, r.originOf("router-block-size"), run.Engine.BlockSize, r.originOf("block-size"))
	}
	if run.SLAE2EMS != nil && (run.SLATTFTMS != nil || run.SLAITLMS != nil) {
		return fmt.Errorf("sla-e2e-ms: found together with sla-ttft-ms or sla-itl-ms, expected one or the other")
	}
	if err := r.checkSynthetic(); err != nil {
		return err
	}
	if err := r.checkTrackingKey(); err != nil {
		return err
	}
	r.warnInactive()
	return nil
}

// checkTrackingKey: keyed hashing needs both parts of the key, and only it has
// a use for them.
func (r *resolution) checkTrackingKey() error {
	run := &r.Run
	keyed := run.TrackingHash == "keyed-xxh3-v1"
	switch {
	case !keyed && run.TrackingKeyFile != "":
		return fmt.Errorf("router-tracking-key-file: found %s, expected it only with router-tracking-hash keyed-xxh3-v1", run.TrackingKeyFile)
	case !keyed && run.TrackingKeyID != "":
		return fmt.Errorf("router-tracking-key-id: found %s, expected it only with router-tracking-hash keyed-xxh3-v1", run.TrackingKeyID)
	case !keyed:
		return nil
	case run.TrackingKeyFile == "" || run.TrackingKeyID == "":
		return fmt.Errorf("router-tracking-hash: found keyed-xxh3-v1, expected router-tracking-key-file and router-tracking-key-id with it")
	}
	info, err := os.Stat(run.TrackingKeyFile)
	if err != nil {
		return manifest.Unreadable("router-tracking-key-file", run.TrackingKeyFile, err, "a file of 32 raw bytes")
	}
	if info.IsDir() {
		return fmt.Errorf("router-tracking-key-file: found the directory %s, expected a file of 32 raw bytes", run.TrackingKeyFile)
	}
	if info.Size() != 32 {
		return fmt.Errorf("router-tracking-key-file: found %s with %d bytes, expected 32 raw bytes", run.TrackingKeyFile, info.Size())
	}
	return nil
}

// warnInactive names values that were given for this very run and cannot change
// it.
func (r *resolution) warnInactive() {
	run := &r.Run
	if run.Router.Mode != router.KV {
		for _, s := range r.table.list {
			kvOnly := s.Group == Cost || s.Group == Track || s.Group == Queue
			if s.Support != Honoured || !kvOnly || s.Name == "router-mode" || s.Name == "router-semantics" || s.Name == "seed" {
				continue
			}
			if c, ok := r.best.get(s); ok && c.given.Origin.Layer == FromFlag {
				r.Warn("%s has no effect in %s mode", s.Name, run.Router.Mode)
			}
		}
	}
	if run.Concurrency > 0 && r.Explicit("arrival-speedup-ratio") && run.ArrivalSpeedup != 1 {
		r.Warn("arrival-speedup-ratio has no effect with replay-concurrency: a closed loop ignores recorded arrivals and keeps think times as they are")
	}
	if run.Concurrency > 0 && run.ArrivalSpread {
		r.Warn("arrival-spread has no effect with replay-concurrency: a closed loop ignores recorded arrivals")
	}
	if !run.Router.TrackPrefillTokens && run.Router.QueueThreshold != nil {
		r.Warn("router-queue-threshold has no effect without router-track-prefill-tokens: no worker ever counts as busy")
	}
	r.warnUnused()
	r.warnSelection()
	r.warnConditional()
	r.warnTransfers()
	r.warnNear()
	r.warnTiers()
	r.warnEngine()
}

func (r *resolution) originOf(name string) Origin {
	s, _ := r.table.Lookup(name)
	return r.origins[s.place]
}
