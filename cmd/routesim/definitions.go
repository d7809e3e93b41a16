package main

import "github.com/spf13/cobra"

const definitions = `Definitions of what routesim reports. Times are virtual unless said otherwise.

Latency, in ms, over completed requests
  TTFT   time to first token: arrival at the router to the first token, waiting
         in the router and in the engine included, and with a GPU profile the
         time of the front end.
  TTST   from the first token to the second.
  ITL    inter-token latency: one value per gap between two tokens of a request.
         Percentiles come from a logarithmic sketch with 0.1 % relative error.
  TPOT   time per output token: (last token - first token) / (tokens - 1), one
         value per request.
  E2E    arrival to the last token, with the time of the front end as in TTFT.
  Percentiles of TTFT, TTST, TPOT and E2E are values that occurred, without
  interpolation; standard deviations are of the population.

What became of requests
  completed   got all of its tokens.
  rejected    turned away by the router, or by an engine that can never hold it.
  lost        had been taken by a worker that crashed.
  cancelled   its client left before the end.
  unfinished  still under way when the run stopped.
  preemptions count how often running requests were put back for lack of blocks.

Throughput and goodput
  Rates divide by the time at which the last completed request ended. Goodput
  counts requests within every bound of the SLA, bounds included.

Cache
  Overlaps are complete KV blocks of a prompt's beginning; the block that holds
  the prompt's last token is always computed anew.
  ceiling    what one endless cache would have held, in order of arrival.
  best       the most that any worker's engine held when the request was routed.
  chosen     what the chosen worker's engine held at that moment.
  delivered  what was reused when the request was first admitted.
  All four are shares of the input tokens of completed requests. Ceiling - best
  is lost to capacity and to the split over workers, best - chosen to the
  router's choice, chosen - delivered to eviction while waiting (negative where
  others stored the prefix in the meantime).
  regret       best - chosen, in blocks.
  cost regret  cost of the chosen worker - least cost of any worker.

Balance
  imbalance    busy time of the busiest worker over the mean.
  CV           coefficient of variation of tokens per worker.
  The bars beside "load" are shares of the fleet's busy time.
  ties         share of decisions in which several workers had the least cost.

Models
  A GPU profile says how long a step of its workers takes and how many KV tokens
  they hold. Its grade (A to C) tells how well that is founded; its error is the
  median against measured operators (fit) and, where known, against servers:
  runs that it was not calibrated with, or a cross-validation over all of them. routesim profile show NAME tells more.
  out of range  share of the steps that left the range the profile was fitted on.
  typical error of routesim validate: exp(mean of |ln(simulated / recorded)|) - 1,
                averaged over TTFT and ITL before exp.

Digests
  decision     SHA-256 over request number, worker, rank and overlap of every
               decision in routing order: equal digests, equal decisions.
  time         SHA-256 over the times of all tokens.
  trace        SHA-256 over the trace's columns, whatever its packing.
`

// newDefinitions returns a help topic.
func newDefinitions() *cobra.Command {
	return &cobra.Command{
		Use:   "definitions",
		Short: "What the reported figures mean",
		Long:  definitions,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write([]byte(definitions))
			return err
		},
	}
}
