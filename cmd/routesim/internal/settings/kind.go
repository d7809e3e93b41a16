package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"routesim/models/numeral"
)

// Value is a parsed value of a setting.
type Value struct {
	None bool    // the setting is explicitly without a value
	Num  float64 // reals
	Int  int64   // whole numbers, choices (index), booleans (0 or 1)
	Text string  // canonical text of any value; "none" for None
}

// Kind is the type and the range of a setting.
type Kind interface {
	// Parse reads a value as typed; ok is false if it is not one.
	Parse(text string) (v Value, ok bool)
	// Expected describes the values in words, after "expected".
	Expected() string
	// Meta stands for the value in help texts, "" for switches.
	Meta() string
}

// None is the word for an absent value.
const None = "none"

// Auto is the word for a value that follows from the worker's profile or timing
// model, and AutoValue the number that stands for it in a run.
const (
	Auto      = "auto"
	AutoValue = -1
)

// isNone recognises the spellings of an absent value, Dynamo's included.
func isNone(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", None, "null", "~":
		return true
	}
	return false
}

func orNone(optional bool, expected string) string {
	if optional {
		return expected + ", or " + None
	}
	return expected
}

// Real is a finite number within a range.
type Real struct {
	Min, Max float64
	Above    bool // Min itself is excluded
	Optional bool
}

// Parse reads a decimal number.
func (k Real) Parse(text string) (Value, bool) {
	if k.Optional && isNone(text) {
		return Value{None: true, Text: None}, true
	}
	v, ok := numeral.Real(text)
	if !ok || v < k.Min || v > k.Max || k.Above && v == k.Min {
		return Value{}, false
	}
	return Value{Num: v, Text: FormatReal(v)}, true
}

// FormatReal writes a number the way one would type it.
func FormatReal(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e15) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Expected describes the range.
func (k Real) Expected() string {
	switch {
	case k.Max < math.MaxFloat64 && k.Above:
		return orNone(k.Optional, fmt.Sprintf("a number above %s and up to %s", FormatReal(k.Min), FormatReal(k.Max)))
	case k.Max < math.MaxFloat64:
		return orNone(k.Optional, fmt.Sprintf("a number from %s to %s", FormatReal(k.Min), FormatReal(k.Max)))
	case k.Above:
		return orNone(k.Optional, fmt.Sprintf("a finite number above %s", FormatReal(k.Min)))
	}
	return orNone(k.Optional, fmt.Sprintf("a finite number of at least %s", FormatReal(k.Min)))
}

// Meta stands for the value in help texts.
func (k Real) Meta() string { return metaOrNone("X", k.Optional) }

// Int is a whole number within a range.
type Int struct {
	Min, Max int64
	Optional bool
	NoneIs   int64 // what stands for none in the run's field
	Auto     bool  // the word auto is a value, stored as AutoValue
}

// Parse reads a decimal whole number.
func (k Int) Parse(text string) (Value, bool) {
	if k.Optional && isNone(text) {
		return Value{None: true, Int: k.NoneIs, Text: None}, true
	}
	if k.Auto && strings.EqualFold(strings.TrimSpace(text), Auto) {
		return Value{Int: AutoValue, Text: Auto}, true
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < k.Min || v > k.Max {
		return Value{}, false
	}
	return Value{Int: v, Text: strconv.FormatInt(v, 10)}, true
}

// Expected describes the range.
func (k Int) Expected() string {
	text := fmt.Sprintf("a whole number from %d to %d", k.Min, k.Max)
	if k.Auto && k.Optional {
		return text + ", " + Auto + " or " + None
	}
	if k.Auto {
		return text + ", or " + Auto
	}
	return orNone(k.Optional, text)
}

// Meta stands for the value in help texts.
func (k Int) Meta() string {
	if k.Auto {
		return metaOrNone("N|"+Auto, k.Optional)
	}
	return metaOrNone("N", k.Optional)
}

// Bool is a switch.
type Bool struct{}

// Parse reads Dynamo's words for true and false.
func (Bool) Parse(text string) (Value, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "on", "yes":
		return Value{Int: 1, Text: "true"}, true
	case "false", "0", "off", "no":
		return Value{Text: "false"}, true
	}
	return Value{}, false
}

// Expected describes the words.
func (Bool) Expected() string { return "true or false" }

// Meta is empty: a switch takes no value.
func (Bool) Meta() string { return "" }

// Choice is one of a few words.
type Choice struct {
	Words   []string          // by index
	Also    map[string]string // further spellings of the words
	Unknown map[string]string // words that Dynamo knows and a replay does not, with the reason
}

// Parse reads one of the words.
func (k Choice) Parse(text string) (Value, bool) {
	t := strings.ToLower(strings.TrimSpace(text))
	if isNone(text) {
		t = None // where it is one of the words
	}
	if w, ok := k.Also[t]; ok {
		t = w
	}
	for i, w := range k.Words {
		if t == w {
			return Value{Int: int64(i), Text: w}, true
		}
	}
	return Value{}, false
}

// Expected lists the words.
func (k Choice) Expected() string {
	n := len(k.Words) - 1
	if n == 0 {
		return k.Words[0]
	}
	return strings.Join(k.Words[:n], ", ") + " or " + k.Words[n]
}

// Meta lists the words.
func (k Choice) Meta() string {
	if words := strings.Join(k.Words, "|"); len(words) < 60 {
		return words
	}
	return "WORD"
}

// Word is any text, such as a file name.
type Word struct {
	What     string // what it is, after "expected"
	Hint     string // placeholder in help texts
	Optional bool
	Check    func(string) error // nil accepts every text; a *partError says which part is wrong
}

// Parse takes the text as it is.
func (k Word) Parse(text string) (Value, bool) {
	if k.Optional && isNone(text) {
		return Value{None: true, Text: None}, true
	}
	if strings.TrimSpace(text) == "" || k.Check != nil && k.Check(text) != nil {
		return Value{}, false
	}
	return Value{Text: text}, true
}

// partError is what is wrong with one part of a text.
type partError struct{ part, found, want string }

func (e *partError) Error() string {
	return e.part + ": found " + e.found + ", expected " + e.want
}

// wrongPart returns what is wrong with one part of a text, nil where the text as a
// whole is no value.
func (k Word) wrongPart(text string) (e *partError) {
	if k.Check != nil {
		errors.As(k.Check(text), &e)
	}
	return e
}

// Expected describes the text.
func (k Word) Expected() string { return orNone(k.Optional, k.What) }

// Meta stands for the value in help texts.
func (k Word) Meta() string { return k.Hint }

func metaOrNone(meta string, optional bool) string {
	if optional {
		return meta + "|" + None
	}
	return meta
}
