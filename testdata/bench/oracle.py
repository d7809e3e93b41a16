"""Replays a Mooncake trace with Dynamo's own offline replay, without records per
request: oracle.py TRACE WORKERS MODE [CREDIT SCALE]. Prints one JSON object: the
wall-clock seconds of the replay call alone and two figures to recognise the run
by. CREDIT and SCALE are the router's overlap score credit and prefill load scale.

Needs an interpreter with ai-dynamo and ai-dynamo-runtime 1.6.1.
"""
import json
import sys
import time

from dynamo.replay import run_trace_replay

trace, workers, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
more = {}
if len(sys.argv) > 4:
    from dynamo.llm import KvRouterConfig

    more["router_config"] = KvRouterConfig(
        overlap_score_credit=float(sys.argv[4]), prefill_load_scale=float(sys.argv[5]))
start = time.perf_counter()
report = run_trace_replay(trace, num_workers=workers, router_mode=mode, trace_block_size=512, **more)
seconds = time.perf_counter() - start
summary = report if isinstance(report, dict) else report.summary
print(json.dumps({
    "replay_s": seconds,
    "completed_requests": summary["completed_requests"],
    "mean_ttft_ms": summary["mean_ttft_ms"],
}))
