package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// row is a line of a Mooncake trace.
type row struct {
	Timestamp    int64    `json:"timestamp"` // ms
	InputLength  int64    `json:"input_length"`
	OutputLength int64    `json:"output_length"`
	HashIDs      []uint64 `json:"hash_ids"`
}

func readRows(r io.Reader) ([]row, error) {
	var rows []row
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var x row
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(rows)+1, err)
		}
		rows = append(rows, x)
	}
	if len(rows) == 0 && in.Err() == nil {
		return nil, fmt.Errorf("the trace has no rows")
	}
	return rows, in.Err()
}

// writeCopies writes the rows n times. Each copy follows the one before in time,
// a mean gap between bursts apart, and shares no hash id with it, so that the
// load stays what it was and the number of distinct blocks grows with n.
func writeCopies(w io.Writer, rows []row, n int) error {
	last, ids, bursts := rows[0].Timestamp, uint64(0), int64(1)
	for _, x := range rows {
		if x.Timestamp > last {
			last, bursts = x.Timestamp, bursts+1
		}
		for _, id := range x.HashIDs {
			ids = max(ids, id+1)
		}
	}
	span := last - rows[0].Timestamp
	shift := span + max(1, span/max(1, bursts-1))
	out := bufio.NewWriterSize(w, 1<<18)
	var line []byte
	for c := range n {
		for i := range rows {
			line = appendRow(line[:0], &rows[i], int64(c)*shift, uint64(c)*ids)
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func appendRow(b []byte, x *row, later int64, firstID uint64) []byte {
	b = append(b, `{"timestamp": `...)
	b = strconv.AppendInt(b, x.Timestamp+later, 10)
	b = append(b, `, "input_length": `...)
	b = strconv.AppendInt(b, x.InputLength, 10)
	b = append(b, `, "output_length": `...)
	b = strconv.AppendInt(b, x.OutputLength, 10)
	b = append(b, `, "hash_ids": [`...)
	for i, id := range x.HashIDs {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendUint(b, firstID+id, 10)
	}
	return append(b, "]}\n"...)
}
