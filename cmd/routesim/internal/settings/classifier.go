package settings

import (
	"fmt"

	"routesim/sim/router"
	"routesim/sim/router/program"
)

// readClassifier reads what holds requests back before they reach the queue.
func (f *policyFile) readClassifier(m *mapping, e *entry) error {
	const prefix = "request_classifier."
	sub, err := m.under(e, e.key)
	if err != nil {
		return err
	}
	if err := sub.only(prefix, "type", "parameters"); err != nil {
		return err
	}
	kind, err := sub.identifier(sub.find("type"), prefix+"type")
	if err != nil {
		return err
	}
	parameters, err := sub.parameters(prefix)
	if err != nil {
		return err
	}
	if f.classify, err = program.NewSettings(kind, parameters); err != nil {
		return fmt.Errorf("%s:%d: request_classifier: %w", m.file, sub.lineOf(err, e), err)
	}
	return nil
}

// selectClassifier takes the request classifier from the policy file. Only live
// routers have one.
func (r *resolution) selectClassifier(mayLive bool) error {
	if r.file.classify == nil {
		return nil
	}
	s, _ := r.table.Lookup("router-semantics")
	if c := r.best.of(s); c.value.Text != LiveWord {
		if !mayLive {
			file, _ := r.table.Lookup("router-policy-config")
			if r.best.of(file).given.Origin.Layer == FromFlag {
				return fmt.Errorf("router-policy-config: found a request_classifier under router-semantics replay, expected none (Dynamo's replay refuses them; give live)")
			}
			r.Warn("router-policy-config: the request_classifier has no effect: only a live router has one")
			return nil
		}
		r.goLive(s, "request_classifier "+program.Type)
	}
	r.Run.Live.Classifier = r.file.classify
	return nil
}

// settleClassifier checks what a request classifier goes together with.
func (r *resolution) settleClassifier() error {
	run := &r.Run
	switch {
	case run.Router.Live == nil || run.Live.Classifier == nil:
	case run.Disaggregated():
		return fmt.Errorf("router-policy-config: found a request_classifier with prefill and decode pools, expected workers that do both (Dynamo's classifier serves those alone)")
	case run.Router.Mode != router.KV:
		r.Warn("router-policy-config: the request_classifier has no effect in router-mode %v: only kv routers ask it", run.Router.Mode)
	}
	return nil
}
