package sweepdata

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"routesim/models/yamltext"
	"routesim/reports"
	"routesim/sim/sweep"
	"routesim/workloads"
)

// Schema is the version of the files of a sweep; a change of what they hold, or
// of what a key covers, raises it.
const Schema = 2

// config is sweep.yaml.
type config struct {
	Schema    int           `yaml:"schema"`
	Version   string        `yaml:"version"`
	Command   []string      `yaml:"command"`
	Trace     configTrace   `yaml:"trace"`
	Objective string        `yaml:"objective"`
	SLA       configSLA     `yaml:"sla,omitempty"`
	Design    string        `yaml:"design"`
	Seeds     []uint64      `yaml:"seeds"`
	Axes      []configAxis  `yaml:"axes"`
	Points    [][]string    `yaml:"points,omitempty"` // values by axis; a grid needs none
	Default   string        `yaml:"default_point,omitempty"`
	Reference string        `yaml:"reference_point,omitempty"`
	Flags     []configFlag  `yaml:"reference_flags,omitempty"`
	Settings  yaml.MapSlice `yaml:"settings"`
	Profiles  []any         `yaml:"profiles,omitempty"`
	Notes     []string      `yaml:"notes,omitempty"`
	Semantics string        `yaml:"router_semantics,omitempty"`
	Unchecked string        `yaml:"not_checked,omitempty"`
}

type configTrace struct {
	Paths     []string `yaml:"paths"`
	Name      string   `yaml:"name"`
	Format    string   `yaml:"format"`
	Rows      int      `yaml:"rows"`
	Skipped   int      `yaml:"skipped_rows"`
	BlockSize int32    `yaml:"block_size"`
	Digest    string   `yaml:"digest"`
}

type configSLA struct {
	TTFT   configNumber `yaml:"ttft_ms,omitempty"`
	ITL    configNumber `yaml:"itl_ms,omitempty"`
	E2E    configNumber `yaml:"e2e_ms,omitempty"`
	Target configNumber `yaml:"target_share,omitempty"`
}

// configNumber is a number that reads back as one: the YAML library takes an
// exponent without a point before it for a text.
type configNumber float64

// MarshalYAML implements yaml.BytesMarshaler.
func (n configNumber) MarshalYAML() ([]byte, error) {
	text := strconv.FormatFloat(float64(n), 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(mantissa, ".") {
		text = mantissa + ".0e" + exponent
	} else if !ok && !strings.Contains(text, ".") {
		text += ".0"
	}
	return []byte(text), nil
}

// written is a setting's value as the file has it.
func written(v any) any {
	if f, ok := v.(float64); ok {
		return configNumber(f)
	}
	return v
}

type configAxis struct {
	Name       string        `yaml:"name"`
	Unit       string        `yaml:"unit,omitempty"`
	Values     []string      `yaml:"values"`
	Base       string        `yaml:"default"`
	Documented *configNumber `yaml:"documented_up_to,omitempty"`
	Dynamo     *configFlag   `yaml:"dynamo,omitempty"`
	Inert      string        `yaml:"inert,omitempty"`
	Remedy     string        `yaml:"remedy,omitempty"`
}

type configFlag struct {
	Name  string `yaml:"flag"`
	Env   string `yaml:"variable,omitempty"`
	Value string `yaml:"value,omitempty"`
	Bool  bool   `yaml:"switch,omitempty"`
}

// SameDefinition reports whether a sweep.yaml describes the sweep s. What a sweep
// finds out about its axes is no part of its description.
func SameDefinition(text []byte, s *Sweep) bool {
	var b bytes.Buffer
	if s.writeConfig(&b) == nil && bytes.Equal(b.Bytes(), text) {
		return true
	}
	old, err := ParseConfig(ConfigFile, onePoint(text))
	if err != nil || len(old.Axes) != len(s.Axes) {
		return false
	}
	same := *s
	same.Axes = slices.Clone(s.Axes)
	for i := range same.Axes {
		same.Axes[i].Inert, same.Axes[i].Remedy = old.Axes[i].Inert, old.Axes[i].Remedy
	}
	b.Reset()
	return same.writeConfig(&b) == nil && bytes.Equal(b.Bytes(), text)
}

// onePoint cuts all points but the first out of a sweep.yaml: reading a million of
// them takes minutes.
func onePoint(text []byte) []byte {
	const list, item = "\npoints:\n", "  - - "
	from := bytes.Index(text, []byte(list+item))
	if from < 0 {
		return text
	}
	second := bytes.Index(text[from+len(list+item):], []byte("\n"+item))
	if second < 0 {
		return text
	}
	cut := from + len(list+item) + second + 1
	rest := text[cut:]
	for len(rest) > 0 && rest[0] == ' ' {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return slices.Concat(text[:cut], rest)
}

// writeConfig writes sweep.yaml.
func (s *Sweep) writeConfig(w io.Writer) error {
	c := config{
		Schema: Schema, Version: s.Version, Command: s.Command, Objective: s.Objective, Design: s.Design,
		Seeds: s.Seeds, Notes: s.Notes, Semantics: s.Semantics, Unchecked: s.Unchecked, SLA: configSLA{configNumber(s.SLA.TTFT), configNumber(s.SLA.ITL), configNumber(s.SLA.E2E), configNumber(s.SLA.Target)},
		Trace: configTrace{s.TracePaths, s.Trace.Name, s.Trace.Format, s.Trace.Rows, s.Trace.Skipped, s.Trace.BlockSize, s.Trace.Digest},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Base)) {
		c.Settings = append(c.Settings, yaml.MapItem{Key: name, Value: written(s.Base[name])})
	}
	for i := range s.Axes {
		c.Axes = append(c.Axes, axisConfig(&s.Axes[i]))
	}
	if s.Design != "grid" {
		c.Points = [][]string{{pointsPlace}}
	}
	if s.Default >= 0 {
		c.Default = s.Points[s.Default].ID
	}
	if s.Reference >= 0 {
		c.Reference = s.Points[s.Reference].ID
		if s.Points[s.Reference].Added {
			for _, f := range s.Points[s.Reference].Flags {
				c.Flags = append(c.Flags, configFlag(f))
			}
		}
	}
	for i := range s.Profiles {
		facts, err := profileConfig(&s.Profiles[i])
		if err != nil {
			return err
		}
		c.Profiles = append(c.Profiles, facts)
	}
	text, err := yaml.MarshalWithOptions(&c, yaml.IndentSequence(true))
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(text, []byte("  - - "+pointsPlace+"\n"))
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# Makes this sweep again: routesim sweep --from %s -o DIR\n%s", ConfigFile, before)
	if s.Design != "grid" {
		if err := s.writeValues(out); err != nil {
			return err
		}
	}
	out.Write(after)
	return out.Flush()
}

// pointsPlace stands for the list of points until that is written.
const pointsPlace = "the-points-of-the-design"

// writeValues writes the values of the design's points as the YAML library
// would, which takes some kilobytes a point.
func (s *Sweep) writeValues(w *bufio.Writer) error {
	texts := map[string]string{}
	for i := range s.Points {
		if s.Points[i].Added {
			continue
		}
		for j, v := range s.Points[i].Values {
			text, ok := texts[v]
			if !ok {
				line, err := yaml.Marshal([]string{v})
				if err != nil {
					return err
				}
				text = string(line)
				texts[v] = text
			}
			indent := "    "
			if j == 0 {
				indent = "  - "
			}
			w.WriteString(indent)
			w.WriteString(text)
		}
	}
	return nil
}

func axisConfig(a *Axis) configAxis {
	out := configAxis{Name: a.Name, Unit: a.Unit, Values: a.Values, Base: a.Base, Inert: a.Inert, Remedy: a.Remedy}
	if !math.IsNaN(a.Documented) {
		n := configNumber(a.Documented)
		out.Documented = &n
	}
	if a.Dynamo != nil {
		f := configFlag(*a.Dynamo)
		out.Dynamo = &f
	}
	return out
}

// profileConfig gives the facts of a profile the names they have in summaries.
func profileConfig(f *reports.ProfileFacts) (any, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var facts yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &facts, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	return append(yaml.MapSlice{{Key: "line", Value: f.Line}}, facts...), nil
}

// ParseConfig reads sweep.yaml. Points are those of a design other than a grid,
// with nothing but their values.
func ParseConfig(file string, text []byte) (s *Sweep, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some malformed texts
			s, err = nil, &workloads.Problem{File: file, Want: "valid YAML as a sweep writes it"}
		}
	}()
	if f := yamltext.Check(text); f != nil {
		return nil, &workloads.Problem{File: file, Line: f.Line, Found: f.Found, Want: f.Want}
	}
	if line := yamltext.FirstAlias(text); line > 0 {
		return nil, &workloads.Problem{File: file, Line: line, Found: "an alias", Want: "the values themselves, as a sweep writes them"}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &workloads.Problem{File: file, Found: "an empty file", Want: "the description of a sweep, as routesim sweep writes it"}
	}
	var c config
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return nil, yamlProblem(file, err)
	}
	if err := c.check(file); err != nil {
		return nil, err
	}
	s = &Sweep{
		Version: c.Version, Command: c.Command, Objective: c.Objective, Design: c.Design, Seeds: c.Seeds, Notes: c.Notes, Semantics: c.Semantics, Unchecked: c.Unchecked,
		SLA: SLA{float64(c.SLA.TTFT), float64(c.SLA.ITL), float64(c.SLA.E2E), float64(c.SLA.Target)}, TracePaths: c.Trace.Paths, Base: map[string]any{}, Default: -1, Reference: -1,
		Trace: reports.TraceFacts{Name: c.Trace.Name, Format: c.Trace.Format, Rows: c.Trace.Rows, Skipped: c.Trace.Skipped, BlockSize: c.Trace.BlockSize, Digest: c.Trace.Digest},
	}
	for _, m := range c.Settings {
		s.Base[fmt.Sprint(m.Key)] = plainValue(m.Value)
	}
	for i := range c.Axes {
		s.Axes = append(s.Axes, c.Axes[i].axis())
	}
	for _, values := range c.Points {
		s.Points = append(s.Points, Point{Values: values})
	}
	for i, facts := range c.Profiles {
		f, err := profileFacts(facts)
		if err != nil {
			return nil, &workloads.Problem{File: file, Field: fmt.Sprintf("profiles[%d]", i), Found: "something else (" + reports.Malformed(err) + ")", Want: "what a sweep writes there"}
		}
		s.Profiles = append(s.Profiles, *f)
	}
	s.ends = ends{c.Default, c.Reference, c.Flags}
	return s, nil
}

// ends are the points that a sweep compares with, as named in sweep.yaml.
type ends struct {
	def, reference string
	flags          []configFlag
}

func (c *configAxis) axis() Axis {
	a := Axis{Name: c.Name, Unit: c.Unit, Values: c.Values, Base: c.Base, Inert: c.Inert, Remedy: c.Remedy, Documented: math.NaN()}
	if c.Documented != nil {
		a.Documented = float64(*c.Documented)
	}
	if c.Dynamo != nil {
		f := Flag(*c.Dynamo)
		a.Dynamo = &f
	}
	a.Numbers = sweep.Numbers(a.Values)
	return a
}

// profileFacts is the inverse of profileConfig.
func profileFacts(facts any) (*reports.ProfileFacts, error) {
	text, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	var f struct {
		Line string `json:"line"`
		reports.ProfileFacts
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	f.ProfileFacts.Line = f.Line
	return &f.ProfileFacts, nil
}

// plainValue gives a value of YAML the type that settings have.
func plainValue(v any) any {
	switch v := v.(type) {
	case nil, bool, string, float64, int64:
		return v
	case uint64:
		return int64(v)
	case int:
		return int64(v)
	}
	return fmt.Sprint(v)
}

// yamlProblem names the line of an error of the YAML library.
func yamlProblem(file string, err error) error {
	p := &workloads.Problem{File: file, Want: "valid YAML as a sweep writes it"}
	var e yaml.Error
	var wrong *yaml.TypeError
	var large *yaml.OverflowError
	switch {
	case errors.As(err, &wrong):
		p.Found, p.Want, e = reports.KindOf(wrong.SrcType), reports.KindOf(wrong.DstType), wrong
	case errors.As(err, &large):
		p.Found, p.Want, e = large.SrcNum, reports.KindOf(large.DstType)+" within its range", large
	case errors.As(err, &e):
		p.Want += ": " + strings.Join(strings.Fields(e.GetMessage()), " ")
	}
	if e != nil {
		if t := e.GetToken(); t != nil {
			p.Line = t.Position.Line
		}
	}
	return p
}

// complete finds the points that sweep.yaml names among those of the table, and
// the flags of all.
func (s *Sweep) complete(file string) error {
	for _, e := range []struct {
		id string
		to *int
	}{{s.ends.def, &s.Default}, {s.ends.reference, &s.Reference}} {
		*e.to = -1
		if e.id == "" {
			continue
		}
		if *e.to = slices.IndexFunc(s.Points, func(p Point) bool { return p.ID == e.id }); *e.to < 0 {
			return &workloads.Problem{File: file, Field: "point", Found: "no point " + e.id, Want: "the points that sweep.yaml names"}
		}
	}
	for i := range s.Points {
		s.Points[i].Flags = s.FlagsOf(s.Points[i].Values)
	}
	if r := s.Reference; r >= 0 && s.Points[r].Added {
		s.Points[r].Flags = nil
		for _, f := range s.ends.flags {
			s.Points[r].Flags = append(s.Points[r].Flags, Flag(f))
		}
	}
	return nil
}

// FlagsOf returns the flags of Dynamo that make a point of the default one.
func (s *Sweep) FlagsOf(values []string) (flags []Flag) {
	for i := range s.Axes {
		if a := &s.Axes[i]; a.Dynamo != nil && values[i] != a.Base {
			f := *a.Dynamo
			f.Value = values[i]
			flags = append(flags, f)
		}
	}
	return flags
}
