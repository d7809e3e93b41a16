package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

// Series is what the workers of one run of a point were doing.
type Series struct {
	Point   int
	Seed    uint64
	Workers *sweepdata.WorkerSeries
}

// gauge is one of the figures that are shown of a worker over time.
type gauge struct {
	title string
	share bool // else counts
	of    func(*sweepdata.Strip, int) float64
}

func gauges() []gauge {
	return []gauge{
		{"KV memory in use", true, func(s *sweepdata.Strip, i int) float64 { return float64(s.KV[i]) }},
		{"requests running", false, func(s *sweepdata.Strip, i int) float64 { return float64(s.Running[i]) }},
		{"requests waiting in the engine", false, func(s *sweepdata.Strip, i int) float64 { return float64(s.Waiting[i]) }},
	}
}

const (
	mostStrips  = 32  // workers with a strip; above that some are picked
	stripCells  = 100 // cells of a strip
	stripLevels = 7
)

// strips is a run's workers, reduced to the cells that are drawn.
type strips struct {
	Point   int
	Name    string
	Seed    uint64
	Width   float64       // of a cell in ms
	Shown   []string      // names of workers
	Of      int           // workers in all
	Cells   [3][][]uint16 // by gauge, worker shown and cell: % or a count
	Highest [3]uint16
}

// reduceStrips merges buckets to cells: means of shares, the most of counts, so
// that a peak stays visible.
func (m *model) reduceStrips(s *Series) *strips {
	if s.Workers == nil || len(s.Workers.Workers) == 0 || !(s.Workers.Width > 0) {
		return nil
	}
	buckets := len(s.Workers.Workers[0].KV)
	per := max(1, (buckets+stripCells-1)/stripCells)
	out := &strips{Point: s.Point, Name: m.name(s.Point), Seed: s.Seed, Width: s.Workers.Width * float64(per), Of: len(s.Workers.Workers)}
	picked := m.pickWorkers(s.Workers.Workers)
	for _, w := range picked {
		out.Shown = append(out.Shown, s.Workers.Label(w))
	}
	for g, k := range gauges() {
		for _, w := range picked {
			strip := &s.Workers.Workers[w]
			row := make([]uint16, 0, stripCells)
			for b := 0; b < buckets; b += per {
				sum, most, n := 0.0, 0.0, 0.0
				for i := b; i < min(b+per, buckets); i++ {
					v := k.of(strip, i)
					sum, most, n = sum+v, math.Max(most, v), n+1
				}
				v := most
				if k.share {
					v = math.Round(100 * sum / n)
				}
				u := uint16(math.Min(math.Max(v, 0), math.MaxUint16))
				row = append(row, u)
				out.Highest[g] = max(out.Highest[g], u)
			}
			out.Cells[g] = append(out.Cells[g], row)
		}
	}
	return out
}

// pickWorkers lists all workers, or of many the 8 busiest, the 8 idlest and the
// median by running requests.
func (m *model) pickWorkers(list []sweepdata.Strip) []int {
	all := make([]int, len(list))
	load := make([]int64, len(list))
	for w := range list {
		all[w] = w
		for _, n := range list[w].Running {
			load[w] += int64(n)
		}
	}
	if len(list) <= mostStrips {
		return all
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(load[b], load[a]) })
	picked := append(append(slices.Clone(all[:8]), all[len(all)/2]), all[len(all)-8:]...)
	slices.Sort(picked)
	return picked
}

// workerPlot draws a run's strips, one path per colour. highest are the ends of
// the scales, shared by all runs.
func workerPlot(s *strips, n int, highest [3]uint16) *canvas {
	const left, row, head = 46.0, 13.0, 24.0
	rows := float64(len(s.Shown))
	c := newCanvas("workers"+strconv.Itoa(n), 553, float64(3*(head+float64(rows*row)))+46)
	x0, x1 := left, c.w-8
	cells := len(s.Cells[0][0])
	cw := (x1 - x0) / float64(cells)
	top := 0.0
	for g, k := range gauges() {
		c.text("st", "start", x0, top+16, 0, gaugeTitle(&k, highest[g]))
		top += head
		c.strip(s, g, x0, top, cw, row, highest[g])
		top += float64(rows * row)
	}
	end := s.Width * float64(cells)
	unit, per := timeUnit(end)
	x := scale{lo: 0, hi: end / per, a: x0, b: x1}
	c.xAxis(box{x0, x1, 0, top + 3}, x.ticks(6), x.at, "time since the start of the run ("+unit+")")
	c.name = "Workers over time, " + s.Name + ": KV memory in use, requests running and requests waiting, a strip per worker."
	return c
}

func gaugeTitle(k *gauge, highest uint16) string {
	if k.share {
		return k.title + ", 0 to 100" + hard + "%"
	}
	return k.title + ", 0 to " + number(float64(highest), count)
}

// strip draws the strips of one gauge. Labels are thinned to what has room.
func (c *canvas) strip(s *strips, g int, x0, top, cw, row float64, highest uint16) {
	if g == 0 || highest == 0 {
		highest = max(map[bool]uint16{true: 100}[g == 0], 1)
	}
	var paths [stripLevels]strings.Builder
	every := 1
	if len(s.Shown) > 1 {
		every = 2
	}
	for i, cells := range s.Cells[g] {
		y := top + float64(float64(i)*row)
		if i%every == 0 {
			c.text("tk", "end", x0-6, y+10, 0, s.Shown[i])
		}
		for b := 0; b < len(cells); {
			q, e := quantise(cells[b], highest), b+1
			for e < len(cells) && quantise(cells[e], highest) == q {
				e++
			}
			fmt.Fprintf(&paths[q], "M%s %sh%s", px(x0+float64(float64(b)*cw)), px(y+row/2-0.5), px(float64(e-b)*cw))
			b = e
		}
	}
	c.open("strip", "data-g", g, "data-x", x0, "data-y", top, "data-c", cw)
	for q := range paths {
		if paths[q].Len() > 0 {
			c.draw("path", "q"+strconv.Itoa(q), "d", paths[q].String())
		}
	}
	c.close()
}

// quantise is the level of a value: 0 for none, then six equal steps.
func quantise(v, highest uint16) int {
	if v == 0 {
		return 0
	}
	return min(1+int(v)*6/(int(highest)+1), stripLevels-1)
}

// timeUnit picks the unit of an axis of time from its end in ms.
func timeUnit(end float64) (string, float64) {
	switch {
	case end >= 3*3600e3:
		return "h", 3600e3
	case end >= 180e3:
		return "min", 60e3
	}
	return "s", 1e3
}

// busiest says which worker had most to do, and how long requests waited there.
func busiest(s *strips) string {
	most, worker, cells, high := 0, "", 0, uint16(0)
	for i, row := range s.Cells[2] {
		n := 0
		for _, v := range row {
			if v > 0 {
				n++
			}
			high = max(high, v)
		}
		if n > most {
			most, worker, cells = n, s.Shown[i], len(row)
		}
	}
	if most == 0 {
		return "no requests waited in an engine"
	}
	return fmt.Sprintf("%s had requests waiting for %s %% of the time, more than any other worker; at most %s waited at one worker", worker,
		pretty(format.Fixed(100*float64(most)/float64(cells), 0)), pretty(format.Count(int64(high))))
}
