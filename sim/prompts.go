package sim

import (
	"fmt"
	"math/bits"

	"routesim/workloads"
)

// prompts turns the trace's blocks into the engine's: the identities of the
// complete KV blocks of every request's prompt and answer.
//
// A trace block holds traceBlock tokens, all equal, and an engine block is
// known by everything from the first token to its own last one. So engine
// block j of a prompt is named by the trace node that its last token lies in,
// and by its place among the engine blocks that end in that node. Generated
// tokens are never shared between requests: the blocks that contain any belong
// to nodes of the request's own.
type prompts struct {
	trace      *workloads.Trace
	traceBlock int64
	block      int64
	shift      uint8     // 1<<shift ids per node
	answerNode []uint32  // by row: first node of the blocks with generated tokens
	dynamic    *sessions // nil where the trace's nodes say it all
	hashes     []uint64  // by block of prompts, 0 = not computed yet; nil where nobody asks
}

// newPrompts prepares the block identities for one engine block size.
func newPrompts(t *workloads.Trace, block int32) (*prompts, error) {
	p := &prompts{trace: t, traceBlock: int64(t.BlockSize()), block: int64(block)}
	if t.NumBlockIDs() > 0 && needsSessions(t) {
		p.dynamic = newSessions(t, block)
		return p, nil
	}
	per := (p.traceBlock + p.block - 1) / p.block
	p.shift = uint8(bits.Len64(uint64(per - 1)))
	p.answerNode = make([]uint32, t.Len())
	next := uint64(t.NumNodes())
	for i := range p.answerNode {
		p.answerNode[i] = uint32(next)
		isl, osl := int64(t.InputTokens(i)), int64(t.OutputTokens(i))
		answer := (isl+osl)/p.block - isl/p.block
		next += uint64((answer + 1<<p.shift - 1) >> p.shift)
		if next<<p.shift >= 1<<32-1 {
			return nil, fmt.Errorf("block-size: found %d, expected a larger one: the trace has more than 2^32 KV blocks of that size", block)
		}
	}
	return p, nil
}

// sharedLimit returns the first id that never appears in a prompt.
func (p *prompts) sharedLimit() uint32 {
	if p.dynamic != nil {
		return 1<<32 - 1
	}
	return p.trace.NumNodes() << p.shift
}

// length returns the prompt length of a row, previous turns included.
func (p *prompts) length(row int) int32 {
	if p.dynamic != nil {
		return p.dynamic.length(row)
	}
	return p.trace.InputTokens(row)
}

// appendBlocks appends the identities of the row's complete blocks, prompt and
// answer.
func (p *prompts) appendBlocks(dst []uint32, row int) []uint32 {
	if p.dynamic != nil {
		return p.dynamic.appendBlocks(dst, row)
	}
	isl := int64(p.trace.InputTokens(row))
	full := isl / p.block
	total := (isl + int64(p.trace.OutputTokens(row))) / p.block
	if p.traceBlock%p.block == 0 {
		dst = p.appendAligned(dst, row, full)
	} else {
		for j := int64(0); j < full; j++ {
			t := ((j+1)*p.block - 1) / p.traceBlock
			first := t * p.traceBlock / p.block
			dst = append(dst, p.trace.Nodes(row)[t]<<p.shift+uint32(j-first))
		}
	}
	answer := p.answerNode[row] << p.shift
	for j := full; j < total; j++ {
		dst = append(dst, answer+uint32(j-full))
	}
	return dst
}

// appendAligned is the common case: a whole number of engine blocks per trace
// block.
func (p *prompts) appendAligned(dst []uint32, row int, full int64) []uint32 {
	per := p.traceBlock / p.block
	for _, node := range p.trace.Nodes(row) {
		id := node << p.shift
		for k := min(per, full); k > 0; k-- {
			dst = append(dst, id)
			id++
		}
		if full -= per; full <= 0 {
			break
		}
	}
	return dst
}
