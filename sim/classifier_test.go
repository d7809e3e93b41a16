package sim

import (
	"context"
	"fmt"
	"math"
	"testing"

	"routesim/models"
	"routesim/sim/router"
	"routesim/sim/router/program"
	"routesim/workloads"
)

// agents is a trace of sessions whose contexts grow turn by turn, all at once.
func agents(t *testing.T, sessions, turns int) *workloads.Trace {
	t.Helper()
	var rows []workloads.Row
	for turn := range turns {
		for s := range sessions {
			r := workloads.Row{Timestamp: float64(s), OutputLength: 20, SessionID: fmt.Sprint("s", s)}
			for k := range 8 * (turn + 1) {
				r.HashIDs = append(r.HashIDs, uint64(s*1000+k))
			}
			if turn > 0 {
				delay := 200.0
				r.Delay = &delay
				r.Timestamp = workloads.NoTime
			}
			rows = append(rows, r)
		}
	}
	tr, err := workloads.FromRows(workloads.BuilderOptions{BlockSize: 64}, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func classified(t *testing.T, tr *workloads.Trace, given map[string]any, change func(*Config)) *Result {
	t.Helper()
	timing, err := models.ParseTiming("fixed:12,4", models.TimingOptions{CapacityTokens: 1 << 20, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig(2, timing)
	c.Fleet[0].Engine.NumGPUBlocks = 100
	l := router.DefaultLive()
	l.AffinityTTLSecs, l.AffinitySoft = 1800, true
	if given != nil {
		if l.Classifier, err = program.NewSettings(program.Type, given); err != nil {
			t.Fatal(err)
		}
	}
	c.Router.Live = &l
	if change != nil {
		change(&c)
	}
	r, err := Run(context.Background(), tr, &c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClassifierHoldsBack: under pressure sessions wait, nobody is lost, and a
// frontend of its own, a restart and a crash do not change that.
func TestClassifierHoldsBack(t *testing.T) {
	tr := agents(t, 12, 4)
	given := map[string]any{"scheduler_interval_seconds": 0.1, "resume_timeout_seconds": 3.0}
	base := classified(t, tr, given, nil)
	for name, change := range map[string]func(*Config){
		"plain":     nil,
		"final":     func(c *Config) { c.SessionFinal = true },
		"frontends": func(c *Config) { c.Frontends = 2 },
		"queue":     func(c *Config) { x := 0.01; c.Router.QueueThreshold = &x },
		"restart":   func(c *Config) { at := 700.0; c.RestartAtMS = &at },
		"switch": func(c *Config) {
			at, l := 700.0, *c.Router.Live
			c.RestartAtMS, c.Restarted = &at, &Restarted{Router: c.Router}
			l.Classifier = nil
			c.Restarted.Router.Live = &l
		},
		"cancel": func(c *Config) {
			for i := range base.Requests {
				if q := &base.Requests[i]; q.Dispatched > q.Arrival+50 && i%2 == 0 {
					c.Faults = append(c.Faults, Fault{Kind: Cancel, Request: int32(i), From: q.Arrival + 20, To: math.Inf(1)})
				}
			}
			if len(c.Faults) == 0 {
				t.Error("nobody is held")
			}
			c.Faults = c.Faults[:1]
		},
		"crash": func(c *Config) { c.Faults = []Fault{{Kind: Crash, Worker: 1, From: 500, To: 900}} },
	} {
		r := classified(t, tr, given, change)
		n := r.Counters.Classifier
		if n.Held == 0 || n.Paused == 0 {
			t.Errorf("%s: %+v, want some of each", name, n)
		}
		ended := 0
		for i := range r.Requests {
			q := &r.Requests[i]
			if q.Status == Completed || q.Status == Cancelled || q.Refusal == router.WorkerLost {
				ended++
			}
		}
		if ended != tr.Len() || len(r.Finished) != tr.Len() {
			t.Errorf("%s: %d of %d requests ended, %d noted", name, ended, tr.Len(), len(r.Finished))
		}
	}
}

// TestClassifierWithoutPressure: where there is room for all, nothing changes.
func TestClassifierWithoutPressure(t *testing.T) {
	tr := agents(t, 12, 4)
	free := classified(t, tr, nil, nil)
	held := classified(t, tr, map[string]any{"pause_threshold": 1e6, "scheduler_interval_seconds": 0.1}, nil)
	if held.Counters.Classifier != (program.Counters{}) {
		t.Errorf("%+v", held.Counters.Classifier)
	}
	if free.TokenDigest != held.TokenDigest {
		t.Error("a classifier that holds nobody back changes the run")
	}
}
