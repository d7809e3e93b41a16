package plot

import (
	"fmt"
	"image/color"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// type faces of a figure.
type faces struct{ handler text.Handler }

// loadFaces reads the embedded fonts. They are read for each figure and not
// kept, so that only a command that draws pays for them.
func loadFaces() (*faces, error) {
	var all font.Collection
	for _, f := range []struct {
		weight xfont.Weight
		data   []byte
	}{
		{xfont.WeightNormal, liberationsansregular.TTF},
		{xfont.WeightBold, liberationsansbold.TTF},
	} {
		face, err := opentype.Parse(f.data)
		if err != nil {
			return nil, fmt.Errorf("embedded font: %w", err)
		}
		all = append(all, font.Face{Font: typeface(f.weight, 0), Face: face})
	}
	return &faces{text.Plain{Fonts: font.NewCache(all)}}, nil
}

func typeface(weight xfont.Weight, size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size}
}

// style returns a style of text of a size in points.
func (f *faces) style(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: typeface(xfont.WeightNormal, size), Handler: f.handler}
}

func (f *faces) bold(size vg.Length, c color.Color) text.Style {
	s := f.style(size, c)
	s.Font.Weight = xfont.WeightBold
	return s
}

// widest returns the width of the widest label of an axis.
func (f *faces) widest(ticks []tick) vg.Length {
	style, w := f.style(smallSize, ink()), vg.Length(0)
	for _, t := range ticks {
		w = max(w, style.Width(t.label))
	}
	return w
}

// wrap breaks text at spaces into at most n lines no wider than width; what
// does not fit is cut and marked with dots.
func wrap(s text.Style, words string, width vg.Length, n int) []string {
	var lines []string
	line := ""
	rest := strings.FieldsFunc(words, func(r rune) bool { return r == ' ' }) // not at no-break spaces
	for len(rest) > 0 {
		longer := rest[0]
		if line != "" {
			longer = line + " " + rest[0]
		}
		if s.Width(longer) <= width {
			line, rest = longer, rest[1:]
			continue
		}
		if len(lines) == n-1 || line == "" {
			lines = append(lines, shorten(s, longer, width))
			return lines
		}
		lines, line = append(lines, line), ""
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// shorten cuts text to a width and ends it with dots.
func shorten(s text.Style, words string, width vg.Length) string {
	if s.Width(words) <= width {
		return words
	}
	r := []rune(words)
	for len(r) > 0 && s.Width(string(r)+"...") > width {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "..."
}
