package reports

import (
	"encoding/json"
	"testing"

	"routesim/sim"
	"routesim/sim/router"
)

// TestLosses: what was lost stands in the summary, and nothing where nothing was.
func TestLosses(t *testing.T) {
	r := &sim.Result{Requests: make([]sim.Request, 5)}
	if cancellations(r) != nil || crashes(r) != nil {
		t.Error("losses without any")
	}
	r.Cancelled.ByPhase[sim.InDecode], r.Cancelled.ByPhase[sim.InRouter] = 2, 1
	r.Cancelled.Waste = sim.Waste{PromptTokens: 100, OutputTokens: 7, Blocks: 9}
	r.Requests[3].Refusal = router.WorkerLost
	r.Crashed.Blocks = 40
	for _, c := range []struct {
		got  *Losses
		want string
	}{
		{cancellations(r), `{"requests":3,"computed_prompt_tokens":100,"generated_tokens":7,"kv_blocks":9,"by_phase":{"in decode":2,"in the router's queue":1}}`},
		{crashes(r), `{"requests":1,"computed_prompt_tokens":0,"generated_tokens":0,"kv_blocks":40}`},
	} {
		if text, err := json.Marshal(c.got); err != nil || string(text) != c.want {
			t.Errorf("%s, %v; expected %s", text, err, c.want)
		}
	}
}
