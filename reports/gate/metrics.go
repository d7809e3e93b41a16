package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"routesim/reports/sweepdata"
)

// checks reads the metrics to compare: names, or mappings with name, quantile,
// tolerance and direction.
func (p *suiteParser) checks(n *node) ([]Check, error) {
	items, err := n.items("a list of metrics")
	if err != nil {
		return nil, err
	}
	var out []Check
	for i := range items {
		c, err := p.readCheck(&items[i])
		if err != nil {
			return nil, err
		}
		for _, o := range out {
			if o.Metric == c.Metric {
				return nil, items[i].problem(p.metrics[c.Metric].Name+" again", "each metric once")
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func (p *suiteParser) readCheck(n *node) (Check, error) {
	if name, ok := n.scalar(); ok {
		at, err := p.metric(n, name)
		if err != nil {
			return Check{}, err
		}
		return p.check(at), nil
	}
	members, err := n.members("the name of a metric, or a mapping with name, quantile, tolerance and direction")
	if err != nil {
		return Check{}, err
	}
	name, quantile := "", ""
	var place, tolerance, direction *node
	for i := range members {
		m := &members[i]
		switch m.key {
		case "name":
			place = &m.node
			name, err = m.text("the name of a metric")
		case "quantile":
			quantile, err = readQuantile(&m.node)
		case "tolerance":
			tolerance = &m.node
		case "direction":
			direction = &m.node
		default:
			err = m.problem("an unknown key", "one of direction, name, quantile, tolerance")
		}
		if err != nil {
			return Check{}, err
		}
	}
	if place == nil {
		return Check{}, n.problem("a metric without a name", "a key name")
	}
	at, err := p.metric(place, quantile+name)
	if err != nil {
		return Check{}, err
	}
	c := p.check(at)
	if tolerance != nil {
		if c.Tolerance, err = readTolerance(tolerance, p.metrics[at].Unit); err != nil {
			return c, err
		}
	}
	if direction != nil {
		c.Direction, err = readDirection(direction)
	}
	return c, err
}

// metric finds a metric by its name.
func (p *suiteParser) metric(n *node, name string) (int, error) {
	if at := sweepdata.MetricIndex(strings.ReplaceAll(name, "-", "_")); at >= 0 {
		return at, nil
	}
	var names []string
	for _, m := range p.metrics {
		names = append(names, m.Name)
	}
	return 0, n.problem(quote(name), "one of "+strings.Join(names, ", "))
}

// readQuantile reads the beginning of a metric's name: p90_ for 90, 0.9 or p90.
func readQuantile(n *node) (string, error) {
	text, _ := n.scalar()
	switch v, err := strconv.ParseFloat(strings.TrimPrefix(text, "p"), 64); {
	case text == "mean" || text == "max":
		return text + "_", nil
	case err == nil && v > 0 && v < 1:
		return "p" + strconv.FormatFloat(math.Round(v*1e6)/1e4, 'f', -1, 64) + "_", nil
	case err == nil && v >= 1 && v < 100:
		return "p" + strconv.FormatFloat(v, 'f', -1, 64) + "_", nil
	}
	return "", n.wrong("50, 90, 95, 99, mean or max")
}

// readTolerance reads a share of the baseline, 2%, or an amount in the metric's
// unit, which may follow it.
func readTolerance(n *node, unit string) (Tolerance, error) {
	text, _ := n.scalar()
	number, relative := strings.CutSuffix(strings.TrimSpace(text), "%")
	if !relative {
		number = strings.TrimSuffix(number, " "+unitOf(unit))
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || strings.ContainsAny(number, "xXpP_") || !(v >= 0 && v <= math.MaxFloat64) {
		want := "a share of the baseline such as 2%, or an amount such as 2"
		if u := unitOf(unit); u != "" {
			want += " (in " + u + ")"
		}
		return Tolerance{}, n.wrong(want)
	}
	if relative {
		v /= 100
	}
	return Tolerance{Relative: relative, Value: v}, nil
}

// unitOf is the unit of a difference: shares in percent differ by points.
func unitOf(unit string) string {
	if unit == "%" {
		return "pp"
	}
	return unit
}

func readDirection(n *node) (Direction, error) {
	text, _ := n.scalar()
	for _, d := range []Direction{Lower, Higher, Same, Info} {
		if text == d.String() {
			return d, nil
		}
	}
	return 0, n.wrong("lower or higher (what is better), same (every change is worse) or info (only shown)")
}

// bounds reads service level objectives: mappings with metric and at-most or
// at-least.
func (p *suiteParser) bounds(n *node) ([]Bound, error) {
	items, err := n.items("a list of bounds")
	if err != nil {
		return nil, err
	}
	var out []Bound
	for i := range items {
		b, err := p.bound(&items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (p *suiteParser) bound(n *node) (Bound, error) {
	b := Bound{Metric: -1, AtMost: math.NaN(), AtLeast: math.NaN()}
	members, err := n.members("a mapping with metric and at-most or at-least")
	if err != nil {
		return b, err
	}
	for i := range members {
		m := &members[i]
		switch m.key {
		case "metric":
			var name string
			if name, err = m.text("the name of a metric"); err == nil {
				b.Metric, err = p.metric(&m.node, name)
			}
		case "at-most":
			b.AtMost, err = m.number()
		case "at-least":
			b.AtLeast, err = m.number()
		default:
			err = m.problem("an unknown key", "one of at-least, at-most, metric")
		}
		if err != nil {
			return b, err
		}
	}
	if b.Metric < 0 || math.IsNaN(b.AtMost) == math.IsNaN(b.AtLeast) {
		return b, n.problem("a bound without metric or with other than one of at-most and at-least", "for example {metric: p99_ttft_ms, at-most: 4000}")
	}
	return b, nil
}

// number returns a finite number.
func (n *node) number() (float64, error) {
	text, ok := n.scalar()
	v, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || strings.ContainsAny(text, "xXpP_") || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, n.wrong("a number")
	}
	return v, nil
}

// Text writes a tolerance the way a suite does.
func (t Tolerance) Text(unit string) string {
	if t.Relative {
		return fmt.Sprintf("%s %%", strconv.FormatFloat(math.Round(t.Value*1e8)/1e6, 'f', -1, 64))
	}
	text := strconv.FormatFloat(t.Value, 'f', -1, 64)
	if u := unitOf(unit); u != "" {
		text += " " + u
	}
	return text
}
