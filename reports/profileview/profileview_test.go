package profileview

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"routesim/models/profile"
)

func all(t *testing.T) []*profile.Profile {
	t.Helper()
	list, err := profile.All()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func text(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func checkWidth(t *testing.T, s string) {
	t.Helper()
	for line := range strings.Lines(s) {
		if len([]rune(line)) > 81 {
			t.Errorf("%d columns: %s", len([]rune(line))-1, line)
		}
	}
}

func TestFilter(t *testing.T) {
	list := all(t)
	for _, c := range []struct {
		f    Filter
		want func(*profile.Profile) bool
	}{
		{Filter{}, func(*profile.Profile) bool { return true }},
		{Filter{Words: []string{"H100", "vllm"}}, func(p *profile.Profile) bool { return p.GPU == "h100_sxm" && p.Engine == "vllm" }},
		{Filter{Grades: []string{"A", "C"}}, func(p *profile.Profile) bool { return p.Grade != "B" }},
		{Filter{Words: []string{"nothing like it"}}, func(*profile.Profile) bool { return false }},
	} {
		got, want := map[string]bool{}, 0
		for _, p := range c.f.Choose(list) {
			got[p.ID] = true
		}
		for _, p := range list {
			if c.want(p) {
				want++
				if !got[p.ID] {
					t.Errorf("%+v: %s is missing", c.f, p.ID)
				}
			}
		}
		if len(got) != want {
			t.Errorf("%+v: found %d profiles, expected %d", c.f, len(got), want)
		}
	}
}

func TestLists(t *testing.T) {
	list := all(t)
	checkWidth(t, text(t, func(w io.Writer) error { return List(w, list) }))
	var entries []Entry
	if err := json.Unmarshal([]byte(text(t, func(w io.Writer) error { return ListJSON(w, list) })), &entries); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(text(t, func(w io.Writer) error { return ListCSV(w, list) }))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(list) || len(records) != len(list)+1 {
		t.Errorf("found %d entries and %d records of %d profiles", len(entries), len(records), len(list))
	}
	// An error of another GPU's runs is not this profile's.
	for i, p := range list {
		if p.OtherGPU() && (entries[i].HeldOut != nil || records[i+1][8] != "") {
			t.Errorf("%s: shows an error of other hardware", p.ID)
		}
		evidence := p.Evidence()
		if e := &entries[i]; e.Runs != evidence.Runs || !slices.Equal(e.Unlike, evidence.Unlike) || records[i+1][11] != evidence.Runs || records[i+1][12] != strings.Join(evidence.Unlike, " ") {
			t.Errorf("%s: runs %q unlike %v, expected %+v", p.ID, e.Runs, e.Unlike, evidence)
		}
		mark := map[bool]string{true: " m", false: " o"}[evidence.Borrowed()]
		if marked := strings.HasSuffix(serverCell(p), mark); marked != (heldOut(p) != nil && len(evidence.Unlike) > 0) {
			t.Errorf("%s: error %q, runs unlike it in %v", p.ID, serverCell(p), evidence.Unlike)
		}
	}
}

// Every shipped profile can be shown, drawn and compared.
func TestEveryProfileCanBeShown(t *testing.T) {
	list := all(t)
	for i, p := range list {
		shown := text(t, func(w io.Writer) error { return Show(w, p) })
		checkWidth(t, shown)
		for _, want := range []string{p.ID, "grade       " + p.Grade, "decode step, ms", "floor"} {
			if !strings.Contains(shown, want) {
				t.Fatalf("%s: shown without %q:\n%s", p.ID, want, shown)
			}
		}
		if i%40 != 0 {
			continue
		}
		var doc struct {
			ID    string `json:"id"`
			Times []struct {
				MS    float64 `json:"ms"`
				Floor float64 `json:"hardware_floor_ms"`
			} `json:"step_times"`
		}
		if err := json.Unmarshal([]byte(text(t, func(w io.Writer) error { return ShowJSON(w, p) })), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.ID != p.ID || len(doc.Times) != len(probes()) || doc.Times[0].MS <= 0 || doc.Times[0].Floor <= 0 {
			t.Errorf("%s: found %+v", p.ID, doc)
		}
		pictures, err := Figures(p)
		if err != nil || len(pictures) != 2 {
			t.Fatalf("%s: found %d pictures, %v", p.ID, len(pictures), err)
		}
		for _, q := range pictures {
			if svg := text(t, q.Figure.WriteSVG); strings.Contains(svg, "NaN") || !strings.Contains(svg, "hardware floor") {
				t.Errorf("%s: %s has no floor or no numbers", p.ID, q.Name)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	a, err := profile.Lookup("h100/llama-3.1-70b/tp4")
	if err != nil {
		t.Fatal(err)
	}
	b := *a
	b.Calibration.GPUTimeScale, b.Calibration.StepMS, b.Calibration.PerSeqMS, b.Calibration.PrefillStepMS = 2*a.Calibration.GPUTimeScale, 2*a.Calibration.StepMS, 2*a.Calibration.PerSeqMS, 2*a.Calibration.PrefillStepMS
	c, err := Compare(a, &b)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.times {
		if r.b/r.a < 1.999999 || r.b/r.a > 2.000001 {
			t.Errorf("%s: %v and %v ms, expected twice", r.name, r.a, r.b)
		}
	}
	checkWidth(t, text(t, c.WriteText))
	records, err := csv.NewReader(strings.NewReader(text(t, c.WriteCSV))).ReadAll()
	if err != nil || len(records) != 1+len(c.sizes)+len(c.times) {
		t.Errorf("found %d lines, %v", len(records), err)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(text(t, c.WriteJSON)), &doc); err != nil {
		t.Error(err)
	}
}

// A worker whose model and GPU are not known is shown without a floor.
func TestUnknownHardware(t *testing.T) {
	p, err := profile.Lookup("h100/qwen3-8b/tp1")
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.GPU, q.Model, q.ID = "mi300x", "mine", "mi300x/vllm/mine/tp1/bf16/kv-bf16"
	if shown := text(t, func(w io.Writer) error { return Show(w, &q) }); strings.Contains(shown, "floor       ") {
		t.Error("a floor of unknown hardware")
	}
	pictures, err := Figures(&q)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text(t, pictures[0].Figure.WriteSVG), "hardware") {
		t.Error("a floor of unknown hardware was drawn")
	}
}

func TestPowers(t *testing.T) {
	got := powers(1, 16)
	want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}
	if len(got) != len(want) {
		t.Fatalf("found %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("found %v, expected %v", got, want)
		}
	}
	if len(powers(1, 0)) != 0 {
		t.Error("an empty range has powers")
	}
}
