package router

import "math"

// outputs counts active blocks with output tokens (router_track_output_blocks):
// whenever an answer outgrows the blocks its request holds, blocks of its own
// are added. With an expected output length every such growth sets a weight
//
//	f = max(0, 1 - generated / max(1, expected))
//
// on the request's output blocks and on the part of its prompt that no other
// active request of the target has: the nearer the end, the less they count.
// Weights are whole multiples of 2^-32: their sum is exact, so that it does not
// depend on how often an answer was looked at while it grew.
type outputs struct {
	targets []outputTarget
}

// weight is one of blocks, in units of 2^-32 blocks.
type weight int64

const oneBlock weight = 1 << 32

func weightOf(f float64) weight { return weight(math.RoundToEven(f * float64(oneBlock))) }

type outputTarget struct {
	blocks map[uint32]*sharedBlock
	weight weight // of all blocks
}

// sharedBlock is a prompt block of active requests.
type sharedBlock struct {
	owners int32
	weight weight
}

// grown is what a request's answer adds.
type grown struct {
	tokens int32  // generated when last looked at
	blocks int64  // output blocks
	weight weight // of each
}

func newOutputs(targets int) *outputs {
	o := &outputs{targets: make([]outputTarget, targets)}
	for i := range o.targets {
		o.targets[i].blocks = map[uint32]*sharedBlock{}
	}
	return o
}

// activeBlocks returns a target's B: the weights, rounded.
func (o *outputs) activeBlocks(w int32) int64 {
	return int64((o.targets[w].weight + oneBlock/2) / oneBlock)
}

// book enters a request's prompt.
func (o *outputs) book(b *booking) {
	t := &o.targets[b.worker]
	t.weight += oneBlock * weight(b.private)
	b.privateWeight = oneBlock
	for _, id := range b.blocks {
		s := t.blocks[id]
		if s == nil {
			s = &sharedBlock{weight: oneBlock}
			t.blocks[id] = s
			t.weight += oneBlock
		}
		s.owners++
	}
}

// grow looks at how many tokens a request has generated.
func (o *outputs) grow(b *booking, isl, blockSize, generated int32, expected *int32) {
	if generated == b.answer.tokens {
		return
	}
	before := b.answer.tokens
	b.answer.tokens = generated
	held := int64(len(b.blocks)) + int64(b.private) + b.answer.blocks
	due := (int64(isl) + int64(generated) + int64(blockSize) - 1) / int64(blockSize)
	if due <= held {
		return
	}
	// The weight is that of the moment of the last growth.
	f := oneBlock
	if expected != nil {
		at := max(int64(before)+1, (due-1)*int64(blockSize)+1-int64(isl))
		f = weightOf(max(0, 1-float64(at)/float64(max(1, *expected))))
	}
	t := &o.targets[b.worker]
	t.weight += f*weight(due-held+b.answer.blocks) - b.answer.weight*weight(b.answer.blocks)
	b.answer.blocks += due - held
	b.answer.weight = f
	if expected == nil {
		return
	}
	t.weight += (f - b.privateWeight) * weight(b.private)
	b.privateWeight = f
	for i := len(b.blocks) - 1; i >= 0; i-- {
		s := t.blocks[b.blocks[i]]
		if s.owners > 1 {
			break
		}
		t.weight += f - s.weight
		s.weight = f
	}
}

// free takes out all blocks of a request.
func (o *outputs) free(b *booking) {
	t := &o.targets[b.worker]
	t.weight -= b.answer.weight*weight(b.answer.blocks) + b.privateWeight*weight(b.private)
	for _, id := range b.blocks {
		s := t.blocks[id]
		if s.owners--; s.owners == 0 {
			t.weight -= s.weight
			delete(t.blocks, id)
		}
	}
	b.answer = grown{}
}
