package sweepdata

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPageNamesEveryColumn: the page explains every column but the metrics,
// and names none that does not exist.
func TestPageNamesEveryColumn(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(append(headColumns(), runColumns()...), "error") {
		between := strings.HasSuffix(name, "_q2") || strings.HasSuffix(name, "_q3") || strings.HasSuffix(name, "_q2_ms") || strings.HasSuffix(name, "_q3_ms")
		if MetricIndex(name) < 0 && !between && !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the column %s is not explained", name)
		}
	}
	for _, word := range strings.Split(string(text), "`") {
		if strings.HasPrefix(word, "n_") && !slices.Contains(runColumns(), word) {
			t.Errorf("the page names %s, which is no column", word)
		}
	}
}
