package dynamo

import (
	"regexp"
	"slices"
	"strings"
)

// option is a flag of a command line with what follows it.
type option struct {
	name   string // in kebab case, without the dashes in front
	values []word
	at     place
}

// value returns the option's only value.
func (o *option) value(c *component) (word, error) {
	if len(o.values) == 0 {
		return word{}, o.at.problem(flagField(c, o.name), "no value", "one after it")
	}
	return o.values[0], nil
}

// String is the option as one would type it.
func (o *option) String() string {
	text := dashed(o.name)
	for _, v := range o.values {
		text += " " + v.text
	}
	return show(text)
}

// dashed is a flag with its dashes.
func dashed(name string) string {
	if len(name) <= 3 && !slices.Contains([]string{"tp", "dp"}, name) {
		return "-" + name
	}
	return "--" + name
}

// flagField is the place of a flag in errors.
func flagField(c *component, name string) string { return c.name + ": " + dashed(name) }

var number = regexp.MustCompile(`^-[0-9.]`)

// isFlag reports whether a word is a flag and not the value of one.
func isFlag(text string) bool {
	return len(text) > 1 && text[0] == '-' && !number.MatchString(text)
}

// options cuts words into flags with their values. A switch takes no word after
// it. A word that belongs to no flag is reported, and so is a flag that is
// there twice: the last one counts, as in Dynamo.
func options(c *component, r *report, words []word, isSwitch func(name string) bool) []option {
	var list []option
	place := map[string]int{}
	open := -1 // the option that takes the next word
	for _, w := range words {
		if !isFlag(w.text) {
			if open < 0 {
				r.unknown(c, "the word "+show(w.text), w.at, "it follows no flag that takes a value")
				continue
			}
			list[open].values = append(list[open].values, w)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
		o := option{name: strings.ReplaceAll(name, "_", "-"), at: w.at}
		if inline {
			o.values = []word{{value, w.at}}
		}
		if i, again := place[o.name]; again {
			r.warn(dashed(o.name) + " of " + c.name + " is given at " + list[i].at.String() + " and at " + o.at.String() + ": the last one counts")
			list[i].name = ""
		}
		place[o.name] = len(list)
		list = append(list, o)
		if open = len(list) - 1; inline || isSwitch(o.name) {
			open = -1
		}
	}
	return slices.DeleteFunc(list, func(o option) bool { return o.name == "" })
}
