package runs

// A Verdict is what became of a gate.
type Verdict string

// The verdicts.
const (
	Passed    Verdict = "pass"
	Failed    Verdict = "fail"
	NoVerdict Verdict = "no verdict" // the value is undefined, or rests on too little
	NotAsked  Verdict = "not asked"  // there is nothing yet to compare the run with; it fails nothing
)

// A GateResult is a gate with what it looked at.
type GateResult struct {
	Gate    string   `json:"gate"`
	Verdict Verdict  `json:"verdict"`
	Value   *float64 `json:"value"`            // nil when undefined
	Detail  string   `json:"detail,omitempty"` // what a difference rests on
	Reason  string   `json:"reason,omitempty"` // why there is no verdict, or no value
}
