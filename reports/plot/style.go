// Package plot draws static figures, as SVG and PNG, in one style: white
// ground, horizontal grid, one colour, dash and marker per role, and type that
// stays legible at half size. Equal data give equal bytes.
package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Role says what a series stands for. It decides colour and dash, so that the
// same thing looks the same in every figure, and in grey print too.
type Role uint8

// The roles of series.
const (
	Chosen    Role = iota // what the figure is about
	Default               // the default settings
	Reference             // something everybody knows, e.g. round robin
	Extra1
	Extra2
	roles
)

// The colours of a figure that are not of a role.
func ink() color.Color   { return rgb(0x14181d) }
func muted() color.Color { return rgb(0x55606c) }
func grid() color.Color  { return rgb(0xe7ebef) }

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// color returns the role's colour. The five differ by lightness or, where they
// do not, by dash.
func (r Role) color() color.NRGBA {
	return rgb([roles]uint32{0x0072b2, 0x6e7883, 0xd1520a, 0x00473a, 0xb8509a}[r])
}

// line returns the role's line style.
func (r Role) line() draw.LineStyle {
	dashes := [roles][]vg.Length{nil, {6, 3}, {1.5, 2.5}, {7, 2.5, 1.5, 2.5}, {10, 3}}
	return draw.LineStyle{Color: r.color(), Width: 1.8, Dashes: dashes[r]}
}

// Size is the size of a figure.
type Size struct {
	Width, Height vg.Length
	DPI           int // of the PNG
}

// Single is the size of a figure that stands alone.
func Single() Size { return Size{7 * vg.Inch, 4.4 * vg.Inch, 200} }

// Square is the size of a figure whose axes have one scale.
func Square() Size { return Size{5.4 * vg.Inch, 5.6 * vg.Inch, 200} }

// Readme is the size of a figure beside text.
func Readme() Size { return Size{5.2 * vg.Inch, 3.3 * vg.Inch, 160} }

// Type sizes in points.
const (
	titleSize  = 11
	smallSize  = 9
	labelSize  = 10
	noteSize   = 8
	lineHeight = 1.3
)
