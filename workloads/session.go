package workloads

import (
	"bytes"
	"math"
	"strconv"
)

// sessionBuilder links rows into sessions. It exists from the first row that
// names a session on; before that every row is a session of its own.
type sessionBuilder struct {
	c        sessionColumns
	lastRow  []int32   // by session
	lastTime []float64 // by session, ms, the last recorded timestamp, NoTime for none
	aliases  bool      // some row names a session request_<n>, as unnamed ones are called
}

// turnPlace is where a row goes: a turn of a known session, or the first turn
// of a new one.
type turnPlace struct {
	session int32 // NoRow for a new session
	delay   float64
	name    []byte // of a new session, nil for an unnamed one
}

var requestPrefix = []byte("request_")

// placeTurn finds the session of a row and applies the rules of its timing. It
// changes nothing that a refused row would leave behind.
func (b *Builder) placeTurn(raw *rawRow) (turnPlace, *Problem) {
	if b.sess == nil && raw.has(fSession) {
		b.sess = newSessionBuilder(b.t)
	}
	place := turnPlace{session: NoRow}
	if s := b.sess; s != nil {
		place.name = raw.session
		if raw.has(fSession) && !s.aliases && bytes.HasPrefix(raw.session, requestPrefix) {
			s.nameAll(b.t)
		}
		if !raw.has(fSession) && s.aliases {
			place.name = strconv.AppendInt(bytes.Clone(requestPrefix), int64(raw.line), 10)
		} else if raw.has(fSession) && place.name == nil {
			place.name = []byte{}
		}
		if place.name != nil {
			if n, ok := s.c.names.find(place.name); ok {
				place.session = s.c.byName[n]
			}
		}
	}
	if place.session == NoRow {
		return place, b.checkFirstTurn(raw)
	}
	var p *Problem
	place.delay, p = b.turnDelay(raw, b.sess.lastTime[place.session])
	return place, p
}

func (b *Builder) checkFirstTurn(raw *rawRow) *Problem {
	if raw.has(fDelay) && raw.delay != 0 {
		return b.problem(raw, "delay", number(raw.delay),
			"none on the first turn of a session (rows of one session share a session_id; a start is a timestamp)")
	}
	if !raw.has(fTimestamp) && !b.o.ClosedLoop {
		return b.problem(raw, "timestamp", nothing,
			"the arrival in ms on the first row of a session (or replay in closed loop with a fixed concurrency)")
	}
	return nil
}

// turnDelay returns the ms a later turn waits: as recorded, else the difference
// of the timestamps, else none. before is the session's previous timestamp.
func (b *Builder) turnDelay(raw *rawRow, before float64) (float64, *Problem) {
	switch {
	case raw.has(fDelay):
		if !(raw.delay >= 0) || math.IsInf(raw.delay, 0) {
			return 0, b.problem(raw, "delay", number(raw.delay), "0 ms or more after the previous turn's completion")
		}
		return raw.delay + 0, nil // no negative zero
	case !raw.has(fTimestamp):
		return 0, nil
	case math.IsNaN(before):
		return 0, b.problem(raw, "timestamp", number(raw.timestamp),
			"none, since no earlier turn of the session has one to count from (add a delay instead)")
	}
	d := raw.timestamp - before
	if d < 0 {
		return 0, b.problem(raw, "timestamp", number(raw.timestamp),
			"at least "+number(before)+", the timestamp of the session's previous turn (or an explicit delay)")
	}
	if math.IsInf(d, 0) {
		return 0, b.problem(raw, "timestamp", number(raw.timestamp), "a finite time after the session's previous turn")
	}
	return d, nil
}

// number renders a time as a user would write it.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// newSessionBuilder makes every row so far a session of its own.
func newSessionBuilder(t *Trace) *sessionBuilder {
	s := &sessionBuilder{}
	for row := range t.Len() {
		s.keep(turnPlace{session: NoRow}, int32(row), t.arrival[row])
	}
	return s
}

// nameAll gives the unnamed sessions their names, so that a session_id can
// meet them.
func (s *sessionBuilder) nameAll(t *Trace) {
	s.aliases = true
	for session, n := range s.c.nameOf {
		if n >= 0 {
			continue
		}
		name := strconv.AppendInt(bytes.Clone(requestPrefix), int64(t.line[s.lastRow[session]]), 10)
		s.name(int32(session), name)
	}
}

func (s *sessionBuilder) name(session int32, name []byte) {
	n, fresh := s.c.names.intern(name)
	if fresh {
		s.c.byName = append(room(s.c.byName, 1), session)
	}
	s.c.nameOf[session] = n
}

// keep appends a row; s may be nil.
func (s *sessionBuilder) keep(p turnPlace, row int32, at float64) {
	if s == nil {
		return
	}
	c := &s.c
	prev, turn := NoRow, int32(0)
	if p.session == NoRow {
		p.session = int32(len(s.lastRow))
		s.lastRow = append(room(s.lastRow, 1), row)
		s.lastTime = append(room(s.lastTime, 1), at)
		c.nameOf = append(room(c.nameOf, 1), NoRow)
		if p.name != nil {
			s.name(p.session, p.name)
		}
	} else {
		prev = s.lastRow[p.session]
		turn = c.turn[prev] + 1
		c.next[prev] = row
		s.lastRow[p.session] = row
		if !math.IsNaN(at) {
			s.lastTime[p.session] = at
		}
		c.multi = true
	}
	c.session = append(room(c.session, 1), p.session)
	c.turn = append(room(c.turn, 1), turn)
	c.prev = append(room(c.prev, 1), prev)
	c.next = append(room(c.next, 1), NoRow)
	c.delay = append(room(c.delay, 1), p.delay)
}

// columns returns what the trace keeps, nil if no session has a name.
func (s *sessionBuilder) columns() *sessionColumns {
	if s.c.names.names.len() == 0 {
		return nil
	}
	s.c.names.slots, s.c.byName = nil, nil
	return &s.c
}
