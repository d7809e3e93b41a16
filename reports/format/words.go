package format

import (
	"slices"
	"strings"
)

// Words splits a text at blanks, but not between a number and its unit.
func Words(text string) (words []string) {
	for _, w := range strings.Fields(text) {
		unit := strings.TrimRight(w, ",.;:)")
		last := len(words) - 1
		if last >= 0 && slices.Contains([]string{"s", "ms", "%", "pp"}, unit) && endsInDigit(words[last]) {
			words[last] += " " + w
			continue
		}
		words = append(words, w)
	}
	return words
}

func endsInDigit(word string) bool {
	c := word[len(word)-1]
	return c >= '0' && c <= '9'
}
