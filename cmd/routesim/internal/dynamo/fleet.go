package dynamo

import (
	"fmt"
	"strconv"
	"strings"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/format"
)

// fleet takes the workers: their number, their model and their engines.
func (t *translation) fleet() error {
	for _, shared := range []func() error{t.engineType, t.blockSize, t.dataParallel} {
		if err := shared(); err != nil {
			return err
		}
	}
	t.servedModel()
	var prefill, rest []*worker
	for _, w := range t.workers {
		if w.role == "prefill" {
			prefill = append(prefill, w)
		} else {
			rest = append(rest, w)
		}
	}
	switch {
	case len(prefill) == 0 && len(rest) == 1:
		return t.alone(rest[0])
	case len(prefill) == 0:
		return t.pool("workers", rest)
	case len(rest) == 0:
		return prefill[0].at.problem(prefill[0].field, "prefill workers only", "decode workers too")
	}
	if setting(t.table, "prefill_workers") == nil || setting(t.table, "decode_workers") == nil {
		t.report.warn(fmt.Sprintf("not understood: disaggregated pools, %s of prefill and %s of decode workers: all of them are taken for workers that do both", prefill[0], rest[0]))
		return t.pool("workers", t.workers)
	}
	if err := t.pool("prefill_workers", prefill); err != nil {
		return err
	}
	return t.pool("decode_workers", rest)
}

// same returns the first worker and an error if another one differs from it.
func (t *translation) same(what string, of func(*worker) (text string, at place)) error {
	text, from := of(t.workers[0])
	for _, w := range t.workers[1:] {
		if other, at := of(w); other != text {
			return at.problem(w.name+": "+what, fmt.Sprintf("%s, and %s at %s", show(other), show(text), from), "one "+what+" for all workers")
		}
	}
	return nil
}

// engineType takes the backend, which all workers share.
func (t *translation) engineType() error {
	if err := t.same("engine", func(w *worker) (string, place) { return w.engine.name, w.at }); err != nil {
		return err
	}
	w := t.workers[0]
	s := setting(t.table, "engine_type")
	if s == nil {
		s = setting(t.table, "engine.backend")
	}
	if s != nil {
		if _, ok := s.Kind.Parse(w.engine.name); ok {
			t.given = append(t.given, give(s, w.engine.name, w.name, w.command.at))
			return nil
		}
	}
	if w.engine.name != "vllm" {
		t.report.unknown(w.component, "the engine "+w.engine.title, w.command.at, "the workers have the scheduler of vLLM")
	}
	return nil
}

// blockSize takes the size of KV blocks, which all workers and the router
// share.
func (t *translation) blockSize() error {
	from := func(w *worker) (string, place) {
		if w.block.exists() {
			return w.blockText(), w.block.at
		}
		return w.blockText(), w.at
	}
	if err := t.same("block size", from); err != nil {
		return err
	}
	w := t.workers[0]
	text, at := from(w)
	flag := w.name
	if w.block.exists() {
		flag += ": " + w.block.flag
	}
	g := give(setting(t.table, "block_size"), text, flag, at)
	if !w.block.exists() {
		g.Unsaid = fmt.Sprintf("the default of %s (%s at %s says none)", w.engine.title, w.name, at)
	}
	t.given = append(t.given, g)
	return nil
}

// dataParallel takes the number of data-parallel ranks.
func (t *translation) dataParallel() error {
	for _, w := range t.workers {
		if !w.ranks.exists() || w.ranks.text == "1" {
			continue
		}
		if n, err := strconv.ParseUint(w.ranks.text, 10, 16); err != nil || n < 1 {
			return w.problem(w.ranks, "a whole number of at least 1")
		}
		if len(t.workers) == 1 {
			t.shared(w, taken{w.ranks, rankSetting(t.table)}, "data-parallel ranks are not modelled")
		} else {
			w.take("data_parallel_size", w.ranks)
		}
	}
	return nil
}

// rankSetting is the name of the setting of data-parallel ranks, "" for none.
func rankSetting(table *settings.Table) string {
	for _, s := range table.All() {
		if s.Dict == "dp_size" && s.Support == settings.Honoured {
			return s.Name
		}
	}
	return ""
}

// shared takes a value that all workers have to share; of two that differ the
// first one stays.
func (t *translation) shared(w *worker, v taken, why string) {
	s := setting(t.table, v.name)
	if s == nil {
		t.report.unknown(w.component, v.flag+" "+show(v.text), v.at, why)
		return
	}
	for _, g := range t.given {
		if g.Setting == s && g.Text != v.text {
			t.report.unknown(w.component, v.flag+" "+show(v.text), v.at, fmt.Sprintf("all workers share %s, and %s from %s is taken", s.Name, g.Text, g.Origin.Where))
		}
		if g.Setting == s {
			return
		}
	}
	t.given = append(t.given, give(s, v.text, w.name+": "+v.flag, v.at))
}

// servedModel takes the model's name, by which a policy file may choose a
// profile of policy classes.
func (t *translation) servedModel() {
	w := t.workers[0]
	name := w.model
	if w.served.exists() {
		name = w.served
	}
	s := setting(t.table, "model_name")
	if s == nil || !name.exists() || t.frontend == nil || !t.frontend.models {
		return
	}
	t.given = append(t.given, give(s, name.text, w.name+": "+name.flag, name.at))
}

// alone takes the workers of the only component that has any, each value as a
// setting of its own.
func (t *translation) alone(w *worker) error {
	t.given = append(t.given, give(setting(t.table, "workers"), strconv.Itoa(w.replicas), w.field+".replicas", w.replicasAt))
	if name, at := t.profile(w); name != "" {
		t.given = append(t.given, give(setting(t.table, "profile"), name, w.name, at))
	}
	for _, v := range w.taken {
		t.shared(w, v, "")
	}
	return nil
}

// profile names the profile of a worker, or notes why there is none.
func (t *translation) profile(w *worker) (name string, at place) {
	name, at, why := w.profile()
	if name != "" {
		return name, at
	}
	from := w.at
	if w.model.exists() {
		from = w.model.at
	}
	if t.noProfile == nil {
		t.noProfile = from.problem(w.name, "no GPU profile ("+why+")", "--profile NAME (see routesim profile list) or --timing MODEL")
	}
	t.report.detail("no GPU profile follows for %s: %s", w, why)
	return "", place{}
}

// pool takes the workers of several components as groups of one setting.
func (t *translation) pool(name string, workers []*worker) error {
	s := setting(t.table, name)
	var groups []string
	for _, w := range workers {
		group := strconv.Itoa(w.replicas)
		model, _ := t.profile(w)
		if model != "" {
			group += "x" + model
		}
		for _, v := range w.taken {
			if model != "" && v.name == "tensor_parallel_size" {
				t.report.detail("%s = %s from %s (%s), as its profile says", v.name, v.text, v.at, w.name)
				continue
			}
			entry := "@" + v.name + "=" + v.text
			if _, ok := s.Kind.Parse("1" + entry); !ok {
				t.shared(w, v, "")
				continue
			}
			t.report.detail("%s = %s from %s (%s)", v.name, v.text, v.at, w.name)
			group += entry
		}
		t.report.detail("%s from %s (%s)", format.Plural(int64(w.replicas), "worker"), w.replicasAt, w.name)
		groups = append(groups, group)
	}
	t.given = append(t.given, give(s, strings.Join(groups, ","), workers[0].name, workers[0].replicasAt))
	return nil
}
