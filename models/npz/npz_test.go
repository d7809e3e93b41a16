package npz

import (
	"bytes"
	"encoding/binary"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const types = "testdata/types.npz"

func count(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}

func TestArraysThatNumPyWrote(t *testing.T) {
	f, err := Open(types)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]Array{
		"f8":      {[]int{2}, []float64{1.5, -2.25}},
		"f4":      {[]int{1, 2}, []float64{0.5, 3}},
		"i8":      {[]int{2, 3}, count(6)},
		"i4":      {[]int{2}, []float64{-7, 7}},
		"u2":      {[]int{1}, []float64{65535}},
		"scalar":  {[]int{}, []float64{4}},
		"empty":   {[]int{0, 3}, []float64{}},
		"fortran": {[]int{2, 3, 4}, count(24)},
	}
	for name, w := range want {
		got, err := f.Array(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(*got, w) {
			t.Errorf("%s: got %v, want %v", name, *got, w)
		}
	}
	for name, w := range map[string]string{
		"text": `type "<U1"`, "big": `type ">f8"`, "none": `no array "none", expected one beside big, empty,`,
	} {
		if _, err := f.Array(name); err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%s: got error %v, want one with %q", name, err, w)
		}
	}
	if names := f.Names(); len(names) != len(want)+2 || !slices.IsSorted(names) {
		t.Errorf("Names: %v", names)
	}
}

func npy(version byte, head string, data ...byte) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(head)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	}
	return append(append(b, head...), data...)
}

const goodHeader = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }   \n"

func TestReadArrayVersions(t *testing.T) {
	for _, version := range []byte{1, 2, 3} {
		a, err := ReadArray(bytes.NewReader(npy(version, goodHeader, 3, 9)))
		if err != nil || !slices.Equal(a.Data, []float64{3, 9}) {
			t.Errorf("version %d: got %v, %v", version, a, err)
		}
	}
}

var brokenHeaders = map[string]string{
	"":                                 "expected a dictionary",
	"{'a': 1":                          "expected a dictionary",
	"{'descr': '<f8'}":                 `no "fortran_order"`,
	"{'descr': '<f8', 'descr': '<f8'}": "twice",
	"{'descr' '<f8'}":                  "no colon",
	"{descr: '<f8'}":                   "expected a quoted word",
	"{'descr': '<f8' 'shape': ()}":     "expected a comma",
	"{'descr': [('a', '<f8')]}":        "structured",
	"{'fortran_order': 1}":             "expected True or False",
	"{'shape': 3}":                     "expected a tuple",
	"{'shape': (-3,)}":                 "expected up to 8 lengths",
	"{'shape': (1,1,1,1,1,1,1,1,1)}":   "expected up to 8 lengths",
	"{'order': 'C'}":                   `key "order"`,
	"{'descr':'<f8','fortran_order':False,'shape':(9999,9999)}": "expected at most",
	"{'descr':'<c8','fortran_order':False,'shape':(2,)}":        `type "<c8"`,
	"{'descr':'|u1','fortran_order':False,'shape':(3,)}":        "found 2 bytes",
	"{'descr':'|u1','fortran_order':False,'shape':(1,)}":        "found 2 bytes",
}

func TestReadArrayErrors(t *testing.T) {
	for head, want := range brokenHeaders {
		_, err := ReadArray(bytes.NewReader(npy(1, head, 1, 2)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", head, err, want)
		}
	}
	for name, text := range map[string][]byte{
		"empty": nil, "no magic": []byte("PK345678"), "cut": npy(1, goodHeader)[:20], "cut length": npy(2, goodHeader)[:9],
		"version": npy(9, goodHeader),
	} {
		if a, err := ReadArray(bytes.NewReader(text)); err == nil {
			t.Errorf("%s: got %v, want an error", name, a)
		}
	}
	if _, err := Open("npz.go"); err == nil || !strings.Contains(err.Error(), "found no zip archive") {
		t.Errorf("not an archive: got error %v", err)
	}
	if _, err := Open("testdata/none.npz"); err == nil {
		t.Error("no file: got no error")
	}
}

func FuzzReader(f *testing.F) {
	archive, err := os.ReadFile(types)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(archive)
	f.Add(npy(1, goodHeader, 3, 9))
	for head := range brokenHeaders {
		f.Add(npy(2, head, 1, 2))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		check := func(a *Array, err error) {
			if err != nil {
				if a != nil || strings.ContainsAny(err.Error(), "\n\r") {
					t.Fatalf("bad failure: %v, %q", a, err)
				}
				return
			}
			n := 1
			for _, d := range a.Shape {
				n *= d
			}
			if n != len(a.Data) {
				t.Fatalf("shape %v with %d elements", a.Shape, len(a.Data))
			}
		}
		check(ReadArray(bytes.NewReader(text)))
		z, err := NewReader("fuzz", bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		for _, name := range z.Names() {
			check(z.Array(name))
		}
	})
}
