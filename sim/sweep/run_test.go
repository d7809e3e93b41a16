package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestOutcomesComeInOrder: whatever the number of goroutines and the time each
// job takes, the sink sees the same.
func TestOutcomesComeInOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(r, "n")
		goroutines := rapid.IntRange(1, 8).Draw(r, "goroutines")
		lasts := rapid.SliceOfN(rapid.IntRange(0, 20), n, n).Draw(r, "durations")
		var seen []string
		synctest.Test(t, func(*testing.T) {
			Run(context.Background(), n, goroutines, func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Duration(lasts[i]) * time.Millisecond)
				switch {
				case i%7 == 3:
					return 0, fmt.Errorf("failed %d", i)
				case i%7 == 5:
					panic(i)
				}
				return i * i, nil
			}, func(i, v int, err error) { seen = append(seen, fmt.Sprint(i, v, err)) })
		})
		for i, got := range seen {
			want := fmt.Sprint(i, i*i, error(nil))
			switch {
			case i%7 == 3:
				want = fmt.Sprint(i, 0, fmt.Errorf("failed %d", i))
			case i%7 == 5:
				want = fmt.Sprint(i, 0, &Panic{i})
			}
			if got != want {
				t.Fatalf("outcome %d is %s, want %s", i, got, want)
			}
		}
		if len(seen) != n {
			t.Fatalf("%d outcomes, want %d", len(seen), n)
		}
	})
}

// TestJobsRunAtOnce: there are as many jobs under way as goroutines.
func TestJobsRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		Run(context.Background(), 12, 4, func(context.Context, int) (int, error) {
			time.Sleep(time.Second)
			return 0, nil
		}, func(int, int, error) {})
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("12 jobs of 1 s on 4 goroutines took %v, want 3 s", d)
		}
	})
}

// TestCancelledJobsAreNotDone: what ended before the interrupt is kept, what it
// cut short is not, and nothing begins after it.
func TestCancelledJobsAreNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var begun atomic.Int32
		var seen []int
		Run(ctx, 20, 3, func(ctx context.Context, i int) (int, error) {
			begun.Add(1)
			// The first job is slow, so that finished ones wait for it.
			d := time.Second
			if i == 0 {
				d = time.Hour
			}
			if i == 6 {
				cancel()
			}
			select {
			case <-time.After(d):
				return i, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}, func(i, _ int, err error) {
			if err != nil {
				t.Errorf("job %d: %v", i, err)
			}
			seen = append(seen, i)
		})
		if begun.Load() >= 20 || !slices.Equal(seen, []int{1, 2, 3, 4}) && !slices.Equal(seen, []int{1, 2, 3, 4, 5}) {
			t.Errorf("%d jobs began and %v were done", begun.Load(), seen)
		}
	})
}

// TestErrorsOfOthersAreFailures: a cancelled sweep does not swallow errors of
// other kinds.
func TestErrorsOfOthersAreFailures(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	failed := 0
	Run(ctx, 1, 1, func(context.Context, int) (int, error) {
		cancel()
		return 0, errors.New("no such file")
	}, func(_, _ int, err error) {
		if err != nil {
			failed++
		}
	})
	if failed != 1 {
		t.Errorf("%d failures, want 1", failed)
	}
}

func TestPanicsAreOneLine(t *testing.T) {
	Run(context.Background(), 1, 1, func(context.Context, int) (int, error) { panic("index out of range") }, func(_, _ int, err error) {
		var p *Panic
		if !errors.As(err, &p) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "index out of range") {
			t.Errorf("got %v", err)
		}
	})
}

// TestShardsPartition: every job belongs to exactly one shard, and shards differ
// by one job at most.
func TestShardsPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, count := rapid.IntRange(0, 300).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "count")
		sizes := make([]int, count)
		for job := range n {
			owners := 0
			for i := range count {
				if (Shard{i, count}).Has(job) {
					owners++
					sizes[i]++
				}
			}
			if owners != 1 {
				t.Fatalf("job %d has %d owners", job, owners)
			}
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Fatalf("sizes %v", sizes)
		}
	})
	if !(Shard{}).Has(5) {
		t.Error("the zero shard lacks a job")
	}
}
