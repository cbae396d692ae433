package convert

import (
	"slices"
	"strings"

	"ibid/dataset"
)

// The values of labels of support, by what people could choose. See the guide for
// annotators.
var studioSupport = map[string]float64{
	"supported": 1, "fully supported": 1, "full": 1, "fully": 1, "full support": 1, "supports": 1, "attributable": 1, "complete": 1, "yes": 1,
	"mostly supported": 0.8, "mostly": 0.8, "mostly supports": 0.8,
	"partially supported": 0.5, "partly supported": 0.5, "partial": 0.5, "partially": 0.5, "partly": 0.5, "partial support": 0.5, "partially supports": 0.5,
	"not supported": 0, "unsupported": 0, "no support": 0, "none": 0, "not attributable": 0, "incomplete": 0, "no": 0,
	"contradicted": 0, "contradicts": 0, "contradictory": 0, "refuted": 0, "refutes": 0,
}

// The same of questions for yes or no.
var studioYesNo = map[string]float64{
	"yes": 1, "true": 1, "relevant": 1, "factual": 1, "needed": 1, "needs citation": 1,
	"no": 0, "false": 0, "irrelevant": 0, "not relevant": 0, "not factual": 0, "not needed": 0, "needs no citation": 0,
}

// studioUnsure are answers that say nothing.
var studioUnsure = []string{"unsure", "not sure", "unclear", "unknown", "cannot tell", "can't tell", "undecided", "n/a", "skip"}

// studioKinds are the kinds of labels, by a part of the names of controls.
var studioKinds = []struct{ part, kind string }{
	{"needs citation", "needs_citation"},
	{"relevan", "relevant"},
	{"factual", "factual"},
	{"support", "support"},
	{"verdict", "support"},
	{"attribut", "support"},
	{"entail", "support"},
}

// studioWord is a name or an option, so that its form does not count.
func studioWord(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(s))), " ")
}

// kindOfControl is the kind of label that a control asks for, "" if it is none.
func kindOfControl(name string) string {
	name = studioWord(name)
	for _, k := range studioKinds {
		if strings.Contains(name, k.part) {
			return k.kind
		}
	}
	return ""
}

// question is what a choice answers: a label without annotator and value. ok is false
// if it answers nothing that we know.
func (t *studioTask) question(control string) (q dataset.Label, ok bool) {
	if t.blind != nil {
		return t.blind.question(control)
	}
	q = dataset.Label{Kind: kindOfControl(control), ClaimID: t.claimID}
	if q.ClaimID == "" && t.answer != "" {
		q.ClaimID = wholeAnswerClaim
	}
	return q, q.Kind != "" && q.ClaimID != ""
}

// wholeAnswerClaim is the id of the claim that is the answer as a whole.
const wholeAnswerClaim = "answer"

// verdictOf is the value of a choice. decided is false if the person did not decide;
// reason says why the choice cannot be understood.
func verdictOf(kind string, options []string) (value float64, decided bool, reason string) {
	if len(options) == 0 {
		return 0, false, ""
	}
	if len(options) > 1 {
		return 0, false, "more than one option was chosen"
	}
	word := studioWord(options[0])
	if slices.Contains(studioUnsure, word) {
		return 0, false, ""
	}
	values := studioYesNo
	if kind == "support" {
		values = studioSupport
	}
	value, decided = values[word]
	if !decided {
		return 0, false, "unknown option " + quoted(options[0])
	}
	return value, true, ""
}
