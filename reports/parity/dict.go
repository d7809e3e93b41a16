package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// unsupported says why a recording cannot be replayed although it is sound.
type unsupported string

func (u unsupported) Error() string { return string(u) }

// dict reads one dictionary of a recording's settings key by key. It remembers
// what was asked for, so that a key nobody knows is never passed over. The
// first problem stays in err; reading goes on with defaults.
type dict struct {
	where  string // path of the dictionary inside the recording
	values map[string]any
	asked  map[string]bool
	err    error
}

func newDict(where string, values map[string]any) *dict {
	return &dict{where: where, values: values, asked: map[string]bool{}}
}

// get returns a value; null counts as absent, as None does in the oracle.
func (d *dict) get(key string) (any, bool) {
	d.asked[key] = true
	v := d.values[key]
	return v, v != nil
}

func (d *dict) path(key string) string {
	if d.where == "" {
		return key
	}
	return d.where + "." + key
}

// bad notes a value of the wrong kind.
func (d *dict) bad(key string, v any, want string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: found %s, expected %s", d.path(key), show(v), want)
	}
}

// refuse notes a setting that is not modelled.
func (d *dict) refuse(format string, args ...any) {
	if d.err == nil {
		d.err = unsupported(fmt.Sprintf(format, args...))
	}
}

// pass hands the problem of an inner dictionary on.
func (d *dict) pass(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *dict) float(key string, def float64) float64 {
	if p := d.maybeFloat(key); p != nil {
		return *p
	}
	return def
}

func (d *dict) maybeFloat(key string) *float64 {
	v, ok := d.get(key)
	if !ok {
		return nil
	}
	f, ok := number(v)
	if !ok {
		d.bad(key, v, "a number")
		return nil
	}
	return &f
}

// integer reads a whole number that fits into 31 bits.
func (d *dict) integer(key string, def int32) int32 {
	v, ok := d.get(key)
	if !ok {
		return def
	}
	f, ok := number(v)
	if !ok || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		d.bad(key, v, "a whole number")
		return def
	}
	return int32(f)
}

// limit reads a whole number whose explicit null means "no limit".
func (d *dict) limit(key string, def, none int32) int32 {
	if v, there := d.values[key]; there && v == nil {
		d.asked[key] = true
		return none
	}
	return d.integer(key, def)
}

func (d *dict) boolean(key string, def bool) bool {
	v, ok := d.get(key)
	if !ok {
		return def
	}
	b, ok := v.(bool)
	if !ok {
		d.bad(key, v, "true or false")
		return def
	}
	return b
}

func (d *dict) text(key, def string) string {
	v, ok := d.get(key)
	if !ok {
		return def
	}
	s, ok := v.(string)
	if !ok {
		d.bad(key, v, "a text")
		return def
	}
	return s
}

// object returns an inner dictionary, nil where it is absent.
func (d *dict) object(key string) map[string]any {
	v, ok := d.get(key)
	if !ok {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		d.bad(key, v, "a dictionary")
	}
	return m
}

// required returns the dictionary under key, which must be there.
func (d *dict) required(key string) map[string]any {
	m := d.object(key)
	if m == nil {
		d.bad(key, nil, "a dictionary")
	}
	return m
}

// inert names keys that change nothing in the oracle's replay.
func (d *dict) inert(keys ...string) {
	for _, key := range keys {
		d.asked[key] = true
	}
}

// only refuses a key unless it is absent, null, empty or has its default.
func (d *dict) only(key string, def any, what string) {
	v, ok := d.get(key)
	if !ok || isDefault(v, def) {
		return
	}
	d.refuse("%s (%s=%s)", what, d.path(key), show(v))
}

// done reports the first problem, or a key that nothing asked for.
func (d *dict) done() error {
	if d.err != nil {
		return d.err
	}
	for _, key := range slices.Sorted(maps.Keys(d.values)) {
		if !d.asked[key] {
			return unsupported("unknown key " + d.path(key))
		}
	}
	return nil
}

func isDefault(v, def any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case json.Number:
		f, ok := number(v)
		g, isFloat := def.(float64)
		return ok && isFloat && f == g
	}
	return v == def
}

// number reads a decoded JSON number as binary64.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	return f, err == nil
}

// show renders a decoded value in a message, cut to a readable length.
func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 60
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}
