package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/workloads"
)

// readingOf tells which points share a trace.
func readingOf(r *settings.Resolved) reading {
	run := &r.Run
	if load := run.Load(); load != nil {
		return reading{load: *load}
	}
	return reading{
		format: run.TraceFormat, onError: run.OnError, block: run.TraceBlockSize,
		// A size that is only the default gives way to what the trace says.
		explicit: r.OnCommandLine("trace-block-size") || run.TraceBlockSize != workloads.DefaultBlockSize,
		spread:   run.ArrivalSpread, closed: run.Concurrency > 0,
	}
}

// readTrace gives a run its trace, which is read once for all runs that read it
// in the same way.
func (p *sweepPlan) readTrace(ctx context.Context, run *replayed) error {
	how := readingOf(run.settings)
	if t := p.traces[how]; t != nil {
		run.trace = t.trace
		return nil
	}
	if len(p.traces) > 0 && slices.Contains(p.paths, "-") {
		return errors.New("found standard input as a TRACE, expected a file: the points read it in different ways")
	}
	if err := run.read(ctx, p.o.sys.stdin); err != nil {
		return err
	}
	digest := reports.TraceDigest(run.trace)
	p.traces[how] = &sweepTrace{run.trace, hex.EncodeToString(digest[:])}
	return nil
}

// programVersion is the version that results are marked with.
func programVersion() string { return version + mutant }

// sortedValues goes through a map by its sorted keys.
func sortedValues(m map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// setCommand notes the arguments that make the sweep again. They name no folder
// and no shard, so that all parts of a sweep agree, and hold what environment
// variables set.
func (p *sweepPlan) setCommand(saved *savedSweep) {
	if saved != nil {
		p.data.Command = saved.Command
		return
	}
	o := p.o
	args := append([]string{"routesim", "sweep"}, p.paths...)
	add := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	for _, name := range []string{"config", "from-dynamo", "dynamo-deployment", "extra-engine-args"} {
		if f := o.own.Lookup(name); f != nil {
			add(name, f.Value.String())
		}
	}
	for _, v := range p.base.settings.Environment {
		add(v.Setting, v.Value)
	}
	for _, g := range o.recorder.Given {
		add(g.Setting.Name, g.Text)
	}
	if o.noEnv || len(p.base.settings.Environment) > 0 {
		args = append(args, "--no-env")
	}
	for _, v := range o.vary {
		add("vary", v)
	}
	add("sample", o.sample)
	add("points", o.points)
	add("seeds", fmt.Sprint(o.seeds))
	add("objective", o.objective)
	if o.target > 0 {
		add("sla-target", fmt.Sprint(o.target))
	}
	p.data.Command = args
}

// shellLine writes arguments as one would type them.
func shellLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-", r)
		}) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
