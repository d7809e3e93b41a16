package workloads

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Taints are what a request says about the taints of the worker that serves it.
type Taints struct {
	Required  []string         // the worker must carry them; sorted, each once
	Preferred []PreferredTaint // it had better; sorted by name
}

// PreferredTaint is a taint with what it is worth to the request; below 0 it is
// to be avoided.
type PreferredTaint struct {
	Name   string
	Weight float64
}

// taintColumns carry what only a live router reads. Rows that say the same share
// it.
type taintColumns struct {
	sets []Taints // sets[0] is none
	of   []int32  // by row, index into sets
}

// TaintsOf returns what row i says about taints. Callers must not change it.
func (t *Trace) TaintsOf(i int) Taints {
	if t.taints == nil {
		return Taints{}
	}
	return t.taints.sets[t.taints.of[i]]
}

// TaintNames returns every taint that some row requires or prefers, sorted.
func (t *Trace) TaintNames() (names []string) {
	if t.taints == nil {
		return nil
	}
	for _, s := range t.taints.sets {
		names = append(names, s.Required...)
		for _, p := range s.Preferred {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sort brings taints into their one order.
func (x *Taints) sort() {
	slices.Sort(x.Required)
	x.Required = slices.Compact(x.Required)
	for i := range x.Preferred {
		x.Preferred[i].Weight += 0 // minus zero is zero
	}
	slices.SortFunc(x.Preferred, func(a, b PreferredTaint) int { return strings.Compare(a.Name, b.Name) })
}

// key is a text that only equal taints have.
func (x *Taints) key() string {
	var b strings.Builder
	for _, name := range x.Required {
		b.WriteString(strconv.Quote(name))
	}
	for _, p := range x.Preferred {
		b.WriteString(strconv.FormatFloat(p.Weight, 'g', -1, 64))
		b.WriteString(strconv.Quote(p.Name))
	}
	return b.String()
}

// keepTaints notes what a row says about taints.
func (b *Builder) keepTaints(raw *rawRow, row int32) {
	c := b.t.taints
	none := len(raw.taints.Required) == 0 && len(raw.taints.Preferred) == 0
	if c == nil {
		if none {
			return
		}
		c = &taintColumns{sets: make([]Taints, 1), of: make([]int32, row)}
		b.t.taints, b.taints = c, map[string]int32{"": 0}
	}
	n := int32(0)
	if !none {
		raw.taints.sort()
		key := raw.taints.key()
		known, ok := b.taints[key]
		if n = known; !ok {
			n = int32(len(c.sets))
			c.sets, b.taints[key] = append(c.sets, raw.taints), n
		}
	}
	c.of = append(room(c.of, 1), n)
}

// WantTaint says what ValidTaint wants.
const WantTaint = "the name of a taint: printable characters without spaces, + , and @"

// ValidTaint reports whether a text may be the name of a taint: what settings can
// write too, where + , and @ separate names, workers and fields.
func ValidTaint(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("+,@", r)
	})
}

// taintList reads a list of taints.
func (d *decoder) taintList(field string) (list []string, p *Problem) {
	const want = "a list of names of taints"
	if d.dec.PeekKind() != '[' {
		return nil, d.unexpected(field, want)
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, d.syntax(err)
	}
	for d.dec.PeekKind() != ']' {
		name, p := d.text(field+"["+strconv.Itoa(len(list))+"]", WantTaint)
		if p != nil {
			return nil, p
		}
		if !ValidTaint(string(name)) {
			return nil, &Problem{Field: field + "[" + strconv.Itoa(len(list)) + "]", Found: strconv.Quote(string(name)), Want: WantTaint}
		}
		list = append(list, string(name))
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, d.syntax(err)
	}
	return list, nil
}

// taintWeights reads an object of taints and their weights.
func (d *decoder) taintWeights(field string) (list []PreferredTaint, p *Problem) {
	p = d.object(field, "an object of taints and their weights", func(name string) *Problem {
		if !ValidTaint(name) {
			return &Problem{Field: field, Found: strconv.Quote(name), Want: WantTaint}
		}
		if slices.ContainsFunc(list, func(p PreferredTaint) bool { return p.Name == name }) {
			return &Problem{Field: field, Found: strconv.Quote(name) + " twice", Want: "each taint once"}
		}
		weight, p := d.float(field+"["+strconv.Quote(name)+"]", "a finite number")
		list = append(list, PreferredTaint{name, weight})
		return p
	})
	return list, p
}

// taints adds what requests say about taints, and nothing for a trace that does
// not say.
func (d *digester) taints(c *taintColumns) {
	if c == nil {
		return
	}
	d.text("taints")
	halves(d, c.of)
	d.word(uint64(len(c.sets)))
	for _, s := range c.sets {
		d.word(uint64(len(s.Required)))
		for _, name := range s.Required {
			d.text(name)
		}
		d.word(uint64(len(s.Preferred)))
		for _, p := range s.Preferred {
			d.text(p.Name)
			d.word(math.Float64bits(p.Weight))
		}
	}
}
