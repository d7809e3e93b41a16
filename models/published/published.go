// Package published holds published measurements of serving runs, as data. The
// README beside it names their sources and licences.
package published

import (
	_ "embed"
	"strings"
)

//go:embed validation.csv
var validation string

// FileName is the name of the table.
const FileName = "validation.csv"

// Reader returns the table.
func Reader() *strings.Reader { return strings.NewReader(validation) }
