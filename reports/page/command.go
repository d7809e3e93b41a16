package page

import (
	"strconv"
	"strings"

	"routesim/reports/verdict"
)

func shortAxis(name string) string { return verdict.Short(name) }

// sweepOnly are the flags of a sweep that a replay does not have.
var sweepOnly = [...]string{
	"vary", "sample", "points", "seeds", "objective", "sla-target", "from", "shard", "shard-count", "output", "o", "report", "smallest", "parallel", "j", "jobs",
	"resume", "no-resume", "no-confirm", "confirm", "quiet", "q", "json", "format", "no-report", "no-plots", "plots", "crd", "target", "slo", "seed",
}

// switches are those of them that take no value.
var switches = [...]string{"resume", "no-resume", "no-confirm", "confirm", "quiet", "q", "json", "no-report", "no-plots", "plots", "report"}

// replay is the command that runs the default point alone.
func (m *model) replay() []string {
	if m.x.Replay != nil {
		return m.x.Replay
	}
	out := []string{}
	for i := 0; i < len(m.s.Command); i++ {
		arg := m.s.Command[i]
		switch name, _, given := strings.Cut(arg, "="); {
		case i == 1 && arg == "sweep":
			out = append(out, "replay")
		case !strings.HasPrefix(arg, "-"):
			out = append(out, arg)
		case m.dropped(strings.TrimLeft(name, "-")):
			if !given && !contains(switches[:], strings.TrimLeft(name, "-")) {
				i++
			}
		default:
			out = append(out, arg)
		}
	}
	return out
}

// dropped tells whether a flag of the sweep has no place in the command of one
// point: it belongs to sweeps, or to a setting that was varied.
func (m *model) dropped(name string) bool {
	if contains(sweepOnly[:], name) {
		return true
	}
	for i := range m.axes {
		if m.axes[i].Name == name {
			return true
		}
	}
	return false
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// alone is the command that runs one point with the first seed.
func (m *model) alone(p int) string {
	args := append([]string(nil), m.replay()...)
	for a := range m.axes {
		if v := m.valueOf(p, a); v != "" {
			args = append(args, "--"+m.axes[a].Name+"="+v)
		}
	}
	if p == m.v.Reference && m.s.Points[p].Added {
		args = append(args, "--router-mode=round-robin")
	}
	return shell(append(args, "--seed="+strconv.FormatUint(m.firstSeed(), 10)))
}

// valueOf is a point's value on an axis as typed, "" for none.
func (m *model) valueOf(p, a int) string {
	if a < len(m.s.Points[p].Values) {
		return m.s.Points[p].Values[a]
	}
	return ""
}

// outside lists the values of points that are not among their axis' values.
func (m *model) outside() map[string]map[string]string {
	out := map[string]map[string]string{}
	for p := range m.vals {
		for a, at := range m.vals[p] {
			if v := m.valueOf(p, a); at < 0 && v != "" {
				key := strconv.Itoa(p)
				if out[key] == nil {
					out[key] = map[string]string{}
				}
				out[key][strconv.Itoa(a)] = v
			}
		}
	}
	return out
}

func (m *model) firstSeed() uint64 {
	if len(m.s.Seeds) > 0 {
		return m.s.Seeds[0]
	}
	return 0
}

// shell writes a command, settings on lines of their own.
func shell(args []string) string {
	var b strings.Builder
	for i, a := range args {
		switch {
		case i > 0 && strings.HasPrefix(a, "--"):
			b.WriteString(" \\\n  ")
		case i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(verdict.Quoted(a))
	}
	return b.String()
}

const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"
