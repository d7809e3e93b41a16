package sim

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// hashSeed is the seed of Dynamo's block hashes (lib/tokens/src/lib.rs).
const hashSeed = 1337

// keepHashes makes hash answer for the blocks of prompts as Dynamo does.
func (p *prompts) keepHashes() {
	if p.dynamic == nil {
		p.hashes = make([]uint64, p.sharedLimit())
	}
}

// hash returns a hash of a block's tokens and of everything before them: for
// blocks of prompts the one that Dynamo names them by, for others one that has
// only its spread.
func (p *prompts) hash(block uint32) uint64 {
	if int(block) < len(p.hashes) {
		return p.hashes[block]
	}
	return xxh3.HashSeed(binary.LittleEndian.AppendUint32(nil, block), hashSeed)
}

// hashRow computes the hashes of a row's prompt blocks that nobody had before.
// A block's own hash covers its tokens, 4 bytes each, and is chained to the hash
// of the block before it.
func (p *prompts) hashRow(row int, blocks []uint32) {
	if p.hashes == nil {
		return
	}
	var chained [16]byte
	var tokens []byte
	before := uint64(0)
	for i, b := range blocks {
		if p.hashes[b] == 0 {
			tokens = p.appendTokens(tokens[:0], row, int64(i)*p.block)
			own := xxh3.HashSeed(tokens, hashSeed)
			if i > 0 {
				binary.LittleEndian.PutUint64(chained[:8], before)
				binary.LittleEndian.PutUint64(chained[8:], own)
				own = xxh3.HashSeed(chained[:], hashSeed)
			}
			p.hashes[b] = own
		}
		before = p.hashes[b]
	}
}

// appendTokens appends the tokens of one engine block of a row's prompt. Every
// token of a trace block is the number of its hash id.
func (p *prompts) appendTokens(dst []byte, row int, from int64) []byte {
	nodes := p.trace.Nodes(row)
	for at := from; at < from+p.block; at++ {
		dst = binary.LittleEndian.AppendUint32(dst, p.trace.NodeBlock(nodes[at/p.traceBlock]))
	}
	return dst
}
