package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"routesim/sim"
	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/workloads"
)

// Disaggregated reports whether prefill and decode have workers of their own.
func (r *Run) Disaggregated() bool { return len(r.PrefillWorkers) > 0 }

// Fleet works out the groups of workers that generate, in the order of worker
// ids: all workers, or those of the decode pool.
func (r *Run) Fleet() ([]Modelled, error) {
	if r.Disaggregated() {
		return r.pool("decode-workers", r.DecodeWorkers, r.decodeArgs)
	}
	return r.pool("workers", r.Workers, nil)
}

// PrefillFleet works out the groups of prefill workers, none where every worker
// does both.
func (r *Run) PrefillFleet() ([]Modelled, error) {
	fleet, err := r.pool("prefill-workers", r.PrefillWorkers, r.prefillArgs)
	for i := range fleet {
		if err := r.near(&fleet[i]); err != nil {
			return nil, fmt.Errorf("%w in group %d of prefill-workers", err, i+1)
		}
	}
	return fleet, err
}

// pool works out the groups of one pool under the settings of its engine
// dictionary.
func (r *Run) pool(name string, groups []WorkerGroup, args []Given) ([]Modelled, error) {
	var fleet []Modelled
	for i := range groups {
		own := r.under(args).with(&groups[i])
		g := Modelled{Group: sim.Group{
			Count: groups[i].Count, Engine: own.Engine,
			CPU: own.CPU, Taints: taintList(own.Taints), Silent: !own.WorkerKVEvents, EventDelayMS: own.EventDelayMS,
			Transfer: own.transfer(),
		}}
		var err error
		if g.Engine.Draft.Accept, err = engine.ParseAcceptRates(own.AcceptRates); err != nil {
			return nil, fmt.Errorf("aic-nextn-accept-rates: %w", err)
		}
		if own.Profile != "" {
			err = g.fromProfile(own)
		} else {
			err = g.fromTiming(own)
		}
		if err != nil && (len(groups) > 1 || groups[0].Profile != "" || r.Disaggregated()) {
			err = fmt.Errorf("%s: group %d (%s): %w", name, i+1, groups[i], err)
		}
		if err != nil {
			return nil, err
		}
		g.tiers(own)
		if t := &g.Transfer; t.GBPerSecond > 0 && own.TransferBytesPerToken == nil && g.Profile != nil {
			t.BytesPerToken = float64(g.Profile.KVBytesPerToken)
		}
		fleet = append(fleet, g)
	}
	return fleet, nil
}

// under returns the run's settings as an engine dictionary changes them.
func (r *Run) under(args []Given) *Run {
	own := *r
	for i := range args {
		s := args[i].Setting
		v, ok := s.Kind.Parse(args[i].Text)
		if !ok {
			panic("settings: a dictionary's value that was checked cannot be read: " + s.Name)
		}
		store(s.Ref(&own), v)
		if s.Dict == "engine.timing_model" {
			own.Profile = ""
		}
	}
	return &own
}

// transfer says how workers send KV.
func (r *Run) transfer() sim.Transfer {
	t := sim.Transfer{MissingOnly: r.TransferMissing}
	if r.TransferGBPerSecond != nil {
		t.GBPerSecond = *r.TransferGBPerSecond
	}
	if r.TransferBytesPerToken != nil {
		t.BytesPerToken = *r.TransferBytesPerToken
	}
	return t
}

// topologyTaint begins the taint by which a worker tells its value of a topology
// domain.
const topologyTaint = "dynamo.topology/"

// validDomain refuses what cannot stand before the = of such a taint.
func validDomain(text string) error {
	if !workloads.ValidTaint(topologyTaint+text) || strings.Contains(text, "=") {
		return errors.New("found " + show(text))
	}
	return nil
}

// near says which decode workers are to take over the prompts of prefill workers:
// those with the same value of the topology domain.
func (r *Run) near(g *Modelled) error {
	if r.TransferDomain == "" {
		return nil
	}
	taint := r.topology(g.Taints)
	switch {
	case taint == "":
		return fmt.Errorf("kv-transfer-domain: found %s, expected workers with a taint %s%s=VALUE (taints)", r.TransferDomain, topologyTaint, r.TransferDomain)
	case r.TransferPreferred && r.TransferWeight == nil:
		return fmt.Errorf("kv-transfer-enforcement: found preferred without kv-transfer-preferred-weight, expected both")
	}
	g.Transfer.Taint = taint
	if r.TransferPreferred {
		g.Transfer.Weight = r.TransferWeight
	}
	return nil
}

// topology returns the taint by which a worker tells its value of the topology
// domain, "" where it has none.
func (r *Run) topology(taints []string) string {
	for _, name := range taints {
		if strings.HasPrefix(name, topologyTaint+r.TransferDomain+"=") {
			return name
		}
	}
	return ""
}

// warnStranded names groups of prefill workers whose value of the topology domain
// no decode worker has, though it must.
func (r *resolution) warnStranded() {
	run := &r.Run
	decode := run.each(run.DecodeWorkers, run.decodeArgs)
	for i, own := range run.each(run.PrefillWorkers, run.prefillArgs) {
		taint := run.topology(taintList(own.Taints))
		takes := func(d *Run) bool { return slices.Contains(taintList(d.Taints), taint) }
		if taint != "" && !slices.ContainsFunc(decode, takes) {
			r.Warn("no decode worker has the taint %s, which kv-transfer-domain requires for KV of group %d of prefill-workers: requests whose prompts are computed there are turned away", taint, i+1)
		}
	}
}

// warnNear names what keeps a topology domain from having an effect, or requests
// from being served.
func (r *resolution) warnNear() {
	run := &r.Run
	why := ""
	switch {
	case run.TransferDomain == "":
		for _, name := range []string{"kv-transfer-enforcement", "kv-transfer-preferred-weight"} {
			if r.OnCommandLine(name) {
				r.Warn("%s has no effect without kv-transfer-domain", name)
			}
		}
		return
	case !run.Disaggregated():
		why = "there is no transfer in aggregated serving"
	case run.Router.Mode != router.KV:
		why = "only a kv router looks at taints"
	case run.Engine.Backend == engine.SGLang:
		why = "with sglang the decode worker is chosen before the prefill worker"
	}
	switch {
	case why != "":
		r.Warn("kv-transfer-domain has no effect: %s", why)
	case !run.TransferPreferred:
		if r.OnCommandLine("kv-transfer-preferred-weight") {
			r.Warn("kv-transfer-preferred-weight has no effect: it needs kv-transfer-enforcement preferred")
		}
		r.warnStranded()
	}
}

// settlePools reads the pools' engine dictionaries, checks that the pools go
// together and fixes what follows from the kind of engine.
func (r *resolution) settlePools() error {
	run := &r.Run
	if err := r.checkPools(); err != nil {
		return err
	}
	var err error
	if run.prefillArgs, err = r.poolArgs("prefill-engine-args", run.PrefillArgs, "prefill"); err != nil {
		return err
	}
	if run.decodeArgs, err = r.poolArgs("decode-engine-args", run.DecodeArgs, "decode"); err != nil {
		return err
	}
	size, _ := r.table.Lookup("block-size")
	if r.origins[size.place].Layer == FromDefault {
		run.Engine.BlockSize = engine.DefaultsOf(run.Engine.Backend).BlockSize
	}
	if b := run.Engine.BlockSize; b < 2 && run.Engine.Backend != engine.SGLang {
		return fmt.Errorf("block-size: found %d (%s), expected at least 2 tokens with the engine %v", b, r.origins[size.place], run.Engine.Backend)
	}
	return nil
}

// checkPools checks which workers were given.
func (r *resolution) checkPools() error {
	run := &r.Run
	apart := len(run.PrefillWorkers) > 0 || len(run.DecodeWorkers) > 0 || run.PrefillArgs != "" || run.DecodeArgs != ""
	if apart && r.OnCommandLine("workers") {
		return fmt.Errorf("workers: found together with workers or engine arguments of prefill or decode pools, expected one or the other")
	}
	if apart { // a pool that is not sized has one worker
		for _, pool := range []*[]WorkerGroup{&run.PrefillWorkers, &run.DecodeWorkers} {
			if len(*pool) == 0 {
				*pool = []WorkerGroup{{Count: 1}}
			}
		}
	}
	for _, name := range []string{"kv-transfer-bandwidth", "kv-transfer-bytes-per-token", "kv-transfer-timing-mode"} {
		if !apart && r.OnCommandLine(name) {
			r.Warn("%s has no effect without prefill-workers: nothing is transferred", name)
		}
	}
	return nil
}

// warnTransfers names the half of a rate of KV transfers that was given without
// the other: a transfer takes time where both are known. Given for all workers, it
// has an effect as soon as one group knows both.
func (r *resolution) warnTransfers() {
	run := &r.Run
	if !run.Disaggregated() {
		return
	}
	rate, size, both := false, false, false // some group has one without the other; both
	ownRate, ownSize := false, false        // as a setting of its own
	for i := range run.PrefillWorkers {
		g := &run.PrefillWorkers[i]
		own := run.under(run.prefillArgs).with(g)
		switch t := own.transfer(); {
		case t.GBPerSecond > 0 && (t.BytesPerToken > 0 || own.Profile != ""):
			both = true
		case t.GBPerSecond > 0:
			rate, ownRate = true, ownRate || g.sets("kv-transfer-bandwidth")
		case t.BytesPerToken > 0:
			size, ownSize = true, ownSize || g.sets("kv-transfer-bytes-per-token")
		}
	}
	if ownRate || rate && !both {
		r.Warn("kv-transfer-bandwidth has no effect without kv-transfer-bytes-per-token, which only a profile knows by itself: nothing is sent, in no time")
	}
	if ownSize || size && !both {
		r.Warn("kv-transfer-bytes-per-token has no effect without kv-transfer-bandwidth: KV is sent in no time")
	}
}

// poolArgs reads the engine dictionary of a pool. What all workers share holds
// for the other pool too.
func (r *resolution) poolArgs(flag, text, role string) ([]Given, error) {
	list, err := r.table.dictionary(flag, text)
	if err != nil {
		return nil, err
	}
	var own []Given
	for i := range list {
		g := &list[i]
		v, ok := g.Setting.Kind.Parse(g.Text)
		if !ok {
			return nil, r.unreadable(g)
		}
		switch {
		case g.Setting.Dict == "engine.worker_type":
			if v.Text != role {
				return nil, g.problem(show(v.Text), role)
			}
		case g.Setting.Support != Honoured:
			if v.None || v.Text == g.Setting.def.Text {
				continue
			}
			if err := r.without(g); err != nil {
				return nil, err
			}
		case g.Setting.Name == "block-size" || g.Setting.Name == "engine-type":
			if err := r.sharedByPools(g, v); err != nil {
				return nil, err
			}
		default:
			own = append(own, *g)
		}
	}
	return own, nil
}

// sharedByPools takes a value that both pools must have.
func (r *resolution) sharedByPools(g *Given, v Value) error {
	s := g.Setting
	if o := r.origins[s.place]; o.Layer != FromDefault {
		if have := s.Get(&r.Run); have.Text != v.Text {
			return g.problem(show(v.Text), fmt.Sprintf("%s as the %s says: both pools share it", have.Text, o))
		}
		return nil
	}
	store(s.Ref(&r.Run), v)
	r.origins[s.place] = g.Origin
	return nil
}
