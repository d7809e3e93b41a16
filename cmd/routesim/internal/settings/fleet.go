package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxWorkers is the most workers of a run.
const maxWorkers = 65535

// WorkerGroup is a number of equal workers as written: N or NxPROFILE, then
// settings of their engine, each after an @.
type WorkerGroup struct {
	Count   int
	Profile string // name or file, "" = the run's profile or timing
	Fields  []GroupField
}

// GroupField is a setting of one group's engine.
type GroupField struct {
	Name string // of the setting, in snake case
	Text string // canonical value
}

// String writes the group the way it is read.
func (g WorkerGroup) String() string {
	text := strconv.Itoa(g.Count)
	if g.Profile != "" {
		text += "x" + g.Profile
	}
	for _, f := range g.Fields {
		text += "@" + f.Name + "=" + f.Text
	}
	return text
}

// sets reports whether the group has a value of its own of a setting.
func (g *WorkerGroup) sets(name string) bool {
	return slices.ContainsFunc(g.Fields, func(f GroupField) bool { return f.Name == snake(name) })
}

// FleetKind is a number of workers or a list of groups of them.
type FleetKind struct {
	Optional bool // no workers at all are a value
}

// Parse reads a fleet.
func (k FleetKind) Parse(text string) (Value, bool) {
	if k.Optional && isNone(text) {
		return Value{None: true, Text: None}, true
	}
	groups, err := parseFleet(text)
	if err != nil {
		return Value{}, false
	}
	return fleetValue(groups), true
}

// Expected describes the forms.
func (k FleetKind) Expected() string {
	text := fmt.Sprintf("a number of workers from 1 to %d, or groups such as 6xPROFILE,2xPROFILE@max_num_seqs=64", maxWorkers)
	return orNone(k.Optional, text)
}

// Meta stands for the value in help texts.
func (k FleetKind) Meta() string { return metaOrNone("N|NxPROFILE[@FIELD=VALUE],...", k.Optional) }

// why says what is wrong with a text that is no fleet, "" where the expected
// form says it already.
func (FleetKind) why(text string) string {
	if _, err := parseFleet(text); err != nil && err.Error() != "" && strings.ContainsAny(text, "x@,") {
		return "; " + err.Error()
	}
	return ""
}

// fleetValue is a fleet as a value of its setting; Int is the number of workers
// where nothing else is said.
func fleetValue(groups []WorkerGroup) Value {
	words := make([]string, len(groups))
	for i, g := range groups {
		words[i] = g.String()
	}
	v := Value{Text: strings.Join(words, ",")}
	if len(groups) == 1 && groups[0].Profile == "" && len(groups[0].Fields) == 0 {
		v.Int = int64(groups[0].Count)
	}
	return v
}

func parseFleet(text string) ([]WorkerGroup, error) {
	var groups []WorkerGroup
	total := 0
	for part := range strings.SplitSeq(text, ",") {
		g, err := parseGroup(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if total += g.Count; total > maxWorkers {
			return nil, fmt.Errorf("found more than %d workers", maxWorkers)
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func parseGroup(text string) (WorkerGroup, error) {
	words := strings.Split(text, "@")
	digits, name, named := strings.Cut(words[0], "x")
	n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 16)
	g := WorkerGroup{Count: int(n), Profile: strings.TrimSpace(name)}
	switch {
	case err != nil || n < 1:
		return g, fmt.Errorf("the group %s does not begin with a number of workers", show(text))
	case named && g.Profile == "":
		return g, fmt.Errorf("the group %s names no profile after the x", show(text))
	}
	if len(words) == 1 {
		return g, nil // most groups have no fields, and every point of a sweep is resolved
	}
	known := groupSettings()
	seen := map[string]bool{}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		key = snake(kebab(strings.TrimSpace(key)))
		s := known[key]
		switch {
		case !ok:
			return g, fmt.Errorf("the group %s has %s after an @, not FIELD=VALUE", show(text), show(word))
		case s == nil:
			return g, fmt.Errorf("the group %s sets %s, which is not one of %s", show(text), show(key), strings.Join(groupFields(), ", "))
		case seen[key]:
			return g, fmt.Errorf("the group %s sets %s twice", show(text), key)
		}
		seen[key] = true
		v, ok := s.Kind.Parse(strings.TrimSpace(value))
		if !ok {
			return g, fmt.Errorf("the group %s sets %s to %s, not to %s", show(text), key, show(value), s.Kind.Expected())
		}
		g.Fields = append(g.Fields, GroupField{key, v.Text})
	}
	return g, nil
}

// groupRows are the settings that a group may have of its own. The block size
// is not among them: the router's index has one size for all workers.
func groupRows() []Setting {
	var rows []Setting
	for _, list := range [][]Setting{poolRows(), engineRows(), rankRows(), sglangRows(), draftRows(), tierRows(), diskRows(), transferRows(), nodeRows()} {
		rows = append(rows, list...)
	}
	return rows
}

// groupSettings returns those settings by their names in snake case.
func groupSettings() map[string]*Setting {
	rows := groupRows()
	known := map[string]*Setting{}
	for i := range rows {
		rows[i].def, _ = rows[i].Kind.Parse(rows[i].Default)
		known[snake(rows[i].Name)] = &rows[i]
	}
	return known
}

func groupFields() []string {
	var names []string
	for _, s := range groupRows() {
		names = append(names, snake(s.Name))
	}
	return names
}

// with returns the run's settings as they apply to one group.
func (r *Run) with(g *WorkerGroup) *Run {
	own := *r
	if g.Profile != "" {
		own.Profile, own.Timing = g.Profile, ""
	}
	if len(g.Fields) == 0 {
		return &own
	}
	known := groupSettings()
	for _, f := range g.Fields {
		s := known[f.Name]
		v, ok := s.Kind.Parse(f.Text)
		if !ok {
			panic("settings: a group's field that was checked cannot be read: " + f.Name)
		}
		store(s.Ref(&own), v)
	}
	return &own
}

// chooseModel settles what models the workers: a profile, a timing model or,
// for groups that name one, a profile of their own. What is given twice for the
// same workers by the same source is an error; a stronger source wins.
func (r *resolution) chooseModel() error {
	own := true // every group names its profile
	for _, g := range r.Run.allGroups() {
		own = own && g.Profile != ""
	}
	workers, _ := r.table.Lookup("workers")
	if r.Run.Disaggregated() {
		workers, _ = r.table.Lookup("decode-workers")
	}
	prof, _ := r.table.Lookup("profile")
	timing, _ := r.table.Lookup("timing")
	given := func(s *Setting) (*chosen, bool) {
		c, ok := r.best.get(s)
		return c, ok && !c.value.None
	}
	drop := func(s *Setting, by Origin) {
		store(s.Ref(&r.Run), Value{None: true})
		r.origins[s.place] = by
	}
	p, hasProfile := given(prof)
	t, hasTiming := given(timing)
	switch {
	case own:
		for _, c := range []*Setting{prof, timing} {
			if g, ok := given(c); ok && g.given.Origin.Layer == r.origins[workers.place].Layer {
				return fmt.Errorf("%s: found %s and workers of which every group names its profile, expected one or the other", c.Name, show(g.value.Text))
			} else if ok {
				r.Warn("%s of the %s has no effect: every group of workers names its profile", c.Name, g.given.Origin)
			}
			drop(c, r.origins[workers.place])
		}
	case r.noProfile != nil && !hasProfile && !hasTiming:
		return r.noProfile
	case hasProfile && hasTiming && p.given.Origin.Layer == t.given.Origin.Layer:
		return fmt.Errorf("timing: found %s together with profile %s, expected one or the other (a profile has its own timing)", show(t.value.Text), show(p.value.Text))
	case hasTiming && (!hasProfile || t.given.Origin.Layer > p.given.Origin.Layer):
		if hasProfile {
			r.Warn("profile of the %s has no effect: the %s wins", p.given.Origin, t.given.Origin)
		}
		drop(prof, t.given.Origin)
	case hasTiming:
		r.Warn("timing of the %s has no effect: the %s wins", t.given.Origin, p.given.Origin)
		drop(timing, p.given.Origin)
	case r.Run.Profile == "":
		return fmt.Errorf("profile: found none and no timing, expected one of them")
	}
	if r.Run.Utilization != nil && r.Run.Profile == "" && !r.anyOwnProfile() {
		r.Warn("gpu-memory-utilization has no effect without a profile")
	}
	return nil
}

func (r *resolution) anyOwnProfile() bool {
	for _, g := range r.Run.allGroups() {
		if g.Profile != "" {
			return true
		}
	}
	return false
}

// checkRanks bounds the targets of the router: each rank of each worker is one,
// with a scheduler and a KV pool of its own.
func (r *Run) checkRanks() error {
	ranks, workers := int64(0), int64(0)
	name := "workers"
	for _, pool := range []struct {
		name   string
		groups []WorkerGroup
		args   []Given
	}{{"workers", r.Workers, nil}, {"prefill-workers", r.PrefillWorkers, r.prefillArgs}, {"decode-workers", r.DecodeWorkers, r.decodeArgs}} {
		if (pool.name == "workers") == r.Disaggregated() {
			continue
		}
		own, n := r.under(pool.args), workers
		for i := range pool.groups {
			g := &pool.groups[i]
			workers += int64(g.Count)
			ranks += int64(g.Count) * int64(own.with(g).Engine.DPSize)
		}
		if workers-n > 1 {
			name = pool.name
		}
	}
	if ranks > workers {
		name = "data-parallel-size"
	}
	if ranks > maxWorkers {
		return fmt.Errorf("%s: found %d ranks of all workers together, expected at most %d (give fewer workers or ranks)", name, ranks, maxWorkers)
	}
	return nil
}

// perGroup returns the run's settings as they apply to each group of workers, in
// the order of allGroups.
func (r *Run) perGroup() []*Run {
	if r.Disaggregated() {
		return append(r.each(r.PrefillWorkers, r.prefillArgs), r.each(r.DecodeWorkers, r.decodeArgs)...)
	}
	return r.each(r.Workers, nil)
}

// each returns the same for the groups of one pool under its engine dictionary.
func (r *Run) each(groups []WorkerGroup, args []Given) []*Run {
	pool, list := r.under(args), make([]*Run, len(groups))
	for i := range groups {
		list[i] = pool.with(&groups[i])
	}
	return list
}

// allGroups returns the groups of workers of every pool.
func (r *Run) allGroups() []WorkerGroup {
	if r.Disaggregated() {
		return append(slices.Clone(r.PrefillWorkers), r.DecodeWorkers...)
	}
	return r.Workers
}
