package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// used is what one run of a command took.
type used struct {
	Seconds float64 // wall-clock time, start of the process to its end
	CPU     float64 // processor time in s, of user and system, all threads
	MB      float64 // peak resident memory, 10^6 bytes
}

// measure runs a command and returns what it used and printed.
func measure(env []string, name string, args ...string) (used, []byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	seconds := time.Since(start).Seconds()
	if err != nil {
		return used{}, nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return used{}, nil, errors.New("this system does not report the memory of a process")
	}
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return used{seconds, cpu, float64(u.Maxrss) * 1024 / 1e6}, out.Bytes(), nil
}

// median takes the median of each figure on its own.
func median(runs []used) used {
	pick := func(f func(used) float64) float64 {
		v := make([]float64, len(runs))
		for i, r := range runs {
			v[i] = f(r)
		}
		slices.Sort(v)
		return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
	}
	return used{
		pick(func(u used) float64 { return u.Seconds }),
		pick(func(u used) float64 { return u.CPU }),
		pick(func(u used) float64 { return u.MB }),
	}
}

// plainTrace unpacks the bundled conversation trace into dir, so that no
// program spends time on decompression.
func plainTrace(dir string) (string, error) {
	found, err := filepath.Glob("testdata/traces/mooncake_conversation.jsonl*")
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("testdata/traces: found %d conversation traces, expected one (run this from the module's root)", len(found))
	}
	in, err := os.Open(found[0])
	if err != nil {
		return "", err
	}
	defer in.Close()
	var r io.Reader = in
	switch filepath.Ext(found[0]) {
	case ".zst":
		z, err := zstd.NewReader(in)
		if err != nil {
			return "", err
		}
		defer z.Close()
		r = z
	case ".gz":
		if r, err = gzip.NewReader(in); err != nil {
			return "", err
		}
	}
	path := filepath.Join(dir, "conversation.jsonl")
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, r)
	return path, errors.Join(err, out.Close())
}

// describeMachine prints what the figures were measured on.
func describeMachine(w io.Writer) {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(text))[:1], "")
	}
	fmt.Fprintf(w, "%s, %d cores, %s/%s, %s, load average %s at the start\n\n",
		model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), load)
}
