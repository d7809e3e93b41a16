package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/sim"
)

// profileFacts says what a group of workers took from its profile.
func profileFacts(i int, g *settings.Modelled) reports.ProfileFacts {
	p, e := g.Profile, &g.Engine
	blocks, size := int64(e.NumGPUBlocks), int64(e.BlockSize)
	nan := reports.Number(math.NaN())
	evidence := p.Evidence()
	f := reports.ProfileFacts{
		Group: i, Count: g.Count, ID: p.ID, Grade: p.Grade, Flags: append([]string{}, p.Flags...),
		FitError: p.FitError, HeldOut: p.Calibration.HeldOut, Calibration: p.CalibrationID,
		Runs: evidence.Runs, Borrowed: evidence.Borrowed(), Unlike: append([]string{}, evidence.Unlike...),
		KVTokens: blocks * size, KVBlocks: blocks, BlockSize: size,
		KVBasis: reports.KVBasis{
			From: "num_gpu_blocks", Utilization: nan, GPUMemoryGiB: nan, WeightsGiB: nan, OverheadGiB: nan,
			MaxNumSeqs: int64(e.MaxNumSeqs), BatchedTokens: int64(e.MaxNumBatchedTokens),
		},
		RequestMS: reports.Number(g.RequestMS), MaxModelLen: int64(e.MaxModelLen), LimitFrom: g.LimitFrom,
		Context: p.MaxModelLen(), ContextCut: g.ContextCut, Line: p.Summary(),
	}
	if p.OtherGPU() {
		f.HeldOut = nil
	}
	if c := g.Capacity; c != nil {
		f.KVTokens = c.Tokens
		f.KVBasis.From = "profile"
		if c.Recomputed {
			f.KVBasis.From = "recomputed"
		}
		f.KVBasis.Utilization = reports.Number(c.Settings.Utilization)
		if c.Memory.GPUMemoryGiB > 0 {
			f.KVBasis.GPUMemoryGiB, f.KVBasis.WeightsGiB = reports.Number(c.Memory.GPUMemoryGiB), reports.Number(c.Memory.WeightsGiB)
			f.KVBasis.OverheadGiB = reports.Number(c.OverheadGiB)
		}
	}
	return f
}

// factsOf is what is to be said of the profiles of a run's workers.
func factsOf(groups []settings.Modelled) (facts []reports.ProfileFacts) {
	for i := range groups {
		if groups[i].Profile != nil {
			facts = append(facts, profileFacts(i, &groups[i]))
		}
	}
	return facts
}

// workersOf returns the groups of a pool as a run takes them.
func workersOf(groups []settings.Modelled) (pool []sim.Group) {
	for i := range groups {
		pool = append(pool, groups[i].Group)
	}
	return pool
}

// profileNames returns the id of each profile of a run once.
func profileNames(facts []reports.ProfileFacts) (ids []string) {
	for i := range facts {
		if !slices.Contains(ids, facts[i].ID) {
			ids = append(ids, facts[i].ID)
		}
	}
	return ids
}

// nameProfiles names each profile of a run with its grade and its errors.
func nameProfiles(w io.Writer, facts []reports.ProfileFacts) {
	seen := map[string]bool{}
	for i := range facts {
		if f := &facts[i]; !seen[f.ID] {
			seen[f.ID] = true
			fmt.Fprintf(w, "profile: %s\n", f.Line)
		}
	}
}
