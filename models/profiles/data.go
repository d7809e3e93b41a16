// Package profiles holds the shipped GPU profiles and the facts that they
// rest on, as data: one file per GPU with a profile to a line, the engines'
// calibrations, and what vendors state about GPUs and models.
package profiles

import (
	"embed"
	"fmt"
)

//go:embed *.json
var files embed.FS

// Names of the files that do not belong to one GPU.
const (
	CalibrationFile = "engine_calibration.json"
	GPUFile         = "gpus.json"
	ModelFile       = "models.json"
)

// GPUs lists the GPUs that have profiles, in the order of their files' rank:
// the ones with the best evidence first.
func GPUs() []string {
	return []string{"h100_sxm", "a100_sxm", "h200_sxm", "b200_sxm", "l40s", "h20"}
}

// File returns the text of one file.
func File(name string) ([]byte, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("profiles: found no file %q: %w", name, err)
	}
	return text, nil
}
