package main

import (
	"fmt"
	"slices"

	"routesim/reports/format"
)

// standing counts, over the points of a sweep, which routers are live and what
// of them is not checked against Dynamo.
type standing struct {
	live  int
	why   string   // of the first live point
	names []string // of what is not checked, in the order met
	count map[string]int
}

// add notes a point.
func (s *standing) add(c *candidate) {
	if c.semantics != "" {
		if s.live++; s.live == 1 {
			s.why = c.semantics
		}
	}
	for _, name := range c.unchecked {
		if s.count == nil {
			s.count = map[string]int{}
		}
		if s.count[name]++; !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
}

// texts says it for all points: of how many where it is not true of all.
func (s *standing) texts(points int) (semantics, unchecked string) {
	part := func(n int) string {
		if n == points {
			return ""
		}
		return fmt.Sprintf(" (%s of %s)", format.Count(int64(n)), format.Plural(int64(points), "point"))
	}
	if s.live > 0 {
		semantics = s.why + part(s.live)
	}
	var names []string
	for _, name := range s.names {
		names = append(names, name+part(s.count[name]))
	}
	return semantics, uncheckedText(names)
}
