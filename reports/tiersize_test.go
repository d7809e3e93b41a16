package reports

import (
	"strings"
	"testing"

	"routesim/sim"
	"routesim/sim/engine"
)

func tiered(host engine.HostOffload, disk engine.DiskOffload, ranks int32) sim.Group {
	p := engine.Params{NumGPUBlocks: 6778, BlockSize: 64, DPSize: ranks, Host: host, Disk: disk}
	p.Host.BytesPerToken = 327680 // 80 layers of 8 KV heads of 128 dimensions in bf16, keys and values
	return sim.Group{Count: 2, Engine: p}
}

func TestTierSizes(t *testing.T) {
	local := tiered(engine.HostOffload{Blocks: 20000}, engine.DiskOffload{Blocks: 100000}, 1)
	for name, c := range map[string]struct {
		prefill, fleet []sim.Group
		host, disk     string
	}{
		"local":  {nil, []sim.Group{local, local}, "20,000 blocks, 419 GB per worker", "100,000 blocks, 2,097 GB per worker"},
		"ranks":  {nil, []sim.Group{tiered(engine.HostOffload{Blocks: 1000}, engine.DiskOffload{}, 4)}, "1,000 blocks a rank, 83.9 GB per worker", ""},
		"shared": {nil, []sim.Group{tiered(engine.HostOffload{Blocks: 1000, Shared: true}, engine.DiskOffload{}, 4)}, "1,000 blocks, 21.0 GB for all workers", ""},
		"none":   {nil, []sim.Group{tiered(engine.HostOffload{}, engine.DiskOffload{}, 1)}, "", ""},
		"pools": {[]sim.Group{tiered(engine.HostOffload{Blocks: 1000}, engine.DiskOffload{}, 1)}, []sim.Group{tiered(engine.HostOffload{Blocks: 1}, engine.DiskOffload{}, 1)},
			"prefill 1,000 blocks, 21.0 GB per worker; decode 1 block, 0.0210 GB per worker", ""},
	} {
		sizes := TierSizes(c.prefill, c.fleet)
		if host, disk := SizesOf("host", sizes), SizesOf("disk", sizes); host != c.host || disk != c.disk {
			t.Errorf("%s: found %q and %q, expected %q and %q", name, host, disk, c.host, c.disk)
		}
	}
	if s := TierSizes(nil, []sim.Group{local})[0]; float64(s.Bytes) != 20000*64*327680 {
		t.Errorf("found %v bytes", s.Bytes)
	}
}

func TestSmallTiersAreNamed(t *testing.T) {
	host := func(blocks int32, shared bool) engine.HostOffload {
		return engine.HostOffload{Blocks: blocks, Shared: shared}
	}
	disk := func(blocks int32, shared bool) engine.DiskOffload {
		return engine.DiskOffload{Blocks: blocks, Shared: shared}
	}
	for _, c := range []struct {
		host engine.HostOffload
		disk engine.DiskOffload
		want string
	}{
		{host(0, false), disk(0, false), ""},
		{host(6777, false), disk(0, false), "A host tier of 6,777 blocks is smaller than the KV pool of its device, 6,778:"},
		{host(6778, false), disk(0, false), ""},
		{host(100, true), disk(0, false), ""},
		{host(10000, false), disk(9999, false), "A disk tier of 9,999 blocks is smaller than the host tier, 10,000:"},
		{host(10000, false), disk(10000, false), ""},
		{host(10000, false), disk(10, true), ""},
	} {
		f := &facts{config: &sim.Config{Fleet: []sim.Group{tiered(c.host, c.disk, 1)}}}
		if got := f.smallTier(); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v %+v: found %q, expected %q", c.host, c.disk, got, c.want)
		}
	}
}
