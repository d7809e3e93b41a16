package columnar

import (
	"math"

	"routesim/reports"
	"routesim/sim"
)

// Worker is a row of the table of workers.
type Worker struct {
	index   int
	group   int
	pool    int32   // blocks
	end     float64 // ms, clock when the run stopped
	waiting float64 // share of the run
	w       *sim.Worker
}

// over returns v/whole, absent when there is no whole.
func over(v, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return v / whole
}

// Workers lists the columns of the table of workers: a row per worker, by
// number.
func Workers() []Column[Worker] {
	return []Column[Worker]{
		counts("worker", "", "Number of the worker, from 0.", func(r *Worker) int64 { return int64(r.index) }),
		counts("group", "", "Number of its group of equal workers, from 0.", func(r *Worker) int64 { return int64(r.group) }),
		counts("requests", "", "Requests sent to the worker.", func(r *Worker) int64 { return r.w.Requests }),
		counts("input_tokens", "tokens", "Prompt tokens of those requests.", func(r *Worker) int64 { return r.w.InputTokens }),
		counts("output_tokens", "tokens", "Tokens generated, for requests too that were cancelled after.", func(r *Worker) int64 { return r.w.OutputTokens }),
		counts("prefill_tokens", "tokens", "Prompt tokens computed, recomputation after preemption and passes still under way at a stop included.", func(r *Worker) int64 { return r.w.PrefillTokens }),
		decimals("busy_ms", "ms", "Time spent in engine steps.", func(r *Worker) float64 { return r.w.BusyMS }),
		decimals("busy_share", "1", "Busy time over the run's duration.", func(r *Worker) float64 { return over(r.w.BusyMS, r.end) }),
		decimals("waiting_share", "1", "Share of the run in which a request sent here had not been scheduled yet.", func(r *Worker) float64 { return r.waiting }),
		counts("passes", "", "Engine steps.", func(r *Worker) int64 { return r.w.Passes }),
		counts("kv_pool_blocks", "blocks", "Size of the KV block pool.", func(r *Worker) int64 { return int64(r.pool) }),
		counts("peak_kv_blocks", "blocks", "Most active KV blocks during a step.", func(r *Worker) int64 { return int64(r.w.PeakBlocks) }),
		decimals("mean_kv_blocks", "blocks", "Active KV blocks, averaged over the run's duration.", func(r *Worker) float64 { return r.w.MeanBlocks }),
		decimals("peak_kv_usage", "1", "Peak over the size of the pool.", func(r *Worker) float64 { return over(float64(r.w.PeakBlocks), float64(r.pool)) }),
		decimals("mean_kv_usage", "1", "Mean over the size of the pool.", func(r *Worker) float64 { return over(r.w.MeanBlocks, float64(r.pool)) }),
		counts("peak_running", "", "Most requests running at once.", func(r *Worker) int64 { return int64(r.w.PeakRunning) }),
		counts("peak_waiting", "", "Most requests waiting at once.", func(r *Worker) int64 { return int64(r.w.PeakWaiting) }),
		counts("evicted_blocks", "blocks", "Cached blocks dropped to make room.", func(r *Worker) int64 { return r.w.Evictions }),
		counts("preemptions", "", "Running requests put back for lack of blocks.", func(r *Worker) int64 { return r.w.Preemptions }),
		counts("host_loaded_blocks", "blocks", "KV blocks brought back from the host tier.", func(r *Worker) int64 { return r.w.Host.LoadedBlocks }),
		counts("host_stored_blocks", "blocks", "KV blocks copied to the host tier.", func(r *Worker) int64 { return r.w.Host.StoredBlocks }),
		counts("host_transfers", "", "Transfers between device and host tier, both ways.", func(r *Worker) int64 { return r.w.Host.Loads + r.w.Host.Stores }),
		decimals("host_bytes", "bytes", "What they moved.", func(r *Worker) float64 { return r.w.Host.Bytes }),
		counts("host_evicted_blocks", "blocks", "KV blocks dropped from the host tier.", func(r *Worker) int64 { return r.w.Host.Evictions }),
		decimals("host_wait_ms", "ms", "Time that engine steps waited for copies to the host tier.", func(r *Worker) float64 { return r.w.Host.WaitMS }),
		counts("disk_read_blocks", "blocks", "KV blocks read from the disk tier to the host tier.", func(r *Worker) int64 { return r.w.Disk.ReadBlocks }),
		counts("disk_foreign_blocks", "blocks", "Those among them that another worker had written.", func(r *Worker) int64 { return r.w.Disk.ForeignBlocks }),
		counts("disk_written_blocks", "blocks", "KV blocks written to the disk tier.", func(r *Worker) int64 { return r.w.Disk.WrittenBlocks }),
		counts("disk_transfers", "", "Transfers between host and disk tier, both ways.", func(r *Worker) int64 { return r.w.Disk.Read.Ended + r.w.Disk.Write.Ended }),
		counts("disk_evicted_blocks", "blocks", "KV blocks dropped from the disk tier to make room for this worker's.", func(r *Worker) int64 { return r.w.Disk.Evictions }),
		counts("passes_out_of_range", "", "Engine steps outside the range of the timing model.", func(r *Worker) int64 { return r.w.OutOfRange }),
	}
}

// workerAt returns the rows of the table of workers.
func workerAt(c *sim.Config, r *sim.Result) func(i int) Worker {
	waiting := reports.WaitingShares(r)
	groups := make([]int, 0, len(r.Workers))
	for g := range c.Fleet {
		for range c.Fleet[g].Count * c.Fleet[g].Ranks() {
			groups = append(groups, g)
		}
	}
	return func(i int) Worker {
		g := groups[i]
		return Worker{index: i, group: g, pool: c.Fleet[g].Engine.NumGPUBlocks, end: r.EndMS, waiting: waiting[i], w: &r.Workers[i]}
	}
}
