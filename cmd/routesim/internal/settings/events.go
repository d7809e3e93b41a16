package settings

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// validObject says what is wrong with a JSON object. What takes it looks into
// it.
func validObject(text string) error {
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	if v == nil {
		return errors.New("found null")
	}
	return nil
}

// members reads a JSON object that was given for a setting. Each key may be there
// once: of two values one would be dropped without a word.
func (g *Given) members(text string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(strings.NewReader(text))
	wrong := g.problem(show(text), g.Setting.Kind.Expected())
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, wrong
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, wrong
		}
		name := key.(string) // the decoder takes nothing else for a key
		if _, again := members[name]; again {
			return nil, g.problem("the key "+show(name)+" again", "each key once")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, wrong
		}
		members[name] = value
	}
	return members, nil
}

// eventKeys are the keys of vLLM's KVEventsConfig with what their values are.
func eventKeys() map[string]string {
	return map[string]string{
		"enable_kv_cache_events": "true or false", "publisher": "zmq or null", "endpoint": "a text", "replay_endpoint": "a text or null",
		"buffer_steps": "a whole number", "hwm": "a whole number", "max_queue_size": "a whole number", "topic": "a text",
	}
}

// fits reports whether a value of JSON is what eventKeys says.
func fits(raw json.RawMessage, want string) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case bool:
		return want == "true or false"
	case string:
		return want == "a text" || want == "a text or null" || want == "zmq or null" && (v == "zmq" || v == "null")
	case float64:
		return want == "a whole number" && !strings.ContainsAny(string(raw), ".eE")
	case nil:
		return want == "zmq or null" || want == "a text or null"
	}
	return false
}

// settleEvents takes what vLLM's description of KV events says of the workers.
// Without one they publish as worker-kv-events says; in one they publish only if
// it switches events on and leaves the publisher (null is one that sends
// nothing).
func (r *resolution) settleEvents() error {
	text := r.Run.EventsConfig
	if text == "" {
		return nil
	}
	s, _ := r.table.Lookup("kv-events-config")
	given := r.best.of(s).given
	members, err := given.members(text)
	if err != nil {
		return err
	}
	known := eventKeys()
	for _, key := range slices.Sorted(maps.Keys(members)) {
		want, ok := known[key]
		switch {
		case !ok:
			return given.unknownMember(key, slices.Sorted(maps.Keys(known)))
		case !fits(members[key], want):
			return given.problem(show(string(members[key]))+" of "+key, want)
		}
	}
	if string(members["enable_kv_cache_events"]) != "true" || string(members["publisher"]) == `"null"` {
		r.Run.WorkerKVEvents = false
	}
	return nil
}
