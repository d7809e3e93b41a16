package sweepdata

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A run is saved as texts, one per column, so that a table and the footer of a
// run's own file hold the same.

// runColumns names the columns of a run.
func runColumns() []string {
	names := []string{}
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	names = append(names, "saturated")
	names = append(names, queueNames()...)
	for _, c := range Counters() {
		names = append(names, "n_"+c.Name)
	}
	names = append(names, "request_share_min", "request_share_max", "busy_share_min", "busy_share_max")
	return append(names, "worker_requests", "worker_tokens", "worker_busy_shares", "decision_digest", "time_digest")
}

// decimal writes a number so that it reads back to the same bits; one that is
// not finite is absent.
func decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// runCells writes a run by column.
func runCells(r *Run) []string {
	var cells []string
	for _, v := range r.Metrics {
		cells = append(cells, decimal(v))
	}
	cells = append(cells, strconv.FormatBool(r.Saturated))
	for _, v := range r.Queue.values() {
		cells = append(cells, decimal(v))
	}
	for _, v := range r.Counters {
		cells = append(cells, strconv.FormatInt(v, 10))
	}
	requests, busy := spread(r.Workers)
	cells = append(cells, decimal(requests[0]), decimal(requests[1]), decimal(busy[0]), decimal(busy[1]))
	var lists [3][]string
	for i := range r.Workers {
		w := &r.Workers[i]
		lists[0] = append(lists[0], strconv.FormatInt(w.Requests, 10))
		lists[1] = append(lists[1], strconv.FormatInt(w.Tokens, 10))
		lists[2] = append(lists[2], decimal(w.BusyShare))
	}
	for _, l := range lists {
		cells = append(cells, strings.Join(l, ";"))
	}
	return append(cells, r.DecisionDigest, r.TimeDigest)
}

// spread returns the least and the largest share of requests and of busy time
// of any worker, NaN where there is none.
func spread(workers []Worker) (requests, busy [2]float64) {
	nan := math.NaN()
	requests, busy = [2]float64{nan, nan}, [2]float64{nan, nan}
	total := int64(0)
	for i := range workers {
		total += workers[i].Requests
	}
	for i := range workers {
		if total > 0 {
			widen(&requests, float64(workers[i].Requests)/float64(total))
		}
		widen(&busy, workers[i].BusyShare)
	}
	return requests, busy
}

func widen(ends *[2]float64, v float64) {
	if math.IsNaN(v) {
		return
	}
	if math.IsNaN(ends[0]) {
		*ends = [2]float64{v, v}
	}
	ends[0], ends[1] = min(ends[0], v), max(ends[1], v)
}

// cellReader reads cells one after another and keeps the first problem.
type cellReader struct {
	names []string
	cells []string
	next  int
	err   error
}

// fail notes a problem of the cell just read.
func (c *cellReader) fail(want string) {
	if c.err == nil {
		c.err = &cellError{c.names[c.next-1], c.cells[c.next-1], want}
	}
}

// cellError is a problem of one field.
type cellError struct{ field, found, want string }

// Error describes the problem.
func (e *cellError) Error() string {
	found := e.found
	if len(found) > 80 {
		found = found[:80] + "..."
	}
	return fmt.Sprintf("%s: found %q, expected %s", e.field, found, e.want)
}

func (c *cellReader) text() string {
	c.next++
	return c.cells[c.next-1]
}

func (c *cellReader) decimal() float64 { return c.decimalOf(c.text()) }

func (c *cellReader) decimalOf(t string) float64 {
	if t == "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		c.fail("a finite number, or nothing")
	}
	return v
}

func (c *cellReader) integer(t string) int64 {
	v, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		c.fail("a whole number")
	}
	return v
}

func (c *cellReader) boolean() bool {
	t := c.text()
	if t != "true" && t != "false" {
		c.fail("true or false")
	}
	return t == "true"
}

func (c *cellReader) digest() string {
	t := c.text()
	if len(t) != 64 || strings.Trim(t, "0123456789abcdef") != "" {
		c.fail("64 hexadecimal digits")
	}
	return t
}

// list splits a list that has n elements, or any number for n < 0.
func (c *cellReader) list(n int) []string {
	t := c.text()
	parts := strings.Split(t, ";")
	if t == "" {
		parts = nil
	}
	if n >= 0 && len(parts) != n {
		c.fail(fmt.Sprintf("%d values separated by semicolons", n))
		return make([]string, n)
	}
	return parts
}

// parseRun reads the cells of runColumns.
func parseRun(seed uint64, cells []string) (Run, error) {
	c := &cellReader{names: runColumns(), cells: cells}
	r := Run{Seed: seed}
	if len(cells) != len(c.names) {
		return r, fmt.Errorf("found %d fields of a run, expected %d", len(cells), len(c.names))
	}
	for range Metrics() {
		r.Metrics = append(r.Metrics, c.decimal())
	}
	r.Saturated = c.boolean()
	figures := make([]float64, len(queueNames()))
	for i := range figures {
		figures[i] = c.decimal()
	}
	r.Queue.set(figures)
	for range Counters() {
		r.Counters = append(r.Counters, c.integer(c.text()))
	}
	for range 4 { // they follow from the lists
		c.decimal()
	}
	requests := c.list(-1)
	r.Workers = make([]Worker, len(requests))
	for i, t := range requests {
		r.Workers[i].Requests = c.integer(t)
	}
	for i, t := range c.list(len(requests)) {
		r.Workers[i].Tokens = c.integer(t)
	}
	for i, t := range c.list(len(requests)) {
		r.Workers[i].BusyShare = c.decimalOf(t)
	}
	r.DecisionDigest, r.TimeDigest = c.digest(), c.digest()
	return r, c.err
}
