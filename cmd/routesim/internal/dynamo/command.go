package dynamo

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
)

// word is one word of a command line.
type word struct {
	text string
	at   place
}

// command is what a container runs.
type command struct {
	module string // the Python module, such as dynamo.frontend; "" where none is named
	words  []word // what follows it
	at     place
}

// readCommand finds the Dynamo module that the container runs: among the words
// of command and args, or in the shell script that these give to a shell.
func (c *component) readCommand(r *report) (*command, error) {
	words, script, err := c.words()
	if err != nil {
		return nil, err
	}
	if script == nil {
		if found := modulesOf(words); len(found) > 0 {
			return found[0], nil
		}
		return &command{words: flagsOf(words), at: c.at}, nil
	}
	found, err := c.runScript(script, r)
	if err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		return &command{at: c.at}, nil
	case 1:
		return found[0], nil
	}
	return nil, found[1].at.problem(c.field, "a second Dynamo process, "+found[1].module+" (the first, "+found[0].module+", is at "+found[0].at.String()+")",
		"one in each container")
}

// script is a shell script that a container runs.
type script struct {
	text string
	node manifest.Node
}

// words returns the words of command and args. A text in place of a list is a
// script, and so is what a shell is told to run.
func (c *component) words() ([]word, *script, error) {
	var words []word
	var nodes []manifest.Node
	for _, key := range []string{"command", "args"} {
		n := c.container.Get(key)
		if text, ok := n.Text(); ok {
			if strings.TrimSpace(text) == "" {
				continue
			}
			return nil, &script{c.env.expand(text), n}, nil
		}
		items, ok := n.Items()
		if !ok {
			return nil, nil, n.Problem(c.field+"."+key, n.Kind(), "a list of words, or one text for a shell")
		}
		for _, item := range items {
			text, ok := item.Text()
			if !ok {
				return nil, nil, item.Problem(c.field+"."+key, item.Kind(), "a text")
			}
			words = append(words, word{c.env.expand(text), at(item)})
			nodes = append(nodes, item)
		}
	}
	if i := scriptOf(words); i > 0 {
		return nil, &script{words[i].text, nodes[i]}, nil
	}
	return words, nil, nil
}

// scriptOf returns the place of the script that a shell is given, 0 if the
// words run no shell.
func scriptOf(words []word) int {
	shells := []string{"sh", "bash", "dash", "ash", "zsh"}
	if len(words) == 0 || !slices.Contains(shells, path.Base(words[0].text)) {
		return 0
	}
	for i := 1; i+1 < len(words); i++ {
		flag := words[i].text
		switch {
		case !strings.HasPrefix(flag, "-") || strings.HasPrefix(flag, "--"):
			return 0
		case strings.Contains(flag, "c"):
			return i + 1
		case strings.HasSuffix(flag, "o"):
			i++ // the name of an option
		}
	}
	return 0
}

var moduleName = regexp.MustCompile(`^dynamo(\.[A-Za-z_]\w*)+$`)

// modulesOf returns the Dynamo module among the words of one command, if there
// is one.
func modulesOf(words []word) []*command {
	for i, w := range words {
		if w.text == "-m" && i+1 < len(words) && moduleName.MatchString(words[i+1].text) {
			return []*command{{words[i+1].text, words[i+2:], words[i+1].at}}
		}
	}
	return nil
}

// flagsOf leaves out a program before the first flag.
func flagsOf(words []word) []word {
	for i, w := range words {
		if strings.HasPrefix(w.text, "--") {
			return words[i:]
		}
	}
	return nil
}
