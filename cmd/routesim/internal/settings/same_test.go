package settings

import (
	"slices"
	"testing"
)

// TestTexts: taking over the texts of another run's equal values changes none,
// whatever setting differs.
func TestTexts(t *testing.T) {
	table := NewTable()
	sources, err := table.Read(Input{})
	if err != nil {
		t.Fatal(err)
	}
	base, err := sources.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	base.Texts(nil, nil, func(_ *Setting, text string) { texts = append(texts, text) })
	differ := 0
	for _, s := range table.All() {
		for _, value := range []string{"0", "1", "3", "0.25", "true", "false", "none", "live", "round-robin", "3xh100/llama-3.1-70b/tp4@max_num_seqs=64"} {
			r, err := sources.Resolve([]Given{table.GivenFlag(s, value, "--"+s.Name)})
			if err != nil {
				continue
			}
			var got, want []string
			r.Texts(&base.Run, texts, func(s *Setting, text string) { got = append(got, s.Name+"="+text) })
			for _, e := range r.Entries() {
				want = append(want, e.Name+"="+e.Text)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s %s: found %v, expected %v", s.Name, value, got, want)
			}
			if v := s.Name + "=" + value; s.Support == Honoured && slices.Contains(got, v) && !slices.Contains(texts, value) {
				differ++
			}
		}
	}
	if differ < 20 {
		t.Errorf("%d values differed from the default's, expected more", differ)
	}
}

// TestSourcesAreKept: what one run does with its values leaves the next alone.
func TestSourcesAreKept(t *testing.T) {
	table := NewTable()
	sources, err := table.Read(Input{Environ: []string{"DYN_ROUTER_TEMPERATURE=0.5", "DYN_ROUTER_NOTHING=1"}})
	if err != nil {
		t.Fatal(err)
	}
	entries := func(more ...Given) []Entry {
		r, err := sources.Resolve(more)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) < 1 {
			t.Error("the unknown variable is not warned of")
		}
		return r.Entries()
	}
	first := entries()
	for _, s := range table.All() {
		for _, value := range []string{"2", "true", "false", "none", "live"} {
			_, _ = sources.Resolve([]Given{table.GivenFlag(s, value, "--"+s.Name)})
		}
	}
	if !slices.Equal(entries(), first) {
		t.Error("the settings changed")
	}
}
