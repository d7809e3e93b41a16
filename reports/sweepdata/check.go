package sweepdata

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/workloads"
)

// check finds what YAML alone does not.
func (c *config) check(file string) error {
	problem := func(field, found, want string) error {
		return &workloads.Problem{File: file, Field: field, Found: found, Want: want}
	}
	if c.Schema != Schema {
		return problem("schema", strconv.Itoa(c.Schema), fmt.Sprintf("%d; the sweep was made by another version of the program", Schema))
	}
	if len(c.Seeds) == 0 {
		return problem("seeds", "none", "at least one")
	}
	for i, seed := range c.Seeds {
		if slices.Contains(c.Seeds[:i], seed) {
			return problem(fmt.Sprintf("seeds[%d]", i), fmt.Sprintf("%d again", seed), "each seed once")
		}
	}
	if MetricIndex(c.Objective) < 0 {
		return problem("objective", strconv.Quote(c.Objective), "the name of a metric")
	}
	if c.Trace.Rows < 0 {
		return problem("trace.rows", strconv.Itoa(c.Trace.Rows), "a number of at least 0")
	}
	if field, found, want := c.checkDesign(); field != "" {
		return problem(field, found, want)
	}
	seen := map[string]bool{}
	for i := range c.Axes {
		a := &c.Axes[i]
		if a.Name == "" || seen[a.Name] {
			return problem(fmt.Sprintf("axes[%d].name", i), strconv.Quote(a.Name), "a name that no other axis has")
		}
		seen[a.Name] = true
		if field, found, want := a.check(); field != "" {
			return problem(fmt.Sprintf("axes[%d].%s", i, field), found, want)
		}
	}
	if field, found, want := c.checkPoints(); field != "" {
		return problem(field, found, want)
	}
	if len(c.Settings) == 0 {
		return problem("settings", "nothing", "every setting with its value at the default point")
	}
	return nil
}

// checkDesign finds a design that is none of those a sweep can have.
func (c *config) checkDesign() (field, found, want string) {
	const designs = "grid, points or lhs:N"
	draws, sampled := strings.CutPrefix(c.Design, "lhs:")
	n, err := strconv.Atoi(draws)
	switch {
	case c.Design == "":
		return "design", "nothing", designs
	case sampled && (err != nil || n < 1):
		return "design", strconv.Quote(c.Design), designs
	case !sampled && c.Design != "grid" && c.Design != "points":
		return "design", strconv.Quote(c.Design), designs
	case c.Design == "grid" && len(c.Points) > 0:
		return "points", strconv.Itoa(len(c.Points)), "none, as a grid follows from its axes"
	case c.Design != "grid" && len(c.Points) == 0:
		return "points", "none", "a list of values for each point"
	}
	return "", "", ""
}

// checkPoints finds points that do not fit the axes.
func (c *config) checkPoints() (field, found, want string) {
	known := make([]map[string]bool, len(c.Axes))
	for j := range c.Axes {
		known[j] = map[string]bool{}
		for _, v := range c.Axes[j].Values {
			known[j][v] = true
		}
	}
	for i, values := range c.Points {
		if len(values) != len(c.Axes) {
			return fmt.Sprintf("points[%d]", i), fmt.Sprintf("%d values", len(values)), fmt.Sprintf("%d, one per axis", len(c.Axes))
		}
		for j, v := range values {
			if !known[j][v] {
				return fmt.Sprintf("points[%d]", i), strconv.Quote(v), "one of the values of " + c.Axes[j].Name
			}
		}
	}
	return "", "", ""
}

// check finds an axis without values, or with values that are none or one.
func (c *configAxis) check() (field, found, want string) {
	if len(c.Values) == 0 {
		return "values", "none", "at least one"
	}
	if c.Base == "" {
		return "default", "nothing", "the value at the default point"
	}
	texts, numbers := map[string]bool{}, map[float64]bool{}
	for i, v := range c.Values {
		field := fmt.Sprintf("values[%d]", i)
		n, err := strconv.ParseFloat(strings.TrimPrefix(v, "."), 64) // YAML writes .nan and .inf
		switch {
		case strings.TrimSpace(v) == "":
			return field, strconv.Quote(v), "a value of the setting"
		case err == nil && (math.IsNaN(n) || math.IsInf(n, 0)):
			return field, strconv.Quote(v), "a finite number or a word"
		}
		n, err = strconv.ParseFloat(v, 64)
		if texts[v] || err == nil && numbers[n] {
			return field, strconv.Quote(v) + " again", "each value once"
		}
		texts[v] = true
		if err == nil {
			numbers[n] = true
		}
	}
	return "", "", ""
}
