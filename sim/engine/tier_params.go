package engine

import (
	"fmt"
	"math"

	"routesim/workloads"
)

// HostOffload are the settings of vLLM's native offload of KV blocks to host
// memory, as Dynamo's replay models it. The zero value is none.
type HostOffload struct {
	Blocks         int32   // capacity in KV blocks of a rank's tier, or of the one that all share; 0 = no host tier
	Shared         bool    // the ranks of the fleet have one tier together
	D2HGBPerSecond float64 // from the device to the host, decimal, 0 = in no time
	H2DGBPerSecond float64 // and back
	LatencyMS      float64 // until the first byte of a transfer
	BytesPerToken  float64 // of KV
	// Of all ranks together, where they share.
	SharedD2HGBPerSecond, SharedH2DGBPerSecond float64
}

// validate reports the first setting of a host tier that cannot be.
func (h *HostOffload) validate(p *Params) error {
	if h.Blocks < 0 {
		return fmt.Errorf("num-host-blocks: found %d, expected at least 1 block, or none", h.Blocks)
	}
	if h.Blocks == 0 {
		return nil
	}
	switch {
	case !(h.LatencyMS >= 0 && h.LatencyMS <= workloads.EndOfTimeMS):
		return fmt.Errorf("host-offload-latency-ms: found %v, expected a number from 0 to %v", h.LatencyMS, workloads.EndOfTimeMS)
	case p.Backend != VLLM:
		return fmt.Errorf("num-host-blocks: found %d with the engine %v, expected none: offload to the host is modelled for vllm", h.Blocks, p.Backend)
	case !p.EnablePrefixCaching:
		return fmt.Errorf("num-host-blocks: found %d without enable-prefix-caching, expected both: only blocks of the prefix cache are offloaded", h.Blocks)
	case p.Draft.Tokens > 0:
		return fmt.Errorf("num-host-blocks: found %d with aic-nextn, expected one or the other", h.Blocks)
	case !(h.BytesPerToken > 0 && h.BytesPerToken <= math.MaxFloat64):
		return fmt.Errorf("kv-cache-bytes-per-token: found %v with num-host-blocks, expected a number of bytes above 0: it is what a block's transfer takes its time from (a profile has one)", h.BytesPerToken)
	}
	return h.validateRates(p.BlockSize)
}

// validateRates reports the first rate of a host tier that cannot be.
func (h *HostOffload) validateRates(blockSize int32) error {
	for _, f := range []struct {
		name string
		rate float64
	}{
		{"host-offload-d2h-bandwidth-gbps", h.D2HGBPerSecond},
		{"host-offload-h2d-bandwidth-gbps", h.H2DGBPerSecond},
		{"host-offload-shared-d2h-bandwidth-gbps", h.SharedD2HGBPerSecond},
		{"host-offload-shared-h2d-bandwidth-gbps", h.SharedH2DGBPerSecond},
	} {
		if !(f.rate >= 0 && f.rate <= math.MaxFloat64) {
			return fmt.Errorf("%s: found %v, expected a finite number of at least 0", f.name, f.rate)
		}
		l := link{gbPerSecond: f.rate}
		if ms := l.submit(0, float64(h.BytesPerToken*float64(blockSize))); !(ms <= workloads.EndOfTimeMS) {
			return fmt.Errorf("%s: found %v GB/s, at which a block of %d tokens of %v bytes (kv-cache-bytes-per-token) takes %v ms, expected at most %v ms", f.name, f.rate, blockSize, h.BytesPerToken, ms, workloads.EndOfTimeMS)
		}
	}
	return nil
}

// DiskOffload are the settings of a disk tier behind the host tier of vLLM's
// native offload, as Dynamo's replay models it. The zero value is none.
type DiskOffload struct {
	Blocks int32 // capacity in KV blocks of a worker's disk, or of the one that all share; 0 = no disk tier
	Shared bool  // the workers of the fleet have one disk together
	// Decimal, 0 = no limit: of each worker, and of the shared disk.
	ReadGBPerSecond, WriteGBPerSecond             float64
	SharedReadGBPerSecond, SharedWriteGBPerSecond float64
	LatencyMS                                     float64 // until the first byte of a transfer
}

// validate reports the first setting of a disk tier that cannot be.
func (d *DiskOffload) validate(p *Params) error {
	switch {
	case d.Blocks < 0:
		return fmt.Errorf("num-disk-blocks: found %d, expected at least 1 block, or none", d.Blocks)
	case d.Blocks == 0:
		return nil
	case p.Host.Blocks == 0:
		return fmt.Errorf("num-disk-blocks: found %d without num-host-blocks, expected both: what goes to the disk and back passes through the host", d.Blocks)
	case p.DPSize > 1:
		return fmt.Errorf("num-disk-blocks: found %d with dp-size %d, expected 1 rank: a disk tier is modelled for workers of one", d.Blocks, p.DPSize)
	}
	if !(d.LatencyMS >= 0 && d.LatencyMS <= workloads.EndOfTimeMS) {
		return fmt.Errorf("disk-offload-latency-ms: found %v, expected a number from 0 to %v", d.LatencyMS, workloads.EndOfTimeMS)
	}
	return d.validateRates(float64(p.Host.BytesPerToken * float64(p.BlockSize)))
}

// validateRates reports the first rate of a disk tier that cannot be.
func (d *DiskOffload) validateRates(blockBytes float64) error {
	for _, f := range []struct {
		name string
		rate float64
	}{
		{"disk-offload-read-bandwidth-gbps", d.ReadGBPerSecond},
		{"disk-offload-write-bandwidth-gbps", d.WriteGBPerSecond},
		{"disk-offload-shared-read-bandwidth-gbps", d.SharedReadGBPerSecond},
		{"disk-offload-shared-write-bandwidth-gbps", d.SharedWriteGBPerSecond},
	} {
		if !(f.rate >= 0 && f.rate <= math.MaxFloat64) {
			return fmt.Errorf("%s: found %v, expected a finite number of at least 0", f.name, f.rate)
		}
		if ms := blockBytes / perMS(f.rate); !(ms <= workloads.EndOfTimeMS) {
			return fmt.Errorf("%s: found %v GB/s, at which a block of %v bytes takes %v ms, expected at most %v ms", f.name, f.rate, blockBytes, ms, workloads.EndOfTimeMS)
		}
	}
	return nil
}
