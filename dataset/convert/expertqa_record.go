package convert

import (
	"slices"

	"ibid/dataset"
)

// An expertRecord is one line of ExpertQA.
type expertRecord struct {
	json     jsonReader
	question string
	tags     []dataset.Tag
	answers  []expertAnswer
	kept     []keptMember // of the record itself
	unknown  []string     // dotted names of members that ExpertQA does not have
}

// An expertAnswer is what one system answered.
type expertAnswer struct {
	system    string
	text      string
	annotator string
	claims    []expertClaim
	kept      []keptMember
}

// An expertClaim is one claim of an answer; support is "" for null.
type expertClaim struct {
	text, support string
	evidence      []string
}

// A keptMember is a member that has no column, under its place in the answer or
// the record; value is JSON and part of the line.
type keptMember struct {
	name  string
	value []byte
}

// Members of ExpertQA's answers and claims that have no column of ours.
var (
	expertAnswerMembers = []string{"attribution", "revised_answer_string", "usefulness", "annotation_time"}
	expertClaimMembers  = []string{
		"reason_missing_support", "informativeness", "worthiness", "correctness", "reliability",
		"revised_claim", "revised_evidence", "source_reliability", "revised_claim_string",
	}
	expertMetadata = []string{"question_type", "field", "specific_field"}
	supports       = []string{"Complete", "Partial", "Incomplete", "Missing", "N/A"}
)

// decode reads one line. What it leaves is valid until the line is.
func (e *expertRecord) decode(line []byte) *jsonError {
	j := &e.json
	j.reset(line)
	*e = expertRecord{json: *j, tags: e.tags[:0], answers: e.answers[:0], kept: e.kept[:0], unknown: e.unknown[:0]}
	if m := mark(line); m != "" {
		return &jsonError{0, "the line begins with " + m}
	}
	if j.skipSpace() == 0 && j.pos == len(line) {
		return &jsonError{0, "empty line"}
	}
	annotator := e.members()
	j.end()
	same := true // the record's annotator is every answer's
	for i := range e.answers {
		a := &e.answers[i]
		if a.annotator == "" {
			a.annotator = annotator
		}
		same = same && a.annotator == annotator
	}
	if !same && annotator != "" {
		e.kept = append(e.kept, keptMember{"annotator_id", jsonString(annotator)})
	}
	return j.err
}

// members reads the record's own members and returns its annotator.
func (e *expertRecord) members() (annotator string) {
	j := &e.json
	var found present
	start := j.pos
	j.object(func(name string) {
		found.add(name)
		switch name {
		case "question":
			e.question = j.text()
		case "annotator_id":
			annotator, _ = j.optionalText()
		case "metadata":
			e.metadata()
		case "answers":
			j.object(func(system string) {
				e.answers = append(e.answers, expertAnswer{system: system})
				e.answer(&e.answers[len(e.answers)-1])
			})
		default:
			e.keep(&e.kept, name, name)
		}
	})
	found.require(j, start, "question", "answers")
	if j.err == nil && len(e.answers) == 0 {
		j.fail(start, "answers: no system has answered")
	}
	return annotator
}

func (e *expertRecord) metadata() {
	j := &e.json
	if j.null() {
		return
	}
	j.object(func(name string) {
		if !slices.Contains(expertMetadata, name) {
			e.keep(&e.kept, "metadata."+name, "metadata."+name)
		} else if value, given := j.optionalText(); given {
			e.tags = append(e.tags, dataset.Tag{Key: name, Value: value})
		}
	})
}

func (e *expertRecord) answer(a *expertAnswer) {
	j := &e.json
	if a.system == "" {
		a.system = "default"
	}
	var found present
	j.skipSpace()
	start := j.pos
	j.object(func(name string) {
		found.add(name)
		switch name {
		case "answer_string":
			a.text = j.text()
		case "annotator_id":
			a.annotator, _ = j.optionalText()
		case "claims":
			j.list(func(int) {
				a.claims = append(a.claims, expertClaim{})
				e.claim(a, len(a.claims)-1)
			})
		default:
			unknown := ""
			if !slices.Contains(expertAnswerMembers, name) {
				unknown = "answers." + name
			}
			e.keep(&a.kept, name, unknown)
		}
	})
	found.require(j, start, "answer_string", "claims")
}

func (e *expertRecord) claim(a *expertAnswer, i int) {
	j, c := &e.json, &a.claims[i]
	at := indexed("claims", i)
	var found present
	j.skipSpace()
	start := j.pos
	j.object(func(name string) {
		found.add(name)
		switch name {
		case "claim_string":
			c.text = j.text()
		case "evidence":
			c.evidence, _ = j.texts()
		case "support":
			c.support = j.oneOf(supports)
		default:
			unknown := ""
			if !slices.Contains(expertClaimMembers, name) {
				unknown = "answers.claims." + name
			}
			e.keep(&a.kept, at+"."+name, unknown)
		}
	})
	found.require(j, start, "claim_string", "evidence", "support")
}

// keep stores a member that has no column. unknown is its name for the report,
// "" if ExpertQA has it.
func (e *expertRecord) keep(to *[]keptMember, name, unknown string) {
	value := e.json.raw()
	if e.json.err != nil {
		return
	}
	*to = append(*to, keptMember{name, value})
	if unknown != "" {
		e.unknown = append(e.unknown, clipped(unknown))
	}
}
