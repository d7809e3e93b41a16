package router

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBypasses holds each threshold at the last value on either side.
func TestBypasses(t *testing.T) {
	queue := 0.5
	for _, c := range []struct {
		name    string
		rule    Conditional
		isl     int32
		decode  Preview
		prefill Preview
		want    bool
	}{
		{"short", Conditional{ISLThreshold: 100, ISLRatioThreshold: 0.5}, 200, Preview{Cached: 101}, Preview{}, true},
		{"one token too many", Conditional{ISLThreshold: 100, ISLRatioThreshold: 1}, 200, Preview{Cached: 100}, Preview{}, false},
		{"half of the prompt", Conditional{ISLThreshold: 2048, ISLRatioThreshold: 0.5}, 200, Preview{Cached: 100}, Preview{}, false},
		{"nothing cached", Conditional{ISLThreshold: 2048, ISLRatioThreshold: 1}, 200, Preview{}, Preview{}, false},
		{"no decode worker", Conditional{ISLThreshold: 2048, ISLRatioThreshold: 1}, 200, Preview{Target: -1}, Preview{}, false},
		{"load is not asked", Conditional{ISLThreshold: 10, ISLRatioThreshold: 1}, 200, Preview{}, Preview{Prefill: 1 << 20, BatchLimit: 1}, false},

		{"busy", Conditional{Rule: PrefillLoad}, 200, Preview{}, Preview{Prefill: 51, BatchLimit: 100}, true},
		{"at the threshold", Conditional{Rule: PrefillLoad}, 200, Preview{}, Preview{Prefill: 50, BatchLimit: 100}, false},
		{"own threshold", Conditional{Rule: PrefillLoad, PrefillBusyThreshold: new(float64)}, 200, Preview{}, Preview{Prefill: 1, BatchLimit: 100}, true},
		{"queue full", Conditional{Rule: PrefillLoad}, 200, Preview{}, Preview{Target: -1, Full: true}, true},
		{"not known", Conditional{Rule: PrefillLoad}, 200, Preview{}, Preview{Target: -1}, false},
		{"short is not asked", Conditional{Rule: PrefillLoad, ISLThreshold: 2048, ISLRatioThreshold: 1}, 200, Preview{Cached: 200}, Preview{BatchLimit: 100}, false},

		{"either: short", Conditional{Rule: ISLOrLoad, ISLThreshold: 100, ISLRatioThreshold: 1}, 200, Preview{Cached: 150}, Preview{BatchLimit: 100}, true},
		{"either: busy", Conditional{Rule: ISLOrLoad, ISLThreshold: 100, ISLRatioThreshold: 1}, 200, Preview{}, Preview{Prefill: 51, BatchLimit: 100}, true},
		{"either: neither", Conditional{Rule: ISLOrLoad, ISLThreshold: 100, ISLRatioThreshold: 1}, 200, Preview{}, Preview{Prefill: 50, BatchLimit: 100}, false},

		{"guard", Conditional{ISLThreshold: 100, ISLRatioThreshold: 1, DecodeBusyThreshold: &queue}, 200, Preview{Cached: 200, Blocks: 50, Pool: 100}, Preview{}, true},
		{"guarded", Conditional{ISLThreshold: 100, ISLRatioThreshold: 1, DecodeBusyThreshold: &queue}, 200, Preview{Cached: 200, Blocks: 51, Pool: 100}, Preview{}, false},
		{"an empty prompt", Conditional{ISLThreshold: 1, ISLRatioThreshold: 0.1}, 0, Preview{}, Preview{}, true},
	} {
		p := DefaultParams()
		p.QueueThreshold = &queue
		c.rule.PrefillBusyThreshold = c.rule.busyThreshold(&p)
		if got := c.rule.Bypasses(c.isl, &c.decode, func() Preview { return c.prefill }); got != c.want {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestConditionalSettings refuses what the rules cannot work with.
func TestConditionalSettings(t *testing.T) {
	nan := []float64{-1}
	for want, c := range map[string]Conditional{
		"eff-isl-ratio-threshold: found 1.5": {ISLRatioThreshold: 1.5},
		"eff-isl-threshold: found -1":        {ISLThreshold: -1},
		"prefill-busy-threshold: found -1":   {PrefillBusyThreshold: &nan[0]},
		"decode-busy-threshold: found -1":    {DecodeBusyThreshold: &nan[0]},
		"policy: found prefill_load without": {Rule: PrefillLoad},
		"policy: found isl_or_load without":  {Rule: ISLOrLoad},
	} {
		p, l := DefaultParams(), DefaultLive()
		p.Live, l.Conditional = &l, &c
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "conditional-disagg-"+want) {
			t.Errorf("found %v, expected %q", err, want)
		}
		p.QueueThreshold = new(float64)
		if c.Rule != ISLBounding && p.Validate() != nil {
			t.Errorf("with a queue threshold: %v", p.Validate())
		}
	}
}

// TestPreviewIsTheDecision: what comes next is what the preview said, at any
// temperature, and the preview leaves no trace.
func TestPreviewIsTheDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := DefaultLive()
		p := DefaultParams()
		p.Live = &l
		p.Temperature = rapid.SampledFrom([]float64{0, 1}).Draw(t, "temperature")
		if rapid.Bool().Draw(t, "affinity") {
			l.AffinityTTLSecs = 10
		}
		asked, plain := New(p, Targets(8192, 8192, 8192), 4, 0, 7), New(p, Targets(8192, 8192, 8192), 4, 0, 7)
		for i := range rapid.IntRange(1, 20).Draw(t, "requests") {
			isl := rapid.Int32Range(1, 40).Draw(t, "isl")
			blocks := make([]uint32, isl/4)
			for k := range blocks {
				blocks[k] = uint32(k)
			}
			session := int32(rapid.IntRange(-1, 2).Draw(t, "session"))
			a := &Request{Row: int32(i), ISL: isl, Blocks: blocks, Session: session, Worker: -1, Rank: -1}
			b := *a
			asked.SetNow(float64(i))
			preview := asked.Preview(a)
			x, _ := asked.Arrive(a, float64(i), -1)
			y, _ := plain.Arrive(&b, float64(i), -1)
			if preview.Target != x.Worker || x != y || asked.Counters != plain.Counters {
				t.Fatalf("preview %+v, decision %+v, without a preview %+v", preview, x, y)
			}
		}
	})
}

// TestStages: what holds for the router of a stage wins over the settings and
// over a policy's weights.
func TestStages(t *testing.T) {
	l := DefaultLive()
	l.TrackOutputBlocks = true
	p := DefaultParams()
	p.Live, p.QueueThreshold = &l, new(float64)
	if pre := p.For(PrefillStage); pre.TrackActiveBlocks || pre.Live.TrackOutputBlocks || !pre.TrackPrefillTokens || pre.OverlapScoreCredit != 1 || pre.QueueThreshold == nil {
		t.Errorf("prefill: %+v", pre)
	}
	dec := p.For(DecodeStage)
	if !dec.TrackActiveBlocks || !dec.Live.TrackOutputBlocks || dec.TrackPrefillTokens || dec.AssumeKVReuse || dec.OverlapScoreCredit != 0 || dec.QueueThreshold != nil {
		t.Errorf("decode: %+v", dec)
	}
	if New(dec, Targets(8192), 64, 0, 0).WantsEvents() {
		t.Error("the decode router listens to KV events")
	}
	rule := DefaultConditional()
	l.Conditional = &rule
	if dec = p.For(DecodeStage); dec.OverlapScoreCredit != 1 || dec.TrackPrefillTokens || dec.AssumeKVReuse {
		t.Errorf("decode, conditional: %+v", dec)
	}
	if r := New(dec, Targets(8192), 64, 0, 0); !r.WantsEvents() || !r.minus {
		t.Error("the decode router of conditional disaggregation sees no cache")
	}
	p.TrackPrefillTokens = false
	if New(p.For(PrefillStage), Targets(8192), 64, 0, 0).minus {
		t.Error("the prefill router takes the credit off a decode term")
	}
	if !l.TrackOutputBlocks || l.Policy != nil {
		t.Error("the settings themselves changed")
	}
}
