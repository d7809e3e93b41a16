package sim

import (
	"context"
	"strings"
	"testing"

	"routesim/models"
	"routesim/workloads"
)

// TestTimesBeyondReachAreRefused feeds arrivals and step times that a clock in
// binary64 milliseconds cannot hold.
func TestTimesBeyondReachAreRefused(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, last float64 // arrivals, ms
		speedup     float64
		step        float64 // ms
		want        string  // in the error
	}{
		{"late", 0, 1e308, 1, 5, "timestamp: found 1e+308 in line 2"},
		{"late at this speed-up", 0, 1e14, 0.01, 5, "1e+16 ms after the first arrival"},
		{"difference overflows", -1e308, 1e308, 1, 5, "timestamp: found 1e+308 in line 2"},
		{"step overflows", 0, 1, 1, 1e308, "timing: found a pass that starts at 0 ms"},
		{"within reach", 0, 1e14, 1, 5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace, err := workloads.FromRows(workloads.BuilderOptions{},
				workloads.Row{Timestamp: c.first, InputLength: 64, OutputLength: 2, HashIDs: []uint64{1}},
				workloads.Row{Timestamp: c.last, InputLength: 64, OutputLength: 2, HashIDs: []uint64{2}})
			if err != nil {
				t.Fatal(err)
			}
			timing, err := models.NewFixed(c.step, c.step, models.TimingOptions{SpeedupRatio: 1, DecodeSpeedupRatio: 1, CapacityTokens: 1})
			if err != nil {
				t.Fatal(err)
			}
			cfg := DefaultConfig(1, timing)
			cfg.ArrivalSpeedup = c.speedup
			_, err = Run(context.Background(), trace, &cfg)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q in it", err, c.want)
			}
		})
	}
}

// TestRequestsThatNeverEnd: a run with nothing left to happen is an error while a
// request that reached a router has not ended, and says which and where it is.
func TestRequestsThatNeverEnd(t *testing.T) {
	trace, err := workloads.FromRows(workloads.BuilderOptions{BlockSize: 64},
		workloads.Row{InputLength: 64, OutputLength: 2, HashIDs: []uint64{1}}, workloads.Row{InputLength: 64, OutputLength: 2, HashIDs: []uint64{2}})
	if err != nil {
		t.Fatal(err)
	}
	timing, err := models.NewFixed(5, 5, models.TimingOptions{SpeedupRatio: 1, DecodeSpeedupRatio: 1, CapacityTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	for _, c := range []struct {
		name   string
		change func(*Config)
		arrive int32 // rows that reach a router
		want   string
	}{
		{"nobody came", func(*Config) {}, 0, ""},
		{"on a worker", func(*Config) {}, 1, "request of line 1: found it waiting in worker 0 with nothing left to happen at 0 ms, 1 of 1 requests unfinished"},
		{"in the router's queue", func(c *Config) { c.Router.QueueThreshold = &zero }, 2, "2 of 2 requests unfinished"},
		{"in pools", func(c *Config) { c.Prefill = c.Fleet }, 1, "stuck at 0 ms with 1 requests in flight"},
	} {
		cfg := DefaultConfig(1, timing)
		c.change(&cfg)
		s, err := newSimulation(trace, &cfg)
		if err != nil {
			t.Fatal(err)
		}
		for row := range c.arrive {
			if s.pd != nil {
				s.pd.enter(row, 0)
			} else {
				s.arrive(row, 0)
			}
		}
		err = s.unfinished()
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", c.name, err, c.want)
		}
	}
}
