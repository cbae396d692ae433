package harness

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/annotations"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics/claims"
	"ibid/metrics/stats"
)

// annotatedTexts holds the texts that the annotators of a row marked, in the order
// of their keys. They are put one after the other, so that marks in several texts
// are marks in one.
type annotatedTexts struct {
	keys    []TextKey
	starts  []int64         // of each key
	length  int64           // of all
	known   bool            // every text is at hand; else starts leave room for the marks
	unclear map[string]bool // annotators some mark of whom is in no text
}

func newAnnotatedTexts(r *dataset.Resolver, row *ibid.Answer) *annotatedTexts {
	a := &annotatedTexts{known: true}
	for i := range row.Truth {
		at := &row.Truth[i].Place
		switch key := (TextKey{at.Doc, at.Page}); {
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
	slices.SortFunc(a.keys, func(x, y TextKey) int {
		return cmp.Or(strings.Compare(x.Doc, y.Doc), cmp.Compare(x.Page, y.Page))
	})
	for _, key := range a.keys {
		a.starts = append(a.starts, a.length)
		text, ok := r.Text(key.Doc, key.Page)
		if ok {
			a.length += int64(utf8.RuneCountInString(text))
			continue
		}
		a.known = false
		var last int64 // end of the last mark in the text
		for i := range row.Truth {
			if p := &row.Truth[i].Place; p.Doc == key.Doc && p.Page == key.Page && p.InSets() {
				last = max(last, p.End)
			}
		}
		a.length += last + 1 // marks in two texts must not touch
	}
	return a
}

// marks are those of each annotator, without the unclear ones.
func (a *annotatedTexts) marks(row *ibid.Answer) []annotations.Mark {
	var out []annotations.Mark
	for i := range row.Truth {
		t, place := &row.Truth[i], &row.Truth[i].Place
		if a.unclear[t.Annotator] {
			continue
		}
		k := slices.IndexFunc(out, func(m annotations.Mark) bool { return m.Annotator == t.Annotator })
		if k < 0 {
			k = len(out)
			out = append(out, annotations.Mark{Annotator: strings.Clone(t.Annotator)})
		}
		if !t.DocNull {
			start := a.starts[slices.Index(a.keys, TextKey{place.Doc, place.Page})]
			out[k].Units = append(out[k].Units, stats.Unit{Start: start + place.Start, End: start + place.End, Category: 1})
		}
	}
	return out
}

// passageLimit is how many code points of a mark are shown.
const passageLimit = 200

// Explain fills in the texts of disagreements: what was marked, and which claim a
// label is about.
func (p *Plan) Explain(ctx context.Context, worst []annotations.Disagreement) error {
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return err
	}
	defer docs.Close()
	return p.explainIn(ctx, docs, worst)
}

// explainIn is Explain with documents that are at hand; nil are none.
func (p *Plan) explainIn(ctx context.Context, docs *dataset.Documents, worst []annotations.Disagreement) error {
	rows, of := make([]int64, len(worst)), make(map[int64][]int)
	for i := range worst {
		rows[i] = worst[i].Row
		of[rows[i]] = append(of[rows[i]], i)
	}
	options, err := claimOptions(&p.job.Config.Settings)
	if err != nil {
		return err
	}
	all, err := p.openDataset(dataset.WantAll)
	if err != nil {
		return err
	}
	answers, cutter := &Answers{p, docs, all}, claims.NewCutter(options)
	slices.Sort(rows)
	return answers.Rows(ctx, slices.Compact(rows), func(row *ibid.Answer, r *dataset.Resolver) error {
		for _, i := range of[row.Pos] {
			explain(cutter, r, row, &worst[i])
		}
		return nil
	})
}

// keptDisagreements is how many disagreements a run keeps, on places and on labels
// each.
const keptDisagreements = 5

// writeDisagreements leaves the worst disagreements in the run directory, beside
// each label disagreement what the judge says. The places are kept, not their
// texts: whoever shows them reads the documents again.
func (p *Plan) writeDisagreements(ctx context.Context, docs *dataset.Documents, worst []annotations.Disagreement, verdicts annotations.Verdicts) error {
	if err := p.explainIn(ctx, docs, worst); err != nil {
		return err
	}
	for i := range worst {
		d := &worst[i]
		for k := range d.Passages {
			d.Passages[k].Text = ""
		}
		if v, ok := verdicts[d.Verdict]; ok {
			d.Judge = &v
		}
	}
	return annotations.WriteDisagreements(p.Dir, worst)
}

func explain(cutter *claims.Cutter, r *dataset.Resolver, row *ibid.Answer, d *annotations.Disagreement) {
	if d.Kind == runs.LabelAgreement {
		for _, c := range cutter.Cut(row).List {
			if c.ClaimID == d.Verdict.Claim {
				d.Text = strings.Clone(c.Text)
			}
		}
		return
	}
	for i := range row.Truth {
		t, at := &row.Truth[i], &row.Truth[i].Place
		passage := annotations.Passage{Annotator: strings.Clone(t.Annotator)}
		if !t.DocNull {
			passage.Doc, passage.Page, passage.Start, passage.End = strings.Clone(t.Doc), at.Page, at.Start, at.End
			if at.InSets() {
				text, _ := r.Excerpt(at.Doc, at.Page, at.Start, min(at.End, at.Start+passageLimit))
				passage.Text = strings.Clone(text)
			}
			if at.End > at.Start+passageLimit && passage.Text != "" {
				passage.Text += " …"
			}
		}
		d.Passages = append(d.Passages, passage)
	}
}
