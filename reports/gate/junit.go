package gate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of a JUnit report. A scenario is a test suite; its cases are
// completion, decisions, and each metric and bound.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML. The type of a failure is the
// verdict that it leads to. A change of behaviour that is allowed is no failure.
func WriteJUnit(w io.Writer, r *Report) error {
	out := junitSuites{Name: "routesim gate"}
	if r.Problem != "" {
		s := junitSuite{Name: "baseline"}
		s.fail(&junitCase{Class: "routesim.gate", Name: "baseline", File: r.Suite}, r.Verdict, r.Problem, strings.Join(r.Advice, "\n"))
		out.add(s)
	}
	for i := range r.Scenarios {
		out.add(r.Scenarios[i].junit(r))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(&out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (o *junitSuites) add(s junitSuite) {
	o.Tests += s.Tests
	o.Failures += s.Failures
	o.Suites = append(o.Suites, s)
}

func (s *junitSuite) pass(c *junitCase, out string) {
	c.Out = out
	s.Tests++
	s.Cases = append(s.Cases, *c)
}

func (s *junitSuite) fail(c *junitCase, v Verdict, message, text string) {
	c.Failure = &junitFailure{Type: v.String(), Message: message, Text: text}
	s.Tests++
	s.Failures++
	s.Cases = append(s.Cases, *c)
}

func (s *Result) junit(r *Report) junitSuite {
	out := junitSuite{Name: s.Name}
	newCase := func(name string) *junitCase {
		return &junitCase{Class: "routesim.gate." + s.Name, Name: name, File: r.Suite, Line: s.Line}
	}
	switch {
	case s.Verdict == Invalid:
		out.fail(newCase("comparison"), Invalid, first(s.Problems), strings.Join(s.Problems, "\n"))
		return out
	case len(s.Problems) > 0:
		out.fail(newCase("completion"), Regression, first(s.Problems), strings.Join(s.Problems, "\n"))
	default:
		out.pass(newCase("completion"), "")
	}
	text := s.reasonText()
	switch {
	case len(s.ChangedSeeds) == 0:
		out.pass(newCase("decisions"), "")
	case r.Verdict == BehaviourChanged && r.Code == 0:
		out.pass(newCase("decisions"), text)
	default:
		out.fail(newCase("decisions"), BehaviourChanged, s.seedsText(), text)
	}
	for i := range s.Rows {
		row := &s.Rows[i]
		message := fmt.Sprintf("%s %s -> %s, %s (allowed %s)", row.Title, value(row.Before, row.Unit), value(row.After, row.Unit), row.change(), row.allowed())
		if row.State == Worse {
			out.fail(newCase(row.Name), Regression, message, row.interval())
		} else {
			out.pass(newCase(row.Name), message)
		}
	}
	for i := range s.Bounds {
		b := &s.Bounds[i]
		message := fmt.Sprintf("%s %s, expected %s", b.Title, value(b.Value, b.Unit), b.text())
		if b.State == Worse {
			out.fail(newCase("slo "+b.Name), Regression, message, "")
		} else {
			out.pass(newCase("slo "+b.Name), message)
		}
	}
	return out
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// reasonText is what is known of the decisions, in lines.
func (s *Result) reasonText() string {
	var lines []string
	if s.Divergence != nil {
		lines = append(lines, s.Divergence.text())
	}
	if s.Moved != nil {
		lines = append(lines, s.Moved.text())
	}
	return strings.Join(append(lines, s.Notes...), "\n")
}
