package workloads

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
)

// OnError says what becomes of a row that cannot be used.
type OnError uint8

const (
	FailRow OnError = iota // reading ends with the row's problem
	SkipRow                // the row is left out and its problem listed
)

// Options say how Open reads a trace. The zero value finds out the format and
// fails on the first bad row.
type Options struct {
	Format         string    // a format's name, "" = propose one by the first row
	TraceBlockSize int32     // tokens per hash id; 0 = 512 in Mooncake traces, what the rows say in Dynamo traces
	OnError        OnError   // what becomes of a bad row
	ClosedLoop     bool      // timestamps may be missing
	Stdin          io.Reader // what the path "-" reads
	MaxRows        int       // lines to read of all files together, blank ones not counted; 0 = all
}

// Open reads the trace in the file at path. Its errors are *Problem.
func Open(path string, o Options) (*Trace, error) { return OpenAll([]string{path}, o) }

// OpenAll reads one trace from several files: the shards of a Dynamo request
// trace, in any order. The other formats lie in one file.
func OpenAll(paths []string, o Options) (*Trace, error) {
	t, p := openAll(paths, o)
	if p != nil {
		return nil, p
	}
	return t, nil
}

func openAll(paths []string, o Options) (*Trace, *Problem) {
	if len(paths) == 0 {
		return nil, &Problem{File: "trace", Found: "no file", Want: "the name of a trace file, or - for standard input"}
	}
	if o.TraceBlockSize < 0 {
		return nil, &Problem{File: paths[0], Field: "trace block size", Found: strconv.Itoa(int(o.TraceBlockSize)),
			Want: "1 token or more"}
	}
	format, p := formatName(paths[0], o.Format)
	if p != nil {
		return nil, p
	}
	r := &reader{o: o, format: format, paths: paths}
	for i := range paths {
		if p := r.file(i); p != nil {
			return nil, p
		}
	}
	return r.finish()
}

// formatName maps the accepted spellings to a format's name.
func formatName(path, name string) (string, *Problem) {
	switch name {
	case "", FormatMooncake, FormatDelta, FormatDynamo:
		return name, nil
	case "mooncake_delta":
		return FormatDelta, nil
	}
	if kind := refusedFormat(name); kind != "" {
		return "", refusal(path, 0, kind)
	}
	return "", &Problem{File: path, Field: "trace format", Found: strconv.Quote(name), Want: supported}
}

// reader reads the files of one trace.
type reader struct {
	o      Options
	format string // "" until the first row told
	paths  []string
	rows   int // lines handed out
	b      *Builder
	dyn    *dynamoReader
	skips  []Problem
}

// file reads file i.
func (r *reader) file(i int) *Problem {
	for _, other := range r.paths[:i] {
		if other == r.paths[i] {
			return &Problem{File: other, Found: "the same file twice", Want: "each file of a trace once"}
		}
	}
	in, p := openInput(r.paths[i], r.o.Stdin)
	if p != nil {
		return p
	}
	defer in.Close()
	src := &source{r: r, lines: newLineReader(in), name: in.name}
	first, p := src.next()
	if p != nil || first == nil {
		return p // a shard without rows is left to finish
	}
	if p := r.settle(src, first); p != nil {
		return p
	}
	src.again = first
	if r.format == FormatDynamo {
		return r.dyn.read(src, int32(i))
	}
	return readMooncake(src, r.b)
}

// settle fixes the format on the first row of a file.
func (r *reader) settle(src *source, first []byte) *Problem {
	found, p := sniff(src.name, src.line(), first)
	if p != nil {
		return p
	}
	if r.format == "" {
		if found == "" {
			return &Problem{File: src.name, Line: src.line(), Field: "trace format", Found: "a row of an unknown format",
				Want: supported + " (name the format to see what the row lacks)"}
		}
		r.format = found
	}
	if found != "" && (found == FormatDynamo) != (r.format == FormatDynamo) {
		return &Problem{File: src.name, Line: src.line(), Field: "trace format", Found: "a " + found + " row",
			Want: "rows of the format " + r.format}
	}
	if r.format == FormatDynamo {
		if r.dyn == nil {
			r.dyn = newDynamoReader(r.o, r.paths)
		}
		return nil
	}
	if len(r.paths) > 1 {
		return &Problem{File: r.paths[1], Found: "a second file", Want: "one file (only Dynamo request traces come in several)"}
	}
	r.b = NewBuilder(BuilderOptions{Format: r.format, File: src.name, BlockSize: r.o.TraceBlockSize,
		Delta: r.format == FormatDelta, ClosedLoop: r.o.ClosedLoop})
	return nil
}

func (r *reader) finish() (*Trace, *Problem) {
	b := r.b
	if r.dyn != nil {
		b = r.dyn.merge()
	}
	if b == nil || b.t.Len() == 0 {
		p := &Problem{File: r.paths[0], Found: "no requests", Want: "at least one row (is the file whole?)"}
		if n := len(r.skips); n > 0 {
			p.Found = fmt.Sprintf("no usable requests in %d rows", n)
			p.Want = "at least one; the first problem: " + r.skips[0].Error()
		}
		return nil, p
	}
	t := b.finish()
	t.skipped = r.skips
	return t, nil
}

// source hands out the rows of one file.
type source struct {
	r     *reader
	lines *lineReader
	name  string
	again []byte // a line to hand out once more
}

// next returns the next line that is not blank, nil at the end.
func (s *source) next() ([]byte, *Problem) {
	if line := s.again; line != nil {
		s.again = nil
		return line, nil
	}
	if s.r.o.MaxRows > 0 && s.r.rows == s.r.o.MaxRows {
		return nil, nil
	}
	s.r.rows++
	for {
		line, p := s.lines.next()
		if line == nil || p != nil {
			return nil, p
		}
		if s.lines.lines >= math.MaxInt32 {
			return nil, &Problem{File: s.name, Line: s.lines.lines, Found: "too many lines", Want: "fewer than 2147483647"}
		}
		if line[0] == '{' || len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

// line returns the 1-based number of the line handed out last.
func (s *source) line() int { return s.lines.lines }

// share returns the share of the input that was handed out, 0 if unknown.
func (s *source) share() float64 {
	l := s.lines
	if l.in.size <= 0 {
		return 0
	}
	return float64(l.read-int64(l.b-l.a)) / float64(l.in.size)
}

// judge completes the problem of the line handed out last and decides what
// becomes of it: nil if reading goes on.
func (s *source) judge(p *Problem) *Problem {
	if p == nil {
		return nil
	}
	p.File, p.Line = s.name, s.line()
	if s.r.o.OnError == SkipRow && !p.fatal {
		s.r.skips = append(s.r.skips, *p)
		return nil
	}
	return p
}
