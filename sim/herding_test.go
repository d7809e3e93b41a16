package sim

import (
	"testing"

	"routesim/sim/router"
)

// TestNothingUnseen: routers that hear of each other at once know of every
// request, whatever becomes of it; one alone has nobody to miss.
func TestNothingUnseen(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"kv":     func(*Config) {},
		"crash":  func(c *Config) { c.Faults = []Fault{{Kind: Crash, Worker: 0, From: 20, To: 60}} },
		"cancel": func(c *Config) { c.Clients.CancelRate, c.Clients.CancelAfterMS = 0.3, 30 },
		"queue":  func(c *Config) { x := 0.01; c.Router.QueueThreshold = &x },
		"pools":  func(c *Config) { c.Prefill = []Group{c.Fleet[0]} },
	} {
		run := func(frontends int, sync bool) Herding {
			s := burst(60, 3, 640, 20, 2)
			l := router.DefaultLive()
			s.cfg.Router.Live = &l
			s.cfg.Frontends, s.cfg.ReplicaSync = frontends, sync
			change(&s.cfg)
			return s.mustRun(t, nil).Herding
		}
		if h := run(3, true); h.Decisions == 0 || h.Blind != 0 || h.Unseen != 0 {
			t.Errorf("%s: %+v with sync, expected nothing unseen", name, h)
		}
		if h := run(3, false); h.Blind == 0 || h.Most == 0 || h.Unseen < h.Blind {
			t.Errorf("%s: %+v without sync, expected something unseen", name, h)
		}
		if h := run(1, true); h != (Herding{}) {
			t.Errorf("%s: %+v with one frontend", name, h)
		}
	}
}
