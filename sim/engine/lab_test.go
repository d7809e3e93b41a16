package engine_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"routesim/models"
	"routesim/sim/engine"
)

// TestMain makes the property tests repeatable; the flags still override it.
func TestMain(m *testing.M) {
	for _, f := range [][2]string{{"rapid.seed", "20250804"}, {"rapid.checks", "300"}, {"rapid.nofailfile", "true"}} {
		if err := flag.Set(f[0], f[1]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// lab runs one worker pass by pass with passes of 10 ms for prompts and 5 ms
// for decodes. Prompts are written as letters, one per block: "abc" and "abd"
// share two blocks.
type lab struct {
	t *testing.T
	*engine.Worker
	now     float64
	ids     map[string]uint32
	answers uint32
	names   map[*engine.Seq]string
	admits  int // admissions already told
}

// answerBlocks is the first id of blocks with generated tokens.
const answerBlocks = 1 << 20

func newLab(t *testing.T, change func(*engine.Params)) *lab {
	t.Helper()
	p := engine.DefaultParams()
	p.BlockSize = 4
	if change != nil {
		change(&p)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	timing, err := models.NewFixed(10, 5, models.TimingOptions{CapacityTokens: 1, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, ids: map[string]uint32{}, answers: answerBlocks, names: map[*engine.Seq]string{}}
	l.Worker = engine.NewWorker(p, engine.Options{Timing: timing, PromptBlocks: answerBlocks, Plain: true, KeepAdmissions: true})
	l.Worker.Events.On = true
	return l
}

// blocks names the blocks of a prompt.
func (l *lab) blocks(prompt string) (b []uint32) {
	for i := range prompt {
		id, ok := l.ids[prompt[:i+1]]
		if !ok {
			id = uint32(10 * (len(l.ids) + 1)) // never consecutive
			l.ids[prompt[:i+1]] = id
		}
		b = append(b, id)
	}
	return b
}

// add sends a request of whole blocks and tail more tokens.
func (l *lab) add(name, prompt string, tail, output int32) *engine.Seq {
	s := &engine.Seq{}
	isl := int32(len(prompt))*l.BlockSize + tail
	s.Reset(int32(len(l.names)), isl, output)
	s.Blocks = append(s.Blocks, l.blocks(prompt)...)
	for len(s.Blocks) < int((isl+output)/l.BlockSize) {
		s.Blocks = append(s.Blocks, l.answers)
		l.answers++
	}
	l.names[s] = name
	l.Enqueue(s, l.now, false)
	return s
}

// pass runs one pass and tells what it did: its length, who was admitted with
// how many reused tokens, and its signals.
func (l *lab) pass() string {
	l.t.Helper()
	end, err := l.Start(l.now)
	if err != nil {
		l.t.Fatalf("at %v ms: %v", l.now, err)
	}
	var out []string
	for _, a := range l.Admissions[l.admits:] {
		for s, name := range l.names {
			if s.Row == a.Row {
				out = append(out, fmt.Sprintf("+%s:%d", name, a.Reused))
			}
		}
	}
	l.admits = len(l.Admissions)
	for _, s := range l.Signals() {
		out = append(out, l.names[s.Seq]+[...]string{"|", "!", ".", "x"}[s.Kind])
	}
	text := fmt.Sprintf("%v %s", end-l.now, strings.Join(out, " "))
	l.now = end
	return strings.TrimSpace(text)
}

// passes runs passes and compares what they tell.
func (l *lab) passes(want ...string) {
	l.t.Helper()
	for i, w := range want {
		if got := l.pass(); got != w {
			l.t.Errorf("pass %d: %q, expected %q", i+1, got, w)
		}
	}
}

// drain runs passes until nothing is left.
func (l *lab) drain() {
	l.t.Helper()
	for range 10000 {
		if !l.HasWork() {
			return
		}
		l.pass()
	}
	l.t.Fatal("no end after 10000 passes")
}

// holds checks how many leading blocks of a prompt the pool has.
func (l *lab) holds(prompt string, want int32) {
	l.t.Helper()
	if got := l.Held(l.blocks(prompt)); got != want {
		l.t.Errorf("%d leading blocks of %q are held, expected %d", got, prompt, want)
	}
}

// told takes the events visible now, as "+" or "-" and the prompts they end.
func (l *lab) told() string {
	var out []string
	for _, e := range l.Events.Take(l.now) {
		for i := range e.Count {
			b, sign := e.Block+uint32(i), "+"
			if !e.Stored {
				b, sign = e.Block+uint32(e.Count-1-i), "-"
			}
			name := "?"
			for p, id := range l.ids {
				if id == b {
					name = p
				}
			}
			out = append(out, sign+name)
		}
	}
	return strings.Join(out, " ")
}

// times returns a request's token times.
func (l *lab) times(s *engine.Seq) (t []float64) {
	l.TokenTimes(s, func(part []float64) { t = append(t, part...) })
	return t
}

func (l *lab) hasTimes(s *engine.Seq, want ...float64) {
	l.t.Helper()
	if got := l.times(s); !slices.Equal(got, want) {
		l.t.Errorf("tokens of %s at %v, expected %v", l.names[s], got, want)
	}
}
