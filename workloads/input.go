package workloads

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// input is an opened, decompressed trace file.
type input struct {
	io.Reader
	name    string
	packing string // "gzip", "zstd", or "" for plain text
	size    int64  // bytes of text, 0 if unknown
	close   []func() error
}

// Close releases the file and the decompressor.
func (in *input) Close() {
	for i := len(in.close) - 1; i >= 0; i-- {
		// Everything was read or given up by now: nothing can be lost.
		_ = in.close[i]()
	}
}

// magics are the leading bytes by which compressed and foreign files are known.
var magics = []struct{ lead, name string }{
	{"\x1f\x8b", "gzip"},
	{"\x28\xb5\x2f\xfd", "zstd"},
	{"\xfd7zXZ\x00", "an xz file"},
	{"BZh", "a bzip2 file"},
	{"PK\x03\x04", "a zip file"},
	{"PAR1", "a Parquet file"},
}

// openInput opens path, "-" being stdin, and decompresses gzip and zstd by
// their leading bytes, whatever the file is called.
func openInput(path string, stdin io.Reader) (*input, *Problem) {
	in := &input{name: path}
	var raw io.Reader
	if path == "-" {
		if stdin == nil {
			return nil, &Problem{File: path, Found: "no standard input", Want: "the name of a trace file"}
		}
		raw = stdin
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, fileProblem(path, err)
		}
		in.close = append(in.close, f.Close)
		raw = f
		info, err := f.Stat()
		switch {
		case err == nil && info.IsDir():
			in.Close()
			return nil, &Problem{File: path, Found: "a directory", Want: "a readable trace file"}
		case err == nil && info.Mode().IsRegular():
			in.size = info.Size()
		}
	}
	buf := bufio.NewReaderSize(raw, 16<<10)
	lead, err := buf.Peek(8)
	if err != nil && err != io.EOF {
		in.Close()
		return nil, fileProblem(path, err)
	}
	in.Reader = buf
	for _, m := range magics {
		if bytes.HasPrefix(lead, []byte(m.lead)) {
			if p := in.unpack(buf, m.name); p != nil {
				in.Close()
				return nil, p
			}
		}
	}
	return in, nil
}

func (in *input) unpack(r *bufio.Reader, name string) *Problem {
	in.size = 0
	switch name {
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return in.readProblem(0, err, name)
		}
		in.close = append(in.close, z.Close)
		in.Reader = z
	case "zstd":
		var h zstd.Header
		if lead, _ := r.Peek(zstd.HeaderMaxSize); h.Decode(lead) == nil && h.HasFCS {
			in.size = int64(min(h.FrameContentSize, 1<<40))
		}
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return in.readProblem(0, err, name)
		}
		in.close = append(in.close, func() error { z.Close(); return nil })
		in.Reader = z
	default:
		return &Problem{File: in.name, Found: name, Want: "JSON lines, plain or packed with gzip or zstd"}
	}
	in.packing = name
	return nil
}

// readProblem says why reading failed after the given number of whole lines.
func (in *input) readProblem(lines int, err error, packing string) *Problem {
	switch {
	case packing == "":
		return &Problem{File: in.name, Line: lines + 1, Found: err.Error(), Want: "a readable file"}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return &Problem{File: in.name, Line: lines + 1, Found: "the end of the " + packing + " data",
			Want: "more of it (the file is cut off; fetch it again)"}
	}
	return &Problem{File: in.name, Line: lines + 1, Found: "damaged " + packing + " data (" + err.Error() + ")",
		Want: "a whole file (fetch it again)"}
}

func fileProblem(path string, err error) *Problem {
	found := err.Error()
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		found = "no such file"
	case errors.As(err, &pe):
		found = pe.Err.Error()
	}
	return &Problem{File: path, Found: found, Want: "a readable trace file"}
}

// maxLine is the longest line that is read, in bytes; a prompt of a million
// tokens in blocks of one token stays below it.
const maxLine = 64 << 20

// lineReader splits an input into lines. A line is handed out with its final
// newline, which is added where the last line lacks it, and stays valid until
// the next call.
type lineReader struct {
	in    *input
	buf   []byte
	a, b  int // unread part of buf
	lines int // lines handed out
	read  int64
	eof   bool
}

func newLineReader(in *input) *lineReader {
	return &lineReader{in: in, buf: make([]byte, 64<<10)}
}

// next returns the next line, nil at the end.
func (r *lineReader) next() ([]byte, *Problem) {
	from := r.a // where the search for the newline goes on
	for {
		if i := bytes.IndexByte(r.buf[from:r.b], '\n'); i >= 0 {
			line := r.buf[r.a : from+i+1]
			r.a = from + i + 1
			r.lines++
			return line, nil
		}
		if r.eof {
			if r.a == r.b {
				return nil, nil
			}
			r.makeSpace(1)
			r.buf[r.b] = '\n'
			r.b++
			from = r.b - 1
			continue
		}
		from = r.b - r.a // relative to the line's start, which may move
		if from > maxLine {
			return nil, &Problem{File: r.in.name, Line: r.lines + 1,
				Found: fmt.Sprintf("a line of over %d MiB", maxLine>>20), Want: "one JSON object per line"}
		}
		if p := r.fill(); p != nil {
			return nil, p
		}
		from += r.a
	}
}

// makeSpace moves the unread part to the front, and doubles the buffer if it
// has no room for n more bytes then.
func (r *lineReader) makeSpace(n int) {
	if r.b+n <= len(r.buf) {
		return
	}
	to := r.buf
	if r.b-r.a+n > len(r.buf)/2 {
		to = make([]byte, 2*len(r.buf))
	}
	r.b = copy(to, r.buf[r.a:r.b])
	r.a, r.buf = 0, to
}

func (r *lineReader) fill() *Problem {
	r.makeSpace(1)
	for range 100 {
		n, err := r.in.Read(r.buf[r.b:])
		r.b += n
		r.read += int64(n)
		if err == io.EOF {
			r.eof = true
			return nil
		}
		if err != nil {
			return r.in.readProblem(r.lines, err, r.in.packing)
		}
		if n > 0 {
			return nil
		}
	}
	return r.in.readProblem(r.lines, io.ErrNoProgress, r.in.packing)
}
