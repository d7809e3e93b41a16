package workloads

import (
	"fmt"
	"math"
)

// AppliedCompute is a session of an agent with its tools: num_turns times the
// model answers and a tool runs, then the model answers once more.
type AppliedCompute struct {
	Turns         int32     `json:"num_turns"`
	Prompt        int32     `json:"input_prompt_length"`             // tokens of the first turn
	Responses     []int32   `json:"assistant_response_length"`       // tokens, by turn
	ToolOutputs   []int32   `json:"tool_call_output_length"`         // tokens, by turn
	ToolLatencies []float64 `json:"tool_call_latency"`               // seconds, by turn
	Final         int32     `json:"final_assistant_response_length"` // tokens
}

// FromApplied builds a closed-loop trace of such sessions, one after the other.
// A turn's prompt is the one before, the answer to it and the tool's output. The
// first prompts of every groups-th session begin alike, for the given share of
// their blocks; groups 0 is no such beginning.
func FromApplied(sessions []AppliedCompute, blockSize int32, share float64, groups int) (*Trace, error) {
	b := NewBuilder(BuilderOptions{BlockSize: blockSize, ClosedLoop: true})
	next := uint64(0)
	fresh := func(ids []uint64, tokens int32) []uint64 {
		for int64(len(ids))*int64(blockSize) < int64(tokens) {
			ids = append(ids, next)
			next++
		}
		return ids
	}
	heads := make([][]uint64, groups)
	for i := range sessions {
		s := &sessions[i]
		if n := int(s.Turns); n < 0 || len(s.Responses) != n || len(s.ToolOutputs) != n || len(s.ToolLatencies) != n {
			return nil, &Problem{File: "trace", Line: i + 1, Field: "num_turns", Found: fmt.Sprint(s.Turns),
				Want: "as many responses, tool outputs and latencies"}
		}
		var ids []uint64
		if groups > 0 && share > 0 {
			head := &heads[i%groups]
			blocks := (int64(s.Prompt) + int64(blockSize) - 1) / int64(blockSize)
			n := int(math.Round(float64(blocks) * share))
			for len(*head) < n {
				*head = append(*head, next)
				next++
			}
			ids = append(ids, (*head)[:n]...)
		}
		prompt := s.Prompt
		for turn := range s.Turns + 1 {
			row := Row{Line: int32(b.t.Len()) + 1, Timestamp: math.NaN(), InputLength: prompt, OutputLength: s.Final,
				SessionID: fmt.Sprintf("applied_compute_agentic_session_%d", i+1)}
			if turn < s.Turns {
				row.OutputLength = s.Responses[turn]
			}
			if turn > 0 {
				delay := float64(s.ToolLatencies[turn-1] * 1000)
				row.Delay = &delay
			}
			ids = fresh(ids, prompt)
			row.HashIDs = ids
			if err := b.Add(row); err != nil {
				return nil, err
			}
			if turn < s.Turns {
				prompt += s.Responses[turn] + s.ToolOutputs[turn]
			}
		}
	}
	return b.Build()
}
