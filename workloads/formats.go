package workloads

// The formats that Open reads.
const (
	FormatMooncake = "mooncake"       // one JSON object per request
	FormatDelta    = "mooncake-delta" // the same, a later turn holding only its new tokens
	FormatDynamo   = "dynamo"         // request trace "dynamo.request.trace.v1"
)
