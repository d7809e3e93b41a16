package engine_test

import (
	"errors"
	"strings"
	"testing"

	"routesim/sim/engine"
)

// In what a pass tells, "+a:8" is the admission of a with 8 reused tokens, "a!"
// its first token, "a." its last, "a|" its end without a token in the pass and
// "ax" its rejection.

// TestChunkedPrefill computes a prompt in pieces of the token budget; the first
// token comes with the last piece and every block is cached once, in order.
func TestChunkedPrefill(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.MaxNumBatchedTokens = 10 })
	l.add("a", "abcdefgh", 0, 2)
	l.passes("10 +a:0")
	l.holds("abcdefgh", 2)
	l.passes("10", "10", "10 a!", "5 a.")
	if got, want := l.told(), "+a +ab +abc +abcd +abcde +abcdef +abcdefg +abcdefgh"; got != want {
		t.Errorf("events %q, expected %q", got, want)
	}
	l.holds("abcdefgh", 8)
	l.add("b", "abcdefgh", 0, 1)
	l.passes("10 +b:28 b.") // all but the last block
}

// TestDecodesGoFirst gives the budget to the running requests first, the rest
// to the queue.
func TestDecodesGoFirst(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.MaxNumBatchedTokens = 9 })
	a := l.add("a", "a", 0, 9)
	l.passes("10 +a:0 a!")
	b := l.add("b", "bcde", 0, 9)
	l.passes("15 +b:0", "15 b!", "5", "5")
	l.hasTimes(a, 10, 25, 40, 45, 50)
	l.hasTimes(b, 40, 45, 50)
	if l.Stats(l.now).PrefillTokens != 4+16 {
		t.Errorf("%d prompt tokens computed, expected 20", l.Stats(l.now).PrefillTokens)
	}
}

// TestChunkingOff keeps a prompt out until the budget covers all of it, and
// who stands behind it too.
func TestChunkingOff(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.MaxNumBatchedTokens, p.EnableChunkedPrefill = 16, false })
	l.add("a", "abc", 0, 2)
	l.add("b", "bc", 0, 1)
	l.add("c", "", 1, 1)
	l.passes("10 +a:0 a!", "15 +b:0 +c:0 a. b. c.")
}

// TestLastBlockIsComputed keeps at least one token of a fully cached prompt to
// compute, and its whole block with it.
func TestLastBlockIsComputed(t *testing.T) {
	l := newLab(t, nil)
	l.add("a", "ab", 0, 1)
	l.drain()
	l.add("b", "ab", 0, 1)
	l.passes("10 +b:4 b.")
	l.add("c", "ab", 1, 1) // one token more: both blocks serve
	l.passes("10 +c:8 c.")
	l.add("d", "ab", 0, 0) // nothing to generate: nothing to compute
	l.passes("0 +d:8 d|")
	if got := l.Stats(l.now).PrefillTokens; got != 8+4+1 {
		t.Errorf("%d prompt tokens computed, expected 13", got)
	}
}

// TestEqualPromptsInOnePass share what the first has just computed, except for
// the last block, of which there are two copies.
func TestEqualPromptsInOnePass(t *testing.T) {
	l := newLab(t, nil)
	l.add("a", "abcd", 0, 3)
	l.add("b", "abcd", 0, 3)
	l.passes("10 +a:0 +b:12 a! b!")
	if got := l.Stats(l.now).PeakBlocks; got != 5 {
		t.Errorf("%d blocks in use, expected 5", got)
	}
	if got := l.told(); got != "+a +ab +abc +abcd" {
		t.Errorf("events %q, expected each block once", got)
	}
}

// preemption fills a pool of six blocks with three requests that all need a
// fourth block at once.
func preemption(t *testing.T, mode engine.PreemptionMode) *lab {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks, p.Preemption = 6, mode })
	l.add("a", "ab", 0, 4)
	l.add("b", "cd", 0, 4)
	l.add("c", "ef", 0, 4)
	return l
}

// TestPreemptLast takes the last running request first and puts it at the head
// of the queue; nobody is admitted in that pass.
func TestPreemptLast(t *testing.T) {
	l := preemption(t, engine.LIFO)
	l.passes("10 +a:0 +b:0 +c:0 a! b! c!")
	l.add("d", "", 1, 1)
	// a needs a block: c goes and gives up two. b takes the other one.
	l.passes("5", "5")
	if got := l.Stats(l.now).Preemptions; got != 1 {
		t.Fatalf("%d preemptions, expected 1", got)
	}
	l.holds("ef", 0)
	l.passes("5 a. b.", "15 +c:0 +d:0 d.")
	l.drain()
	if got := l.Stats(l.now).Preemptions; got != 1 {
		t.Errorf("%d preemptions at the end, expected 1", got)
	}
}

// TestPreemptFirst takes the first running request first. A victim before the
// one being scheduled shifts the list, so that the next request is passed over
// in this pass.
func TestPreemptFirst(t *testing.T) {
	l := preemption(t, engine.FIFO)
	l.passes("10 +a:0 +b:0 +c:0 a! b! c!")
	// a is its own victim. b takes one of its blocks, c the other.
	l.passes("5")
	if got := l.Stats(l.now).Preemptions; got != 1 {
		t.Fatalf("%d preemptions, expected 1", got)
	}
	l.holds("ab", 0)
	l.passes("5", "5 b. c.", "15 +a:0", "5", "5 a.")
}

// TestPreemptFirstSkipsNext shows the request that is passed over: the one
// behind the request that preempted an earlier one. The victim's own token of
// this pass is taken back.
func TestPreemptFirstSkipsNext(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks, p.Preemption = 6, engine.FIFO })
	a := l.add("a", "a", 1, 9)  // two blocks with room for three more tokens
	b := l.add("b", "bc", 0, 9) // two full blocks: the next token needs a third
	c := l.add("c", "d", 1, 9)
	l.passes("10 +a:0 +b:0 +c:0 a! b! c!", "5")
	l.hasTimes(a, 10)
	l.hasTimes(b, 10, 15)
	l.hasTimes(c, 10)
	l.passes("5")
	l.hasTimes(b, 10, 15, 20)
	l.hasTimes(c, 10, 20)
}

// TestRecomputation charges a preempted request's prompt as prefill again, its
// generated tokens not, and its next token as a decode.
func TestRecomputation(t *testing.T) {
	l := preemption(t, engine.LIFO)
	l.passes("10 +a:0 +b:0 +c:0 a! b! c!", "5", "5", "5 a. b.")
	// c: eight prompt tokens to compute, one generated one, and the second token.
	before := l.Stats(l.now)
	l.passes("15 +c:0")
	after := l.Stats(l.now)
	if after.PrefillTokens-before.PrefillTokens != 8 || after.Committed-before.Committed > 9 {
		t.Errorf("%d prompt tokens computed again, expected 8", after.PrefillTokens-before.PrefillTokens)
	}
	l.passes("5", "5 c.")
}

// TestGateAsksForWholePrompt keeps a prompt out that would not fit as a whole,
// however small its first piece is.
func TestGateAsksForWholePrompt(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks, p.MaxNumBatchedTokens = 10, 8 })
	l.add("a", "abcdefgh", 0, 1)
	l.add("b", "ijklmnop", 0, 1)
	l.passes("10 +a:0", "10", "10", "10 a.", "10 +b:0", "10", "10", "10 b.")
	if got := l.Stats(l.now); got.PeakBlocks != 8 || got.PeakRunning != 1 || got.Preemptions != 0 {
		t.Errorf("%+v, expected 8 blocks, 1 running request and no preemption", got)
	}
}

// TestGateIgnoresIdleHits counts cached blocks as room only where somebody
// else holds them already.
func TestGateIgnoresIdleHits(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 6 })
	l.add("a", "abc", 0, 1)
	l.drain()
	l.add("b", "xyz", 0, 9) // holds three; a's three are idle
	l.passes("10 +b:0 b!")
	l.add("c", "abc", 1, 1) // four blocks, three of them cached but idle; three left
	l.passes("5")
	l.drain()

	l = newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 6 })
	l.add("a", "abcd", 0, 3)
	l.passes("10 +a:0 a!")
	l.add("b", "abcd", 1, 1) // five blocks, four of them in use
	l.passes("15 +b:16 b.")
}

// TestHeadBlocksQueue keeps everybody behind a head that does not fit.
func TestHeadBlocksQueue(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 6 })
	l.add("a", "abc", 0, 3)
	l.add("b", "defg", 0, 1)
	l.add("c", "", 1, 1)
	l.passes("10 +a:0 a!", "5", "5 a.", "10 +b:0 +c:0 b. c.")
}

// TestMaxNumSeqs caps the running requests.
func TestMaxNumSeqs(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.MaxNumSeqs = 2 })
	l.add("a", "", 1, 1)
	l.add("b", "", 1, 2)
	l.add("c", "", 1, 1)
	l.add("d", "", 1, 1)
	l.passes("10 +a:0 +b:0 a. b!", "15 +c:0 b. c.", "10 +d:0 d.")
}

// TestRefusals rejects what can never run, at the end of the pass in which it
// came to the head of the queue, after all tokens.
func TestRefusals(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks, p.MaxModelLen = 6, 20 })
	l.add("long", "abcde", 0, 1) // reaches the context limit of 20
	l.add("ok", "a", 0, 1)
	l.add("silent", "b", 0, 0)
	l.add("longer", "abcdef", 0, 1)
	l.passes("10 +ok:0 +silent:0 silent| ok. longx longerx")
	l.add("long", "abcde", 0, 1)
	l.passes("0 longx")

	l = newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 6 })
	l.add("big", "abcdef", 1, 1) // seven blocks
	l.add("fits", "abcdef", 0, 0)
	l.passes("10 +fits:0 fits| bigx")
}

// TestContextLimitCutsAnswer ends an answer where the context limit is reached.
func TestContextLimitCutsAnswer(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.MaxModelLen = 13 })
	s := l.add("a", "ab", 2, 100)
	l.passes("10 +a:0 a!", "5", "5 a.")
	if s.Generated != 3 {
		t.Errorf("%d tokens generated, expected 3", s.Generated)
	}
	l.add("b", "ab", 4, 100) // one token is left
	l.passes("10 +b:8 b.")
}

// TestSingleToken ends with its first token, which is no first-token signal.
func TestSingleToken(t *testing.T) {
	l := newLab(t, nil)
	l.add("a", "ab", 1, 1)
	l.passes("10 +a:0 a.")
}

// TestEvictionTailFirst drops the tail of the least recently released prompt
// first, and only as much as is needed.
func TestEvictionTailFirst(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 8 })
	l.add("a", "abcd", 0, 0)
	l.drain()
	l.add("b", "efg", 0, 0)
	l.drain()
	l.told()
	l.add("c", "xyz", 0, 0) // one block is free: two of a's four go
	l.drain()
	l.holds("abcd", 2)
	l.holds("efg", 3)
	if got := l.told(); got != "-abcd -abc +x +xy +xyz" {
		t.Errorf("events %q, expected the tail of abcd to go first", got)
	}
	l.add("d", "ab", 0, 0) // a hit makes a's head the latest
	l.drain()
	l.add("e", "mnop", 0, 0)
	l.drain()
	l.holds("ab", 2)
	l.holds("efg", 0)
	l.holds("xyz", 2)
	if got := l.Stats(l.now).Evictions; got != 6 {
		t.Errorf("%d evictions, expected 6", got)
	}
}

// TestSecondCopyKeepsBlock tells of a block's end only when its last copy goes,
// and serves from the oldest copy.
func TestSecondCopyKeepsBlock(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 4 })
	l.add("a", "ab", 0, 1)
	l.drain()
	l.add("b", "ab", 0, 1) // a second copy of the last block
	l.drain()
	if got := l.told(); got != "+a +ab" {
		t.Errorf("events %q, expected each block once", got)
	}
	l.add("c", "xy", 0, 0) // one block free: the older copy of ab goes
	l.drain()
	l.holds("ab", 2)
	if got := l.told(); got != "+x +xy" {
		t.Errorf("events %q, expected no removal while a copy is left", got)
	}
	l.add("d", "z", 0, 0)
	l.drain()
	l.holds("ab", 1)
	if got := l.told(); got != "-ab +z" {
		t.Errorf("events %q, expected the removal of the last copy", got)
	}
}

// TestEventsAreTimed tells of blocks at the end of the pass, plus the lag.
func TestEventsAreTimed(t *testing.T) {
	l := newLab(t, nil)
	l.Events.Lag = 7
	l.add("a", "ab", 0, 3)
	l.passes("10 +a:0 a!")
	l.now = 16.9
	if got := l.told(); got != "" {
		t.Errorf("events %q at 16.9 ms, expected none before 17", got)
	}
	l.now = 17
	if got := l.told(); got != "+a +ab" {
		t.Errorf("events %q at 17 ms, expected both blocks", got)
	}
}

// TestCachingOff reuses and announces nothing.
func TestCachingOff(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.EnablePrefixCaching = false })
	for range 2 {
		l.add("a", "abc", 0, 1)
		l.passes("10 +a:0 a.")
	}
	l.holds("abc", 0)
	if got := l.told(); got != "" {
		t.Errorf("events %q, expected none", got)
	}
}

// TestStuckOnPool fails where a request alone outgrows the pool, and names the
// numbers.
func TestStuckOnPool(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 3 })
	l.add("a", "ab", 2, 20)
	stuckAfter(t, l, "needs 4 KV blocks (prompt 10 and 3 generated tokens, block size 4) and the pool has 3", "num-gpu-blocks")
}

// TestStuckOnBudget fails where a prompt can never be scheduled whole.
func TestStuckOnBudget(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.MaxNumBatchedTokens, p.EnableChunkedPrefill = 7, false })
	l.add("a", "a", 0, 2)
	l.add("b", "cd", 0, 2)
	stuckAfter(t, l, "the prompt of 8 tokens exceeds max-num-batched-tokens 7", "enable chunked prefill")
}

func stuckAfter(t *testing.T, l *lab, numbers, advice string) {
	t.Helper()
	for range 100 {
		end, err := l.Start(l.now)
		var stuck *engine.StuckError
		if errors.As(err, &stuck) {
			if text := err.Error(); !strings.Contains(text, numbers) || !strings.Contains(text, advice) || strings.Contains(text, "\n") {
				t.Errorf("error %q, expected one line with %q and %q", text, numbers, advice)
			}
			if stuck.AtMS != l.now || stuck.InFlight != 1 {
				t.Errorf("stuck at %v ms with %d in flight, expected %v and 1", stuck.AtMS, stuck.InFlight, l.now)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		l.now = end
	}
	t.Fatal("no error after 100 passes")
}

// TestManyAlike ends, though the pool holds only one request at a time.
func TestManyAlike(t *testing.T) {
	l := newLab(t, func(p *engine.Params) { p.NumGPUBlocks = 10 })
	for range 50 {
		l.add("a", "abcd", 0, 8)
	}
	l.drain()
	if got := l.Stats(l.now); got.OutputTokens != 50*8 {
		t.Errorf("%d tokens generated, expected 400", got.OutputTokens)
	}
}

// TestValidate refuses settings that no engine could run with.
func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*engine.Params){
		"num-gpu-blocks":         func(p *engine.Params) { p.NumGPUBlocks = 0 },
		"block-size":             func(p *engine.Params) { p.BlockSize = -1 },
		"max-model-len":          func(p *engine.Params) { p.MaxModelLen = -5 },
		"max-num-seqs":           func(p *engine.Params) { p.MaxNumSeqs = 0 },
		"max-num-batched-tokens": func(p *engine.Params) { p.MaxNumBatchedTokens = 0 },
	} {
		p := engine.DefaultParams()
		change(&p)
		if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%s: %v, expected an error that names it", name, err)
		}
	}
}

// TestVictimGivesTokensBack returns the token that a victim was given earlier
// in the pass to the budget, for the prompt behind it.
func TestVictimGivesTokensBack(t *testing.T) {
	l := newLab(t, func(p *engine.Params) {
		p.BlockSize, p.NumGPUBlocks, p.MaxNumBatchedTokens, p.Preemption = 5, 19, 7, engine.FIFO
	})
	l.add("warm", "abcdefghijk", 0, 0)
	for range 4 {
		l.pass()
	}
	l.add("a", "", 3, 9)
	for range 9 {
		l.pass()
	}
	l.add("b", "z", 4, 3)
	l.add("c", "", 1, 3)
	l.pass()
	l.add("p", "abcdefghijklmn", 0, 0)
	for i, want := range []int64{6, 4, 6} { // c and a decode; c, a and b do; then a makes room for b
		before := l.Stats(l.now).PrefillTokens
		l.pass()
		if got := l.Stats(l.now).PrefillTokens - before; got != want {
			t.Errorf("pass %d computes %d prompt tokens, expected %d", i+1, got, want)
		}
	}
	if got := l.Stats(l.now).Preemptions; got != 1 {
		t.Errorf("%d preemptions, expected 1", got)
	}
}

// TestStuckErrorNamesTheCause: chunked prefill is blamed only where it is off
// and the prompt needs it.
func TestStuckErrorNamesTheCause(t *testing.T) {
	for _, c := range []struct {
		chunked bool
		prompt  int32
		want    string
	}{
		{false, 9000, "chunked prefill is off and the prompt of 9000 tokens exceeds max-num-batched-tokens 8192"},
		{false, 8192, "the request needs 128 KV blocks"},
		{true, 9000, "the request needs 141 KV blocks"},
		{true, 9000000, "needs 140625 KV blocks"},
	} {
		e := &engine.StuckError{Prompt: c.prompt, Length: c.prompt, Params: engine.Params{
			EnableChunkedPrefill: c.chunked, MaxNumBatchedTokens: 8192, BlockSize: 64, NumGPUBlocks: 16384}}
		if got := e.Error(); !strings.Contains(got, c.want) {
			t.Errorf("chunked %v, %d tokens: %q does not say %q", c.chunked, c.prompt, got, c.want)
		}
	}
}

// TestStuckErrorOfSGLang: the pass is blamed where a chunk of the prompt exceeds
// it, and the pool where the prompt does.
func TestStuckErrorOfSGLang(t *testing.T) {
	for _, c := range []struct {
		pass, chunk, prompt int32
		want                string
	}{
		{999, 8192, 1000, "a chunk of 1000 tokens (prompt 1000, chunked-prefill-size 8192) exceeds max-prefill-tokens 999"},
		{999, 1000, 2000, "a chunk of 1000 tokens (prompt 2000, chunked-prefill-size 1000) exceeds max-prefill-tokens 999"},
		{1000, 8192, 1000, "the request needs 1000 tokens of KV cache"},
		{999, 8192, 5000, "the request needs 5000 tokens of KV cache"},
	} {
		p := engine.DefaultsOf(engine.SGLang)
		p.NumGPUBlocks, p.SGLang.MaxPrefillTokens, p.SGLang.ChunkedPrefillSize = 4000, c.pass, c.chunk
		e := &engine.StuckError{Prompt: c.prompt, Length: c.prompt, Params: p}
		if got := e.Error(); !strings.Contains(got, c.want) {
			t.Errorf("%d tokens: %q does not say %q", c.prompt, got, c.want)
		}
	}
}
