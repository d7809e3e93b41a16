package sim

import (
	"encoding/binary"

	"routesim/workloads"
)

// sessions composes prompts whose content is only known as the run goes: later
// turns of a delta trace repeat the previous prompt and the answer to it, and
// answers with recorded tokens can reappear in later prompts. It keeps every
// session's text as runs of equal or generated symbols and names each complete
// engine block by (name of the previous block, its runs).
type sessions struct {
	trace *workloads.Trace
	block int64
	texts []text // by session
	names map[string]uint32
	key   []byte
}

// text is the context of one session.
type text struct {
	runs      []run
	tokens    int64    // in runs
	blocks    []uint32 // names of its complete blocks, the requested answer included
	prompt    int64    // tokens before the current answer
	generated []run    // the current answer as requested
}

// run is a stretch of tokens: count times the same symbol, or, for an answer
// without recorded tokens, consecutive symbols that nobody else has.
type run struct {
	symbol uint64
	count  int64
}

// answerSymbol marks the symbols of generated tokens.
const answerSymbol = 1 << 63

// needsSessions reports whether prompts depend on earlier answers.
func needsSessions(t *workloads.Trace) bool {
	return t.Delta() || t.NumBlockIDs() > 0 && t.Len() > 0 && t.BlockIDs(0) != nil
}

func newSessions(t *workloads.Trace, block int32) *sessions {
	n := int32(0)
	for i := 0; i < t.Len(); i++ {
		n = max(n, t.Session(i)+1)
	}
	return &sessions{trace: t, block: int64(block), texts: make([]text, n), names: map[string]uint32{}}
}

func (s *sessions) text(row int) *text { return &s.texts[s.trace.Session(row)] }

// length returns the prompt length of a row whose previous turn has ended.
func (s *sessions) length(row int) int32 {
	n := int64(s.trace.InputTokens(row))
	if s.trace.Delta() {
		n += s.text(row).tokens
	}
	return int32(n)
}

// appendBlocks opens a turn: it adds the row's own blocks to the session's
// text and names the complete blocks of prompt and answer.
func (s *sessions) appendBlocks(dst []uint32, row int) []uint32 {
	x := s.text(row)
	if !s.trace.Delta() {
		*x = text{runs: x.runs[:0], blocks: x.blocks[:0]}
	}
	x.blocks = x.blocks[:x.tokens/s.block]
	left := int64(s.trace.InputTokens(row))
	for _, id := range s.trace.BlockIDs(row) {
		n := min(left, int64(s.trace.BlockSize()))
		x.add(run{uint64(id), n})
		left -= n
	}
	x.prompt = x.tokens
	x.generated = s.answer(x.generated[:0], row)
	runs := append(x.runs[:len(x.runs):len(x.runs)], x.generated...)
	s.name(x, runs, x.tokens+int64(s.trace.OutputTokens(row)))
	return append(dst, x.blocks...)
}

// answer lists the symbols of a row's requested answer.
func (s *sessions) answer(dst []run, row int) []run {
	if ids := s.trace.OutputTokenIDs(row); ids != nil {
		for _, id := range ids {
			dst = append(dst, run{uint64(id), 1})
		}
		return dst
	}
	for g := int64(0); g < int64(s.trace.OutputTokens(row)); g++ {
		dst = append(dst, run{answerSymbol | uint64(row)<<24 | uint64(g), 1})
	}
	return dst
}

func (x *text) add(r run) {
	if k := len(x.runs) - 1; k >= 0 && x.runs[k].symbol == r.symbol {
		x.runs[k].count += r.count
	} else {
		x.runs = append(x.runs, r)
	}
	x.tokens += r.count
}

// name extends x.blocks over all complete blocks of runs, which hold total
// tokens.
func (s *sessions) name(x *text, runs []run, total int64) {
	skip := int64(len(x.blocks)) * s.block
	i, off := 0, int64(0)
	for skip > 0 {
		n := min(skip, runs[i].count-off)
		skip -= n
		if off += n; off == runs[i].count {
			i, off = i+1, 0
		}
	}
	for int64(len(x.blocks)) < total/s.block {
		parent := ^uint32(0)
		if k := len(x.blocks); k > 0 {
			parent = x.blocks[k-1]
		}
		s.key = binary.LittleEndian.AppendUint32(s.key[:0], parent)
		for need := s.block; need > 0; {
			n := min(need, runs[i].count-off)
			s.key = s.appendRun(s.key, runs[i].symbol, n)
			need -= n
			if off += n; off == runs[i].count {
				i, off = i+1, 0
			}
		}
		id, ok := s.names[string(s.key)]
		if !ok {
			id = uint32(len(s.names))
			s.names[string(s.key)] = id
		}
		x.blocks = append(x.blocks, id)
	}
}

// appendRun writes a run so that equal texts give equal keys however their runs
// were cut: a run that continues the previous one's symbol is merged into it.
func (s *sessions) appendRun(key []byte, symbol uint64, n int64) []byte {
	if k := len(key) - 16; k >= 4 && binary.LittleEndian.Uint64(key[k:]) == symbol {
		binary.LittleEndian.PutUint64(key[k+8:], binary.LittleEndian.Uint64(key[k+8:])+uint64(n))
		return key
	}
	key = binary.LittleEndian.AppendUint64(key, symbol)
	return binary.LittleEndian.AppendUint64(key, uint64(n))
}

// end closes a turn: the answer becomes part of the session's text if the
// request completed.
func (s *sessions) end(row int, completed bool, generated int32) {
	x := s.text(row)
	if !s.trace.Delta() || !completed {
		return
	}
	for _, r := range x.generated[:generated] {
		x.add(r)
	}
}
