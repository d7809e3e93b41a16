package profileview

import (
	"fmt"

	"routesim/models"
	"routesim/models/profile"
	"routesim/reports/format"
	"routesim/reports/plot"
)

// Picture is a figure with the name of its file, without the ending.
type Picture struct {
	Name   string
	Figure *plot.Figure
}

// Figures draws the step times of a profile: decodes over the number of
// sequences, as far as the KV cache holds them, and prefills over the number of
// new tokens, with the least that the hardware needs where that is known.
func Figures(p *profile.Profile) ([]Picture, error) {
	m, err := p.StepModel(1)
	if err != nil {
		return nil, err
	}
	floor, err := p.Floor()
	if err != nil {
		floor = nil // a GPU or a model without known facts
	}
	decodes, err := decodeFigure(p, m, floor)
	if err != nil {
		return nil, err
	}
	prefills, err := prefillFigure(p, m, floor)
	if err != nil {
		return nil, err
	}
	return []Picture{{"decode", decodes}, {"prefill", prefills}}, nil
}

// powers lists whole numbers from lo to hi, four to an octave.
func powers(lo, hi int64) []int64 {
	var out []int64
	for octave := int64(1); octave <= hi; octave *= 2 {
		for quarter := range int64(4) {
			n := octave + octave*quarter/4
			if n >= lo && n <= hi && (len(out) == 0 || n > out[len(out)-1]) {
				out = append(out, n)
			}
		}
	}
	return out
}

func roles() []plot.Role { return []plot.Role{plot.Chosen, plot.Reference, plot.Extra1} }

// curve computes the times of steps.
func curve(name string, role plot.Role, m models.StepModel, sizes []int64, step func(int64) models.Batch) plot.Curve {
	c := plot.Curve{Name: name, Role: role}
	for _, n := range sizes {
		c.X, c.Y = append(c.X, float64(n)), append(c.Y, ms(m, step(n)))
	}
	return c
}

// floorCurve is the curve of the hardware's bound.
func floorCurve(name string, f *profile.Floor, sizes []int64, step func(int64) models.Batch) plot.Curve {
	c := plot.Curve{Name: name, Role: plot.Default}
	for _, n := range sizes {
		b := step(n)
		c.X, c.Y = append(c.X, float64(n)), append(c.Y, f.MS(&b))
	}
	return c
}

func decodeFigure(p *profile.Profile, m models.StepModel, floor *profile.Floor) (*plot.Figure, error) {
	const middle = 4096
	var curves []plot.Curve
	for i, context := range []int64{middle, 512, 32768} {
		step := func(n int64) models.Batch { return decode(n, context) }
		sizes := powers(1, min(1024, p.KVCapacityTokens/context))
		curves = append(curves, curve(fmt.Sprintf("%s tokens each", format.Count(context)), roles()[i], m, sizes, step))
		if context == middle && floor != nil {
			curves = append(curves, floorCurve(fmt.Sprintf("hardware floor, %s tokens each", format.Count(middle)), floor, sizes, step))
		}
	}
	at := min(int64(32), max(1, p.KVCapacityTokens/middle))
	title := fmt.Sprintf("A decode step of %s of %s tokens takes %s ms", format.Plural(at, "sequence"), format.Count(middle), format.Sig(ms(m, decode(at, middle))))
	return plot.Lines(plot.Single(), caption(p, title), plot.Axis{Label: "decoding sequences", Log: true}, plot.Axis{Label: "step time, ms", Log: true}, curves...)
}

func prefillFigure(p *profile.Profile, m models.StepModel, floor *profile.Floor) (*plot.Figure, error) {
	var curves []plot.Curve
	sizes := powers(16, 32768)
	for i, prefix := range shownPrefixes() {
		name := "no cached tokens"
		if prefix > 0 {
			name = "after " + format.Count(prefix) + " cached tokens"
		}
		step := func(n int64) models.Batch { return prefill(n, prefix) }
		curves = append(curves, curve(name, roles()[i], m, sizes, step))
		if prefix == 0 && floor != nil {
			curves = append(curves, floorCurve("hardware floor, no cached tokens", floor, sizes, step))
		}
	}
	title := fmt.Sprintf("A prefill step of %s new tokens takes %s ms", format.Count(2048), format.Sig(ms(m, prefill(2048, 0))))
	return plot.Lines(plot.Single(), caption(p, title), plot.Axis{Label: "new prompt tokens in the step", Log: true}, plot.Axis{Label: "step time, ms", Log: true}, curves...)
}

func caption(p *profile.Profile, title string) plot.Caption {
	return plot.Caption{Title: title, Subtitle: p.Summary(), Alt: title + ", with the profile " + p.ID + "."}
}
