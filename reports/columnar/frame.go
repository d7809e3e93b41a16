package columnar

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// Values is one whole column of a table. Exactly one of the slices is set; the
// columns of a table have equal lengths.
type Values struct {
	Name     string
	Integers []int64   // 64 bits
	Shorts   []int32   // 32 bits
	Decimals []float64 // binary64; a NaN is written as null
	Singles  []float32 // binary32; a NaN stays a NaN
	Texts    []string  // UTF-8
	Booleans []bool
}

// Len returns the number of rows.
func (v *Values) Len() int {
	return max(len(v.Integers), len(v.Shorts), len(v.Decimals), len(v.Singles), len(v.Texts), len(v.Booleans))
}

// Entry is a note in the footer of a file.
type Entry struct{ Key, Value string }

// GroupRows is the number of rows of a row group; a table that is written group
// by group takes no more memory than one.
const GroupRows = groupRows

// ValuesWriter writes a table as a Parquet file, a group of rows after the other.
type ValuesWriter struct {
	name    string
	columns int
	sink    *sink
	out     *file.Writer
}

// NewValuesWriter begins a table of columns like the given ones, with notes in
// the file's footer.
func NewValuesWriter(w io.Writer, name string, columns []Values, notes ...Entry) (*ValuesWriter, error) {
	root, err := valuesLayout(name, columns)
	if err != nil {
		return nil, err
	}
	meta := metadata.NewKeyValueMetadata()
	for _, e := range notes {
		if err := meta.Append(e.Key, e.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	v := &ValuesWriter{name: name, columns: len(columns), sink: &sink{w: w}}
	v.out = file.NewParquetWriter(v.sink, root, file.WithWriterProps(properties()), file.WithWriteMetadata(meta))
	return v, nil
}

// Write writes the rows from from to to, at most GroupRows of them, as a group.
func (v *ValuesWriter) Write(columns []Values, from, to int) error {
	if v.sink.err != nil {
		return v.sink.err
	}
	err := writeGroup(v.out, v.columns, func(i int, chunk file.ColumnChunkWriter) (string, error) {
		return columns[i].Name, writeValuesChunk(chunk, &columns[i], from, to)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", v.name, err)
	}
	return v.sink.err
}

// Close ends the file; the writer below stays open.
func (v *ValuesWriter) Close() error {
	if v.sink.err != nil {
		return v.sink.err
	}
	if err := v.out.Close(); err != nil {
		return fmt.Errorf("%s: %w", v.name, err)
	}
	return v.sink.err
}

// WriteValues writes whole columns as a Parquet file, with notes in its footer.
// Equal columns and notes give equal bytes.
func WriteValues(w io.Writer, name string, columns []Values, notes ...Entry) error {
	out, err := NewValuesWriter(w, name, columns, notes...)
	if err != nil {
		return err
	}
	rows := 0
	for i := range columns {
		rows = max(rows, columns[i].Len())
	}
	for from := 0; from < rows; from += GroupRows {
		if err := out.Write(columns, from, min(rows, from+GroupRows)); err != nil {
			return err
		}
	}
	return out.Close()
}

func properties() *parquet.WriterProperties {
	return parquet.NewWriterProperties(
		parquet.WithCreatedBy(createdBy),
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryDefault(false), // hashing every value costs more than it saves
		parquet.WithVersion(parquet.V2_LATEST),
	)
}

func valuesLayout(name string, columns []Values) (*schema.GroupNode, error) {
	fields := make(schema.FieldList, 0, len(columns))
	always := parquet.Repetitions.Required
	for i := range columns {
		c := &columns[i]
		var node schema.Node
		var err error
		switch {
		case c.Integers != nil:
			node = schema.NewInt64Node(c.Name, always, -1)
		case c.Shorts != nil:
			node = schema.NewInt32Node(c.Name, always, -1)
		case c.Decimals != nil:
			node = schema.NewFloat64Node(c.Name, parquet.Repetitions.Optional, -1)
		case c.Singles != nil:
			node = schema.NewFloat32Node(c.Name, always, -1)
		case c.Booleans != nil:
			node = schema.NewBooleanNode(c.Name, always, -1)
		default:
			node, err = schema.NewPrimitiveNodeLogical(c.Name, always, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
	}
	return schema.NewGroupNode(name, parquet.Repetitions.Required, fields, -1)
}

func writeValuesChunk(chunk file.ColumnChunkWriter, c *Values, from, to int) (err error) {
	switch w := chunk.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(c.Integers[from:to], nil, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(c.Shorts[from:to], nil, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(c.Singles[from:to], nil, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(c.Booleans[from:to], nil, nil)
	case *file.Float64ColumnChunkWriter:
		levels := make([]int16, to-from)
		present := make([]float64, 0, to-from)
		for i, v := range c.Decimals[from:to] {
			if finite(v) {
				levels[i] = 1
				present = append(present, v)
			}
		}
		_, err = w.WriteBatch(present, levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		texts := make([]parquet.ByteArray, 0, to-from)
		for _, v := range c.Texts[from:to] {
			texts = append(texts, parquet.ByteArray(v))
		}
		_, err = w.WriteBatch(texts, nil, nil)
	default:
		err = fmt.Errorf("no way to write a column of type %T", chunk)
	}
	return err
}
