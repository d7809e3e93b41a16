package program

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// classifier returns one with the default settings, changed, and one or more
// workers of 1,000 tokens.
func classifier(t interface{ Fatal(...any) }, workers int, given map[string]any) *Classifier {
	if given["buffer_per_program"] == nil {
		given["buffer_per_program"] = int64(0)
	}
	s, err := NewSettings(Type, given)
	if err != nil {
		t.Fatal(err)
	}
	return New(*s, slices.Repeat([]int64{1000}, workers), func(int) bool { return true }, &Counters{})
}

// idle lets a session run a request on a target and end with a context.
func (c *Classifier) idled(session, target int32, tokens int64) {
	if !c.Arrive(0, session, session, 1, false) {
		panic("held")
	}
	c.Sent(session, session, target)
	c.Ended(0, session, session, tokens)
}

func (c *Classifier) all() (tags []int32) {
	for tag, ok := c.Next(); ok; tag, ok = c.Next() {
		tags = append(tags, tag)
	}
	return tags
}

func paused(c *Classifier) (sessions []int32) {
	for _, p := range c.programs {
		if p.paused {
			sessions = append(sessions, p.session)
		}
	}
	return sessions
}

// TestPause: above the threshold idle programs are paused, smaller ones first,
// until the others are at the target; their next turns wait, and go on once
// there is room below the threshold less the hysteresis.
func TestPause(t *testing.T) {
	c := classifier(t, 1, map[string]any{})
	for session, tokens := range []int64{300, 100, 250, 310} { // 960 of 1,000
		c.idled(int32(session), 0, tokens)
	}
	c.Tick(5000)
	// 960 - 100 = 860, above 800; less 250 is 610.
	if got := paused(c); !slices.Equal(got, []int32{1, 2}) {
		t.Fatalf("paused %v, want 1 and 2", got)
	}
	if c.Arrive(6000, 2, 20, 260, false) || !c.Arrive(6000, 3, 30, 320, false) || c.Arrive(6500, 1, 10, 110, false) {
		t.Fatal("a paused session's turn went on, or another's did not")
	}
	c.Sent(3, 30, 0)
	// 300 + 320 = 620 in use. The smaller one fits below 850 with its 110 tokens,
	// the other then does not with 260.
	c.Tick(10000)
	if got := c.all(); !slices.Equal(got, []int32{10}) {
		t.Fatalf("let go %v, want 10", got)
	}
	c.Sent(1, 10, 0)
	c.Ended(11000, 3, 30, 20)
	c.Tick(15000)
	if got := c.all(); !slices.Equal(got, []int32{20}) {
		t.Fatalf("let go %v, want 20", got)
	}
	if c.counters.Held != 2 || c.counters.Paused != 2 || c.counters.Forced != 0 || c.Waiting() != 0 {
		t.Errorf("%+v", c.counters)
	}
}

// TestMarked: what runs is paused when it ends, and counts as paused from then on.
func TestMarked(t *testing.T) {
	c := classifier(t, 1, map[string]any{})
	c.idled(0, 0, 500)
	c.idled(1, 0, 460)
	for session, tokens := range []int64{500, 460} {
		if !c.Arrive(0, int32(session), int32(session), tokens, false) {
			t.Fatal("held")
		}
		c.Sent(int32(session), int32(session), 0)
	}
	c.Tick(5000)
	c.Tick(10000) // and no more are marked
	if len(paused(c)) != 0 {
		t.Fatal("a program that runs was paused")
	}
	c.Ended(11000, 0, 0, 510)
	if len(paused(c)) != 0 {
		t.Fatal("the larger one was paused")
	}
	c.Ended(11000, 1, 1, 470)
	if got := paused(c); !slices.Equal(got, []int32{1}) {
		t.Fatalf("paused %v, want 1", got)
	}
}

// TestSessionsGoOneByOne: a second request of a session waits for the first, in
// order.
func TestSessionsGoOneByOne(t *testing.T) {
	c := classifier(t, 1, map[string]any{})
	if !c.Arrive(0, 7, 1, 10, false) || c.Arrive(1, 7, 2, 10, false) || c.Arrive(2, 7, 3, 10, false) {
		t.Fatal("two requests of a session go at once")
	}
	c.Sent(7, 1, 0)
	c.Ended(5, 7, 1, 20)
	if got := c.all(); !slices.Equal(got, []int32{2}) {
		t.Fatalf("let go %v", got)
	}
	c.Ended(6, 7, 2, 0) // it came to nothing
	if got := c.all(); !slices.Equal(got, []int32{3}) {
		t.Fatalf("let go %v", got)
	}
}

// TestNewSessions need a worker with room; time lets them go in the end.
func TestNewSessions(t *testing.T) {
	c := classifier(t, 2, map[string]any{"resume_timeout_seconds": 60.0})
	c.idled(0, 0, 600)
	c.idled(1, 1, 700)
	if c.Arrive(0, 2, 2, 351, false) || !c.Arrive(0, 3, 3, 350, false) {
		t.Fatal("a new session of 351 tokens fits above 600 of 1,000, or one of 350 does not")
	}
	c.Sent(3, 3, 0)
	c.Tick(55_000)
	if c.Waiting() != 1 {
		t.Fatal("let go early")
	}
	c.Tick(60_000)
	if got := c.all(); !slices.Equal(got, []int32{2}) || c.counters.Forced != 1 {
		t.Fatalf("let go %v, want 2 by force", got)
	}
	// A worker that is lost holds nothing; its programs fit elsewhere.
	c.Gone(0)
	if u := c.usage(false); u[0] != 0 || u[1] != 700 {
		t.Errorf("usage %v", u)
	}
}

// TestRetention: idle programs are forgotten in time, the oldest at the limit.
func TestRetention(t *testing.T) {
	c := classifier(t, 1, map[string]any{"session_retention_seconds": 10.0, "max_tracked_requests": int64(2), "acting_token_weight": 0.5, "buffer_per_program": int64(10)})
	c.idled(0, 0, 100)
	if u := c.usage(false); u[0] != 60 {
		t.Errorf("usage %v: half of 100 tokens and 10", u)
	}
	c.idled(1, 0, 100)
	c.Arrive(5000, 2, 2, 10, false)
	if c.bySession[0] != nil || c.bySession[1] == nil {
		t.Error("the oldest did not make room")
	}
	c.Tick(10_000)
	if c.bySession[1] != nil || c.bySession[2] == nil {
		t.Error("an idle program stays beyond its time, or one that runs does not stay")
	}
	c.Arrive(10_000, 3, 3, 10, false)
	if !c.Arrive(10_000, 4, 4, 10, false) || c.bySession[4] != nil {
		t.Error("what cannot be tracked is held")
	}
}

// TestFinal: a session's last request runs without counting, and leaves nothing.
func TestFinal(t *testing.T) {
	c := classifier(t, 1, map[string]any{})
	c.idled(0, 0, 900)
	if c.Arrive(0, 1, 1, 100, false) || !c.Arrive(0, 0, 2, 910, true) {
		t.Fatal("a second session fits beside the first, or the first is held")
	}
	c.Sent(0, 2, 0)
	c.Tick(5000)
	if got := c.all(); !slices.Equal(got, []int32{1}) {
		t.Fatalf("let go %v, want 1", got)
	}
	c.Ended(6000, 0, 2, 950)
	if c.bySession[0] != nil {
		t.Error("the program stays")
	}
}

// TestNothingIsLost: whatever happens, each request that is held goes once, and
// all have gone once everything ended.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := classifier(t, 3, map[string]any{"resume_timeout_seconds": 50.0, "buffer_per_program": int64(rapid.IntRange(0, 50).Draw(t, "buffer"))})
		type request struct{ session, tag int32 }
		var running []request
		session := map[int32]int32{}
		out := map[int32]bool{}
		now, tag := 0.0, int32(0)
		run := func(tag int32) {
			if out[tag] {
				t.Fatalf("request %d goes twice", tag)
			}
			out[tag] = true
			c.Sent(session[tag], tag, int32(rapid.IntRange(0, 2).Draw(t, "target")))
			running = append(running, request{session[tag], tag})
		}
		let := func() {
			for _, tag := range c.all() {
				run(tag)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += float64(rapid.IntRange(0, 3000).Draw(t, "ms"))
			switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case kind < 2:
				session[tag] = int32(rapid.IntRange(0, 5).Draw(t, "session"))
				if c.Arrive(now, session[tag], tag, int64(rapid.IntRange(1, 600).Draw(t, "tokens")), rapid.Bool().Draw(t, "final")) {
					run(tag)
				}
				tag++
			case kind == 2 && len(running) > 0:
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				r := running[i]
				running = slices.Delete(running, i, i+1)
				c.Ended(now, r.session, r.tag, int64(rapid.IntRange(0, 700).Draw(t, "context")))
			case kind == 4 && tag > 0:
				gone := int32(rapid.IntRange(0, int(tag)-1).Draw(t, "cancelled"))
				if !out[gone] {
					out[gone] = true
					c.Withdraw(now, session[gone], gone)
				}
			case kind == 3:
				c.Gone(int32(rapid.IntRange(0, 2).Draw(t, "gone")))
			default:
				c.Tick(now)
			}
			let()
		}
		for n := 0; c.Waiting() > 0 || len(running) > 0; n++ {
			if n > 200 {
				t.Fatalf("%d requests never go", c.Waiting())
			}
			now += 10_000
			for _, r := range running {
				c.Ended(now, r.session, r.tag, 100)
			}
			running = running[:0]
			c.Tick(now)
			let()
		}
		if len(out) != int(tag) {
			t.Fatalf("%d of %d requests went", len(out), tag)
		}
	})
}

func TestSettings(t *testing.T) {
	for want, given := range map[string]map[string]any{
		"parameters.pause_threshold: found x":             {"pause_threshold": "x"},
		"parameters.pause_target: found 0.8, expected":    {"pause_threshold": 0.5},
		"parameters.resume_hysteresis: found 1, expected": {"resume_hysteresis": int64(1)},
		"parameters.scheduler_interval_seconds: found 0":  {"scheduler_interval_seconds": int64(0)},
	} {
		if _, err := NewSettings(Type, given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := NewSettings("other", nil); err == nil || err.Error() != "type: found other, expected one of the linked types thunderagent" {
		t.Error(err)
	}
}
