package verdict

import (
	"slices"
	"strings"
)

// AddSeeds begins the sentence of the evidence that quotes Verdict.MoreSeeds.
const AddSeeds = " Add seeds: "

// ToTry is Verdict.Label where the seeds are too few to recommend the flags.
const ToTry = "to try"

// Folder stands for the folder of a sweep's results in its commands. The results
// name no folder, so that they are the same wherever they are.
const Folder = "DIR"

// enoughSeeds is how many seeds are advised where there are too few.
const enoughSeeds = "8"

// moreSeeds is the command that makes the sweep again with enough seeds.
func (j *judge) moreSeeds() string {
	if j.o.Rerun != "" {
		return j.o.Rerun + " --seeds " + enoughSeeds
	}
	words := Command(j.s.Command)
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == "--seeds" && i+1 < len(words):
			words = slices.Delete(words, i, i+2)
			i--
		case strings.HasPrefix(words[i], "--seeds="):
			words = slices.Delete(words, i, i+1)
			i--
		}
	}
	if len(words) == 0 {
		return "the same command with --seeds " + enoughSeeds
	}
	for i := range words {
		words[i] = Quoted(words[i])
	}
	return strings.Join(append(words, "--seeds", enoughSeeds), " ")
}

// Command is the command that makes a sweep, with the folder that it needs and
// that the results do not name.
func Command(words []string) []string {
	words = slices.Clone(words)
	named := slices.ContainsFunc(words, func(w string) bool {
		return w == "-o" || w == "--output" || strings.HasPrefix(w, "-o=") || strings.HasPrefix(w, "--output=")
	})
	if len(words) == 0 || named {
		return words
	}
	return append(words, "-o", Folder)
}

// Quoted protects a word from the shell.
func Quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
