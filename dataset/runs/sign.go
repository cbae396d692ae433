package runs

import "slices"

// A Sign is seen in the data of one system, or of the run, and says that the input may be wrong, rather
// than the system. While it is not accepted, gates over the metrics that it names have no
// verdict. Package harness defines which signs there are.
type Sign struct {
	Name     string   `json:"name"`
	System   string   `json:"system"`  // "" if it is seen in the run as a whole
	Text     string   `json:"text"`    // what is seen, a sentence without its full stop
	Cases    int64    `json:"cases"`   // of what the sign is about
	Of       int64    `json:"of"`      // all that could be such a case
	Cause    string   `json:"cause"`   // what it probably comes from
	Tip      string   `json:"hint"`    // what to do about it
	Metrics  []string `json:"metrics"` // names of those whose values mean little; none of a note
	Note     bool     `json:"note,omitempty"`
	Accepted bool     `json:"accepted,omitempty"` // the settings list it under accept
}

// Names of the signs that gates ask of by themselves, for the rows that they are about.
const (
	MinDefinedSign       = "min_defined"
	QuestionsMissingSign = "questions_missing"
)

// Counts reports whether the sign takes the verdict from gates over a metric of a
// system; "" is all systems together.
func (s *Sign) Counts(system, metric string) bool {
	return !s.Note && !s.Accepted && (system == "" || s.System == "" || system == s.System) && slices.Contains(s.Metrics, metric)
}

// Shown are the signs, and notes, that a reader of numbers should see: accepted ones are
// left out.
func (m *Manifest) Shown() []Sign {
	return slices.DeleteFunc(slices.Clone(m.Signs), func(s Sign) bool { return s.Accepted })
}

// Sentence is the sign in one line, without its full stop.
func (s *Sign) Sentence() string {
	what := "sign " + s.Name
	if s.Note {
		what = "note " + s.Name
	}
	if s.Accepted {
		what += " (accepted)"
	}
	if s.System != "" {
		what += ", system " + s.System
	}
	return what + ": " + s.Text
}
