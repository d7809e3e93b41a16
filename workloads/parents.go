package workloads

// parentColumn says whose sub-agent a request is.
type parentColumn struct {
	names nameTable // session ids as written, whether the trace has such sessions or not
	of    []int32   // by row, name number, NoRow where the row names no parent
}

// Parent returns the number of the session that row i names as the parent of its
// own, NoRow where it names none. Parents are numbered by first appearance,
// apart from sessions.
func (t *Trace) Parent(i int) int32 {
	if t.parents == nil {
		return NoRow
	}
	return t.parents.of[i]
}

// keepParent notes whose sub-agent a row is. A row without a session is nobody's.
func (b *Builder) keepParent(raw *rawRow, row int32) {
	c := b.t.parents
	named := len(raw.parent) > 0 && len(raw.session) > 0
	if c == nil {
		if !named {
			return
		}
		c = &parentColumn{of: make([]int32, row)}
		for i := range c.of {
			c.of[i] = NoRow
		}
		b.t.parents = c
	}
	n := NoRow
	if named {
		n, _ = c.names.intern(raw.parent)
	}
	c.of = append(room(c.of, 1), n)
}

// parents adds whose sub-agents requests are, and nothing for a trace that does
// not say so.
func (d *digester) parents(c *parentColumn) {
	if c == nil {
		return
	}
	d.text("parents")
	halves(d, c.of)
}
