package sweep

import (
	"errors"
	"math/big"
	"strings"
)

// decimal is a number as people write it: units / 10^places, exact.
type decimal struct {
	units  *big.Int
	places int
}

// maxDigits bounds the length of a number in a range, so that no input can ask
// for huge arithmetic.
const maxDigits = 40

var errDecimal = errors.New("expected a decimal number")

// parseDecimal reads digits with an optional sign, point and exponent.
func parseDecimal(text string) (decimal, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	shift := 0
	if len(mantissa) < len(text) {
		var ok bool
		if shift, ok = smallInt(exponent); !ok {
			return decimal{}, errDecimal
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	sign := ""
	if whole != "" && (whole[0] == '-' || whole[0] == '+') {
		sign, whole = strings.TrimPrefix(whole[:1], "+"), whole[1:]
	}
	digits := whole + fraction
	if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return decimal{}, errDecimal
	}
	units, ok := new(big.Int).SetString(sign+digits, 10)
	if !ok {
		return decimal{}, errDecimal
	}
	d := decimal{units, len(fraction) - shift}
	if d.places < 0 {
		d = d.at(0)
	}
	return d, nil
}

// smallInt reads an exponent of at most maxDigits.
func smallInt(text string) (v int, ok bool) {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" || len(digits) > 2 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	for _, c := range digits {
		v = 10*v + int(c-'0')
	}
	if strings.HasPrefix(text, "-") {
		v = -v
	}
	return v, v <= maxDigits && v >= -maxDigits
}

// at returns the number with that many places, which must lose nothing.
func (d decimal) at(places int) decimal {
	factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places-d.places)), nil)
	return decimal{factor.Mul(factor, d.units), places}
}

// String writes the number without trailing zeros and without an exponent.
func (d decimal) String() string {
	text := new(big.Int).Abs(d.units).String()
	if d.places > 0 {
		if missing := d.places + 1 - len(text); missing > 0 {
			text = strings.Repeat("0", missing) + text
		}
		cut := len(text) - d.places
		text = strings.TrimRight(strings.TrimRight(text[:cut]+"."+text[cut:], "0"), ".")
	}
	if d.units.Sign() < 0 {
		text = "-" + text
	}
	return text
}
