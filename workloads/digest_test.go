package workloads

import (
	"strings"
	"testing"
)

// TestDigest: the digest changes with everything that can change a run, and
// with nothing else.
func TestDigest(t *testing.T) {
	base := func() (BuilderOptions, []Row) {
		return BuilderOptions{BlockSize: 4}, []Row{
			{Timestamp: 1, OutputLength: 2, HashIDs: []uint64{1, 2}, Priority: 1, StrictPriority: 2, PolicyClass: "a",
				SessionID: "s", OutputTokenIDs: []uint32{7, 8}, RequestID: "r"},
			{Timestamp: 2, OutputLength: 1, HashIDs: []uint64{1, 3}, SessionID: "s", Delay: ms(3)},
			{Timestamp: 3, OutputLength: 1, HashIDs: []uint64{3, 2}, InputLength: 5},
		}
	}
	digest := func(change func(o *BuilderOptions, rows []Row)) string {
		o, rows := base()
		change(&o, rows)
		tr, err := FromRows(o, rows...)
		if err != nil {
			t.Fatal(err)
		}
		return tr.Digest()
	}
	want := digest(func(*BuilderOptions, []Row) {})
	if len(want) != 64 || strings.Trim(want, "0123456789abcdef") != "" {
		t.Errorf("%q is no SHA-256", want)
	}
	for name, change := range map[string]func(o *BuilderOptions, rows []Row){
		"arrival":         func(_ *BuilderOptions, r []Row) { r[2].Timestamp = 3.5 },
		"no arrival":      func(o *BuilderOptions, r []Row) { r[2].Timestamp, o.ClosedLoop = NoTime, true },
		"output length":   func(_ *BuilderOptions, r []Row) { r[2].OutputLength = 2 },
		"input length":    func(_ *BuilderOptions, r []Row) { r[2].InputLength = 6 },
		"prompt":          func(_ *BuilderOptions, r []Row) { r[2].HashIDs = []uint64{1, 2} },
		"block size":      func(o *BuilderOptions, _ []Row) { o.BlockSize = 5 },
		"delta":           func(o *BuilderOptions, _ []Row) { o.Delta = true },
		"delay":           func(_ *BuilderOptions, r []Row) { r[1].Delay = ms(4) },
		"session":         func(_ *BuilderOptions, r []Row) { r[1].SessionID, r[1].Delay = "x", nil },
		"priority":        func(_ *BuilderOptions, r []Row) { r[0].Priority = 2 },
		"strict priority": func(_ *BuilderOptions, r []Row) { r[0].StrictPriority = 0 },
		"class":           func(_ *BuilderOptions, r []Row) { r[0].PolicyClass = "b" },
		"class of a row":  func(_ *BuilderOptions, r []Row) { r[1].PolicyClass = "a" },
		"worker":          func(_ *BuilderOptions, r []Row) { r[0].Route = &Route{Worker: 0, Rank: -1} },
		"rank":            func(_ *BuilderOptions, r []Row) { r[1].Route = &Route{Worker: -1, Rank: 0} },
		"keys":            func(_ *BuilderOptions, r []Row) { r[1].Route = &Route{Worker: -1, Rank: -1, Keys: []uint64{0}} },
		"required taint":  func(_ *BuilderOptions, r []Row) { r[1].Taints.Required = []string{"a"} },
		"preferred taint": func(_ *BuilderOptions, r []Row) { r[1].Taints.Preferred = []PreferredTaint{{"a", 0}} },
		"parent":          func(_ *BuilderOptions, r []Row) { r[1].ParentSession = "a" },
		"no queue":        func(_ *BuilderOptions, r []Row) { r[0].Priority, r[0].StrictPriority, r[0].PolicyClass = 0, 0, "" },
		"output tokens":   func(_ *BuilderOptions, r []Row) { r[0].OutputTokenIDs[0] = 8 },
		"no tokens":       func(_ *BuilderOptions, r []Row) { r[0].OutputTokenIDs = nil },
		"surplus id":      func(_ *BuilderOptions, r []Row) { r[0].HashIDs, r[0].InputLength = []uint64{1, 2, 9}, 8 },
	} {
		if digest(change) == want {
			t.Errorf("%s: the digest stays", name)
		}
	}
	for name, change := range map[string]func(o *BuilderOptions, rows []Row){
		"file":         func(o *BuilderOptions, _ []Row) { o.File = "x" },
		"lines":        func(_ *BuilderOptions, r []Row) { r[0].Line = 10 },
		"request name": func(_ *BuilderOptions, r []Row) { r[0].RequestID = "x" },
		"session name": func(_ *BuilderOptions, r []Row) { r[0].SessionID, r[1].SessionID = "x", "x" },
		"ids": func(_ *BuilderOptions, r []Row) {
			r[0].HashIDs, r[1].HashIDs, r[2].HashIDs = []uint64{9, 5}, []uint64{9, 1 << 63}, []uint64{1 << 63, 5}
		},
		"explicit length": func(_ *BuilderOptions, r []Row) { r[0].InputLength = 8 },
	} {
		if digest(change) != want {
			t.Errorf("%s: the digest changes", name)
		}
	}
}

func TestStats(t *testing.T) {
	tr, err := FromRows(BuilderOptions{BlockSize: 4, ClosedLoop: true},
		Row{Timestamp: 500, OutputLength: 2, HashIDs: []uint64{1, 2}},
		Row{Timestamp: 500, OutputLength: 7, HashIDs: []uint64{1}, InputLength: 3, SessionID: "a"},
		Row{Timestamp: NoTime, HashIDs: []uint64{2, 1, 1}, SessionID: "a"},
		Row{Timestamp: -1500, OutputLength: 1, HashIDs: []uint64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	want := Stats{
		Requests: 4, Sessions: 3, SpanMS: 2000, PerSecond: 1.5,
		Input: Lengths{Min: 3, Max: 12, Total: 31, Mean: 7.75}, Output: Lengths{Min: 0, Max: 7, Total: 10, Mean: 2.5},
		BlockRefs: 8, Blocks: 5, RepeatedShare: 0.375, Arrivals: 2, MaxTogether: 2,
	}
	if got := tr.Stats(); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if tr.ShorterThan(8) != 1 || tr.ShorterThan(13) != 4 || tr.Sorted() {
		t.Errorf("%d prompts below 8 tokens", tr.ShorterThan(8))
	}
}

// TestUnitDoubt: the same arrivals in units other than milliseconds are noticed
// where the load gives them away.
func TestUnitDoubt(t *testing.T) {
	const epoch = 1.7e12 // ms
	stats := func(scale float64) Stats {
		var rows []Row
		for i := range 100 {
			rows = append(rows, Row{Timestamp: (epoch + float64(i)*1500) * scale, HashIDs: []uint64{1}})
		}
		tr, err := FromRows(BuilderOptions{}, rows...)
		if err != nil {
			t.Fatal(err)
		}
		return tr.Stats()
	}
	for _, c := range []struct {
		name  string
		scale float64
		want  string
	}{
		{"ms", 1, ""},
		{"ns", 1e6, "arrivals span 1719 days: are the timestamps milliseconds?"},
		{"minutes", 1 / 60e3, "40404 requests arrive per second: are the timestamps milliseconds?"},
		{"hours", 1 / 3600e3, "all arrivals lie within 0.041"},
	} {
		got := stats(c.scale).UnitDoubt()
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
