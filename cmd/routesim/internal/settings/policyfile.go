package settings

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"routesim/models/numeral"
	"routesim/sim/router"
	"routesim/sim/router/policy"
	"routesim/sim/router/program"
	"routesim/workloads"
)

// policyFile is what a policy file says beside its router section.
type policyFile struct {
	name      string
	profile   *router.Profile            // root profile, nil = none
	models    map[string]*router.Profile // by model
	stages    map[string]string          // instance by stage
	lines     map[string]int             // line by stage
	instances []instance
	classify  *program.Settings // nil = no request classifier
}

// instance is a configured policy.
type instance struct {
	name   string
	policy *policy.Policy
}

// stages of worker selection.
var policyStages = []string{"aggregated", "prefill", "decode", "encode"}

var identifier = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// selected returns the policy of a stage, nil for the default one: that of the
// override, which a setting gave, else the one that the file selects.
func (f *policyFile) selected(stage, setting, override string) (*policy.Policy, error) {
	name, where := override, setting
	if name == "" {
		name, where = f.stages[stage], fmt.Sprintf("%s:%d: worker_selection.%s", f.name, f.lines[stage], stage)
	}
	if name == "" || name == policy.Default {
		return nil, nil
	}
	names := []string{policy.Default}
	for i := range f.instances {
		if f.instances[i].name == name {
			return f.instances[i].policy, nil
		}
		names = append(names, f.instances[i].name)
	}
	return nil, fmt.Errorf("%s: found %s, expected one of the configured instances %s", where, show(name), strings.Join(names, ", "))
}

// section reads one top-level key of a policy file other than router.
func (f *policyFile) section(m *mapping, e *entry) (err error) {
	switch e.key {
	case "default_policy_family", "uncached_isl_buckets", "policy_classes":
		return nil // read together by readProfile
	case "models":
		return f.readModels(m, e)
	case "worker_selection":
		return f.readSelection(m, e)
	case "request_classifier":
		return f.readClassifier(m, e)
	}
	return unknownKey(m.file, e.line, e.key, Nearest(e.key, append(policySections(), "router")), "a section of a policy file")
}

func (m *mapping) problem(e *entry, field, found, want string) error {
	return &workloads.Problem{File: m.file, Line: e.line, Field: field, Found: found, Want: want}
}

func (m *mapping) find(key string) *entry {
	for i := range m.entries {
		if m.entries[i].key == key {
			return &m.entries[i]
		}
	}
	return nil
}

// only refuses keys that are not among the known ones.
func (m *mapping) only(prefix string, known ...string) error {
	for i := range m.entries {
		if e := &m.entries[i]; !slices.Contains(known, e.key) {
			return unknownKey(m.file, e.line, prefix+e.key, Nearest(e.key, known), "one of "+strings.Join(known, ", "))
		}
	}
	return nil
}

// under reads the mapping that is an entry's value.
func (m *mapping) under(e *entry, field string) (*mapping, error) {
	sub := &mapping{file: m.file}
	return sub, inField(field, sub.fill(e.node))
}

// inField names the field that an error of a mapping is about.
func inField(field string, err error) error {
	var p *workloads.Problem
	if errors.As(err, &p) && p.Field == "" {
		p.Field = field
	}
	return err
}

// items reads the list of mappings that is an entry's value.
func (m *mapping) items(e *entry, field string) ([]*mapping, error) {
	list, ok := e.node.(*ast.SequenceNode)
	if !ok {
		return nil, m.problem(e, field, short(e.node), "a list")
	}
	var out []*mapping
	for _, n := range list.Values {
		sub := &mapping{file: m.file}
		if err := inField(field, sub.fill(n)); err != nil {
			return nil, err
		}
		if len(sub.entries) == 0 {
			return nil, m.problem(e, field, "an empty item", "a mapping")
		}
		out = append(out, sub)
	}
	return out, nil
}

// readProfile reads queue classes: all three keys or none.
func readProfile(m *mapping, prefix string) (*router.Profile, error) {
	family, buckets, classes := m.find("default_policy_family"), m.find("uncached_isl_buckets"), m.find("policy_classes")
	if family == nil && buckets == nil && classes == nil {
		return nil, nil
	}
	for _, k := range []struct {
		e    *entry
		name string
	}{{family, "default_policy_family"}, {buckets, "uncached_isl_buckets"}, {classes, "policy_classes"}} {
		if k.e == nil {
			return nil, &workloads.Problem{File: m.file, Field: prefix + k.name, Found: "nothing", Want: "default_policy_family, uncached_isl_buckets and policy_classes together"}
		}
	}
	p := &router.Profile{}
	var err error
	if p.DefaultFamily, err = m.identifier(family, prefix+family.key); err != nil {
		return nil, err
	}
	if p.Buckets, err = readBuckets(m, buckets, prefix+buckets.key); err != nil {
		return nil, err
	}
	items, err := m.items(classes, prefix+classes.key)
	if err != nil {
		return nil, err
	}
	for _, c := range items {
		class, err := readClass(c, prefix+classes.key+".")
		if err != nil {
			return nil, err
		}
		p.Classes = append(p.Classes, class)
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("%s:%d: %s%w", m.file, classes.line, prefix, err)
	}
	return p, nil
}

func readBuckets(m *mapping, e *entry, field string) (list []router.Bucket, err error) {
	items, err := m.items(e, field)
	if err != nil {
		return nil, err
	}
	for _, b := range items {
		if err := b.only(field+".", "min_tokens", "bucket"); err != nil {
			return nil, err
		}
		var bucket router.Bucket
		if bucket.MinTokens, err = b.whole(b.find("min_tokens"), field+".min_tokens"); err != nil {
			return nil, err
		}
		if bucket.Name, err = b.identifier(b.find("bucket"), field+".bucket"); err != nil {
			return nil, err
		}
		list = append(list, bucket)
	}
	return list, nil
}

// readClass reads one class of the queue.
func readClass(m *mapping, prefix string) (c router.Class, err error) {
	if err = m.only(prefix, "name", "policy_family", "cache_bucket", "queue_policy", "quantum", "prefill_busy_threshold",
		"prefill_busy_threshold_frac", "request_queue_limit_per_worker", "raw_isl_token_queue_limit_per_worker", "cached_token_queue_limit_per_worker"); err != nil {
		return c, err
	}
	if c.Name, err = m.identifier(m.find("name"), prefix+"name"); err != nil {
		return c, err
	}
	if c.Quantum, err = m.whole(m.find("quantum"), prefix+"quantum"); err != nil {
		return c, err
	}
	for _, o := range []struct {
		key string
		to  *string
	}{{"policy_family", &c.Family}, {"cache_bucket", &c.Bucket}} {
		if e := m.find(o.key); e != nil {
			if *o.to, err = m.identifier(e, prefix+o.key); err != nil {
				return c, err
			}
		}
	}
	for _, o := range []struct {
		key string
		to  **int64
	}{
		{"prefill_busy_threshold", &c.BusyTokens}, {"request_queue_limit_per_worker", &c.RequestLimit},
		{"raw_isl_token_queue_limit_per_worker", &c.TokenLimit}, {"cached_token_queue_limit_per_worker", &c.CachedLimit},
	} {
		if e := m.find(o.key); e != nil && !absent(e) {
			n, err := m.whole(e, prefix+o.key)
			if err != nil {
				return c, err
			}
			*o.to = &n
		}
	}
	if e := m.find("prefill_busy_threshold_frac"); e != nil && !absent(e) {
		text, ok := scalar(e.node)
		v, ok2 := nonNegative.Parse(text)
		if !ok || !ok2 {
			return c, m.problem(e, prefix+e.key, short(e.node), nonNegative.Expected())
		}
		c.BusyFraction = &v.Num
	}
	if e := m.find("queue_policy"); e != nil {
		switch text, _ := scalar(e.node); text {
		case "fcfs":
		case "wspt":
			c.Order = router.WSPT
		default:
			return c, m.problem(e, prefix+e.key, short(e.node), "fcfs or wspt")
		}
	}
	return c, nil
}

// absent reports whether an entry's value is null.
func absent(e *entry) bool { _, null := e.node.(*ast.NullNode); return null }

func (m *mapping) identifier(e *entry, field string) (string, error) {
	if e == nil {
		return "", m.missing(field, "a name")
	}
	text, ok := scalar(e.node)
	if !ok || !identifier.MatchString(text) {
		return "", m.problem(e, field, short(e.node), "a name of letters, digits, _, . and -")
	}
	return text, nil
}

// mostWhole is the largest whole number of queue classes.
const mostWhole = math.MaxInt64 - 1

func (m *mapping) whole(e *entry, field string) (int64, error) {
	if e == nil {
		return 0, m.missing(field, "a whole number")
	}
	text, ok := scalar(e.node)
	n, err := strconv.ParseInt(text, 10, 64)
	if _, isInt := e.node.(*ast.IntegerNode); !ok || !isInt || err != nil || n < 0 || n > mostWhole {
		return 0, m.problem(e, field, short(e.node), fmt.Sprintf("a whole number from 0 to %d", int64(mostWhole)))
	}
	return n, nil
}

// missing is the error for a key that an item lacks.
func (m *mapping) missing(field, want string) error {
	line := 0
	if len(m.entries) > 0 {
		line = m.entries[0].line
	}
	return &workloads.Problem{File: m.file, Line: line, Field: field, Found: "nothing", Want: want}
}

func (f *policyFile) readModels(m *mapping, e *entry) error {
	models, err := m.under(e, e.key)
	if err != nil {
		return err
	}
	f.models = map[string]*router.Profile{}
	for i := range models.entries {
		own := &models.entries[i]
		sub, err := models.under(own, "models."+own.key)
		if err != nil {
			return err
		}
		prefix := "models." + own.key + "."
		if err := sub.only(prefix, "default_policy_family", "uncached_isl_buckets", "policy_classes"); err != nil {
			return err
		}
		p, err := readProfile(sub, prefix)
		if err != nil {
			return err
		}
		if p == nil {
			return models.problem(own, "models."+own.key, "nothing", "default_policy_family, uncached_isl_buckets and policy_classes")
		}
		f.models[own.key] = p
	}
	return nil
}

// readSelection reads the configured policies and which stage has which.
func (f *policyFile) readSelection(m *mapping, e *entry) error {
	sel, err := m.under(e, e.key)
	if err != nil {
		return err
	}
	if err := sel.only("worker_selection.", append(slices.Clone(policyStages), "instances")...); err != nil {
		return err
	}
	if len(sel.entries) == 0 {
		return m.problem(e, e.key, "nothing", "instances or the selection of a stage")
	}
	if list := sel.find("instances"); list != nil {
		items, err := sel.items(list, "worker_selection.instances")
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := f.readInstance(item); err != nil {
				return err
			}
		}
	}
	f.stages, f.lines = map[string]string{}, map[string]int{}
	for _, stage := range policyStages {
		if e := sel.find(stage); e != nil {
			if f.stages[stage], err = sel.identifier(e, "worker_selection."+stage); err != nil {
				return err
			}
			f.lines[stage] = e.line
			if _, err := f.selected(stage, "", ""); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *policyFile) readInstance(m *mapping) error {
	const prefix = "worker_selection.instances."
	if err := m.only(prefix, "name", "type", "parameters"); err != nil {
		return err
	}
	name, err := m.identifier(m.find("name"), prefix+"name")
	if err != nil {
		return err
	}
	e := m.find("name")
	if name == policy.Default {
		return m.problem(e, prefix+"name", name, "another name: default stands for the built-in policy")
	}
	for i := range f.instances {
		if f.instances[i].name == name {
			return m.problem(e, prefix+"name", name+" again", "each name once")
		}
	}
	kind, err := m.identifier(m.find("type"), prefix+"type")
	if err != nil {
		return err
	}
	parameters, err := m.parameters(prefix)
	if err != nil {
		return err
	}
	p, err := policy.New(kind, parameters)
	if err != nil {
		return fmt.Errorf("%s:%d: %s%s: %w", m.file, m.lineOf(err, e), prefix, name, err)
	}
	f.instances = append(f.instances, instance{name, p})
	return nil
}

// parameters reads the parameters of a policy or a classifier.
func (m *mapping) parameters(prefix string) (map[string]any, error) {
	list := map[string]any{}
	e := m.find("parameters")
	if e == nil || absent(e) {
		return list, nil
	}
	sub, err := m.under(e, prefix+"parameters")
	if err != nil {
		return nil, m.problem(e, prefix+"parameters", short(e.node), "a mapping")
	}
	for i := range sub.entries {
		list[sub.entries[i].key] = plainNode(sub.entries[i].node)
	}
	return list, nil
}

// lineOf returns the line of what an error of a policy or a classifier is about:
// its parameter, or else its type.
func (m *mapping) lineOf(err error, whole *entry) int {
	about := m.find("type")
	var p *policy.ParameterError
	if errors.As(err, &p) {
		about = m.find("parameters")
		if about != nil && !absent(about) {
			if list, bad := m.under(about, ""); bad == nil && list.find(p.Name) != nil {
				about = list.find(p.Name)
			}
		}
	}
	if about == nil {
		about = whole
	}
	return about.line
}

// plainNode is a scalar as a policy's parameters take it.
func plainNode(n ast.Node) any {
	text, _ := scalar(n)
	switch n.(type) {
	case *ast.IntegerNode:
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
	case *ast.FloatNode, *ast.StringNode: // the parser takes 1e3 for a text
		if x, ok := numeral.Real(text); ok && n.GetToken().Type != token.SingleQuoteType && n.GetToken().Type != token.DoubleQuoteType {
			return x
		}
	case *ast.BoolNode:
		return text == "true"
	}
	return short(n)
}
