package harness

import (
	"context"
	"maps"
	"math/big"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/dataset"
	"ibid/metrics"
	"ibid/metrics/claims"
)

// An asker makes questions of answers that nobody has annotated. It belongs to one
// resolver.
type asker struct {
	resolver *dataset.Resolver
	cutter   *claims.Cutter
	linker   metrics.Linker
}

func (p *Plan) newAsker(r *dataset.Resolver) (*asker, error) {
	options, err := claimOptions(&p.job.Config.Settings)
	if err != nil {
		return nil, err
	}
	return &asker{resolver: r, cutter: claims.NewCutter(options)}, nil
}

// claims cuts a row that is resolved into claims, linked to its citations. They are valid
// until the next call.
func (a *asker) claims(row *ibid.Answer) []ibid.Claim {
	cut := a.cutter.Cut(row)
	a.linker.Link(cut.List, row.Citations, cut.Scopes, cut.Provided || !row.HasClaims)
	return cut.List
}

// cites reports whether some claim of a row cites something.
func (a *asker) cites(row *ibid.Answer) bool {
	a.resolver.Resolve(row)
	return slices.ContainsFunc(a.claims(row), func(c ibid.Claim) bool { return len(c.Citations) > 0 })
}

// judge fills in what a person judges of a row that is resolved: the answer, its claims,
// and what of their citations can be read. A claim is asked about if any can.
func (a *asker) judge(it *annotations.BlindItem, row *ibid.Answer) {
	it.Answer = strings.Clone(row.Answer)
	for i, c := range a.claims(row) {
		claim := annotations.BlindClaim{ID: strings.Clone(c.ClaimID), Text: strings.Clone(c.Text)}
		if c.Extent.Known() {
			claim.Start, claim.End = new(c.Extent.Start.Value), new(c.Extent.End.Value)
		}
		it.Claims = append(it.Claims, claim)
		asked := false
		for _, k := range c.Citations {
			cited := blindCitation(&row.Citations[k])
			cited.ClaimID = it.Claims[i].ID
			if row.Citations[k].Place.Doc != "" {
				cited.Doc = strings.Clone(row.Citations[k].Place.Doc)
			}
			it.Citations = append(it.Citations, cited)
			asked = a.show(it, cited.Doc) || asked || cited.Text != ""
		}
		if asked {
			it.Labels = append(it.Labels, annotations.BlindLabel{ClaimID: it.Claims[i].ID, Kind: ibid.SupportLabel})
		}
	}
}

// show adds a document to an item, and reports whether its text is at hand.
func (a *asker) show(it *annotations.BlindItem, doc string) bool {
	if slices.ContainsFunc(it.Documents, func(d annotations.BlindDocument) bool { return d.Doc == doc }) {
		return true
	}
	text, ok := a.resolver.Text(doc, 0)
	if ok && doc != "" {
		it.Documents = append(it.Documents, annotations.BlindDocument{Doc: strings.Clone(doc), Text: strings.Clone(text)})
	}
	return ok && doc != ""
}

// firstRound makes the items of a sample that has a purpose of what was drawn, and for
// [annotations.AskBoth] adds the answers to the questions that were drawn.
func (p *Plan) firstRound(ctx context.Context, s *BlindSample) error {
	rows, err := p.roundRows(ctx, s)
	if err != nil {
		return err
	}
	s.Items = make([]annotations.BlindItem, len(s.Key.Items))
	for i := range s.Items {
		k := &s.Key.Items[i]
		s.Items[i] = annotations.BlindItem{ID: k.Blind, Purpose: k.Purpose, Labels: []annotations.BlindLabel{}}
	}
	var asker *asker
	err = p.eachFullRow(ctx, slices.Collect(maps.Keys(rows)), func(row *ibid.Answer, r *dataset.Resolver) error {
		if asker == nil {
			if asker, err = p.newAsker(r); err != nil {
				return err
			}
		}
		for _, i := range rows[row.Pos] {
			it := &s.Items[i]
			if it.Query == "" {
				it.Query = strings.Clone(row.Query)
			}
			if it.Purpose == annotations.AskLabels {
				asker.judge(it, row)
				continue
			}
			for _, doc := range documentsOf(row) {
				asker.show(it, doc)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.dropBare()
	return nil
}

// dropBare leaves out items of which nobody could say anything: no text is at hand.
func (s *BlindSample) dropBare() {
	kept := 0
	for i := range s.Items {
		it := &s.Items[i]
		if it.Purpose == annotations.AskLabels && len(it.Labels) == 0 || it.Purpose == annotations.AskTruth && len(it.Documents) == 0 {
			s.Bare++
			continue
		}
		slices.SortFunc(it.Documents, func(a, b annotations.BlindDocument) int { return strings.Compare(a.Doc, b.Doc) })
		it.ID = annotations.BlindName(kept)
		s.Items[kept], s.Key.Items[kept] = *it, s.Key.Items[i]
		s.Key.Items[kept].Blind = it.ID
		kept++
	}
	s.Items, s.Key.Items = s.Items[:kept], s.Key.Items[:kept]
}

// roundRows sets what each item of the sample asks for, adds the answers to drawn
// questions where both is asked for, and returns the items of each row that has a part in
// them: all answers to a question for one of truth.
func (p *Plan) roundRows(ctx context.Context, s *BlindSample) (map[int64][]int, error) {
	key := &s.Key
	rows := make(map[int64][]int)
	if key.Purpose == annotations.AskLabels {
		for i := range key.Items {
			key.Items[i].Purpose = annotations.AskLabels
			rows[key.Items[i].Row] = []int{i}
		}
		return rows, nil
	}
	item := make(map[string]int, len(key.Items))
	for i := range key.Items {
		key.Items[i].Purpose = annotations.AskTruth
		item[key.Items[i].ID] = i
	}
	var answers []annotations.Candidate
	err := eachRow(ctx, p.people, p.job.Limit, func(row *ibid.Answer) error {
		i, ok := item[row.ID]
		if !ok || row.Err != nil || !p.job.wants(row) {
			return nil
		}
		rows[row.Pos] = append(rows[row.Pos], i)
		if key.Purpose == annotations.AskBoth {
			answers = append(answers, annotations.Candidate{ID: strings.Clone(row.ID), System: strings.Clone(row.System), Row: row.Pos})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	more, _ := annotations.Draw(answers, big.NewRat(1, 1), key.Seed)
	for _, k := range more {
		k.Purpose, k.Stratum = annotations.AskLabels, key.Items[item[k.ID]].Stratum
		rows[k.Row] = append(rows[k.Row], len(key.Items))
		key.Items = append(key.Items, k)
	}
	return rows, nil
}
