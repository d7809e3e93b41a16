package workloads

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func packGzip(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packZstd(t testing.TB, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// someRows writes n rows of different shapes.
func someRows(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(goodRow, "[1,2]", "[1,"+strings.Repeat("3, ", i%7)+strings.Repeat("9", 1+i%19)+"]", 1))
	}
	return b.String()
}

// TestPacking: gzip and zstd are known by their first bytes, from files of any
// name and from standard input, and packing changes nothing.
func TestPacking(t *testing.T) {
	text := someRows(5000)
	want := mustOpen(t, text, Options{}).Digest()
	several := append(packGzip(t, text[:2000]), packGzip(t, text[2000:])...)
	for name, data := range map[string][]byte{"plain": []byte(text), "gzip": packGzip(t, text), "zstd": packZstd(t, text), "gzip members": several} {
		path := filepath.Join(t.TempDir(), "trace.txt")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, from := range []struct {
			how, path string
			stdin     io.Reader
		}{
			{"file", path, nil},
			{"standard input", "-", bytes.NewReader(data)},
			{"halves", "-", iotest.HalfReader(bytes.NewReader(data))},
			{"data with the end", "-", iotest.DataErrReader(bytes.NewReader(data))},
		} {
			tr, err := Open(from.path, Options{Stdin: from.stdin})
			if err != nil {
				t.Errorf("%s, %s: %v", name, from.how, err)
			} else if tr.Digest() != want {
				t.Errorf("%s, %s: another trace", name, from.how)
			}
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	text := someRows(5000)
	gz, zs := packGzip(t, text), packZstd(t, text)
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 0x55
		return b
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		data []byte
		want string // how the message goes on after the line
	}{
		"gzip cut in the trailer": {gz[:len(gz)-4], "found the end of the gzip data, expected more of it (the file is cut off; fetch it again)"},
		"gzip cut in the middle":  {gz[:len(gz)/2], "found the end of the gzip data, expected more of it (the file is cut off; fetch it again)"},
		"gzip cut in the head":    {gz[:5], "found the end of the gzip data, expected more of it (the file is cut off; fetch it again)"},
		"gzip damaged":            {flip(gz, len(gz)-6), "found damaged gzip data ("},
		"zstd cut":                {zs[:len(zs)/2], "found the end of the zstd data, expected more of it (the file is cut off; fetch it again)"},
		"zstd damaged":            {flip(zs, len(zs)-2), "found damaged zstd data ("},
	} {
		path := filepath.Join(dir, "trace")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		// Even where bad rows are skipped: what follows is lost, not bad.
		_, err := Open(path, Options{OnError: SkipRow})
		var p *Problem
		if !errors.As(err, &p) || p.Line < 1 || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestFileProblems(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.jsonl")
	for _, c := range []struct {
		paths []string
		o     Options
		want  string
	}{
		{[]string{missing}, Options{}, missing + ": found no such file, expected a readable trace file"},
		{[]string{dir}, Options{}, dir + ": found a directory, expected a readable trace file"},
		{[]string{"-"}, Options{}, "-: found no standard input, expected the name of a trace file"},
		{nil, Options{}, "trace: found no file, expected the name of a trace file, or - for standard input"},
		{[]string{"-", "-"}, Options{Stdin: strings.NewReader(goodEvent)}, "-: found the same file twice, expected each file of a trace once"},
		{[]string{"-"}, Options{Stdin: io.MultiReader(strings.NewReader(goodRow), iotest.ErrReader(errors.New("gone")))},
			"-:2: found gone, expected a readable file"},
	} {
		_, err := OpenAll(c.paths, c.o)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestLines: lines of any length come out whole, whatever the reads were cut
// into.
func TestLines(t *testing.T) {
	var text strings.Builder
	var want []string
	for _, n := range []int{0, 1, 100, 64<<10 - 1, 64<<10 - 104, 64 << 10, 0, 1 << 20, 5, 300 << 10} {
		line := strings.Repeat("x", n) + "\n"
		text.WriteString(line)
		want = append(want, line)
	}
	text.WriteString("end")
	want = append(want, "end\n")
	for name, rd := range map[string]io.Reader{
		"whole": strings.NewReader(text.String()), "halves": iotest.HalfReader(strings.NewReader(text.String())),
		"data with the end": iotest.DataErrReader(strings.NewReader(text.String())),
	} {
		r := newLineReader(&input{Reader: rd, name: name})
		for i, w := range want {
			line, p := r.next()
			if p != nil || string(line) != w || r.lines != i+1 {
				t.Fatalf("%s, line %d: %d bytes, %v, want %d", name, i, len(line), p, len(w))
			}
		}
		if line, p := r.next(); line != nil || p != nil {
			t.Fatalf("%s: %q after the end, %v", name, line, p)
		}
	}
}

// TestLineLimit: a file without line ends is refused before memory runs out.
func TestLineLimit(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(goodRow+"{"), &repeat{b: ' '})
	_, err := Open("-", Options{Stdin: endless})
	const want = "-:2: found a line of over 64 MiB, expected one JSON object per line"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

type repeat struct{ b byte }

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.b
	}
	return len(p), nil
}
