// Package gate says whether routing got worse: it compares what a suite of
// scenarios gives now with a baseline that was kept, and finds the decisions in
// which they differ. It runs nothing and reads no files but the texts it is
// given.
//
//	s, err := gate.ParseSuite("gate.yaml", text)
//	now := []gate.Outcome{...} // one per scenario, made with Measure
//	r := gate.Judge(s, base, now, gate.Options{})
//	err = gate.WriteText(w, r)
package gate

// Verdict is what a comparison comes to.
type Verdict uint8

// The verdicts. A later one takes precedence over an earlier one.
const (
	Pass             Verdict = iota
	BehaviourChanged         // decisions differ and nothing is worse beyond its tolerance
	Regression               // something is worse beyond its tolerance, or requests were lost
	Invalid                  // there is nothing fair to compare with
)

// String returns the verdict's name.
func (v Verdict) String() string {
	return [...]string{"PASS", "BEHAVIOUR_CHANGED", "REGRESSION", "INVALID"}[v]
}

// ExitCode is the code that a program ends with after the verdict.
func (v Verdict) ExitCode() int { return [...]int{0, 3, 1, 2}[v] }

// MarshalJSON implements json.Marshaler.
func (v Verdict) MarshalJSON() ([]byte, error) { return []byte(`"` + v.String() + `"`), nil }

// Options change how a comparison is judged.
type Options struct {
	// AllowBehaviourChange turns the exit code of a change of behaviour into 0.
	// The verdict stays.
	AllowBehaviourChange bool
	// SkipDigests leaves the decisions alone and judges by the metrics only, for
	// runs whose seeds were shifted.
	SkipDigests bool
	// Partial says that only some scenarios of the suite were run.
	Partial bool
	// Before and After name the two sides; "" is baseline and now.
	Before, After string
	// Update is the command that writes the baseline anew, "" where there is
	// none.
	Update string
}
