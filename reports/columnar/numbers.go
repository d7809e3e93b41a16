package columnar

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// ReadNumbers reads columns of whole numbers and decimals from a Parquet file
// of flat columns, such as WriteRequests writes. Nulls become NaN; whole numbers
// are exact up to 2^53.
func ReadNumbers(r parquet.ReaderAtSeeker, names ...string) (columns [][]float64, err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged files
			columns, err = nil, fmt.Errorf("found a damaged file (%v), expected a Parquet file", p)
		}
	}()
	in, err := file.NewParquetReader(r)
	if err != nil {
		return nil, fmt.Errorf("found no Parquet file (%w)", err)
	}
	defer in.Close()
	if rows := in.NumRows(); rows < 0 || rows > maxReadRows {
		return nil, fmt.Errorf("found %d rows, expected at most %d", rows, maxReadRows)
	}
	layout := in.MetaData().Schema
	for _, name := range names {
		at := layout.ColumnIndexByName(name)
		if at < 0 {
			return nil, fmt.Errorf("found no column %s, expected one", name)
		}
		values := make([]float64, 0, in.NumRows())
		for g := range in.NumRowGroups() {
			chunk, err := in.RowGroup(g).Column(at)
			if err == nil {
				values, err = appendNumbers(values, in.RowGroup(g).NumRows(), chunk)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		if int64(len(values)) != in.NumRows() {
			return nil, fmt.Errorf("%s: found %d values, expected %d", name, len(values), in.NumRows())
		}
		columns = append(columns, values)
	}
	return columns, nil
}

// appendNumbers appends the n values of a chunk.
func appendNumbers(values []float64, n int64, chunk file.ColumnChunkReader) ([]float64, error) {
	if n < 0 || n > maxReadRows {
		return nil, fmt.Errorf("found a row group of %d rows", n)
	}
	switch r := chunk.(type) {
	case *file.Float64ColumnChunkReader:
		return readDecimals(values, n, r)
	case *file.Int64ColumnChunkReader:
		return readIntegers(values, n, r)
	}
	return nil, fmt.Errorf("found a column of type %T, expected numbers", chunk)
}

// readIntegers appends n values of a column that may have nulls.
func readIntegers(values []float64, n int64, r *file.Int64ColumnChunkReader) ([]float64, error) {
	size := min(n, groupRows)
	out, levels := make([]int64, size), make([]int16, size)
	optional := r.Descriptor().MaxDefinitionLevel() > 0
	for n > 0 {
		rows, read, err := r.ReadBatch(min(n, size), out, levels, nil)
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
