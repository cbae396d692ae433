package harness

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"

	"ibid/annotations"
	"ibid/dataset"
)

// A BlindSample is what a second person is to annotate without knowing who said
// what.
type BlindSample struct {
	Key   annotations.Key
	Items []annotations.BlindItem // in the order of the key
	Total int                     // items that could be drawn
}

// DrawBlind draws a blind sample of the annotated rows of the dataset, in
// proportion to a field: system, provider or a tag; "" for one stratum.
func (p *Plan) DrawBlind(ctx context.Context, fraction, stratify, seed string) (*BlindSample, error) {
	if p.conventions.OffsetBase != dataset.FromDocument {
		return nil, usagef("a blind sample needs offsets that count from the start of documents")
	}
	rate, ok := new(big.Rat).SetString(fraction)
	if !ok || rate.Sign() <= 0 || rate.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, usagef("the fraction must be a number above 0 and at most 1, such as 0.1")
	}
	candidates, err := p.candidates(ctx, stratify)
	if err != nil {
		return nil, err
	}
	if len(candidates) == 0 {
		return nil, usagef("no row has truth or labels: there is nothing to annotate again")
	}
	items, plan := annotations.Draw(candidates, rate, seed)
	strata := make(map[string]int)
	for _, c := range candidates {
		strata[c.Stratum]++
	}
	s := &BlindSample{Total: len(candidates), Key: annotations.Key{
		Schema: annotations.KeySchema, Dataset: p.job.Config.Dataset, Documents: p.job.Config.Documents, Digest: p.Ingredients["dataset"],
		Fraction: fraction, Stratify: stratify, Seed: seed, Strata: strata, Items: items,
	}}
	if plan.Total != len(items) {
		return nil, errors.New("internal error: the sample is not as large as was allocated")
	}
	s.Items, err = p.template(ctx, items)
	return s, err
}

// candidates are the rows that somebody annotated.
func (p *Plan) candidates(ctx context.Context, stratify string) ([]annotations.Candidate, error) {
	var out []annotations.Candidate
	known := stratify == ""
	err := eachRow(ctx, p.people, p.job.Limit, func(row *dataset.Row) error {
		if row.Err != nil || !p.job.wants(row) || len(row.Truth) == 0 && len(row.Labels) == 0 {
			return nil
		}
		stratum := fieldOf(row, stratify)
		known = known || stratum != ""
		out = append(out, annotations.Candidate{
			ID: strings.Clone(row.ID), System: strings.Clone(row.System), Row: row.Pos, Stratum: strings.Clone(stratum),
		})
		return nil
	})
	if err == nil && !known {
		return nil, usagef("no annotated row has a %s to stratify by", stratify)
	}
	return out, err
}

// fieldOf is the system, the provider or a tag of a row.
func fieldOf(row *dataset.Row, field string) string {
	switch field {
	case "":
		return ""
	case "system":
		return row.System
	case "provider":
		return row.Provider
	}
	return tagValue(row, field)
}

// template shows the items of a sample as their annotators see them.
func (p *Plan) template(ctx context.Context, items []annotations.KeyItem) ([]annotations.BlindItem, error) {
	out := make([]annotations.BlindItem, len(items))
	err := p.eachWhole(ctx, rowsOfKey(items), func(row *dataset.Row, places *dataset.Resolved, r *dataset.Resolver) error {
		i := slices.IndexFunc(items, func(x annotations.KeyItem) bool { return x.Row == row.Pos })
		out[i] = blindItem(items[i].Blind, row, places, r)
		return nil
	})
	return out, err
}

func rowsOfKey(items []annotations.KeyItem) []int64 {
	var rows []int64
	for _, it := range items {
		rows = append(rows, it.Row)
	}
	return rows
}

// eachWhole calls yield with rows of the dataset, all columns of them, and their
// places.
func (p *Plan) eachWhole(ctx context.Context, rows []int64, yield func(*dataset.Row, *dataset.Resolved, *dataset.Resolver) error) error {
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return err
	}
	if docs != nil {
		defer docs.Close()
	}
	return p.eachWholeIn(ctx, docs, rows, yield)
}

// eachWholeIn is eachWhole with documents that are at hand; nil are none.
func (p *Plan) eachWholeIn(ctx context.Context, docs *dataset.Documents, rows []int64, yield func(*dataset.Row, *dataset.Resolved, *dataset.Resolver) error) error {
	all, err := dataset.Open(p.job.Config.Dataset, dataset.ReadOptions{Columns: p.job.Config.Columns})
	if err != nil {
		return err
	}
	var view *dataset.View
	if docs != nil {
		view = docs.View(textCache)
	}
	r := dataset.NewResolver(view, p.conventions)
	var places dataset.Resolved
	for _, at := range rows {
		err := all.Read(ctx, at, 1, func(b *dataset.Batch) error {
			defer b.Release()
			var row dataset.Row
			b.Row(0, &row)
			r.Resolve(&row, &places)
			if err := errors.Join(r.Err(), yield(&row, &places, r)); err != nil {
				return err
			}
			return errEnough
		})
		if ignoreEnough(err) != nil {
			return err
		}
		if err := r.Err(); err != nil {
			return err
		}
	}
	return nil
}

// blindItem is a row without its names and without what was said of it. What the
// system said is shown only where people judged it: who marks places must not see
// those of the system.
func blindItem(name string, row *dataset.Row, places *dataset.Resolved, r *dataset.Resolver) annotations.BlindItem {
	it := annotations.BlindItem{ID: name, Query: strings.Clone(row.Query), Labels: []annotations.BlindLabel{}}
	if len(row.Labels) > 0 {
		it.Answer = strings.Clone(row.Answer)
		for i := range row.Claims {
			it.Claims = append(it.Claims, annotations.BlindClaim{ID: strings.Clone(row.Claims[i].ClaimID), Text: strings.Clone(row.Claims[i].Text)})
		}
		for i := range row.Citations {
			it.Citations = append(it.Citations, blindCitation(&row.Citations[i], places, i))
		}
		it.Labels = questions(row)
	}
	for _, doc := range documentsOf(row) {
		if text, ok := r.Text(doc, 0); ok && doc != "" {
			it.Documents = append(it.Documents, annotations.BlindDocument{Doc: strings.Clone(doc), Text: strings.Clone(text)})
		}
	}
	return it
}

// documentsOf are the documents that a row has to do with: those that it brings
// along, that the system cited, and that somebody marked. To show the marked ones
// alone would say where the marks are, and no document that there are none.
func documentsOf(row *dataset.Row) []string {
	var docs []string
	for i := range row.Documents {
		docs = append(docs, row.Documents[i].Doc)
	}
	for i := range row.Citations {
		docs = append(docs, row.Citations[i].Doc)
	}
	for i := range row.Truth {
		docs = append(docs, row.Truth[i].Doc)
	}
	slices.Sort(docs)
	return slices.Compact(docs)
}

func blindCitation(c *dataset.Citation, places *dataset.Resolved, i int) annotations.BlindPlace {
	out := annotations.BlindPlace{
		CitationID: strings.Clone(c.CitationID), ClaimID: strings.Clone(c.ClaimID), Doc: strings.Clone(c.Doc), Text: strings.Clone(c.CitedText),
	}
	if at := &places.Citations[i]; at.InSets() {
		out.Start, out.End = new(at.Start), new(at.End)
	}
	return out
}

// questions are those that people answered of a row, each once, without the
// answers.
func questions(row *dataset.Row) []annotations.BlindLabel {
	out := []annotations.BlindLabel{}
	for i := range row.Labels {
		l := &row.Labels[i]
		q := annotations.BlindLabel{ClaimID: strings.Clone(l.ClaimID), CitationID: strings.Clone(l.CitationID), Kind: strings.Clone(l.Kind)}
		if !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}

// addBlind adds what somebody said of a row in a blind sample as one more annotator.
func (p *Plan) addBlind(row *dataset.Row, it *annotations.BlindItem) {
	for _, m := range it.Truth {
		end := *m.End
		if p.conventions.SpanEnd == dataset.Inclusive {
			end--
		}
		row.Truth = append(row.Truth, dataset.Truth{
			Annotator: it.Annotator, Doc: m.Doc, Unit: "codepoint",
			Start: dataset.NullInt{Value: *m.Start, Valid: true}, End: dataset.NullInt{Value: end, Valid: true},
		})
	}
	if it.Truth != nil && len(it.Truth) == 0 {
		row.Truth = append(row.Truth, dataset.Truth{Annotator: it.Annotator, DocNull: true})
	}
	for _, l := range it.Labels {
		if l.Value != nil {
			row.Labels = append(row.Labels, dataset.Label{
				Annotator: it.Annotator, ClaimID: l.ClaimID, CitationID: l.CitationID, Kind: l.Kind,
				Value: dataset.NullFloat{Value: *l.Value, Valid: true},
			})
		}
	}
}
