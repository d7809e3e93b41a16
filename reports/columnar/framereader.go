package columnar

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// maxReadRows bounds what a damaged file can make a reader set aside.
const maxReadRows = 1 << 28

// magic is what every Parquet file begins with; the library looks at the end only.
const magic = "PAR1"

// reading opens a Parquet file and passes it on.
func reading(r parquet.ReaderAtSeeker, use func(in *file.Reader) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged files
			err = fmt.Errorf("found a damaged file (%v), expected a Parquet file", p)
		}
	}()
	head := make([]byte, len(magic))
	if _, err := r.ReadAt(head, 0); err != nil || string(head) != magic {
		return fmt.Errorf("found no Parquet file (it begins with %q)", head)
	}
	in, err := file.NewParquetReader(r)
	if err != nil {
		return fmt.Errorf("found no Parquet file (%w)", err)
	}
	defer in.Close()
	if rows := in.NumRows(); rows < 0 || rows > maxReadRows {
		return fmt.Errorf("found %d rows, expected at most %d", rows, maxReadRows)
	}
	return use(in)
}

// eachChunk passes the parts of a column on, in order, with their numbers of
// rows.
func eachChunk(in *file.Reader, column int, use func(chunk file.ColumnChunkReader, rows int64) error) error {
	for g := range in.NumRowGroups() {
		chunk, err := in.RowGroup(g).Column(column)
		if err != nil {
			return err
		}
		n := in.RowGroup(g).NumRows()
		if n < 0 || n > in.NumRows() {
			return fmt.Errorf("found a row group of %d rows in a file of %d", n, in.NumRows())
		}
		if err := use(chunk, n); err != nil {
			return err
		}
	}
	return nil
}

// ReadValues reads a Parquet file of flat columns, such as WriteValues writes,
// and the notes in its footer. Nulls of decimal columns become NaN; nulls of
// other columns are errors.
func ReadValues(r parquet.ReaderAtSeeker) (columns []Values, notes []Entry, err error) {
	err = reading(r, func(in *file.Reader) error {
		notes = notesOf(in)
		layout := in.MetaData().Schema
		for i := range layout.NumColumns() {
			c := Values{Name: layout.Column(i).Name()}
			if err := eachChunk(in, i, c.read); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			if int64(c.Len()) != in.NumRows() {
				return fmt.Errorf("%s: found %d values, expected %d", c.Name, c.Len(), in.NumRows())
			}
			columns = append(columns, c)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return columns, notes, nil
}

// ReadNotes reads the notes in the footer of a Parquet file.
func ReadNotes(r parquet.ReaderAtSeeker) (notes []Entry, err error) {
	err = reading(r, func(in *file.Reader) error {
		notes = notesOf(in)
		return nil
	})
	return notes, err
}

// ReadNumbers reads columns of whole numbers and decimals from a Parquet file
// of flat columns, such as WriteRequests writes. Nulls become NaN; whole numbers
// are exact up to 2^53.
func ReadNumbers(r parquet.ReaderAtSeeker, names ...string) (columns [][]float64, err error) {
	err = reading(r, func(in *file.Reader) error {
		for _, name := range names {
			at := in.MetaData().Schema.ColumnIndexByName(name)
			if at < 0 {
				return fmt.Errorf("found no column %s, expected one", name)
			}
			var values []float64
			if err := eachChunk(in, at, func(chunk file.ColumnChunkReader, n int64) (err error) {
				values, err = appendNumbers(values, n, chunk)
				return err
			}); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if int64(len(values)) != in.NumRows() {
				return fmt.Errorf("%s: found %d values, expected %d", name, len(values), in.NumRows())
			}
			columns = append(columns, values)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return columns, nil
}

// appendNumbers appends the n values of a part of a column that may have nulls.
func appendNumbers(values []float64, n int64, chunk file.ColumnChunkReader) ([]float64, error) {
	optional := chunk.Descriptor().MaxDefinitionLevel() > 0
	switch r := chunk.(type) {
	case *file.Float64ColumnChunkReader:
		return readNullable(values, n, optional, r.ReadBatch)
	case *file.Int64ColumnChunkReader:
		return readNullable(values, n, optional, r.ReadBatch)
	}
	return nil, fmt.Errorf("found a column of type %T, expected numbers", chunk)
}

func notesOf(in *file.Reader) (notes []Entry) {
	meta := in.MetaData().KeyValueMetadata()
	values := meta.Values()
	for i, key := range meta.Keys() {
		notes = append(notes, Entry{key, values[i]})
	}
	return notes
}

// read appends the n values of a chunk.
func (v *Values) read(chunk file.ColumnChunkReader, n int64) (err error) {
	switch r := chunk.(type) {
	case *file.Int64ColumnChunkReader:
		v.Integers, err = readAll(v.Integers, n, func(out []int64) (int64, int, error) { return r.ReadBatch(int64(len(out)), out, nil, nil) })
	case *file.Int32ColumnChunkReader:
		v.Shorts, err = readAll(v.Shorts, n, func(out []int32) (int64, int, error) { return r.ReadBatch(int64(len(out)), out, nil, nil) })
	case *file.Float32ColumnChunkReader:
		v.Singles, err = readAll(v.Singles, n, func(out []float32) (int64, int, error) { return r.ReadBatch(int64(len(out)), out, nil, nil) })
	case *file.BooleanColumnChunkReader:
		v.Booleans, err = readAll(v.Booleans, n, func(out []bool) (int64, int, error) { return r.ReadBatch(int64(len(out)), out, nil, nil) })
	case *file.ByteArrayColumnChunkReader:
		v.Texts, err = readAll(v.Texts, n, func(out []string) (int64, int, error) {
			bytes := make([]parquet.ByteArray, len(out))
			rows, read, err := r.ReadBatch(int64(len(out)), bytes, nil, nil)
			for i := range bytes[:read] {
				out[i] = string(bytes[i]) // the bytes are reused
			}
			return rows, read, err
		})
	case *file.Float64ColumnChunkReader:
		v.Decimals, err = appendNumbers(v.Decimals, n, r)
	default:
		err = fmt.Errorf("found a column of type %T, expected numbers, texts or booleans", chunk)
	}
	return err
}

// readAll appends n values; batch reads as many as it can.
func readAll[T any](values []T, n int64, batch func(out []T) (rows int64, read int, err error)) ([]T, error) {
	if values == nil {
		values = []T{}
	}
	out := make([]T, min(n, groupRows))
	for n > 0 {
		rows, read, err := batch(out[:min(n, int64(len(out)))])
		if err != nil {
			return nil, err
		}
		if rows <= 0 || int64(read) != rows {
			return nil, fmt.Errorf("found %d values in %d rows, expected one each", read, rows)
		}
		values = append(values, out[:read]...)
		n -= rows
	}
	return values, nil
}

// readNullable appends n values of a column that may have nulls, which become
// NaN; batch reads as many as it can, and the levels that tell values from nulls.
func readNullable[T int64 | float64](values []float64, n int64, optional bool,
	batch func(most int64, out []T, levels, repeats []int16) (rows int64, read int, err error)) ([]float64, error) {
	if values == nil {
		values = []float64{}
	}
	size := min(n, groupRows)
	out, levels := make([]T, size), make([]int16, size)
	for n > 0 {
		rows, read, err := batch(min(n, size), out, levels, nil)
		if err != nil {
			return nil, err
		}
		if rows <= 0 || int64(read) > rows {
			return nil, fmt.Errorf("found %d values in %d rows", read, rows)
		}
		next := 0
		for i := range rows {
			v := math.NaN()
			if !optional || levels[i] > 0 {
				v = float64(out[next])
				next++
			}
			values = append(values, v)
		}
		n -= rows
	}
	return values, nil
}
