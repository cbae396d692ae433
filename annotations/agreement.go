// Package annotations is about what people said of answers: how far they agree
// with each other and with a judge, and what a judge's scores are worth. Rounds of
// annotation are in package round.
//
// It takes rows and items and gives results; reading datasets is left to others, except
// for finished runs and plain tables of labels.
//
// An annotator who did not see an item is not one who saw it and marked nothing:
// the first has no [Mark], the second one without units.
package annotations

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// An Agreement is how far annotators agree.
type Agreement struct {
	Statistics []runs.AgreementRow       `json:"statistics"` // as agreement.parquet has them
	Marking    runs.ListOf[Marker]       `json:"marking"`    // who marks how, by name
	Labelling  runs.ListOf[Labeller]     `json:"labelling"`  // who labels how, by name
	Worst      runs.ListOf[Disagreement] `json:"worst"`      // on marks, then on labels; the least agreement first
	Warnings   runs.ListOf[string]       `json:"warnings"`
}

// Measure is the agreement of both collections; either may be nil.
func Measure(s *Spans, l *Labels) *Agreement {
	a := &Agreement{Statistics: []runs.AgreementRow{}}
	if s != nil {
		a.Statistics = append(a.Statistics, s.Statistics()...)
		a.Marking, a.Worst = s.people.markers(), append(a.Worst, s.worst.items...)
		a.Warnings = append(a.Warnings, s.Warnings()...)
	}
	if l != nil {
		for i := range l.items {
			l.note(&l.items[i])
		}
		a.Statistics = append(a.Statistics, l.Statistics()...)
		a.Labelling, a.Worst = l.people.labellers(), append(a.Worst, l.worst.items...)
		a.Warnings = append(a.Warnings, l.Warnings()...)
	}
	return a
}

// Options say how agreement is measured.
type Options struct {
	Level   float64 // of intervals
	Quality Quality
	Worst   int  // disagreements to keep
	Once    bool // no two items have one id
}

// maxPairs is how many pairs of annotators are compared two by two, in each slice.
// Nobody reads more, and they are as many as the square of the annotators.
const maxPairs = 5000

func tooManyPairs() string {
	return fmt.Sprintf("more than %d pairs of annotators: only all of them together", maxPairs)
}

// Quality are the targets of agreement.
type Quality struct {
	Target        float64 // of mean character Jaccard, raw agreement on marks
	Recalibrate   float64 // of the same: below it annotators should meet
	MinAnnotators int     // that an item needs to be counted
}

// enough reports whether an item has the annotators that it needs.
func (q *Quality) enough(annotators int) bool { return annotators >= max(2, q.MinAnnotators) }

// A Marker is how the marks of one annotator differ from those of the others on the
// items that both saw.
type Marker struct {
	Name       string      `json:"annotator"`
	Items      int64       `json:"items"`             // that another annotator saw, too
	Jaccard    ibid.Number `json:"jaccard"`           // mean over the others
	Shifts     int64       `json:"overlapping_marks"` // that overlap one of another annotator
	StartShift ibid.Number `json:"start_shift"`       // mean characters by which such a mark begins later than the other's; negative: earlier
	EndShift   ibid.Number `json:"end_shift"`         // mean characters by which it ends later
	LengthRate ibid.Number `json:"length_ratio"`      // characters marked over those of the others: above 1 marks more
	Empty      int64       `json:"marked_nothing_alone"`
}

// A Labeller is the same of labels.
type Labeller struct {
	Name    string      `json:"annotator"`
	Labels  int64       `json:"labels"`         // that another annotator gave, too
	Agree   ibid.Number `json:"same_as_others"` // share of the other labels that are the same
	Leaning ibid.Number `json:"leaning"`        // mean by which the values are higher than the others'; of numbers only
}

// A personSums adds up to a Marker or a Labeller.
type personSums struct {
	items, empty           int64
	jaccard, jaccards      float64
	shifts, start, end     float64
	own, others            float64
	labels, agree, compare float64
	leaning, leanings      float64
}

type people map[string]*personSums

func (p people) of(name string) *personSums {
	s := p[name]
	if s == nil {
		s = new(personSums)
		p[name] = s
	}
	return s
}

func (p people) spans(it *Item, m *stats.Marked, pairs []scoredPair) {
	for i, mark := range it.Marks {
		s := p.of(mark.Annotator)
		s.items++
		othersMarked := false
		for j := range it.Marks {
			othersMarked = othersMarked || j != i && len(m.Annotators[j]) > 0
		}
		if len(m.Annotators[i]) == 0 && othersMarked {
			s.empty++
		}
	}
	for k := range pairs {
		i, j, score := pairs[k].first, pairs[k].second, &pairs[k].PairScore
		a, b := p.of(it.Marks[i].Annotator), p.of(it.Marks[j].Annotator)
		if v := score.Jaccard(); v.Known() {
			for _, s := range []*personSums{a, b} {
				s.jaccard += v.Value
				s.jaccards++
			}
		}
		first, second := float64(score.Both+score.First), float64(score.Both+score.Second)
		a.own, a.others = a.own+first, a.others+second
		b.own, b.others = b.own+second, b.others+first
		for _, x := range m.Annotators[i] {
			for _, y := range m.Annotators[j] {
				if max(x.Start, y.Start) < min(x.End, y.End) {
					a.shift(x, y)
					b.shift(y, x)
				}
			}
		}
	}
}

// shift notes an own unit that overlaps another's.
func (s *personSums) shift(own, other stats.Unit) {
	s.shifts++
	s.start += float64(own.Start - other.Start)
	s.end += float64(own.End - other.End)
}

// markers are those who marked, by name.
func (p people) markers() (out []Marker) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		s := p[name]
		out = append(out, Marker{
			name, s.items, stats.FractionOf(s.jaccard, s.jaccards), int64(s.shifts), stats.FractionOf(s.start, s.shifts), stats.FractionOf(s.end, s.shifts),
			stats.FractionOf(s.own, s.others), s.empty,
		})
	}
	return out
}

// labellers are those who labelled, by name.
func (p people) labellers() (out []Labeller) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		s := p[name]
		out = append(out, Labeller{name, int64(s.labels), stats.FractionOf(s.agree, s.compare), stats.FractionOf(s.leaning, s.leanings)})
	}
	return out
}

// A Disagreement is an item that its annotators see differently.
type Disagreement struct {
	Kind      string  `json:"kind"` // runs.SpanAgreement or runs.LabelAgreement
	ID        string  `json:"id"`   // of the item
	Row       int64   `json:"row"`  // position in the input, -1 if it has none
	Agreement float64 `json:"agreement"`

	// What a reader needs to see; whoever has the texts fills it in.
	Text     string    `json:"text,omitempty"`  // of a label disagreement: the claim
	Passages []Passage `json:"marks,omitempty"` // of a span disagreement: every mark with its text

	Said    []Rating   `json:"labels,omitempty"` // of a label disagreement
	Judge   *float64   `json:"judge,omitempty"`  // what the judge of the run said of it, if it said anything
	Verdict VerdictKey `json:"-"`                // what a judge would call it
	Marks   []Mark     `json:"-"`                // of a span disagreement

	spread float64 // of labels that are numbers: the highest less the lowest
}

// A Passage is a mark with its text. An annotator who marked nothing has one
// without a document.
type Passage struct {
	Annotator string `json:"annotator"`
	Doc       string `json:"doc,omitempty"`
	Page      int32  `json:"page,omitempty"`
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
	Text      string `json:"text,omitempty"` // "" if it is not at hand
}

// worst keeps the items with the least agreement.
type worst struct{ items []Disagreement }

func (w *worst) span(it *Item, pairs []scoredPair, keep int) {
	var sum, n float64
	for i := range pairs {
		if v := pairs[i].Jaccard(); v.Known() {
			sum += v.Value
			n++
		}
	}
	if n == 0 || sum == n {
		return
	}
	d := Disagreement{Kind: runs.SpanAgreement, ID: it.ID, Row: it.Row, Agreement: sum / n}
	if !w.wants(&d, keep) {
		return
	}
	for _, mark := range it.Marks {
		d.Marks = append(d.Marks, Mark{Annotator: mark.Annotator, Units: slices.Clone(mark.Units)})
	}
	w.add(d, keep)
}

func compareWorst(a, b Disagreement) int {
	return cmp.Or(cmp.Compare(a.Agreement, b.Agreement), cmp.Compare(b.spread, a.spread), cmp.Compare(a.Row, b.Row), cmp.Compare(a.ID, b.ID))
}

func (w *worst) wants(d *Disagreement, keep int) bool {
	return len(w.items) < keep || keep > 0 && compareWorst(*d, w.items[len(w.items)-1]) < 0
}

func (w *worst) add(d Disagreement, keep int) {
	at, _ := slices.BinarySearchFunc(w.items, d, compareWorst)
	w.items = slices.Insert(w.items, at, d)
	w.items = w.items[:min(keep, len(w.items))]
}

// disagreementsSchema names the form of the file of disagreements.
const disagreementsSchema = "ibid.disagreements/v1"

type disagreementsFile struct {
	Schema string         `json:"schema"`
	Worst  []Disagreement `json:"worst"`
}

// WriteDisagreements leaves the worst disagreements of a run in its directory:
// places and labels, not what stands at the places.
func WriteDisagreements(dir string, worst []Disagreement) error {
	return runs.WriteJSON(filepath.Join(dir, runs.DisagreementsFile), disagreementsFile{disagreementsSchema, append([]Disagreement{}, worst...)})
}

// ReadDisagreements reads what [WriteDisagreements] left; none if there is no such
// file.
func ReadDisagreements(dir string) ([]Disagreement, error) {
	path := filepath.Join(dir, runs.DisagreementsFile)
	var in disagreementsFile
	_, err := runs.ReadJSON(path, &in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if in.Schema != disagreementsSchema {
		return nil, fmt.Errorf("%s: schema is %q, this ibid reads %q", path, in.Schema, disagreementsSchema)
	}
	return in.Worst, nil
}
