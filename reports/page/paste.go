package page

import (
	"strings"

	"routesim/reports/paste"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// block holds a point's flags in the forms to paste.
func (m *model) block(p int) (block, error) {
	f, err := paste.Of(m.s.Points[p].Flags, m.x.Kubernetes)
	return block{Point: p, Flags: f.Flags, Env: f.Env, Kubernetes: f.Kubernetes}, err
}

// hole stands for the value in the texts of a flag. It needs no quotes in a
// shell, so texts with quotes are kept whole.
const hole = "0VALUE0"

// flagText is a flag in each form, with a hole for its value.
type flagText struct {
	flag, env, item string
	variable        bool // item belongs into the list of variables
}

// flagTexts are what the script needs to write the flags of every point: the
// flags in use, for each point pairs of place and value, the text for a point
// without flags, and what stands before the variables of a manifest.
type flagTexts struct {
	list       []flagText
	rows       [][]any
	none, note string
	head       string
}

func (m *model) flagTexts() (*flagTexts, error) {
	t := &flagTexts{rows: make([][]any, len(m.s.Points))}
	none, err := paste.Of(nil, m.x.Kubernetes)
	if err != nil {
		return nil, err
	}
	t.none = none.Kubernetes
	index := map[string]int{}
	for p := range m.s.Points {
		t.rows[p] = []any{}
		for _, f := range m.s.Points[p].Flags {
			value := f.Value
			if !f.Bool && plainValue(value) {
				f.Value = hole
			} else {
				value = ""
			}
			key := f.Name + "\n" + f.Env + "\n" + f.Value
			at, known := index[key]
			if !known {
				at = len(t.list)
				index[key] = at
				if err := t.add(f, m.x.Kubernetes); err != nil {
					return nil, err
				}
			}
			t.rows[p] = append(t.rows[p], at, value)
		}
	}
	return t, nil
}

func plainValue(v string) bool { return v != "" && verdict.Quoted(v) == v }

// add takes the parts of a flag's texts from those of a point that has no other.
func (t *flagTexts) add(f sweepdata.Flag, version string) error {
	forms, err := paste.Of([]sweepdata.Flag{f}, version)
	if err != nil {
		return err
	}
	lines := strings.Split(forms.Kubernetes, "\n")
	text := flagText{flag: forms.Flags, env: forms.Env, variable: f.Env != ""}
	comments := 0
	for comments < len(lines) && strings.HasPrefix(lines[comments], "#") {
		comments++
	}
	if text.variable {
		text.item = strings.Join(lines[len(lines)-2:], "\n")
		t.head = strings.Join(lines[comments:len(lines)-2], "\n")
	} else {
		comments--
		text.item = lines[comments]
	}
	t.note = strings.Join(lines[:comments], "\n")
	t.list = append(t.list, text)
	return nil
}

// fields adds the texts to the data of the script.
func (t *flagTexts) fields(field func(string, any)) {
	list := [][]any{}
	for _, f := range t.list {
		list = append(list, []any{f.flag, f.env, f.item, f.variable})
	}
	field("flagtexts", list)
	field("flags", t.rows)
	field("k8s", []string{t.none, t.note, t.head})
}
