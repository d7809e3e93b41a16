package sim

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/engine"
)

// drawHost gives the workers of some scenarios host tiers.
func drawHost(t *rapid.T, s *scenario) {
	first := &s.cfg.Fleet[0].Engine
	if first.Backend != engine.VLLM || first.Draft.Tokens > 0 || s.cfg.Disaggregated() || !chance(t, "host tier", 30) {
		return
	}
	defer shareTiers(t, s)
	rate := oneOf(t, "rate", 0, 1e-5, 1e-4, 1e-3)
	for i := range s.cfg.Fleet {
		if e := &s.cfg.Fleet[i].Engine; e.EnablePrefixCaching {
			e.Host = hostTier(t, rate)
			drawDisk(t, e)
		}
	}
}

func hostTier(t *rapid.T, rate float64) engine.HostOffload {
	return engine.HostOffload{
		Blocks: rapid.Int32Range(1, 150).Draw(t, "host blocks"), BytesPerToken: 100,
		D2HGBPerSecond: rate, H2DGBPerSecond: oneOf(t, "rate back", 0, 1e-5, 1e-4, 1e-3),
		LatencyMS: oneOf(t, "latency", 0, 0, 0.5, 30),
	}
}

// drawPoolHosts gives the workers of one pool or both a host tier, now and then.
func drawPoolHosts(t *rapid.T, s *scenario) {
	first := &s.cfg.Fleet[0].Engine
	if first.Backend != engine.VLLM || first.Draft.Tokens > 0 || first.DPSize > 1 || !chance(t, "host tiers in pools", 35) {
		return
	}
	rate := oneOf(t, "rate", 0, 1e-5, 1e-4, 1e-3)
	for _, groups := range [][]Group{s.cfg.Prefill, s.cfg.Fleet} {
		for i := range groups {
			if e := &groups[i].Engine; e.EnablePrefixCaching && chance(t, "host tier", 70) {
				e.Host = hostTier(t, rate)
			}
		}
	}
}

// drawDisk gives a worker with a host tier a disk tier, now and then.
func drawDisk(t *rapid.T, e *engine.Params) {
	if e.DPSize > 1 || !chance(t, "disk tier", 50) {
		return
	}
	e.Disk = engine.DiskOffload{
		Blocks: rapid.Int32Range(1, 300).Draw(t, "disk blocks"), LatencyMS: oneOf(t, "disk latency", 0, 0.1, 20),
		ReadGBPerSecond: oneOf(t, "read rate", 0, 1e-5, 1e-3), WriteGBPerSecond: oneOf(t, "write rate", 0, 1e-5, 1e-3),
	}
}

// shareTiers has all workers with a host tier share one, now and then, and all with
// a disk.
func shareTiers(t *rapid.T, s *scenario) {
	if host := (engine.HostOffload{}); chance(t, "one host", 40) {
		for i := range s.cfg.Fleet {
			h := &s.cfg.Fleet[i].Engine.Host
			switch {
			case h.Blocks == 0:
			case host.Blocks == 0:
				h.Shared, h.SharedD2HGBPerSecond, h.SharedH2DGBPerSecond = true, oneOf(t, "all store", 0, 1e-4), oneOf(t, "all load", 0, 1e-5)
				host = *h
			default:
				*h = host
			}
		}
	}
	if !chance(t, "one disk", 50) {
		return
	}
	var one *engine.DiskOffload
	for i := range s.cfg.Fleet {
		d := &s.cfg.Fleet[i].Engine.Disk
		switch {
		case d.Blocks == 0:
		case one == nil:
			one = d
			d.Shared, d.SharedReadGBPerSecond, d.SharedWriteGBPerSecond = true, oneOf(t, "all read", 0, 1e-5), oneOf(t, "all write", 0, 1e-4)
		default:
			*d = *one
		}
	}
}

// checkHost checks the accounts of the host tiers: what is moved is moved in
// whole blocks, nothing is dropped that was not stored, and no request reuses
// more than was loaded.
func checkHost(t *rapid.T, s *scenario, res *Result) {
	var loaded, reused, inPool int64
	worker := 0
	for i := range s.cfg.Fleet {
		e := &s.cfg.Fleet[i].Engine
		for range s.cfg.Fleet[i].Count * s.cfg.Fleet[i].Ranks() {
			h, d := &res.Workers[worker].Host, &res.Workers[worker].Disk
			worker++
			loaded += h.LoadedBlocks * int64(e.BlockSize)
			if bytes := float64(h.LoadedBlocks+h.StoredBlocks) * e.Host.BytesPerToken * float64(e.BlockSize); h.Bytes != bytes {
				t.Fatalf("worker %d moved %v bytes, expected %v for %+v", worker-1, h.Bytes, bytes, h)
			}
			came := h.StoredBlocks + d.ReadBlocks
			if d.ReadBlocks > 0 && e.Disk.Blocks == 0 || !e.Disk.Shared && (d.Evictions > d.WrittenBlocks || d.WrittenBlocks-d.Evictions > int64(e.Disk.Blocks) || d.ForeignBlocks > 0) {
				t.Fatalf("worker %d: %+v on a disk for %d blocks", worker-1, d, e.Disk.Blocks)
			}
			if e.Host.Shared {
				inPool += came - h.Evictions
				came = h.Evictions
			}
			if h.Evictions > came || came-h.Evictions > int64(e.Host.Blocks) || h.Loads > h.LoadedBlocks || h.Stores > h.StoredBlocks {
				t.Fatalf("worker %d: %+v with room for %d blocks", worker-1, h, e.Host.Blocks)
			}
		}
	}
	if !res.Stopped && res.HostPool.Capacity > 0 && (inPool != res.HostPool.Resident || inPool > res.HostPool.Capacity) {
		t.Fatalf("%d blocks came to the shared host and did not go, it holds %+v", inPool, res.HostPool)
	}
	for i := range res.Requests {
		r := &res.Requests[i]
		reused += int64(r.HostReused)
		if r.HostReused > r.FirstReused {
			t.Fatalf("row %d reused %d tokens, %d of them from the host", i, r.FirstReused, r.HostReused)
		}
	}
	if reused > loaded {
		t.Fatalf("%d tokens reused from hosts, %d loaded", reused, loaded)
	}
}

// TestNoUseForAHost: with a pool that never evicts, tiers of a worker's own change
// nothing but what they copy.
func TestNoUseForAHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.MaxSimTimeMS = nil
		plain := s.cfg
		for i := range s.cfg.Fleet {
			s.cfg.Fleet[i].Engine.NumGPUBlocks = 100_000
		}
		plain.Fleet = slices.Clone(s.cfg.Fleet)
		drawHost(t, s)
		for i := range s.cfg.Fleet {
			s.cfg.Fleet[i].Engine.Host.Shared, s.cfg.Fleet[i].Engine.Disk.Shared = false, false
		}
		with, err := s.run(t, nil)
		without, errWithout := Run(context.Background(), s.trace(t), &plain)
		if (err == nil) != (errWithout == nil) {
			t.Fatalf("with a host tier: %v, without: %v", err, errWithout)
		}
		if err != nil {
			return
		}
		if with.TokenDigest != without.TokenDigest {
			t.Fatal("a host tier that nobody needs changed token times")
		}
		for i := range with.Requests {
			if a, b := with.Requests[i].Worker, without.Requests[i].Worker; a != b || with.Requests[i].HostReused > 0 {
				t.Fatalf("row %d went to worker %d with a host tier and to %d without; %d tokens came from the host", i, a, b, with.Requests[i].HostReused)
			}
		}
	})
}
