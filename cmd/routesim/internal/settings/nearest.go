package settings

import (
	"strings"

	"routesim/models/spelling"
)

// kebab turns a snake-case name into kebab case.
func kebab(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// snake turns a kebab-case name into snake case.
func snake(name string) string { return strings.ReplaceAll(name, "-", "_") }

// Nearest returns the candidate with the least edit distance to a misspelt
// word, the first of equals, or "" if more than a third of the word would have
// to change. A candidate that the word is the end of counts as one edit away:
// people leave out the router- in front.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		d := spelling.Distance(word, c)
		if len(word) > 3 && strings.HasSuffix(c, "-"+word) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}
