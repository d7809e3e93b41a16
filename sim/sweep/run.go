package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Panic is the error of a run that panicked.
type Panic struct{ Value any }

// Error describes it on one line.
func (p *Panic) Error() string {
	return fmt.Sprintf("the simulator failed: %v (a fault of the program; please report it with the point's settings)", p.Value)
}

// Run does the jobs 0..n-1 on some goroutines and hands their outcomes to sink
// in the order of the jobs, one at a time. A job that fails or panics has an
// error as its outcome and stops no other. Once the context is cancelled no
// further job begins, and a job that returns the context's error counts as not
// done; sink never sees it. What sink sees depends on neither the number of
// goroutines nor the order in which jobs end.
func Run[T any](ctx context.Context, n, goroutines int, do func(ctx context.Context, job int) (T, error), sink func(job int, value T, err error)) {
	type outcome struct {
		value   T
		err     error
		done    bool
		skipped bool // because of the cancelled context
	}
	var mu sync.Mutex
	slots, next := make([]outcome, n), 0
	var clear outcome
	deliver := func(gaps bool) {
		for ; next < n && (slots[next].done || gaps); next++ {
			if o := &slots[next]; o.done && !o.skipped {
				sink(next, o.value, o.err)
				*o = clear // what a job held may go
			}
		}
	}
	var taken atomic.Int64
	var group sync.WaitGroup
	for range max(1, min(goroutines, n)) {
		group.Go(func() {
			for ctx.Err() == nil {
				job := int(taken.Add(1)) - 1
				if job >= n {
					return
				}
				value, err := guarded(ctx, job, do)
				mu.Lock()
				slots[job] = outcome{value, err, true, err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err())}
				deliver(false)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	deliver(true)
}

// guarded turns a panic into an error.
func guarded[T any](ctx context.Context, job int, do func(context.Context, int) (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{p}
		}
	}()
	return do(ctx, job)
}

// Shard is one of several equal parts of a list of jobs.
type Shard struct{ Index, Count int }

// Has reports whether the job belongs to the shard: every Count-th one does.
func (s Shard) Has(job int) bool { return s.Count <= 1 || job%s.Count == s.Index }
