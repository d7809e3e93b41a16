package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestMutantsFitTheSources applies every mutant to the sources: each edit must
// find its text exactly once.
func TestMutantsFitTheSources(t *testing.T) {
	list := append(mutants(), blindMutants()...)
	if n := len(mutants()); n < 15 {
		t.Errorf("%d mutants, expected 15 or more", n)
	}
	var names []string
	for i := range list {
		m := &list[i]
		if slices.Contains(names, m.name) {
			t.Errorf("two mutants have the name %s", m.name)
		}
		names = append(names, m.name)
		changed, err := m.mutate(root)
		if err != nil {
			t.Error(err)
			continue
		}
		for file, text := range changed {
			was, err := os.ReadFile(root + "/" + file)
			if err != nil {
				t.Fatal(err)
			}
			if text == string(was) {
				t.Errorf("mutant %s changes nothing in %s", m.name, file)
			}
		}
	}
}

// TestEditsThatDoNotFit refuses texts that are absent or ambiguous.
func TestEditsThatDoNotFit(t *testing.T) {
	for find, want := range map[string]string{"no such text in the file": "0 times", "return": "times, expected it once"} {
		m := mutant{name: "x", edits: []edit{{"sim/router/cost.go", find, ""}}}
		if _, err := m.mutate(root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected an error with %q", find, err, want)
		}
	}
}

// TestPageHasEveryMutant keeps the committed table up to date with the list.
func TestPageHasEveryMutant(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	suite, err := os.ReadFile(root + "/testdata/gate/gate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list := append(mutants(), blindMutants()...)
	for i := range list {
		m := &list[i]
		if !strings.Contains(string(text), "| "+m.name+" | "+m.rule+" |") {
			t.Errorf("README.md lacks %s as it is; run make gate-proof", m.name)
		}
		if m.catcher != "" && !strings.Contains(string(suite), "- name: "+m.catcher+"\n") {
			t.Errorf("mutant %s is to be caught by %s, which is no scenario of the suite", m.name, m.catcher)
		}
	}
}
