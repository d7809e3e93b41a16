package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Pasted collects flags of Dynamo's frontend that no routing decision depends
// on, so that its command line can be pasted as it is.
type Pasted struct{ names []string }

// FrontendFlags registers the flags of a frontend that are no settings, those
// with a value and switches, and its name of block-size. They stay out of help
// texts.
func (r *Recorder) FrontendFlags(t *Table, fs *pflag.FlagSet, values, switches []string) *Pasted {
	out := &Pasted{}
	add := func(name string) *pflag.Flag {
		if fs.Lookup(name) != nil {
			return nil // a setting
		}
		fs.Var(&ignoredValue{out, name}, name, "")
		f := fs.Lookup(name)
		f.Hidden = true
		return f
	}
	for _, name := range values {
		add(name)
	}
	for _, name := range switches {
		for _, form := range []string{name, "no-" + name} {
			if f := add(form); f != nil {
				f.NoOptDefVal = "true"
			}
		}
	}
	const blocks = "kv-cache-block-size"
	if s, ok := t.Lookup("block-size"); ok && fs.Lookup(blocks) == nil {
		addFlag(fs, &flagValue{rec: r, setting: s, name: blocks}, blocks, s).Hidden = true
	}
	return out
}

// Warning names the flags that were given, "" for none.
func (i *Pasted) Warning() string {
	switch n := len(i.names); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s of Dynamo's frontend has no effect on a replay", i.names[0])
	default:
		return fmt.Sprintf("%s and %s of Dynamo's frontend have no effect on a replay", strings.Join(i.names[:n-1], ", "), i.names[n-1])
	}
}

// ignoredValue is the value of a flag without effect.
type ignoredValue struct {
	all  *Pasted
	name string
}

// String returns nothing: there is no default.
func (v *ignoredValue) String() string { return "" }

// Type stands for the value in help texts.
func (v *ignoredValue) Type() string { return "text" }

// Set notes that the flag is there.
func (v *ignoredValue) Set(string) error {
	if flag := "--" + v.name; !slices.Contains(v.all.names, flag) {
		v.all.names = append(v.all.names, flag)
	}
	return nil
}
