package settings

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"routesim/models/numeral"
)

// Decimals lets flags with numbers take decimal ones only, as settings do. The
// flag parser itself also reads 0x10, 1_0 and, for 8, 010.
func Decimals(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "int64", "uint64", "float64":
			f.Value = &decimalValue{f.Value}
		}
	})
}

// decimalValue is the value of a flag with a number.
type decimalValue struct{ pflag.Value }

// Set takes the number.
func (v *decimalValue) Set(text string) error {
	if v.Type() == "float64" {
		if _, ok := numeral.Real(text); !ok {
			return errors.New("no decimal number")
		}
		return v.Value.Set(text)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return v.Value.Set(strconv.FormatUint(n, 10))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	return v.Value.Set(strconv.FormatInt(n, 10))
}
