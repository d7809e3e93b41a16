package profile

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"routesim/models"
	"routesim/models/profiles"
)

// Schema is the format of the shipped files.
const Schema = "routesim-profiles/1"

// shelf is the file of one GPU's profiles, cut into lines but not parsed: a
// name is looked up among hundreds of profiles, of which one is needed.
type shelf struct {
	file  string
	head  []byte
	lines [][]byte // one profile each
	ids   []string
}

// shelfHead is the first line of such a file.
type shelfHead struct {
	Schema string            `json:"schema"`
	GPU    string            `json:"gpu"`
	Units  map[string]string `json:"units"`
	Range  Range             `json:"range"`
	Knots  []int64           `json:"T_knots"`
}

// idPrefix begins every profile's line.
const idPrefix = `{"id":"`

// openShelf cuts the file of a GPU into lines.
func openShelf(gpu string) (*shelf, error) {
	s := &shelf{file: gpu + ".json"}
	text, err := profiles.File(s.file)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, ",\n")
		switch {
		case s.head == nil:
			s.head = bytes.TrimSuffix(line, []byte(`,"profiles":[`))
		case bytes.HasPrefix(line, []byte(idPrefix)):
			id, _, _ := bytes.Cut(line[len(idPrefix):], []byte(`"`))
			s.lines, s.ids = append(s.lines, line), append(s.ids, string(id))
		}
	}
	return s, nil
}

// checkHead parses the file's first line and holds it to what the code takes
// for granted.
func (s *shelf) checkHead() (*shelfHead, error) {
	h := &shelfHead{}
	if err := decodeStrict(append(slices.Clone(s.head), '}'), h); err != nil {
		return nil, fmt.Errorf("%s:1: %w", s.file, err)
	}
	if h.Schema != Schema {
		return nil, fmt.Errorf("%s:1: schema: found %q, expected %q", s.file, h.Schema, Schema)
	}
	if err := checkUnits(h.Units); err != nil {
		return nil, fmt.Errorf("%s:1: %w", s.file, err)
	}
	if knots := models.HybridKnots(); !slices.Equal(h.Knots, knots[:]) {
		return nil, fmt.Errorf("%s:1: T_knots: found %v, expected %v", s.file, h.Knots, knots)
	}
	return h, nil
}

// load parses the profiles at the given places.
func (s *shelf) load(places ...int) ([]*Profile, error) {
	head, err := s.checkHead()
	if err != nil {
		return nil, err
	}
	calibrations, err := Calibrations()
	if err != nil {
		return nil, err
	}
	facts, err := ModelFacts()
	if err != nil {
		return nil, err
	}
	list := make([]*Profile, 0, len(places))
	for _, i := range places {
		p := &Profile{Range: head.Range}
		if err := decodeStrict(s.lines[i], p); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.file, s.ids[i], err)
		}
		c, ok := calibrations[p.CalibrationID]
		if !ok {
			return nil, fmt.Errorf("%s: %s: engine_calibration: found %q, expected one of %s", s.file, p.ID, p.CalibrationID, profiles.CalibrationFile)
		}
		m, ok := facts[p.Model]
		if !ok {
			return nil, fmt.Errorf("%s: %s: model: found %q, expected one of %s", s.file, p.ID, p.Model, profiles.ModelFile)
		}
		p.Calibration, p.ContextTokens, p.ContextSource = c, m.ContextTokens, m.Source
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.file, p.ID, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// ofGPU returns all profiles of a GPU.
func ofGPU(gpu string) ([]*Profile, error) {
	s, err := openShelf(gpu)
	if err != nil {
		return nil, err
	}
	places := make([]int, len(s.lines))
	for i := range places {
		places[i] = i
	}
	return s.load(places...)
}

// All returns every shipped profile, the GPUs with the best evidence first.
func All() ([]*Profile, error) {
	var all []*Profile
	for _, gpu := range profiles.GPUs() {
		list, err := ofGPU(gpu)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// IDs returns the id of every shipped profile, in the order of All, without
// reading the profiles.
func IDs() ([]string, error) {
	var ids []string
	for _, gpu := range profiles.GPUs() {
		s, err := openShelf(gpu)
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.ids...)
	}
	return ids, nil
}

// found are the profiles that were read, by what they were asked for with: a
// sweep asks for one at every point.
var found sync.Map

// memoised returns the profile that read returns, which is called once.
func memoised(key any, read func() (*Profile, error)) (*Profile, error) {
	p, ok := found.Load(key)
	if !ok {
		fresh, err := read()
		if err != nil {
			return nil, err
		}
		p, _ = found.LoadOrStore(key, fresh)
	}
	own := *p.(*Profile)
	own.Flags = slices.Clip(own.Flags)
	return &own, nil
}

// Lookup returns the shipped profile of a full or short name. What its fields
// point at is shared.
func Lookup(name string) (*Profile, error) {
	return memoised(name, func() (*Profile, error) { return readShipped(name) })
}

func readShipped(name string) (*Profile, error) {
	facts, err := ModelFacts()
	if err != nil {
		return nil, err
	}
	want, err := parseName(name, facts)
	if err != nil {
		return nil, err
	}
	s, err := openShelf(want.gpu)
	if err != nil {
		return nil, err
	}
	place, err := want.choose(s.ids, facts)
	if err != nil {
		return nil, err
	}
	list, err := s.load(place)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}
