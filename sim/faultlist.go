package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"routesim/models/numeral"
)

// FaultForm describes a list of faults in words.
const FaultForm = "crash:WORKER@FROM-TO, drain:WORKER@FROM-TO, slow:WORKERxFACTOR@FROM-TO or cancel:REQUEST@FROM in ms, -TO left out for good, separated by commas; with pools WORKER is prefill:N or decode:N"

// mostSlow bounds the factor of a slow worker.
const mostSlow = 1e6

// FaultError says what is wrong with one entry of a list of faults.
type FaultError struct {
	Entry       int    // from 1
	Text        string // of the entry
	Part        string // of the form
	Found, Want string // Found is "" where the part is missing
}

// Error implements error.
func (e *FaultError) Error() string {
	found := "nothing"
	if e.Found != "" {
		found = strconv.Quote(e.Found)
	}
	return fmt.Sprintf("entry %d (%q): %s: found %s, expected %s", e.Entry, e.Text, e.Part, found, e.Want)
}

// ParseFaults reads a list such as crash:2@5000-8000,drain:0@2000. Its errors are
// *FaultError.
func ParseFaults(text string) ([]Fault, error) {
	var list []Fault
	for i, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		f, err := parseFault(part)
		if err != nil {
			err.Entry, err.Text = i+1, part
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// parseFault reads one entry: KIND:WHOM@SPAN, where WHOM may begin with a pool.
func parseFault(text string) (f Fault, err *FaultError) {
	kind, rest, _ := strings.Cut(text, ":")
	whom, span, timed := strings.Cut(rest, "@")
	if f.Kind, err = kindOf(kind); err != nil {
		return f, err
	}
	if pool, own, named := strings.Cut(whom, ":"); named {
		if f.Pool, err = poolOf(f.Kind, pool); err != nil {
			return f, err
		}
		whom = own
	}
	if err := f.strikes(whom); err != nil {
		return f, err
	}
	if !timed {
		return f, &FaultError{Part: "time", Want: "@FROM after " + f.Kind.whom()}
	}
	return f, f.lasts(span)
}

func kindOf(word string) (FaultKind, *FaultError) {
	for k := Crash; k <= Cancel; k++ {
		if word == k.String() {
			return k, nil
		}
	}
	return 0, &FaultError{Part: "kind", Found: word, Want: "crash, drain, slow or cancel, as in " + FaultForm}
}

func poolOf(kind FaultKind, word string) (Pool, *FaultError) {
	switch {
	case kind == Cancel:
		return 0, &FaultError{Part: "REQUEST", Found: word, Want: "a row of the trace alone: a client leaves both pools"}
	case word == "prefill":
		return PrefillPool, nil
	case word == "decode":
		return DecodePool, nil
	}
	return 0, &FaultError{Part: "pool", Found: word, Want: "prefill or decode"}
}

// whom names what a fault of the kind strikes.
func (k FaultKind) whom() string {
	if k == Cancel {
		return "REQUEST"
	}
	return "WORKER"
}

// strikes reads whom a fault strikes, and by what factor it slows down.
func (f *Fault) strikes(text string) *FaultError {
	digits, to := text, &f.Worker
	switch f.Kind {
	case Cancel:
		to = &f.Request
	case Slow:
		var factor string
		digits, factor, _ = strings.Cut(text, "x")
		var ok bool
		if f.Factor, ok = numeral.Real(factor); !ok || !(f.Factor > 0 && f.Factor <= mostSlow) {
			return &FaultError{Part: "FACTOR", Found: factor, Want: fmt.Sprintf("a number above 0 and up to %v after WORKERx", mostSlow)}
		}
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return &FaultError{Part: f.Kind.whom(), Found: digits, Want: fmt.Sprintf("a whole number from 0 to %d", math.MaxInt32)}
	}
	*to = int32(n)
	return nil
}

// lasts reads from when and until when a fault lasts.
func (f *Fault) lasts(span string) *FaultError {
	from, to, ends := strings.Cut(span, "-")
	var ok bool
	want := fmt.Sprintf("a number of ms from 0 to %v", endOfTime)
	if f.From, ok = momentOf(from); !ok {
		return &FaultError{Part: "FROM", Found: from, Want: want}
	}
	f.To = math.Inf(1)
	if !ends {
		return nil
	}
	if f.Kind == Cancel {
		return &FaultError{Part: "TO", Found: to, Want: "none: a client leaves once"}
	}
	if f.To, ok = momentOf(to); !ok {
		return &FaultError{Part: "TO", Found: to, Want: want}
	}
	if f.To <= f.From {
		return &FaultError{Part: "TO", Found: to, Want: fmt.Sprintf("a time after FROM, %v ms", f.From)}
	}
	return nil
}

func momentOf(text string) (float64, bool) {
	v, ok := numeral.Real(text)
	return v, ok && v >= 0 && v <= endOfTime
}
