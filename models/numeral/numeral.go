// Package numeral reads numbers as people write them: in decimals, with nothing
// that only a programming language reads into them.
package numeral

import (
	"math"
	"strconv"
	"strings"
)

// Real reads a finite decimal number. Hexadecimal digits, underscores between
// digits and the words for what is no finite number are none.
func Real(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_pP") || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v + 0, true // a negative zero is a zero
}
