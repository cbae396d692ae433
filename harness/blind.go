package harness

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// A BlindSample is what a second person is to annotate without knowing who said
// what.
type BlindSample struct {
	Key   annotations.Key
	Items []annotations.BlindItem // in the order of the key
	Total int                     // questions or answers that could be drawn
	Drawn int                     // of them
	Bare  int                     // items left out, since no text is at hand that could be marked or judged
}

// SampleOptions say what to draw.
type SampleOptions struct {
	Purpose  string // one of [annotations.Purposes], or "" for a second look at what people said
	Fraction string // of what could be drawn, above 0 and at most 1; unless Items are asked for
	Items    int    // how many to draw, 0 for a fraction
	Stratify string // system, provider or a tag to draw in proportion to; "" for one stratum
	Seed     string
}

// DrawBlind draws a blind sample of the rows that people annotated, or with a purpose of
// any. Of [annotations.AskTruth] and [annotations.AskBoth] questions are drawn, of the
// others answers.
func (p *Plan) DrawBlind(ctx context.Context, o SampleOptions) (*BlindSample, error) {
	if p.conventions.OffsetBase != dataset.FromDocument {
		return nil, ibid.Usagef("a blind sample needs offsets that count from the start of documents")
	}
	rate, ok := new(big.Rat).SetString(o.Fraction)
	if o.Items == 0 && (!ok || rate.Sign() <= 0 || rate.Cmp(big.NewRat(1, 1)) > 0) {
		return nil, ibid.Usagef("the fraction must be a number above 0 and at most 1, such as 0.1")
	}
	candidates, err := p.candidates(ctx, &o)
	if err != nil {
		return nil, err
	}
	if o.Items > len(candidates) || o.Items < 0 {
		return nil, ibid.Usagef("%d cannot be drawn: there are %d", o.Items, len(candidates))
	}
	if o.Items > 0 {
		rate = big.NewRat(int64(o.Items), int64(len(candidates)))
	}
	items, plan := annotations.Draw(candidates, rate, o.Seed)
	strata := make(map[string]int)
	for _, c := range candidates {
		strata[c.Stratum]++
	}
	if plan.Total != len(items) {
		return nil, errors.New("internal error: the sample is not as large as was allocated")
	}
	s := &BlindSample{Total: len(candidates), Drawn: len(items), Key: annotations.Key{
		Schema: annotations.KeySchema, Dataset: p.job.Config.Dataset, Documents: p.job.Config.Documents, Truth: p.job.Config.Truth, Labels: p.job.Config.Labels, Digest: p.Ingredients["dataset"],
		Fraction: o.Fraction, Purpose: o.Purpose, Stratify: o.Stratify, Seed: o.Seed, Strata: strata, Items: items,
	}}
	if o.Items > 0 {
		s.Key.Fraction = rate.RatString()
	}
	if o.Purpose == "" {
		s.Items, err = p.template(ctx, items)
		return s, err
	}
	return s, p.firstRound(ctx, s)
}

// candidates are the rows that somebody annotated, or those that a purpose wants: the first
// of each question, or those with something to judge.
func (p *Plan) candidates(ctx context.Context, o *SampleOptions) ([]annotations.Candidate, error) {
	perQuestion := o.Purpose == annotations.AskTruth || o.Purpose == annotations.AskBoth
	stratify := o.Stratify
	if perQuestion && (stratify == "system" || stratify == "provider" || stratify == "model") {
		return nil, ibid.Usagef("one item is for the answers of all systems: it cannot be stratified by %s", stratify)
	}
	wants := func(row *ibid.Answer) bool { return len(row.Truth) > 0 || len(row.Labels) > 0 }
	source := p.people
	switch {
	case perQuestion:
		seen := make(map[string]bool)
		wants = func(row *ibid.Answer) bool {
			again := seen[row.ID]
			seen[strings.Clone(row.ID)] = true
			return !again
		}
	case o.Purpose == annotations.AskLabels:
		asker, err := p.newAsker(dataset.NewResolver(nil, p.conventions))
		if err != nil {
			return nil, err
		}
		if source, err = p.openDataset(dataset.WantAll); err != nil {
			return nil, err
		}
		wants = func(row *ibid.Answer) bool { return asker.cites(row) }
	}
	out := make([]annotations.Candidate, 0, min(source.Rows(), mostReserved))
	var last annotations.Candidate // most rows are of its system and stratum
	known := stratify == ""
	err := eachRow(ctx, source, p.job.Limit, func(row *ibid.Answer) error {
		if row.Err != nil || !p.job.wants(row) || !wants(row) {
			return nil
		}
		stratum := ""
		if stratify != "" {
			stratum = strings.Join(runs.AppendSlices(nil, row, stratify), ", ")
		}
		known = known || stratum != ""
		if last.Stratum != stratum {
			last.Stratum = strings.Clone(stratum)
		}
		if !perQuestion && last.System != row.System {
			last.System = strings.Clone(row.System)
		}
		last.ID, last.Row = strings.Clone(row.ID), row.Pos
		out = append(out, last)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(out) == 0 && o.Purpose == "":
		return nil, ibid.Usagef("no row has truth or labels: there is nothing to annotate again").With("for a first round say what people are to do: --purpose truth, labels or both")
	case len(out) == 0 && o.Purpose == annotations.AskLabels:
		return nil, ibid.Usagef("no answer has a claim that cites something: there is nothing to judge")
	case len(out) == 0:
		return nil, ibid.Usagef("there is no row to draw")
	case !known && o.Purpose == "":
		return nil, ibid.Usagef("no annotated row has a %s to stratify by", stratify)
	case !known:
		return nil, ibid.Usagef("no row has a %s to stratify by", stratify)
	}
	return out, nil
}

// mostReserved is for how many candidates memory is set aside before any is found: a footer
// may claim more rows than there are.
const mostReserved = 1 << 20

// template shows the items of a sample as their annotators see them.
func (p *Plan) template(ctx context.Context, items []annotations.KeyItem) ([]annotations.BlindItem, error) {
	out := make([]annotations.BlindItem, len(items))
	rows, item := make([]int64, len(items)), make(map[int64]int, len(items))
	for i := range items {
		rows[i], item[items[i].Row] = items[i].Row, i
	}
	err := p.eachFullRow(ctx, rows, func(row *ibid.Answer, r *dataset.Resolver) error {
		i := item[row.Pos]
		out[i] = blindItem(items[i].Blind, row, r)
		return nil
	})
	return out, err
}

// eachFullRow calls yield with rows of the dataset, all columns of them, and their
// places, in the order of the dataset and each once.
func (p *Plan) eachFullRow(ctx context.Context, rows []int64, yield func(*ibid.Answer, *dataset.Resolver) error) error {
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return err
	}
	defer docs.Close()
	return p.eachFullRowIn(ctx, docs, rows, yield)
}

// eachFullRowIn is eachFullRow with documents that are at hand; nil are none.
func (p *Plan) eachFullRowIn(ctx context.Context, docs *dataset.Documents, rows []int64, yield func(*ibid.Answer, *dataset.Resolver) error) error {
	all, err := p.openDataset(dataset.WantAll)
	if err != nil {
		return err
	}
	r := p.resolver(docs)
	var row ibid.Answer
	return all.ReadRows(ctx, slices.Compact(slices.Sorted(slices.Values(rows))), func(b *dataset.Batch, i int) error {
		b.Row(i, &row)
		r.Resolve(&row)
		return errors.Join(r.Err(), yield(&row, r))
	})
}

// blindItem is a row without its names and without what was said of it. What the
// system said is shown only where people judged it: who marks places must not see
// those of the system.
func blindItem(name string, row *ibid.Answer, r *dataset.Resolver) annotations.BlindItem {
	it := annotations.BlindItem{ID: name, Query: strings.Clone(row.Query), Labels: []annotations.BlindLabel{}}
	if len(row.Labels) > 0 {
		it.Answer = strings.Clone(row.Answer)
		for i := range row.Claims {
			it.Claims = append(it.Claims, annotations.BlindClaim{ID: strings.Clone(row.Claims[i].ClaimID), Text: strings.Clone(row.Claims[i].Text)})
		}
		for i := range row.Citations {
			it.Citations = append(it.Citations, blindCitation(&row.Citations[i]))
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
func documentsOf(row *ibid.Answer) []string {
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

func blindCitation(c *ibid.Citation) annotations.BlindPlace {
	out := annotations.BlindPlace{
		CitationID: strings.Clone(c.CitationID), ClaimID: strings.Clone(c.ClaimID), Doc: strings.Clone(c.Doc), Text: strings.Clone(c.CitedText),
	}
	if at := &c.Place; at.InSets() {
		out.Start, out.End = new(at.Start), new(at.End)
	}
	return out
}

// questions are those that people answered of a row, each once, without the
// answers.
func questions(row *ibid.Answer) []annotations.BlindLabel {
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

// refuseTwice is an error if somebody who spoke of a row in a blind sample is already there
// under that name: of two people one would be lost, and of one with two opinions one.
func refuseTwice(row *ibid.Answer, said []annotations.BlindItem) error {
	for i := range said {
		it := &said[i]
		marked := it.Truth != nil && slices.ContainsFunc(row.Truth, func(t ibid.Mark) bool { return t.Annotator == it.Annotator })
		labelled := len(it.Labels) > 0 && slices.ContainsFunc(row.Labels, func(l ibid.Label) bool { return l.Annotator == it.Annotator })
		if marked || labelled {
			return ibid.Usagef("%q annotated %q before: the dataset has it", it.Annotator, row.ID).With("call the file as nobody else is called, such as " + it.Annotator + "-2.jsonl")
		}
	}
	return nil
}

// addBlind adds what somebody said of a row in a blind sample as one more annotator.
func (p *Plan) addBlind(row *ibid.Answer, it *annotations.BlindItem) {
	for _, m := range it.Truth {
		end := *m.End
		if p.conventions.SpanEnd == dataset.Inclusive {
			end--
		}
		row.Truth = append(row.Truth, ibid.Mark{
			Annotator: it.Annotator, Doc: m.Doc, Unit: "codepoint",
			Start: ibid.Some(*m.Start), End: ibid.Some(end),
		})
	}
	if it.Truth != nil && len(it.Truth) == 0 {
		row.Truth = append(row.Truth, ibid.Mark{Annotator: it.Annotator, DocNull: true})
	}
	for _, l := range it.Labels {
		if l.Value != nil {
			row.Labels = append(row.Labels, ibid.Label{
				Annotator: it.Annotator, ClaimID: l.ClaimID, CitationID: l.CitationID, Kind: l.Kind,
				Value: ibid.Some(*l.Value),
			})
		}
	}
}
