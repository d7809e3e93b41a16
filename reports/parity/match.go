package parity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"routesim/workloads"
)

// matchRows finds the trace row of every record: by its line in the trace,
// else by session and turn, else by its lengths in order of arrival.
// Records that fit nothing, or a row that an earlier record has, get one of
// the rows that are left: their line then counts as different. Records beyond
// the trace get workloads.NoRow.
func matchRows(records []record, t *workloads.Trace) []int32 {
	rows := make([]int32, len(records))
	taken := make([]bool, t.Len())
	k := newKeys(t)
	var loose []int
	for i, r := range records {
		row := k.find(r)
		if row == workloads.NoRow || taken[row] {
			loose = append(loose, i)
			continue
		}
		rows[i] = row
		taken[row] = true
	}
	matchByShape(records, loose, t, taken, rows)
	return rows
}

// keys looks trace rows up by what identifies them.
type keys struct {
	byLine map[int32]int32
	byTurn map[turnKey]int32
}

type turnKey struct {
	session string
	turn    int32
}

func newKeys(t *workloads.Trace) keys {
	k := keys{byLine: make(map[int32]int32, t.Len()), byTurn: map[turnKey]int32{}}
	for i := range t.Len() {
		k.byLine[t.Line(i)] = int32(i)
		k.byTurn[turnKey{sessionName(t, i), t.Turn(i)}] = int32(i)
	}
	return k
}

// find returns the row that a record names, NoRow if there is none.
func (k keys) find(r record) int32 {
	if v, ok := r["line"]; ok {
		if line, isNumber := number(v); isNumber && math.Abs(line) < math.MaxInt32 {
			if row, found := k.byLine[int32(line)+1]; found {
				return row
			}
		}
		return workloads.NoRow
	}
	name, named := r["session_id"].(string)
	turn, numbered := number(r["turn_index"])
	if named && numbered && math.Abs(turn) < math.MaxInt32 {
		if row, found := k.byTurn[turnKey{name, int32(turn)}]; found {
			return row
		}
	}
	return workloads.NoRow
}

// sessionName returns the oracle's name of a row's session: rows that name
// none are called after their line.
func sessionName(t *workloads.Trace, i int) string {
	if name := t.SessionName(i); name != "" {
		return name
	}
	return fmt.Sprintf("request_%d", t.Line(i))
}

// matchByShape gives each loose record the earliest free row with its lengths,
// and what is left the earliest free row of any lengths.
func matchByShape(records []record, loose []int, t *workloads.Trace, taken []bool, rows []int32) {
	if len(loose) == 0 {
		return
	}
	free := make([]int32, 0, t.Len())
	for i, used := range taken {
		if !used {
			free = append(free, int32(i))
		}
	}
	slices.SortStableFunc(free, func(a, b int32) int { return cmp.Compare(t.Arrival(int(a)), t.Arrival(int(b))) })
	take := func(i int, fits func(row int) bool) bool {
		k := slices.IndexFunc(free, func(row int32) bool { return fits(int(row)) })
		if k < 0 {
			rows[i] = workloads.NoRow
			return false
		}
		rows[i] = free[k]
		free = slices.Delete(free, k, k+1)
		return true
	}
	var left []int
	for _, i := range loose {
		in, _ := number(records[i]["input_length"])
		out, _ := number(records[i]["requested_output_length"])
		if !take(i, func(row int) bool {
			return float64(t.InputTokens(row)) == in && float64(t.OutputTokens(row)) == out
		}) {
			left = append(left, i)
		}
	}
	for _, i := range left {
		take(i, func(int) bool { return true })
	}
}
