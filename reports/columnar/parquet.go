package columnar

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"routesim/sim"
	"routesim/workloads"
)

// groupRows is the number of rows of a row group; it bounds the memory that
// writing takes.
const groupRows = 1 << 16

// createdBy is the writer's name in the file; a fixed one, so that equal tables
// are equal files.
const createdBy = "routesim"

// WriteRequests writes the table of requests as a Parquet file. Equal results
// give equal bytes.
func WriteRequests(w io.Writer, t *workloads.Trace, c *sim.Config, r *sim.Result) error {
	return writeParquet(w, "requests", Requests(), len(r.Requests), requestAt(t, c, r))
}

// WriteWorkers writes the table of workers as a Parquet file. Equal results
// give equal bytes.
func WriteWorkers(w io.Writer, c *sim.Config, r *sim.Result) error {
	return writeParquet(w, "workers", Workers(), len(r.Workers), workerAt(c, r))
}

// writeParquet writes n rows, group by group and in each group column by
// column.
func writeParquet[R any](w io.Writer, name string, columns []Column[R], n int, at func(i int) R) error {
	root, properties, err := layout(name, columns)
	if err != nil {
		return err
	}
	sink := &sink{w: w}
	out := file.NewParquetWriter(sink, root, file.WithWriterProps(properties))
	rows := make([]R, 0, min(n, groupRows))
	b := buffers{levels: make([]int16, 0, cap(rows))}
	for from := 0; from < n; from += groupRows {
		rows = rows[:0]
		for i := from; i < min(n, from+groupRows); i++ {
			rows = append(rows, at(i))
		}
		err := writeGroup(out, len(columns), func(i int, chunk file.ColumnChunkWriter) (string, error) {
			return columns[i].Name, writeColumn(chunk, &columns[i], rows, &b)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if sink.err != nil {
			return sink.err
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return sink.err
}

// sink keeps the first error of the writer below it and drops what follows:
// the Parquet library panics at some errors of its writer, and would close it.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.w.Write(p)
	}
	return len(p), nil
}

// writeGroup writes a row group; write writes column i and returns its name.
func writeGroup(out *file.Writer, columns int, write func(i int, chunk file.ColumnChunkWriter) (string, error)) error {
	group := out.AppendRowGroup()
	for i := range columns {
		chunk, err := group.NextColumn()
		if err != nil {
			return err
		}
		if name, err := write(i, chunk); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := chunk.Close(); err != nil {
			return err
		}
	}
	return group.Close()
}

// buffers hold a column's present values and, by row, 1 for present and 0 for
// absent ones.
type buffers struct {
	levels   []int16
	integers []int64
	decimals []float64
	texts    []parquet.ByteArray
	booleans []bool
}

func writeColumn[R any](chunk file.ColumnChunkWriter, c *Column[R], rows []R, b *buffers) (err error) {
	b.levels = b.levels[:0]
	note := func(ok bool) bool {
		if c.always {
			return true
		}
		level := int16(0)
		if ok {
			level = 1
		}
		b.levels = append(b.levels, level)
		return ok
	}
	// Columns without nulls have no levels.
	present := func() []int16 {
		if c.always {
			return nil
		}
		return b.levels
	}
	switch w := chunk.(type) {
	case *file.Int64ColumnChunkWriter:
		b.integers = b.integers[:0]
		for i := range rows {
			if v, ok := c.integer(&rows[i]); note(ok) {
				b.integers = append(b.integers, v)
			}
		}
		_, err = w.WriteBatch(b.integers, present(), nil)
	case *file.Float64ColumnChunkWriter:
		b.decimals = b.decimals[:0]
		for i := range rows {
			if v := c.decimal(&rows[i]); note(finite(v)) {
				b.decimals = append(b.decimals, v)
			}
		}
		_, err = w.WriteBatch(b.decimals, present(), nil)
	case *file.ByteArrayColumnChunkWriter:
		b.texts = b.texts[:0]
		last, bytes := "", parquet.ByteArray{}
		for i := range rows {
			if v, ok := c.text(&rows[i]); note(ok) {
				if v != last {
					last, bytes = v, parquet.ByteArray(v)
				}
				b.texts = append(b.texts, bytes)
			}
		}
		_, err = w.WriteBatch(b.texts, present(), nil)
	case *file.BooleanColumnChunkWriter:
		b.booleans = b.booleans[:0]
		for i := range rows {
			if v, ok := c.boolean(&rows[i]); note(ok) {
				b.booleans = append(b.booleans, v)
			}
		}
		_, err = w.WriteBatch(b.booleans, present(), nil)
	default:
		err = fmt.Errorf("no way to write a column of type %T", chunk)
	}
	return err
}

// layout returns the schema of a table and how to write it. Absent values
// are nulls.
func layout[R any](name string, columns []Column[R]) (*schema.GroupNode, *parquet.WriterProperties, error) {
	fields := make(schema.FieldList, 0, len(columns))
	for i := range columns {
		c := &columns[i]
		repetition := parquet.Repetitions.Optional
		if c.always {
			repetition = parquet.Repetitions.Required
		}
		var node schema.Node
		var err error
		switch c.kind {
		case Integer:
			node = schema.NewInt64Node(c.Name, repetition, -1)
		case Decimal:
			node = schema.NewFloat64Node(c.Name, repetition, -1)
		case Boolean:
			node = schema.NewBooleanNode(c.Name, repetition, -1)
		case Text:
			node, err = schema.NewPrimitiveNodeLogical(c.Name, repetition, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
		}
		if err != nil {
			return nil, nil, err
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode(name, parquet.Repetitions.Required, fields, -1)
	return root, properties(), err
}
