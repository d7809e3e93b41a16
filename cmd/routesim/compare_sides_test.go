package main

import (
	"slices"
	"testing"
)

func TestShellWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           nil,
		"  \n":                       nil,
		"--a 1  --b=2":               {"--a", "1", "--b=2"},
		`--a '{"x": 1}' "two words"`: {"--a", `{"x": 1}`, "two words"},
		`--a='' ''`:                  {"--a=", ""},
		`mid"dle of"'a' word`:        {"middle ofa", "word"},
		"--x\t'tab\tinside'\n--y":    {"--x", "tab\tinside", "--y"},
	} {
		got, err := shellWords(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"'", `--a "b`, `it's`} {
		if got, err := shellWords(text); err == nil {
			t.Errorf("%q: %q, expected an error", text, got)
		}
	}
}
