package columnar

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"

	"routesim/sim"
	"routesim/workloads"
)

// WriteRequestsCSV writes the table of requests as CSV with a heading line.
// Absent values are empty; numbers read back to the same bits.
func WriteRequestsCSV(w io.Writer, t *workloads.Trace, c *sim.Config, r *sim.Result) error {
	return writeCSV(w, Requests(), len(r.Requests), requestAt(t, c, r))
}

func writeCSV[R any](w io.Writer, columns []Column[R], n int, at func(i int) R) error {
	buffer := bufio.NewWriterSize(w, 1<<16)
	out := csv.NewWriter(buffer)
	fields := make([]string, len(columns))
	for i := range columns {
		fields[i] = columns[i].Name
	}
	if err := out.Write(fields); err != nil {
		return err
	}
	for i := range n {
		row := at(i)
		for j := range columns {
			fields[j] = columns[j].csv(&row)
		}
		if err := out.Write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffer.Flush()
}

// csv writes the column's value in a row, "" where it is absent.
func (c *Column[R]) csv(row *R) string {
	switch c.kind {
	case Integer:
		if v, ok := c.integer(row); ok {
			return strconv.FormatInt(v, 10)
		}
	case Decimal:
		if v := c.decimal(row); finite(v) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case Text:
		if v, ok := c.text(row); ok {
			return v
		}
	case Boolean:
		if v, ok := c.boolean(row); ok {
			return strconv.FormatBool(v)
		}
	}
	return ""
}
