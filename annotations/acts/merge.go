package acts

import (
	"cmp"
	"slices"

	"ibid"
	"ibid/annotations"
)

// Adjudicated is the annotator of marks and labels that stand for several opinions.
const Adjudicated = "adjudicated"

// A Decision is what an adjudicator says of an item instead of its annotators.
type Decision struct {
	By     string
	Marks  *[]Mark // nil: not decided
	How    string  // of the marks
	From   []string
	Labels []annotations.BlindLabel
}

// A MergedItem is one line of a merged table, which truth: and labels: of a run read. What
// is undecided is not there.
type MergedItem struct {
	ID     string        `json:"id"`
	System string        `json:"system,omitempty"` // of labels
	Truth  *[]MergedMark `json:"truth,omitempty"`  // an empty list: there is nothing to mark
	Labels []MergedLabel `json:"labels,omitempty"`
}

// A MergedMark is a mark with how it came about.
type MergedMark struct {
	Doc   string `json:"doc"`
	Start int64  `json:"start"` // code points, the end exclusive
	End   int64  `json:"end"`
	Origin
}

// A MergedLabel is a label with how it came about.
type MergedLabel struct {
	annotations.BlindLabel
	Origin
}

// An Origin says how an element of a merged table came about.
type Origin struct {
	Annotator string   `json:"annotator"`  // [Adjudicated]
	DecidedBy string   `json:"decided_by"` // "" if nobody had to
	From      []string `json:"from"`       // whose marks or value it is; none for something new
	How       string   `json:"how"`

	ProposedBy string `json:"proposed_by,omitempty"` // of a label: the judge whose proposals one of From saw
}

func origin(by, how string, from []string) Origin {
	return Origin{Annotator: Adjudicated, DecidedBy: by, From: append([]string{}, from...), How: how}
}

// Merging says what stands for several opinions.
type Merging struct {
	// Rule decides where nobody did: [ibid.PolicyUnion] or [ibid.PolicyIntersection]; with
	// "" what is not decided stays open.
	Rule ibid.Policy
}

func people(said []Opinion) []string {
	var out []string
	for _, o := range said {
		out = append(out, o.Annotator)
	}
	return out
}

// Truth is what stands for opinions on the marks of an item, nil if it is undecided: the
// decision if there is one, the only opinion, what all said alike, or what the rule gives.
func (m Merging) Truth(said []Opinion, d *Decision) *[]MergedMark {
	var marks []Mark
	var by Origin
	switch {
	case d != nil && d.Marks != nil:
		marks, by = *d.Marks, origin(d.By, d.How, d.From)
	case len(said) == 0:
		return nil
	case len(said) == 1:
		marks, by = said[0].Marks, origin("", HowTake, people(said))
	case Agreement(said) == 1:
		marks, by = Combine(ibid.PolicyUnion, said), origin("", HowEqual, people(said))
	case m.Rule != "":
		marks, by = Combine(m.Rule, said), origin("", string(m.Rule), people(said))
	default:
		return nil
	}
	out := []MergedMark{}
	for _, x := range marks {
		out = append(out, MergedMark{x.Doc, x.Start, x.End, by})
	}
	return &out
}

// Labels are what stands for opinions on the questions of an item, in the order in which
// these were answered first, and how many are undecided.
func (m Merging) Labels(said []Opinion, d *Decision) (out []MergedLabel, open int) {
	for _, q := range questions(said, d) {
		var from []string
		var opinions []ibid.Opinion
		for _, o := range said {
			if v, ok := Answer(q, o.Labels); ok {
				from, opinions = append(from, o.Annotator), append(opinions, ibid.Opinion{Annotator: o.Annotator, Value: v})
			}
		}
		same := !slices.ContainsFunc(opinions, func(o ibid.Opinion) bool { return o.Value != opinions[0].Value })
		var value float64
		var by Origin
		decided, ok := 0.0, false
		if d != nil {
			decided, ok = Answer(q, d.Labels)
		}
		switch {
		case ok && !(same && len(opinions) > 0 && opinions[0].Value == decided):
			value, by = decided, origin(d.By, HowNew, nil)
			for _, o := range opinions {
				if o.Value == value {
					by.How, by.From = HowTake, append(by.From, o.Annotator)
				}
			}
		case same && len(opinions) == 1:
			value, by = opinions[0].Value, origin("", HowTake, from)
		case same:
			value, by = opinions[0].Value, origin("", HowEqual, from)
		case m.Rule != "":
			value, _ = m.Rule.Label(opinions)
			by = origin("", string(m.Rule), from)
		default:
			open++
			continue
		}
		for _, o := range said {
			if o.Shown != "" && slices.Contains(by.From, o.Annotator) {
				by.ProposedBy = o.Shown
			}
		}
		q.Value = &value
		out = append(out, MergedLabel{q, by})
	}
	return out, open
}

// questions are those that somebody answered, each once and without the answer.
func questions(said []Opinion, d *Decision) []annotations.BlindLabel {
	var out []annotations.BlindLabel
	add := func(labels []annotations.BlindLabel) {
		for _, l := range labels {
			answered := l.Value != nil
			if l.Value = nil; answered && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	for _, o := range said {
		add(o.Labels)
	}
	if d != nil {
		add(d.Labels)
	}
	return out
}

// Answer is what labels answer to a question.
func Answer(q annotations.BlindLabel, labels []annotations.BlindLabel) (value float64, ok bool) {
	for _, l := range labels {
		if l.ClaimID == q.ClaimID && l.CitationID == q.CitationID && l.Kind == q.Kind && l.Value != nil {
			return *l.Value, true
		}
	}
	return 0, false
}

// Decides is what an adjudicator says of an item, nil if that is nothing.
func (s *State) Decides(by string) *Decision {
	d := &Decision{By: by, How: cmp.Or(s.How, HowNew), From: s.From}
	if s.Done[Truth] {
		d.Marks = &s.Marks
	}
	if s.Done[Labels] {
		d.Labels = s.Labels
	}
	if d.Marks == nil && d.Labels == nil {
		return nil
	}
	return d
}
