package settings

import (
	"fmt"
	"slices"

	"routesim/sim/router"
	"routesim/sim/router/policy"
)

// needsLive reports whether only a live frontend takes a value of a setting.
func (s *Setting) needsLive(v Value) bool {
	if s.Name == "router-mode" {
		return !router.Mode(v.Int).InReplay()
	}
	return s.LiveOnly && v.Text != s.def.Text
}

const whyLive = "only a live router has it (leave router-semantics out, or give live)"

// chooseSemantics settles whether the run has the router of Dynamo's replay or
// a live one. What only a live one has makes it live, unless replay was asked
// for: then it is an error on the command line, and elsewhere a warning.
func (r *resolution) chooseSemantics() error {
	s, _ := r.table.Lookup("router-semantics")
	asked, given := r.best.get(s)
	if given && asked.value.Text == LiveWord {
		return r.selectPolicy(true)
	}
	for _, t := range r.table.list {
		c, ok := r.best.get(t)
		if !ok || c.given.Origin.Layer == FromPreset || !t.needsLive(c.value) {
			continue
		}
		if !given {
			r.goLive(s, fmt.Sprintf("%s (%s)", t.Name, c.given.Origin))
			return r.selectPolicy(true)
		}
		if l := c.given.Origin.Layer; l == FromFlag || l == FromDict {
			return c.given.problem(show(c.given.Text), fmt.Sprintf("%s under router-semantics replay: %s", t.Default, whyLive))
		}
		r.pass(&c.given, whyLive)
		r.best.drop(t)
	}
	if err := r.liveGroups(s, given); err != nil {
		return err
	}
	if err := r.selectPolicy(!given); err != nil || r.text(s.Name) == LiveWord {
		return err
	}
	// What the preset says of a live router is no part of a replay.
	for _, t := range r.table.list {
		if c, ok := r.best.get(t); ok && t.needsLive(c.value) {
			r.best.drop(t)
		}
	}
	return nil
}

// goLive turns the semantics to live and says why.
func (r *resolution) goLive(s *Setting, why string) {
	v, _ := s.Kind.Parse(LiveWord)
	r.best.set(s, chosen{Given{Setting: s, Text: LiveWord, Origin: Origin{FromLive, why}}, v})
}

// selectPolicy finds the policies that select workers: one, or those of the two
// stages of disaggregated serving. Any but the default is a matter of live
// routers.
func (r *resolution) selectPolicy(mayLive bool) error {
	l := &r.Run.Live
	if err := r.selectClassifier(mayLive); err != nil {
		return err
	}
	for _, stage := range []struct {
		name, setting string
		used          bool
		to            **policy.Policy
	}{
		{"aggregated", "", !r.apart(), &l.Policy},
		{"prefill", "router-prefill-policy", r.apart(), &l.PrefillPolicy},
		{"decode", "router-decode-policy", r.apart(), &l.DecodePolicy},
	} {
		setting := "worker-selection-policy"
		if stage.setting != "" && r.text(stage.setting) != "" {
			setting = stage.setting
		}
		override := r.text(setting)
		chosen, err := r.file.selected(stage.name, setting, override)
		if err != nil {
			return err
		}
		if chosen == nil || !stage.used {
			continue
		}
		ok, err := r.livePolicy(chosen, override != "", mayLive)
		if err != nil {
			return err
		}
		if ok {
			*stage.to = chosen
		}
	}
	return nil
}

// warnSelection names the stages that the policy file selects a policy for where
// the run has none of them: what it says then changes nothing.
func (r *resolution) warnSelection() {
	used, why := []string{"aggregated"}, "there is no %s stage in aggregated serving"
	if r.Run.Disaggregated() {
		used, why = []string{"prefill", "decode"}, "with prefill-workers there is no %s stage"
	}
	idle := []string{}
	for _, stage := range policyStages {
		switch {
		case r.file.stages[stage] == "":
		case slices.Contains(used, stage):
			return // a file for deployments of several shapes
		default:
			idle = append(idle, stage)
		}
	}
	for _, stage := range idle {
		r.Warn("router-policy-config: worker_selection."+stage+" of %s:%d has no effect: "+why, r.file.name, r.file.lines[stage], stage)
	}
}

// livePolicy makes the run live for a policy, and reports whether it is.
func (r *resolution) livePolicy(p *policy.Policy, named, mayLive bool) (bool, error) {
	s, _ := r.table.Lookup("router-semantics")
	if r.best.of(s).value.Text == LiveWord {
		return true, nil
	}
	if mayLive {
		r.goLive(s, "policy "+p.Name)
		return true, nil
	}
	file, _ := r.table.Lookup("router-policy-config")
	if r.best.of(file).given.Origin.Layer == FromFlag || named {
		return false, fmt.Errorf("router-policy-config: found policy %s selected under router-semantics replay, expected the default policy (Dynamo's replay refuses others; give live, or worker-selection-policy default)", p.Name)
	}
	r.Warn("router-policy-config: the policy %s has no effect: only a live router has others than the default", p.Name)
	return false, nil
}

// apart reports whether prefill and decode are given workers of their own.
func (r *resolution) apart() bool {
	for _, name := range []string{"prefill-workers", "decode-workers", "prefill-engine-args", "decode-engine-args"} {
		if r.text(name) != "" {
			return true
		}
	}
	return false
}

// text returns the text of a setting, "" where none is given.
func (r *resolution) text(name string) string {
	s, _ := r.table.Lookup(name)
	if c, ok := r.best.get(s); ok && !c.value.None {
		return c.value.Text
	}
	return ""
}

// settleRouter completes the router's parameters from what was stored.
func (r *resolution) settleRouter() error {
	run := &r.Run
	if run.Semantics == LiveWord {
		run.Router.Live = &run.Live
	}
	if err := r.chooseClasses(); err != nil {
		return err
	}
	if err := r.settleConditional(); err != nil {
		return err
	}
	if err := r.settleEvents(); err != nil {
		return err
	}
	if err := r.settleClassifier(); err != nil {
		return err
	}
	r.warnBlind()
	return nil
}

// chooseClasses takes the queue's classes from the policy file: those of the
// model, else the root profile.
func (r *resolution) chooseClasses() error {
	p := r.file.profile
	if own := r.file.models[r.Run.ModelName]; own != nil {
		p = own
	}
	if r.Run.ModelName != "" && r.file.models[r.Run.ModelName] == nil {
		r.Warn("model-name: the policy file has no profile of %s, so its root profile applies", show(r.Run.ModelName))
	}
	r.Run.Router.Classes = p
	if p == nil {
		return nil
	}
	for _, name := range []string{"router-queue-threshold", "router-queue-policy"} {
		if r.Explicit(name) {
			r.Warn("%s of the %s has no effect: the policy file has queue classes", name, r.originOf(name))
		}
	}
	return nil
}

// warnBlind says where a kv router cannot see what workers hold.
func (r *resolution) warnBlind() {
	run := &r.Run
	l := run.Router.Live
	if run.Router.Mode != router.KV || run.Router.OverlapScoreCredit == 0 || l != nil && !l.KVEvents {
		return
	}
	groups, of := run.Workers, "workers"
	if run.Disaggregated() { // the decode router sees load only
		groups, of = run.PrefillWorkers, "prefill workers"
	}
	if silent, all := run.silent(groups); silent > 0 {
		r.Warn("router-mode kv: %d of %d %s publish no KV events (worker-kv-events, kv-events-config): the router is blind to what they hold and routes to them by load alone; no-router-kv-events would predict it", silent, all, of)
	}
	if !run.Disaggregated() || !run.Conditional {
		return
	}
	if silent, all := run.silent(run.DecodeWorkers); silent > 0 {
		r.Warn("router-conditional-disagg: %d of %d decode workers publish no KV events (worker-kv-events, kv-events-config): nothing counts as cached there", silent, all)
	}
}

// silent counts the workers that publish no KV events.
func (r *Run) silent(groups []WorkerGroup) (silent, all int) {
	for i := range groups {
		g := &groups[i]
		all += g.Count
		if !r.with(g).WorkerKVEvents {
			silent += g.Count
		}
	}
	return silent, all
}

// warnUnused names settings of the router that were given and wait for another
// one to have an effect.
func (r *resolution) warnUnused() {
	run := &r.Run
	l := &run.Live
	kv := run.Router.Mode == router.KV
	noQueue := kv && run.Router.QueueThreshold == nil && run.Router.Classes == nil
	for _, u := range []struct {
		name string
		idle bool
		why  string
	}{
		{"router-ttl-secs", l.KVEvents || l.ApproximateLRU, "it is the lifetime of entries with no-router-kv-events and router-approximate-cache-policy ttl"},
		{"router-session-affinity-mode", l.AffinityTTLSecs == 0, "it needs router-session-affinity-ttl-secs"},
		{"shared-cache-multiplier", !l.SharedCache, "it needs shared-cache-type"},
		{"shared-cache-blocks", !l.SharedCache, "it needs shared-cache-type"},
		{"expected-output", !l.TrackOutputBlocks, "it needs router-track-output-blocks"},
		{"router-replica-sync", run.Frontends < 2, "it needs more than one of frontends"},
		{"replica-sync-delay-ms", !run.ReplicaSync || run.Frontends < 2, "it needs router-replica-sync and more than one of frontends"},
		{"cancel-after-ms", run.Clients.CancelRate == 0, "it needs cancel-rate"},
		{"router-restart-policy-config", run.RestartAtMS == nil, "it needs router-restart-at"},
		{"router-reset-states", run.RestartAtMS == nil, "it needs router-restart-at (Dynamo 1.6.1 itself has no such flag any more)"},
		{"encoder-cuda-to-cpu-ratio", run.Router.Mode != router.DeviceAwareWeighted, "it needs router-mode device-aware-weighted"},
		{"router-queue-policy", noQueue && run.RestartPolicyConfig == "", "nothing ever waits without router-queue-threshold or queue classes"},
		{"session-final", l.Classifier == nil && run.RestartPolicyConfig == "", "only a request_classifier of the policy file listens to it"},
		{"overlap-refresh-after-secs", noQueue, "nothing ever waits without router-queue-threshold or queue classes"},
		{"router-prefill-policy", run.PrefillPolicy != "" && !run.Disaggregated(), "there is no prefill stage in aggregated serving"},
		{"router-decode-policy", run.DecodePolicy != "" && !run.Disaggregated(), "there is no decode stage in aggregated serving"},
	} {
		s, _ := r.table.Lookup(u.name)
		if c, ok := r.best.get(s); ok && u.idle && c.given.Origin.Layer == FromFlag && c.value.Text != s.Default {
			r.Warn("%s has no effect: %s", u.name, u.why)
		}
	}
	if run.Router.Live != nil && kv && run.Router.OverlapScoreCredit == 0 && l.Policy == nil && l.PrefillPolicy == nil {
		for _, name := range []string{"router-kv-events", "router-ttl-secs", "router-approximate-cache-policy", "router-predicted-ttl-secs", "kv-event-loss"} {
			if s, _ := r.table.Lookup(name); r.origins[s.place].Layer == FromFlag {
				r.Warn("%s has no effect: at credit 0 a live router keeps no index", name)
			}
		}
	}
	if p := l.DecodePolicy; kv && p != nil && p.Weights == nil && p.Needs&policy.Cache != 0 && l.KVEvents && !run.Conditional {
		r.Warn("policy %s of the decode stage sees no cached blocks: KV events reach that stage only with router-conditional-disagg", p.Name)
	}
}

// SemanticsFrom says why the router is a live one or that of the replay.
func (r *Resolved) SemanticsFrom() string {
	s, _ := r.table.Lookup("router-semantics")
	return r.origins[s.place].String()
}
