package workloads

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func spreadOf(t rapid.TB, times ...float64) ([]float64, float64) {
	rows := make([]Row, len(times))
	for i := range times {
		rows[i] = Row{Timestamp: times[i], InputLength: 1, OutputLength: 1, HashIDs: []uint64{1}}
	}
	trace, err := FromRows(BuilderOptions{BlockSize: 4}, rows...)
	if err != nil {
		t.Fatal(err)
	}
	spread, step := SpreadArrivals(trace)
	got := make([]float64, len(times))
	for i := range got {
		got[i] = spread.Arrival(i)
		if trace.Arrival(i) != times[i] {
			t.Fatal("the original has changed")
		}
	}
	return got, step
}

func TestSpreadArrivals(t *testing.T) {
	for _, c := range []struct {
		name        string
		times, want []float64
		step        float64
	}{
		{"bursts", []float64{0, 0, 0, 3000, 3000, 6000}, []float64{0, 1000, 2000, 3000, 4500, 6000}, 3000},
		{"unsorted", []float64{3000, 0, 3000, 0}, []float64{3000, 0, 4500, 1500}, 3000},
		{"before a pause", []float64{0, 10, 10, 1000, 1010}, []float64{0, 10, 15, 1000, 1010}, 10},
		{"distinct", []float64{0, 1, 5}, []float64{0, 1, 5}, 4},
		{"one timestamp", []float64{7, 7}, []float64{7, 7}, 0},
		{"the last burst", []float64{0, 8, 8}, []float64{0, 8, 12}, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, step := spreadOf(t, c.times...)
			if !slices.Equal(got, c.want) || step != c.step {
				t.Errorf("got %v and a step of %v, want %v and %v", got, step, c.want, c.step)
			}
		})
	}
}

// TestSpreadKeepsOrder: order of arrival is kept, no request moves to or past
// the next timestamp, and none moves back.
func TestSpreadKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		times := make([]float64, n)
		for i := range times {
			times[i] = float64(rapid.IntRange(0, 5).Draw(t, "step")) * 700
		}
		got, _ := spreadOf(t, times...)
		for i := range times {
			if got[i] < times[i] {
				t.Errorf("row %d moved from %v to %v", i, times[i], got[i])
			}
			for j := range times {
				if times[i] < times[j] && got[i] >= times[j] {
					t.Errorf("row %d moved from %v to %v, past %v", i, times[i], got[i], times[j])
				}
			}
		}
	})
}
