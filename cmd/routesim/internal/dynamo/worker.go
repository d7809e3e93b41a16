package dynamo

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"routesim/cmd/routesim/internal/settings"
)

// fact is a value with the flag and the place it comes from.
type fact struct {
	text string
	flag string // or variable, for errors
	at   place
}

func (f fact) exists() bool { return f.at != (place{}) }

// taken is a fact that a setting takes.
type taken struct {
	fact
	name string // of the setting, in snake case
}

// worker is what a component says about its workers.
type worker struct {
	*component
	engine *engine
	role   string // prefill, decode, encode or "" for all
	taken  []taken

	block, pool, model, served, tensor, ranks, weights, kvDtype, quantized, override, file, text fact
	events                                                                                       eventState
}

// eventState is what is known of a worker's KV events.
type eventState struct {
	fact
	on bool
}

// readWorker reads the flags of a component that runs an engine.
func readWorker(c *component, e *engine, g *graph, table *settings.Table) (*worker, error) {
	r := g.report
	w := &worker{component: c, engine: e}
	if c.kind == "prefill" || c.kind == "decode" {
		w.role = c.kind
	}
	seen := map[string]bool{}
	for _, o := range options(c, r, c.command.words, e.isSwitch) {
		name, rule, on := e.rule(o.name)
		seen[name] = true
		if err := w.flag(&o, rule, on, r); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(e.flags) {
		rule := e.flags[name]
		v, ok := c.env.vars[rule.env]
		if rule.env == "" || seen[name] || !ok || !v.known {
			continue
		}
		value, isBool := settings.Bool{}.Parse(v.value)
		if e.isSwitch(name) && (!isBool || value.Int == 0) {
			continue
		}
		o := option{name: name, at: v.at, values: []word{{v.value, v.at}}}
		if err := w.flag(&o, rule, true, r); err != nil {
			return nil, err
		}
	}
	if err := w.engineSettings(g); err != nil {
		return nil, err
	}
	w.overridden(r)
	return w, w.check(table)
}

// overridden leaves the context limit to the profile where the deployment
// stretches the model's context: a profile's model has the one it was published
// with.
func (w *worker) overridden(r *report) {
	f := w.override
	switch {
	case !f.exists():
		return
	case !strings.Contains(f.text, "rope") && !strings.Contains(f.text, "max_position_embeddings"):
		r.unknown(w.component, f.flag+" "+show(f.text), f.at, "a profile's model has its published configuration")
		return
	}
	r.unknown(w.component, f.flag+" "+show(f.text), f.at, "it stretches the model's context, so max_model_len is left to the profile")
	w.taken = slices.DeleteFunc(w.taken, func(t taken) bool { return t.name == "max_model_len" })
}

// rule finds what becomes of a flag; on is false in its no- form. A flag that
// is not known has the rule of a switch or value that is not supported.
func (e *engine) rule(flag string) (name string, r rule, on bool) {
	if r, ok := e.flags[flag]; ok {
		return flag, r, true
	}
	if rest, ok := strings.CutPrefix(flag, "no-"); ok {
		if r, ok := e.flags[rest]; ok {
			return rest, r, false
		}
	}
	if rest, ok := strings.CutPrefix(flag, "kv-events-config."); ok && rest != "" {
		return flag, rule{what: events, to: rest}, true
	}
	return flag, rule{what: unsupported}, true
}

func (e *engine) isSwitch(flag string) bool {
	_, r, on := e.rule(flag)
	switch r.what {
	case leaveSwitch, onSwitch, offSwitch, eventSwitch, prefillRole, decodeRole:
		return true
	}
	return !on
}

// flag takes one flag.
func (w *worker) flag(o *option, r rule, on bool, rep *report) error {
	switch r.what {
	case unsupported:
		rep.unknown(w.component, o.String(), o.at, r.to)
		return nil
	case leaveValue, leaveSwitch:
		rep.leave(w.component, dashed(o.name))
		return nil
	case prefillRole:
		w.role = "prefill"
		return nil
	case decodeRole:
		w.role = "decode"
		return nil
	case onSwitch, offSwitch:
		value := strconv.FormatBool(on == (r.what == onSwitch))
		w.take(r.to, fact{value, dashed(o.name), o.at})
		return nil
	case eventSwitch:
		w.events = eventState{fact{"", dashed(o.name), o.at}, on}
		return nil
	}
	v, err := o.value(w.component)
	if err != nil {
		return err
	}
	for _, more := range o.values[1:] {
		if r.what != served {
			rep.unknown(w.component, "the word "+show(more.text), more.at, "it follows no flag that takes a value")
		}
	}
	return w.value(r, fact{v.text, dashed(o.name), v.at})
}

// value takes a flag's value.
func (w *worker) value(r rule, f fact) error {
	switch r.what {
	case field:
		w.take(r.to, f)
	case human:
		return w.human(r.to, f)
	case blockSize:
		w.block = f
	case poolTokens:
		w.pool = f
	case model:
		w.model = f
	case served:
		w.served = f
	case tensor:
		w.tensor = f
		w.take("tensor_parallel_size", f)
	case ranks:
		w.ranks = f
	case kvDtype:
		w.kvDtype = f
	case quantized:
		w.quantized = f
	case weights:
		w.weights = f
	case override:
		w.override = f
	case engineFile:
		w.file = f
	case engineText:
		w.text = f
	case events:
		return w.readEvents(r.to, f)
	case mode:
		return w.mode(f)
	}
	return nil
}

// take adds a setting; of a flag and its other form the last one counts.
func (w *worker) take(name string, f fact) {
	for i := range w.taken {
		if w.taken[i].name == name {
			w.taken[i].fact = f
			return
		}
	}
	w.taken = append(w.taken, taken{f, name})
}

func (w *worker) problem(f fact, want string) error {
	return f.at.problem(w.name+": "+f.flag, show(f.text), want)
}

var suffixed = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kmgKMG])$`)

// human takes a number as vLLM reads it: k, m and g are powers of 1000 and may
// follow a fraction, K, M and G are powers of 1024. auto and -1 leave the
// number to the engine.
func (w *worker) human(name string, f fact) error {
	if f.text == "auto" || f.text == "-1" {
		return nil
	}
	if m := suffixed.FindStringSubmatch(f.text); m != nil {
		unit := map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]]
		n, err := strconv.ParseFloat(m[1], 64)
		if n *= unit; err != nil || n > math.MaxInt32 || m[2] == strings.ToUpper(m[2]) && strings.Contains(m[1], ".") {
			return w.problem(f, "a whole number up to 2147483647, or one with a suffix as in 32k or 32K")
		}
		f.text = strconv.FormatInt(int64(n), 10)
	}
	w.take(name, f)
	return nil
}

// mode reads the worker's role in disaggregated serving.
func (w *worker) mode(f fact) error {
	switch f.text {
	case "prefill", "decode", "encode":
		w.role = f.text
	case "agg", "pd", "prefill_and_decode", "null", "none", "aggregated":
		w.role = ""
	default:
		return w.problem(f, "agg, pd, prefill, decode or encode")
	}
	return nil
}

// readEvents reads whether the workers publish KV events: as JSON, or key by
// key. vLLM publishes where enable_kv_cache_events is true, SGLang where a
// publisher is named.
func (w *worker) readEvents(key string, f fact) error {
	if key != "" {
		if v, ok := (settings.Bool{}).Parse(f.text); strings.ReplaceAll(key, "-", "_") == "enable_kv_cache_events" && ok {
			w.events = eventState{f, v.Int == 1}
		}
		return nil
	}
	var c struct {
		Enable    *bool   `json:"enable_kv_cache_events"`
		Publisher *string `json:"publisher"`
	}
	if err := json.Unmarshal([]byte(f.text), &c); err != nil {
		return w.problem(f, "a JSON object such as {\"enable_kv_cache_events\":true}")
	}
	on := c.Enable != nil && *c.Enable && (c.Publisher == nil || *c.Publisher != "null")
	if w.engine.name == "sglang" {
		on = c.Publisher != nil && *c.Publisher != "null"
	}
	w.events = eventState{f, on}
	return nil
}

// publishes reports whether the router hears of the workers' caches.
func (w *worker) publishes() bool { return w.events.on && w.caches() }

// caches reports whether the workers reuse prefixes.
func (w *worker) caches() bool {
	for _, t := range w.taken {
		if v, ok := (settings.Bool{}).Parse(t.text); t.name == "enable_prefix_caching" && ok {
			return v.Int == 1
		}
	}
	return true
}

// setting finds the setting that takes a fact, by its name in snake case or by
// its path in the engine dictionary; nil if no run honours one.
func setting(table *settings.Table, name string) *settings.Setting {
	for _, s := range table.All() {
		if s.Support != settings.Honoured {
			continue
		}
		if s.Name == strings.ReplaceAll(name, "_", "-") || s.Dict != "" && s.Dict == name {
			return s
		}
	}
	return nil
}

// check reads every value once, so that an error names its place, and derives
// the pool of an engine that counts it in tokens.
func (w *worker) check(table *settings.Table) error {
	if w.pool.exists() {
		n, err := strconv.ParseInt(w.pool.text, 10, 32)
		size, bad := strconv.ParseInt(w.blockText(), 10, 32)
		if err != nil || n < 1 || bad == nil && size > 0 && n < size {
			return w.problem(w.pool, "the tokens of a KV pool of at least one page")
		}
		if bad == nil && size > 0 {
			w.take("num_gpu_blocks", fact{strconv.FormatInt(n/size, 10), w.pool.flag, w.pool.at})
		}
	}
	for _, t := range w.taken {
		s := setting(table, t.name)
		if s == nil {
			continue
		}
		if _, ok := s.Kind.Parse(t.text); !ok {
			return w.problem(t.fact, s.Kind.Expected())
		}
	}
	return nil
}

// blockText is the size of the worker's KV blocks, in tokens.
func (w *worker) blockText() string {
	if w.block.exists() {
		return w.block.text
	}
	return strconv.Itoa(w.engine.blockSize)
}

// String names the worker's component with its place.
func (w *worker) String() string { return fmt.Sprintf("%s (%s)", w.name, w.at) }
