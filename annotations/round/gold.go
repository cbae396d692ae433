package round

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/dataset"
	"ibid/metrics/span"
)

// An Opinion is what one annotator says of one question or answer.
type Opinion struct {
	Annotator string  `json:"annotator"`
	Marks     []Mark  `json:"marks"` // nil: did not look for places; [] marked none
	Labels    []Label `json:"labels,omitempty"`
	Earlier   bool    `json:"-"` // the data had it before the round
}

// OpinionsOf returns the opinion of each annotator of a row; its places have to be resolved.
// An annotator with a mark that lies in no text has no marks. The first answer of an annotator
// to a question counts. Labels without a name are one person's each.
func OpinionsOf(row *ibid.Answer) []Opinion {
	var out []Opinion
	of := func(name string) *Opinion {
		i := slices.IndexFunc(out, func(o Opinion) bool { return o.Annotator == name })
		if i < 0 {
			i = len(out)
			out = append(out, Opinion{Annotator: strings.Clone(name)})
		}
		return &out[i]
	}
	unclear := make(map[string]bool)
	for i := range row.Truth {
		t := &row.Truth[i]
		o := of(t.Annotator)
		switch unclear[t.Annotator] = unclear[t.Annotator] || !t.DocNull && !t.Place.InSets(); {
		case unclear[t.Annotator]:
			o.Marks = nil
		case t.DocNull:
			o.Marks = append([]Mark{}, o.Marks...)
		default:
			o.Marks = append(o.Marks, Mark{Doc: strings.Clone(t.Place.Doc), Start: t.Place.Start, End: t.Place.End})
		}
	}
	for i := range row.Labels {
		l := &row.Labels[i]
		if !annotations.Answered(l) {
			continue
		}
		o := of(cmp.Or(l.Annotator, ibid.UnnamedAnnotator(i)))
		q := Label{ClaimID: strings.Clone(l.ClaimID), CitationID: strings.Clone(l.CitationID), Kind: strings.Clone(l.Kind)}
		if _, again := answer(q, o.Labels); !again {
			q.Value = new(l.Value.Value)
			o.Labels = append(o.Labels, q)
		}
	}
	return out
}

// An Asked is a question, or an answer to one, with what everybody says of it.
type Asked struct {
	Item   int // of a round
	ID     string
	System string
	Said   []Opinion

	decision *State
	by       string // who decided
}

// Asked are the items of the round with what those say who are done with them, and what the
// data had before. Without a key items have their own names.
func (r *Round) Asked() []Asked {
	out := make([]Asked, len(r.Items))
	for i := range r.Items {
		it := &r.Items[i]
		out[i] = Asked{Item: i, ID: it.ID}
		for _, p := range r.People {
			s, ok := p.States[it.ID]
			switch {
			case !ok || !s.Done:
			case p.Role == Decider:
				out[i].decision, out[i].by = &s, p.Name
			default:
				out[i].Said = append(out[i].Said, s.opinion(it, p.Name))
			}
		}
	}
	if r.Key == nil {
		return out
	}
	for _, k := range r.Key.Items {
		if i, ok := r.index[k.Item]; ok {
			out[i].ID, out[i].System = k.ID, k.System
		}
	}
	for _, s := range r.Key.Said {
		if i, ok := r.index[s.Item]; ok {
			out[i].Said = append(out[i].Said, Opinion{Annotator: s.Annotator, Marks: s.Truth, Labels: s.Labels, Earlier: true})
		}
	}
	return out
}

// AskedOf are the questions and answers of a dataset with what its annotators say. Of a
// question that several rows have, the first with marks counts.
func AskedOf(ctx context.Context, answers Answers) ([]Asked, error) {
	var truths, labels []Asked
	seen := make(map[string]bool)
	err := answers.Each(ctx, func(row *ibid.Answer, _ *dataset.Resolver) error {
		said := OpinionsOf(row)
		if len(said) == 0 {
			return nil
		}
		id := strings.Clone(row.ID)
		if !seen[id] && len(row.Truth) > 0 {
			seen[id] = true
			looked := marked(said)
			for i := range looked {
				looked[i].Labels = nil
			}
			truths = append(truths, Asked{ID: id, Said: looked})
		}
		for i := range said {
			said[i].Marks = nil
		}
		labels = append(labels, Asked{ID: id, System: strings.Clone(row.System), Said: said})
		return nil
	})
	return append(truths, labels...), err
}

// opinion is what a finished state says.
func (s *State) opinion(it *Item, name string) Opinion {
	o := Opinion{Annotator: name, Labels: answered(s.Labels)}
	if it.Purpose == Truth {
		o.Marks, o.Labels = append([]Mark{}, s.Truth...), nil
	}
	return o
}

// Answer is what the opinion answers to a question.
func (o *Opinion) Answer(q Label) (value float64, ok bool) { return answer(q, o.Labels) }

// answered are the labels with a value.
func answered(labels []Label) []Label {
	return slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Value == nil })
}

// answer is what labels answer to a question.
func answer(q Label, labels []Label) (value float64, ok bool) {
	i := slices.IndexFunc(labels, func(l Label) bool { return l.Value != nil && l.question() == q.question() })
	if i < 0 {
		return 0, false
	}
	return *labels[i].Value, true
}

// marked are the opinions of those who looked for places.
func marked(said []Opinion) []Opinion {
	return slices.DeleteFunc(slices.Clone(said), func(o Opinion) bool { return o.Marks == nil })
}

// Combine merges the marks of several opinions under a policy. The result is sorted by document
// and place.
func Combine(policy ibid.Policy, opinions []Opinion) []Mark {
	var docs []string
	for _, o := range opinions {
		for _, m := range o.Marks {
			docs = append(docs, m.Doc)
		}
	}
	slices.Sort(docs)
	out := []Mark{}
	for _, doc := range slices.Compact(docs) {
		sets := make([][]span.Interval, len(opinions))
		for i, o := range opinions {
			for _, m := range o.Marks {
				if m.Doc == doc {
					sets[i] = append(sets[i], span.Interval{Start: m.Start, End: m.End})
				}
			}
		}
		for _, x := range new(span.Comparer).CombineIntervals(policy, sets) {
			out = append(out, Mark{Doc: doc, Start: x.Start, End: x.End})
		}
	}
	return out
}

// length is how many characters marks have.
func length(marks []Mark) (n int64) {
	for _, m := range marks {
		n += m.End - m.Start
	}
	return n
}

// Agreement is the number of characters that all annotators marked over the number that at least
// one marked: 0 to 1, and 1 without marks. If there are labels, it is the share of questions with
// equal answers.
func Agreement(said []Opinion) float64 {
	questions := questionsOf(said)
	if len(questions) > 0 {
		same := 0
		for _, q := range questions {
			if _, values := values(q, said); slices.Min(values) == slices.Max(values) {
				same++
			}
		}
		return float64(same) / float64(len(questions))
	}
	looked := marked(said)
	all := length(Combine(ibid.PolicyUnion, looked))
	if all == 0 {
		return 1
	}
	return float64(length(Combine(ibid.PolicyIntersection, looked))) / float64(all)
}

// questionsOf lists each question that has an answer once, in the order of the first answers.
func questionsOf(said []Opinion) []Label {
	var out []Label
	for _, o := range said {
		for _, l := range answered(o.Labels) {
			if q := l.question(); !slices.Contains(out, q) {
				out = append(out, q)
			}
		}
	}
	return out
}

// values are the answers to a question, and who gave each.
func values(q Label, said []Opinion) (who []string, values []float64) {
	for _, o := range said {
		if v, ok := answer(q, o.Labels); ok {
			who, values = append(who, o.Annotator), append(values, v)
		}
	}
	return who, values
}

// An origin says how an element of a gold table came about.
type origin struct {
	Annotator string   `json:"annotator"` // [ibid.Adjudicated]
	How       string   `json:"how"`
	From      []string `json:"from"`                 // annotators with these marks or this value; empty for new ones
	DecidedBy string   `json:"decided_by,omitempty"` // "" if nobody had to
}

func newOrigin(how string, from []string) origin {
	named := slices.DeleteFunc(slices.Clone(from), func(name string) bool { return strings.HasPrefix(name, "\x00") })
	return origin{Annotator: ibid.Adjudicated, How: how, From: append([]string{}, named...)}
}

// A goldLine is one line of a gold table, which truth: and labels: of a run read.
type goldLine struct {
	ID     string      `json:"id"`
	System string      `json:"system,omitempty"`
	Truth  *[]goldMark `json:"truth,omitempty"` // an empty list: there is nothing to mark
	Labels []goldLabel `json:"labels,omitempty"`
}

type goldMark struct {
	Doc   string `json:"doc"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	origin
}

type goldLabel struct {
	Label
	origin
}

// Policies are those that decide where nobody did. "leave" decides nothing.
var Policies = []string{"leave", howUnion, howIntersection, howMajority}

// Gold is one opinion in place of several.
type Gold struct {
	Questions int64 // with a truth
	Labels    int64
	Open      int64 // truths and labels left out, since people differ and nobody decided

	text bytes.Buffer
}

// Write writes the table, as JSON Lines.
func (g *Gold) Write(w io.Writer) error {
	_, err := w.Write(g.text.Bytes())
	return err
}

// MakeGold makes one opinion of what is said of each question and answer: what a decider
// says, what one person alone said, what all said alike, or what the policy, one of
// [Policies], gives. The rest is left out and counted.
func MakeGold(all []Asked, policy string) (*Gold, error) {
	g := new(Gold)
	e := encoder(&g.text)
	for i := range all {
		a := &all[i]
		truth, labels := g.truth(a, policy), g.labels(a, policy)
		if truth != nil {
			if err := e.Encode(goldLine{ID: a.ID, Truth: truth}); err != nil {
				return nil, err
			}
		}
		if labels != nil {
			if err := e.Encode(goldLine{ID: a.ID, System: a.System, Labels: labels}); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

// truth is what stands for opinions on marks, nil if nobody looked or it is open.
func (g *Gold) truth(a *Asked, policy string) *[]goldMark {
	said := marked(a.Said)
	var who []string
	for _, o := range said {
		who = append(who, o.Annotator)
	}
	var marks []Mark
	var by origin
	switch {
	case a.decision != nil && a.decision.Truth != nil:
		marks, by = a.decision.Truth, newOrigin(cmp.Or(a.decision.How, howNew), a.decision.From)
		by.DecidedBy = a.by
	case len(said) == 0:
		return nil
	case len(said) == 1:
		marks, by = Combine(ibid.PolicyUnion, said), newOrigin(howAlone, who)
	case Agreement(said) == 1:
		marks, by = Combine(ibid.PolicyUnion, said), newOrigin(howEqual, who)
	case policy != Policies[0]:
		marks, by = Combine(ibid.Policy(policy), said), newOrigin(policy, who)
	default:
		g.Open++
		return nil
	}
	g.Questions++
	out := []goldMark{}
	for _, m := range marks {
		out = append(out, goldMark{m.Doc, m.Start, m.End, by})
	}
	return &out
}

// labels are what stands for opinions on the questions about an answer.
func (g *Gold) labels(a *Asked, policy string) (out []goldLabel) {
	decided := Opinion{}
	if a.decision != nil {
		decided.Labels = a.decision.Labels
	}
	for _, q := range questionsOf(append(slices.Clone(a.Said), decided)) {
		who, said := values(q, a.Said)
		same := !slices.ContainsFunc(said, func(v float64) bool { return v != said[0] })
		value, by := math.NaN(), origin{}
		most, from := mostOf(said, who)
		switch v, ok := answer(q, decided.Labels); {
		case ok && (!same || len(said) == 0 || said[0] != v):
			value, by = v, newOrigin(howNew, nil)
			for i, name := range who {
				if said[i] == v {
					by.How, by.From = howTake, append(by.From, name)
				}
			}
			by.DecidedBy = a.by
		case same && len(said) == 1:
			value, by = said[0], newOrigin(howAlone, who)
		case same:
			value, by = said[0], newOrigin(howEqual, who)
		case policy == howMajority && 2*len(from) > len(said):
			value, by = most, newOrigin(howMajority, from)
		default:
			g.Open++
			continue
		}
		g.Labels++
		q.Value = &value
		out = append(out, goldLabel{q, by})
	}
	return out
}

// mostOf is the value that most gave, and who gave it.
func mostOf(values []float64, who []string) (most float64, from []string) {
	by := make(map[float64][]string)
	for i, v := range values {
		if by[v] = append(by[v], who[i]); len(by[v]) > len(from) {
			most, from = v, by[v]
		}
	}
	return most, from
}
