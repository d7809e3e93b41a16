// Package npz reads numeric arrays from NumPy's .npz archives: zip files
// whose members are .npy arrays. It reads little-endian floating-point and
// integer arrays in C or Fortran order, and turns them all into float64.
package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// maxElements bounds an array, so that a damaged header cannot claim all
// memory; profile tables have a few thousand elements.
const maxElements = 1 << 24

// Array is one numeric array in C order: the last index runs fastest.
type Array struct {
	Shape []int
	Data  []float64
}

// File is an open archive.
type File struct {
	name   string
	zip    *zip.Reader
	closer io.Closer
}

// Open opens an archive; the caller closes it.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	a, err := NewReader(path, f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	a.closer = f
	return a, nil
}

// NewReader reads an archive of the given size; name is what errors call it.
func NewReader(name string, r io.ReaderAt, size int64) (*File, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: found no zip archive (%w), expected a .npz file as numpy.savez writes it", name, err)
	}
	return &File{name: name, zip: z}, nil
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Names lists the arrays of the archive in alphabetical order.
func (f *File) Names() []string {
	var names []string
	for _, m := range f.zip.File {
		if name, ok := strings.CutSuffix(m.Name, ".npy"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Array reads the array of that name.
func (f *File) Array(name string) (*Array, error) {
	for _, m := range f.zip.File {
		if m.Name != name+".npy" {
			continue
		}
		r, err := m.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.name, name, err)
		}
		a, err := ReadArray(r)
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.name, name, err)
		}
		return a, nil
	}
	return nil, fmt.Errorf("%s: found no array %q, expected one beside %s", f.name, name, strings.Join(f.Names(), ", "))
}

// ReadArray reads one array in .npy format, versions 1 to 3.
func ReadArray(r io.Reader) (*Array, error) {
	text, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	width, decode := element(h.descr)
	if decode == nil {
		return nil, fmt.Errorf("found elements of type %q, expected little-endian numbers of up to 8 bytes such as <f8, <f4, <i8 or <i4", h.descr)
	}
	count := 1
	for _, n := range h.shape {
		if n > 0 && count > maxElements/n {
			return nil, fmt.Errorf("found shape %v, expected at most %d elements", h.shape, maxElements)
		}
		count *= n
	}
	raw, err := io.ReadAll(io.LimitReader(r, int64(count)*int64(width)+1))
	if err != nil {
		return nil, err
	}
	if len(raw) != count*width {
		return nil, fmt.Errorf("found %d bytes of data or more, expected %d for shape %v of %s", len(raw), count*width, h.shape, h.descr)
	}
	data := make([]float64, count)
	for i := range data {
		data[i] = decode(raw[i*width:])
	}
	if h.fortran {
		data = transpose(data, h.shape)
	}
	return &Array{Shape: h.shape, Data: data}, nil
}

// readHeader returns the text of the array's header.
func readHeader(r io.Reader) (string, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || string(start[:6]) != "\x93NUMPY" {
		return "", fmt.Errorf("found no NumPy header, expected a .npy array")
	}
	var size int
	switch version := start[6]; version {
	case 1:
		var n [2]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return "", fmt.Errorf("found a cut NumPy header: %w", err)
		}
		size = int(binary.LittleEndian.Uint16(n[:]))
	case 2, 3:
		var n [4]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return "", fmt.Errorf("found a cut NumPy header: %w", err)
		}
		size = int(min(binary.LittleEndian.Uint32(n[:]), 1<<20))
	default:
		return "", fmt.Errorf("found NumPy format version %d, expected 1, 2 or 3", version)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", fmt.Errorf("found a cut NumPy header: %w", err)
	}
	return string(text), nil
}

// element returns the width in bytes of a NumPy type and the function that
// reads one, or nil for a type that is not a number of ours.
func element(descr string) (int, func([]byte) float64) {
	le := binary.LittleEndian
	switch descr {
	case "<f8":
		return 8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	case "<f4":
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	case "<i8":
		return 8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }
	case "<i4":
		return 4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }
	case "<i2":
		return 2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }
	case "|i1":
		return 1, func(b []byte) float64 { return float64(int8(b[0])) }
	case "<u8":
		return 8, func(b []byte) float64 { return float64(le.Uint64(b)) }
	case "<u4":
		return 4, func(b []byte) float64 { return float64(le.Uint32(b)) }
	case "<u2":
		return 2, func(b []byte) float64 { return float64(le.Uint16(b)) }
	case "|u1":
		return 1, func(b []byte) float64 { return float64(b[0]) }
	}
	return 0, nil
}

// transpose turns data whose first index runs fastest into C order.
func transpose(data []float64, shape []int) []float64 {
	out := make([]float64, len(data))
	index := make([]int, len(shape))
	for _, v := range data {
		at := 0
		for d, n := range shape {
			at = at*n + index[d]
		}
		out[at] = v
		for d := range index {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return out
}
