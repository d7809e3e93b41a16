package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/cmd/routesim/internal/settings"
	"routesim/sim/sweep"
)

// sweepable returns a setting as an axis needs it.
func sweepable(t *settings.Table, name string) (*sweep.Setting, error) {
	s, ok := t.Lookup(name)
	switch {
	case !ok:
		if near := t.Nearest(name); near != "" {
			return nil, fmt.Errorf("unknown setting; did you mean %s?", near)
		}
		return nil, errors.New("unknown setting; see routesim sweep --help for the list")
	case s.Name == "seed":
		return nil, errors.New("the seed is no axis: --seeds N runs every point with N of them, --seed sets the first")
	case s.Support != settings.Honoured:
		return nil, fmt.Errorf("no axis: %s", s.Why)
	}
	out := &sweep.Setting{
		Name: s.Name, Expected: s.Kind.Expected(),
		Canon: func(text string) (string, bool) {
			if strings.TrimSpace(text) == "" {
				return "", false
			}
			v, ok := s.Kind.Parse(text)
			return v.Text, ok
		},
	}
	switch s.Kind.(type) {
	case settings.Real:
		out.Number = true
	case settings.Int:
		out.Number, out.Whole = true, true
	case settings.FleetKind:
		out.Number, out.Whole, out.Words = true, true, true
	case settings.Word:
		out.Words = true
	}
	return out, nil
}

// sweepDesign makes the list of points from the command line.
func (o *sweepOptions) design(seed uint64) (*sweep.Design, error) {
	if o.points != "" {
		return o.pointsFile()
	}
	var axes []*sweep.Axis
	for _, text := range o.vary {
		a, err := o.axis(text)
		if err != nil {
			return nil, err
		}
		for _, b := range axes {
			if a.Name == b.Name {
				return nil, fmt.Errorf("--vary: found %s again, expected each setting once (give all its values in one list)", a.Name)
			}
		}
		axes = append(axes, a)
	}
	if o.sample == "" {
		d, err := sweep.Grid(axes)
		if err != nil {
			return nil, fmt.Errorf("--vary: %w", err)
		}
		return d, nil
	}
	n, err := sweep.ParseSample(o.sample)
	if err != nil {
		return nil, fmt.Errorf("--sample: %w", err)
	}
	if len(axes) == 0 {
		return nil, errors.New("--sample: found no --vary, expected settings to draw, such as --vary router-temperature=0..1")
	}
	d, err := sweep.Draw(axes, n, seed)
	if err != nil {
		return nil, fmt.Errorf("--sample: %w", err)
	}
	return d, nil
}

// axis reads one --vary.
func (o *sweepOptions) axis(text string) (*sweep.Axis, error) {
	name, list, err := sweep.Cut(text)
	if err != nil {
		return nil, fmt.Errorf("--vary: %w", err)
	}
	s, err := sweepable(o.table, name)
	if err != nil {
		return nil, fmt.Errorf("--vary: %s: %w", name, err)
	}
	a, err := sweep.Parse(s, list)
	if err != nil {
		return nil, fmt.Errorf("--vary: %s: %w", s.Name, err)
	}
	if a.Range != nil && o.sample == "" {
		return nil, fmt.Errorf("--vary: %s: found the range %s, expected a list, such as 0:2:0.5, or --sample lhs:N to draw from it", s.Name, strings.TrimSpace(list))
	}
	return a, nil
}

func (o *sweepOptions) pointsFile() (*sweep.Design, error) {
	if len(o.vary) > 0 || o.sample != "" {
		return nil, errors.New("--points: found together with --vary or --sample, expected one or the other")
	}
	f, err := os.Open(o.points)
	if err != nil {
		return nil, manifest.Unreadable("--points", o.points, err, "a CSV file")
	}
	defer f.Close()
	return sweep.ReadTable(o.points, f, func(name string) (*sweep.Setting, error) { return sweepable(o.table, name) })
}

// designOf makes the design that sweep.yaml describes.
func (o *sweepOptions) designOf(saved *savedSweep) (*sweep.Design, error) {
	d := &sweep.Design{}
	var kinds []*sweep.Setting
	for i := range saved.Axes {
		a := &saved.Axes[i]
		s, err := sweepable(o.table, a.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: axes: %s: %w", o.from, a.Name, err)
		}
		kinds = append(kinds, s)
		axis := &sweep.Axis{Name: s.Name}
		for _, v := range a.Values {
			canon, ok := s.Canon(v)
			if !ok {
				return nil, fmt.Errorf("%s: axes: %s: found %q, expected %s", o.from, a.Name, v, s.Expected)
			}
			axis.Values = append(axis.Values, canon)
		}
		d.Axes = append(d.Axes, axis)
	}
	if saved.Design == gridDesign {
		return sweep.Grid(d.Axes)
	}
	for i := range saved.Points {
		point := make([]string, len(kinds))
		for j, v := range saved.Points[i].Values {
			canon, ok := kinds[j].Canon(v)
			if !ok {
				return nil, fmt.Errorf("%s: points[%d]: %s: found %q, expected %s", o.from, i, kinds[j].Name, v, kinds[j].Expected)
			}
			point[j] = canon
		}
		d.Points = append(d.Points, point)
	}
	return d, nil
}
