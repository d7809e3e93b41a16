package parity

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"routesim/sim/synthetic"
	"routesim/workloads"
)

// traceSource says where a recording's trace is: in the recording, or in a
// file of which some lines were replayed.
type traceSource struct {
	rows   []any           // in the recording
	name   string          // of the file, as recorded
	offset int32           // lines left out at its start
	limit  int32           // lines used, 0 for all that follow
	load   *synthetic.Load // in place of all this
}

// packings are the extensions under which a trace may lie compressed.
var packings = [...]string{".gz", ".zst"}

// open reads the trace; dirs are searched in order.
func (s traceSource) open(set settings, dirs []string) (*workloads.Trace, error) {
	if s.load != nil {
		s.load.BlockSize, s.load.ClosedLoop = set.config.Fleet[0].Engine.BlockSize, set.config.Concurrency > 0
		return s.load.Trace()
	}
	lines, where, err := s.lines(dirs)
	if err != nil {
		return nil, err
	}
	if set.traceFormat == formatApplied {
		return openApplied(lines, set)
	}
	t, err := workloads.Open("-", workloads.Options{
		Format:         set.traceFormat,
		TraceBlockSize: set.traceBlockSize,
		ClosedLoop:     set.config.Concurrency > 0,
		Stdin:          bytes.NewReader(lines),
	})
	// The reader saw a part of the file as its standard input.
	var p *workloads.Problem
	if errors.As(err, &p) {
		p.File = where
		if p.Line > 0 {
			p.Line += int(s.offset)
		}
	}
	return t, err
}

// openApplied reads rows of sessions of an agent and its tools.
func openApplied(lines []byte, set settings) (*workloads.Trace, error) {
	var sessions []workloads.AppliedCompute
	for d := json.NewDecoder(bytes.NewReader(lines)); ; {
		var s workloads.AppliedCompute
		if err := d.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("trace: row %d: %w", len(sessions)+1, err)
		}
		sessions = append(sessions, s)
	}
	return workloads.FromApplied(sessions, set.traceBlockSize, set.sharedPrefix, set.prefixGroups)
}

// lines returns the rows that were replayed and where they came from.
func (s traceSource) lines(dirs []string) ([]byte, string, error) {
	if s.rows != nil {
		var b bytes.Buffer
		for _, row := range s.rows {
			text, err := json.Marshal(row)
			if err != nil {
				return nil, "", fmt.Errorf("trace: %w", err)
			}
			b.Write(text)
			b.WriteByte('\n')
		}
		return b.Bytes(), "trace", nil
	}
	path, err := s.find(dirs)
	if err != nil {
		return nil, "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	text, err := s.cut(f)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return text, path, nil
}

// find looks for the file under its recorded name, packed or unpacked.
func (s traceSource) find(dirs []string) (string, error) {
	names := []string{s.name}
	for _, ext := range packings {
		names = append(names, s.name+ext)
		if plain, packed := strings.CutSuffix(s.name, ext); packed {
			names = append(names, plain)
		}
	}
	for _, dir := range dirs {
		for _, name := range names {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("trace: found no %s, plain or compressed, expected it in one of %s (name its folder with --trace-dir)",
		s.name, strings.Join(dirs, ", "))
}

// cut unpacks a file and keeps the lines that were replayed.
func (s traceSource) cut(file io.Reader) ([]byte, error) {
	in, err := unpack(bufio.NewReader(file))
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(in)
	var b bytes.Buffer
	for n := int32(0); s.limit == 0 || n < s.offset+s.limit; n++ {
		line, err := r.ReadBytes('\n')
		if n >= s.offset {
			b.Write(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// unpack recognises compressed contents by their first bytes.
func unpack(r *bufio.Reader) (io.Reader, error) {
	magic, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(r)
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return r, nil
}
