package settings

import (
	"fmt"

	"github.com/spf13/pflag"
)

// Once lets flags with one value be given once: of two values one would be
// dropped without a word.
func Once(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		f := fs.Lookup(name)
		if f == nil {
			panic("settings: there is no flag --" + name)
		}
		f.Value = &onceValue{Value: f.Value, name: f.Name}
	}
}

// onceValue is the value of a flag that may be given once.
type onceValue struct {
	pflag.Value
	name, first string
	given       bool
}

// Set takes the value unless there is one.
func (v *onceValue) Set(text string) error {
	if v.given {
		return &repeatedError{fmt.Sprintf("--%s: found %s and %s, expected one of them", v.name, show(v.first), show(text))}
	}
	v.given, v.first = true, text
	return v.Value.Set(text)
}

// repeatedError is a flag that was given again.
type repeatedError struct{ text string }

func (e *repeatedError) Error() string { return e.text }

// wordsOf names the values of a flag, by the type that the flag parser knows.
func wordsOf(kind string) string {
	switch kind {
	case "int", "int64":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number of at least 0"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "string":
		return "a text"
	}
	return "another value"
}
