package workloads

import (
	"bytes"
	"math"
	"strconv"
)

// dynamoEvent is one line of a Dynamo request trace as written.
type dynamoEvent struct {
	kind      string
	schema    []byte
	agent     bool // names an agent session
	id        []byte
	end       uint64 // ms since the epoch
	received  uint64 // ms since the epoch
	output    uint64
	input     uint64
	blockSize uint64
	hashes    []uint64
	row       dynamoRow // only its recorded outcomes
	have      fields
}

// What a line holds. The outer object, the request and its replay part are
// watched for repeated keys in one set, since their keys are distinct.
const (
	dEvent fields = 1 << iota
	dSchema
	dKind
	dEnd
	dAgent
	dRequest
	dID
	dOutput
	dReceived
	dTotal
	dReplay
	dBlockSize
	dInput
	dHashes
	dCached
	dTTFT
	dITL
	dWorker
	dDecodeID
	dDecodeRank
	dPrefillID
	dPrefillRank
)

func (ev *dynamoEvent) reset() {
	*ev = dynamoEvent{hashes: ev.hashes[:0], row: dynamoRow{
		decodeRank: -1, prefillRank: -1, decodeWorker: NoWorker, prefillWorker: NoWorker,
		cached: -1, ttft: math.NaN(), itl: math.NaN(), total: math.NaN(),
	}}
}

// decodeEvent reads a line, which may be wrapped as {"event": ...}.
func (d *decoder) decodeEvent(line []byte, ev *dynamoEvent) *Problem {
	if bytes.Contains(line, []byte(`"event"`)) {
		d.reset(line)
		ev.reset()
		wrapped, p := d.wrappedEvent(ev)
		if p != nil {
			return p
		}
		if wrapped {
			return ev.checkKind()
		}
	}
	d.reset(line)
	ev.reset()
	var seen fields
	if p := d.row(func(key string) *Problem { return d.eventField(key, &seen, ev) }); p != nil {
		return p
	}
	return ev.checkKind()
}

// wrappedEvent reads the object under the key "event"; false if there is none.
func (d *decoder) wrappedEvent(ev *dynamoEvent) (wrapped bool, p *Problem) {
	var outer, seen fields
	p = d.row(func(key string) *Problem {
		if key != "event" {
			return d.skip()
		}
		if p := once(&outer, dEvent, key); p != nil {
			return p
		}
		wrapped = true
		return d.object(key, "an event object", func(key string) *Problem { return d.eventField(key, &seen, ev) })
	})
	return wrapped, p
}

// checkKind lets rows pass that replay takes no part of, whatever they hold
// besides valid JSON, and checks what kind of row the others are.
func (ev *dynamoEvent) checkKind() *Problem {
	switch ev.kind {
	case "request_payload", "tool_start", "tool_end", "tool_error":
		return nil
	case "":
		return &Problem{Field: "event_type", Found: nothing, Want: wantKind}
	case "request_end":
	default:
		return &Problem{Field: "event_type", Found: strconv.Quote(ev.kind), Want: wantKind}
	}
	if string(ev.schema) != dynamoSchema {
		found := nothing
		if ev.schema != nil {
			found = strconv.Quote(string(ev.schema))
		}
		return &Problem{Field: "schema", Found: found, Want: strconv.Quote(dynamoSchema)}
	}
	if ev.agent {
		return &Problem{Field: "agent_context", Found: "a request of an agent session", fatal: true,
			Want: "requests without agent_context (agentic replay is not supported)"}
	}
	return nil
}

const wantKind = `"request_end" (or a row to pass over: request_payload, tool_start, tool_end, tool_error)`

// eventField reads one member of the event.
func (d *decoder) eventField(key string, seen *fields, ev *dynamoEvent) (p *Problem) {
	f := eventKey(key)
	if f == 0 {
		return d.skip()
	}
	if p := once(seen, f, key); p != nil {
		return p
	}
	if d.null() {
		return nil
	}
	ev.have |= f
	switch f {
	case dSchema:
		if d.dec.PeekKind() != '"' {
			// A payload row may hold anything here; the others are refused later.
			ev.schema = []byte{}
			return d.skip()
		}
		ev.schema, p = d.text(key, wantText)
	case dKind:
		var kind []byte
		kind, p = d.text(key, wantText)
		ev.kind = string(kind)
	case dEnd:
		ev.end, p = d.uint(key, math.MaxInt64, wantUnixMS)
	case dAgent:
		ev.agent = true
		return d.skip()
	case dRequest:
		return d.object(key, "an object", func(key string) *Problem { return d.requestField(key, seen, ev) })
	}
	return p
}

const (
	wantUnixMS  = "whole milliseconds since 1970"
	wantLasting = "0 ms or more"
)

func eventKey(key string) fields {
	switch key {
	case "schema":
		return dSchema
	case "event_type":
		return dKind
	case "event_time_unix_ms":
		return dEnd
	case "agent_context":
		return dAgent
	case "request":
		return dRequest
	}
	return 0
}

func requestKey(key string) fields {
	switch key {
	case "request_id":
		return dID
	case "output_tokens":
		return dOutput
	case "request_received_ms":
		return dReceived
	case "total_time_ms":
		return dTotal
	case "cached_tokens":
		return dCached
	case "ttft_ms":
		return dTTFT
	case "avg_itl_ms":
		return dITL
	case "worker":
		return dWorker
	case "replay":
		return dReplay
	}
	return 0
}

// requestField reads one member of the request.
func (d *decoder) requestField(key string, seen *fields, ev *dynamoEvent) (p *Problem) {
	f := requestKey(key)
	if f == 0 {
		return d.skip()
	}
	name := "request." + key
	if p := once(seen, f, name); p != nil {
		return p
	}
	if d.null() {
		return nil
	}
	ev.have |= f
	switch f {
	case dID:
		ev.id, p = d.text(name, wantText)
	case dOutput:
		ev.output, p = d.uint(name, math.MaxInt32, wantTokens)
	case dReceived:
		ev.received, p = d.uint(name, math.MaxInt64, wantUnixMS)
	case dTotal:
		ev.row.total, p = d.duration(name)
	case dTTFT:
		ev.row.ttft, p = d.duration(name)
	case dITL:
		ev.row.itl, p = d.duration(name)
	case dCached:
		var n uint64
		n, p = d.uint(name, math.MaxInt32, wantTokens)
		ev.row.cached = int64(n)
	case dWorker:
		return d.object(name, "an object", func(key string) *Problem { return d.workerField(key, seen, ev) })
	case dReplay:
		return d.object(name, "an object", func(key string) *Problem { return d.replayField(key, seen, ev) })
	}
	return p
}

// duration reads a time of 0 ms or more.
func (d *decoder) duration(field string) (float64, *Problem) {
	x, p := d.float(field, wantMS)
	if p == nil && x < 0 {
		p = &Problem{Field: field, Found: number(x), Want: wantLasting}
	}
	return x, p
}

// replayField reads one member of the part that replay needs.
func (d *decoder) replayField(key string, seen *fields, ev *dynamoEvent) (p *Problem) {
	var f fields
	switch key {
	case "trace_block_size":
		f = dBlockSize
	case "input_length":
		f = dInput
	case "input_sequence_hashes":
		f = dHashes
	default:
		return d.skip()
	}
	name := "request.replay." + key
	if p := once(seen, f, name); p != nil {
		return p
	}
	if d.null() {
		return nil
	}
	ev.have |= f
	switch f {
	case dBlockSize:
		ev.blockSize, p = d.uint(name, math.MaxInt32, wantTokens)
	case dInput:
		ev.input, p = d.uint(name, math.MaxInt32, wantTokens)
	case dHashes:
		ev.hashes, p = d.uints(ev.hashes, name, math.MaxUint64)
	}
	return p
}

// workerField reads one member of the recorded placement.
func (d *decoder) workerField(key string, seen *fields, ev *dynamoEvent) (p *Problem) {
	var f fields
	switch key {
	case "decode_worker_id":
		f = dDecodeID
	case "decode_dp_rank":
		f = dDecodeRank
	case "prefill_worker_id":
		f = dPrefillID
	case "prefill_dp_rank":
		f = dPrefillRank
	default:
		return d.skip()
	}
	name := "request.worker." + key
	if p := once(seen, f, name); p != nil {
		return p
	}
	if d.null() {
		return nil
	}
	most := uint64(math.MaxInt32)
	if f == dDecodeID || f == dPrefillID {
		most = NoWorker - 1
	}
	n, p := d.uint(name, most, "a whole number from 0 to "+strconv.FormatUint(most, 10))
	switch f {
	case dDecodeID:
		ev.row.decodeWorker = n
	case dDecodeRank:
		ev.row.decodeRank = int32(n)
	case dPrefillID:
		ev.row.prefillWorker = n
	case dPrefillRank:
		ev.row.prefillRank = int32(n)
	}
	return p
}

// complete names the first part that a finished request lacks.
func (ev *dynamoEvent) complete() *Problem {
	for _, need := range []struct {
		f           fields
		field, want string
	}{
		{dEnd, "event_time_unix_ms", wantUnixMS},
		{dRequest, "request", "the metrics of the request"},
		{dID, "request.request_id", "the name of the request"},
		{dOutput, "request.output_tokens", "the number of output tokens"},
		{dReplay, "request.replay", "the prompt's blocks (capture the trace with replay hashes)"},
		{dBlockSize, "request.replay.trace_block_size", "the tokens per hash"},
		{dInput, "request.replay.input_length", "the prompt's length in tokens"},
		{dHashes, "request.replay.input_sequence_hashes", "one hash per block of the prompt"},
	} {
		if ev.have&need.f == 0 {
			return &Problem{Field: need.field, Found: nothing, Want: need.want}
		}
	}
	if len(ev.id) == 0 {
		return &Problem{Field: "request.request_id", Found: `""`, Want: "the name of the request"}
	}
	return nil
}

// checkLengths compares the prompt's length with its hashes.
func (ev *dynamoEvent) checkLengths() *Problem {
	const field = "request.replay.input_length"
	if ev.input == 0 {
		return &Problem{Field: field, Found: "0", Want: "1 to 2147483647 tokens"}
	}
	if room := uint64(len(ev.hashes)) * ev.blockSize; ev.input > room {
		return &Problem{Field: field, Found: strconv.FormatUint(ev.input, 10),
			Want: "at most " + strconv.FormatUint(room, 10) + ", since " + strconv.Itoa(len(ev.hashes)) + " hashes of " +
				strconv.FormatUint(ev.blockSize, 10) + " tokens hold no more"}
	}
	return nil
}

// start returns when the request was received: as recorded, else as long
// before its end as it took, in whole milliseconds and not before 1970.
func (ev *dynamoEvent) start() uint64 {
	if ev.have&dReceived != 0 {
		return ev.received
	}
	took := math.Round(ev.row.total)
	if !(took > 0) {
		return ev.end
	}
	if took >= float64(ev.end) {
		return 0
	}
	return ev.end - uint64(took)
}

// finish returns when the request ended, in ms of the unix clock: its start and
// its recorded duration in whole ms; without one, the time of the event.
func (ev *dynamoEvent) finish() uint64 {
	took := math.Round(ev.row.total)
	if !(took >= 0) {
		return ev.end
	}
	return ev.start() + uint64(min(took, 1<<62)) // both halves of the sum are below 2^63
}
