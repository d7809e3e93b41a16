package router

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestOutputVector is the figure measured on Dynamo: three prompt blocks, which
// another request has too, and one block of output at a weight of a half weigh
// 3.5 and are reported as 4. Alone, the prompt fades with the answer.
func TestOutputVector(t *testing.T) {
	osl := int32(8)
	for _, c := range []struct {
		shared bool
		weight float64
		blocks int64
	}{{true, 3.5, 4}, {false, 2, 2}} {
		o := newOutputs(1)
		a := &booking{blocks: []uint32{1, 2, 3}}
		o.book(a)
		if c.shared {
			o.book(&booking{blocks: []uint32{1, 2, 3}})
		}
		// Nine tokens and four more need a fourth block of four: f = 1 - 4/8.
		o.grow(a, 9, 4, 4, &osl)
		if w := float64(o.targets[0].weight) / float64(oneBlock); w != c.weight || o.activeBlocks(0) != c.blocks {
			t.Errorf("shared %v: weight %v, reported %d, expected %v and %d", c.shared, w, o.activeBlocks(0), c.weight, c.blocks)
		}
	}
}

// TestOutputsAgainstTokenByToken compares jumps of many tokens with a model that
// sees every token and counts blocks from scratch.
func TestOutputsAgainstTokenByToken(t *testing.T) {
	type request struct {
		b         *booking
		isl, osl  int32
		generated int32
		out       int
		f         float64
	}
	rapid.Check(t, func(t *rapid.T) {
		const bs = 4
		o := newOutputs(1)
		var live []*request
		weights := map[uint32]float64{} // of prompt blocks
		owners := func(id uint32) (n int) {
			for _, r := range live {
				for _, x := range r.b.blocks {
					if x == id {
						n++
					}
				}
			}
			return n
		}
		token := func(r *request) {
			r.generated++
			if due := int((r.isl + r.generated + bs - 1) / bs); due > len(r.b.blocks)+r.out {
				r.out = due - len(r.b.blocks)
				r.f = 1
				if r.osl >= 0 {
					r.f = math.Max(0, 1-float64(r.generated)/math.Max(1, float64(r.osl)))
					for i := len(r.b.blocks) - 1; i >= 0 && owners(r.b.blocks[i]) == 1; i-- {
						weights[r.b.blocks[i]] = r.f
					}
				}
			}
		}
		for range 30 {
			switch k := rapid.IntRange(0, 3).Draw(t, "step"); {
			case k == 0 || len(live) == 0:
				r := &request{isl: rapid.Int32Range(0, 20).Draw(t, "isl"), osl: rapid.Int32Range(-1, 12).Draw(t, "osl"), b: &booking{}}
				family := rapid.Uint32Range(0, 1).Draw(t, "family")
				for i := range uint32(r.isl / bs) {
					r.b.blocks = append(r.b.blocks, family*100+i)
				}
				o.book(r.b)
				live = append(live, r)
				for _, id := range r.b.blocks {
					if owners(id) == 1 {
						weights[id] = 1
					}
				}
			case k == 1:
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				o.free(live[i].b)
				live = append(live[:i], live[i+1:]...)
			default:
				r := live[rapid.IntRange(0, len(live)-1).Draw(t, "which")]
				for range rapid.IntRange(1, 9).Draw(t, "tokens") {
					token(r)
				}
				var expected *int32
				if r.osl >= 0 {
					expected = &r.osl
				}
				o.grow(r.b, r.isl, bs, r.generated, expected)
			}
			want, seen := 0.0, map[uint32]bool{}
			for _, r := range live {
				want += r.f * float64(r.out)
				for _, id := range r.b.blocks {
					if !seen[id] {
						seen[id] = true
						want += weights[id]
					}
				}
			}
			if got := float64(o.targets[0].weight) / float64(oneBlock); math.Abs(got-want) > 1e-7 {
				t.Fatalf("weight %v, expected %v", got, want)
			}
		}
	})
}
