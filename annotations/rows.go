package annotations

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// SeveralMarked reports whether several annotators marked places of a row.
func SeveralMarked(row *ibid.Answer) bool {
	return several(row.Truth, func(t *ibid.Mark) string { return t.Annotator })
}

// SeveralLabelled reports whether labels may be those of two people: of two names, or
// unsigned, for these are nobody's twice.
func SeveralLabelled(labels []ibid.Label) bool {
	return len(labels) > 1 && (labels[0].Annotator == "" || several(labels, func(l *ibid.Label) string { return l.Annotator }))
}

// several reports whether a list has two annotators.
func several[T any](list []T, annotator func(*T) string) bool {
	for i := range list {
		if annotator(&list[i]) != annotator(&list[0]) {
			return true
		}
	}
	return false
}

// Texts gives the text of a document, or of a page of it; ok is false if it is not at hand.
type Texts func(doc string, page int32) (text string, ok bool)

// ItemOf is a row, whose places are resolved, as an item. An annotator of whom some
// mark is in no text is left out, and counted.
func ItemOf(of Texts, row *ibid.Answer, cluster string, tags []string) (Item, int64) {
	texts := newAnnotatedTexts(of, row)
	return Item{
		ID: strings.Clone(row.ID), Row: row.Pos, Cluster: cluster, Slices: tags,
		Length: texts.length, Known: texts.known, Marks: texts.marks(row),
	}, int64(len(texts.unclear))
}

// JudgedOf lists the questions about a row that people answered.
func JudgedOf(row *ibid.Answer, cluster string, tags []string) []Judged {
	var out []Judged
	at := make(map[VerdictKey]int, len(row.Labels))
	for i := range row.Labels {
		l := &row.Labels[i]
		if !Answered(l) {
			continue
		}
		key := VerdictKey{ID: row.ID, System: row.System, Kind: l.Kind, Claim: l.ClaimID, Citation: l.CitationID}
		k, ok := at[key]
		if !ok {
			k = len(out)
			at[key] = k
			key = VerdictKey{
				ID: strings.Clone(key.ID), System: strings.Clone(key.System), Kind: strings.Clone(key.Kind),
				Claim: strings.Clone(key.Claim), Citation: strings.Clone(key.Citation),
			}
			out = append(out, Judged{
				ID: key.Name(), Verdict: key, Row: row.Pos, Kind: strings.Clone(l.Kind), Cluster: cluster, Slices: tags,
			})
		}
		out[k].Ratings = append(out[k].Ratings, Rating{Annotator: strings.Clone(l.Annotator), Value: Value(l.Value.Value)})
	}
	return out
}

// Answered reports whether a label has a value that is a number.
func Answered(l *ibid.Label) bool {
	return l.Value.Known() && !math.IsNaN(l.Value.Value) && !math.IsInf(l.Value.Value, 0)
}

// A textKey names a text: a document, or one page of it when offsets count from there.
type textKey struct {
	doc  string
	page int32
}

// annotatedTexts holds the texts that the annotators of a row marked, in the order
// of their keys. They are put one after the other, so that marks in several texts
// are marks in one.
type annotatedTexts struct {
	keys    []textKey
	starts  []int64         // of each key
	length  int64           // of all
	known   bool            // every text is at hand; else starts leave room for the marks
	unclear map[string]bool // annotators some mark of whom is in no text
}

func newAnnotatedTexts(of Texts, row *ibid.Answer) *annotatedTexts {
	a := &annotatedTexts{known: true}
	for i := range row.Truth {
		at := &row.Truth[i].Place
		switch key := (textKey{at.Doc, at.Page}); {
		case row.Truth[i].DocNull:
		case !at.InSets():
			if a.unclear == nil {
				a.unclear = make(map[string]bool)
			}
			a.unclear[row.Truth[i].Annotator] = true
		case !slices.Contains(a.keys, key):
			a.keys = append(a.keys, key)
		}
	}
	slices.SortFunc(a.keys, func(x, y textKey) int {
		return cmp.Or(strings.Compare(x.doc, y.doc), cmp.Compare(x.page, y.page))
	})
	for _, key := range a.keys {
		a.starts = append(a.starts, a.length)
		text, ok := of(key.doc, key.page)
		if ok {
			a.length += int64(utf8.RuneCountInString(text))
			continue
		}
		a.known = false
		var last int64 // end of the last mark in the text
		for i := range row.Truth {
			if p := &row.Truth[i].Place; p.Doc == key.doc && p.Page == key.page && p.InSets() {
				last = max(last, p.End)
			}
		}
		a.length += last + 1 // marks in two texts must not touch
	}
	return a
}

// marks are those of each annotator, without the unclear ones.
func (a *annotatedTexts) marks(row *ibid.Answer) []Mark {
	var out []Mark
	for i := range row.Truth {
		t, place := &row.Truth[i], &row.Truth[i].Place
		if a.unclear[t.Annotator] {
			continue
		}
		k := slices.IndexFunc(out, func(m Mark) bool { return m.Annotator == t.Annotator })
		if k < 0 {
			k = len(out)
			out = append(out, Mark{Annotator: strings.Clone(t.Annotator)})
		}
		if !t.DocNull {
			start := a.starts[slices.Index(a.keys, textKey{place.Doc, place.Page})]
			out[k].Units = append(out[k].Units, stats.Unit{Start: start + place.Start, End: start + place.End, Category: 1})
		}
	}
	return out
}

// passageLimit is how many code points of a mark are shown.
const passageLimit = 200

// Explain fills in the texts of a disagreement about a row: what was marked, and which claim a
// label is about.
func (d *Disagreement) Explain(row *ibid.Answer, texts Texts, claim func(id string) string) {
	if d.Kind == runs.LabelAgreement {
		d.Text = strings.Clone(claim(d.Verdict.Claim))
		return
	}
	for i := range row.Truth {
		t, at := &row.Truth[i], &row.Truth[i].Place
		passage := Passage{Annotator: strings.Clone(t.Annotator)}
		if !t.DocNull {
			passage.Doc, passage.Page, passage.Start, passage.End = strings.Clone(t.Doc), at.Page, at.Start, at.End
			if text, ok := texts(at.Doc, at.Page); ok && at.InSets() {
				passage.Text = excerpt(text, at.Start, min(at.End, at.Start+passageLimit))
			}
			if at.End > at.Start+passageLimit && passage.Text != "" {
				passage.Text += " …"
			}
		}
		d.Passages = append(d.Passages, passage)
	}
}

// excerpt is what stands between two code points of a text.
func excerpt(text string, start, end int64) string {
	points := []rune(text)
	return string(points[min(start, int64(len(points))):min(end, int64(len(points)))])
}
