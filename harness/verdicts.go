package harness

import (
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/judge"
)

// verdictColumns are the columns of verdicts.parquet, by the fields of [runs.Judgment].
type verdictColumns struct {
	ID, System, ClaimID, ClaimText, Evidence, Doc, Label, Quote, Aligned, Why, Tampering runs.TextColumn
	Judge, Model, Annotator, Template, Source, Settled, Unscored                         runs.TextColumn
	Row, Claim, Page, Start, End, QuoteStart, QuoteEnd, Vote, Votes                      runs.IntColumn
	Support                                                                              runs.DoubleColumn
	Contradicted, Relevant, Factual, NeedsCitation, Verbatim                             runs.BoolColumn
	Sufficient, Suspected                                                                runs.TextsColumn
}

// addVerdicts records what was said of one row: what counts, then the votes or labels
// that it is made of.
func (r *recorder) addVerdicts(in *ibid.Answer, j *judging) {
	switch {
	case j.verdict != nil:
		r.addOpinion(in, j, j.verdict.Claims, nil)
		for i := range j.verdict.Opinions {
			o := &j.verdict.Opinions[i]
			r.addOpinion(in, j, o.Claims, o)
		}
		for i := range j.request.Labels {
			r.addLabel(in, j, &j.request.Labels[i])
		}
	case j.failure != nil:
		for k := range j.claims {
			for _, evidence := range []string{runs.ClaimEvidence, runs.JointEvidence} {
				r.beginVerdict(in, j, k, evidence, nil)
				r.verdict.Unscored.Append(string(j.failure.Reason))
				if j.failure.Err != nil {
					r.verdict.Why.AppendAny(j.failure.Err.Error())
				}
				if evidence == runs.ClaimEvidence {
					r.addTampering(j)
				}
				r.endVerdict(j, "")
			}
		}
	}
}

// beginVerdict begins a verdict on claim k, -1 for none; o is nil for what counts.
func (r *recorder) beginVerdict(in *ibid.Answer, j *judging, k int, evidence string, o *judge.Opinion) {
	to := &r.verdict
	to.ID.Append(in.ID)
	to.System.Append(in.System)
	to.Row.Append(in.Pos)
	if k >= 0 {
		to.Claim.Append(int64(k))
		to.ClaimID.Optional(j.claims[k].ClaimID)
	}
	if evidence == runs.ClaimEvidence {
		to.ClaimText.Optional(j.claims[k].Text)
	}
	to.Evidence.Append(evidence)
	to.Judge.Append(j.info.Kind)
	to.Template.Optional(j.info.Prompt)
	switch {
	case o != nil:
		to.Model.Optional(o.Model)
		to.Vote.Append(int64(o.Vote))
	default:
		to.Model.Optional(j.info.Model)
	}
}

// sourceOf is where the verdicts of a kind of judge come from.
func sourceOf(kind string) string {
	switch kind {
	case humanJudge:
		return runs.FromHuman
	case lexicalJudge:
		return runs.FromRule
	case recordedJudge:
		return runs.FromFile
	}
	return runs.FromModel
}

// addOpinion records the verdicts on all claims by one vote, or those that count.
func (r *recorder) addOpinion(in *ibid.Answer, j *judging, all []judge.ClaimVerdict, o *judge.Opinion) {
	to := &r.verdict
	for k := range j.claims {
		v := &all[k]
		r.beginVerdict(in, j, k, runs.ClaimEvidence, o)
		addTri(to.Factual, v.Factual)
		addTri(to.NeedsCitation, v.NeedsCitation)
		if v.Sufficient != nil {
			to.Sufficient.Append(j.sufficient(v.Sufficient))
		}
		if o == nil {
			r.addTampering(j)
		}
		r.endVerdict(j, v.Precheck)

		r.beginVerdict(in, j, k, runs.JointEvidence, o)
		r.addSupport(j, v.Joint)
		addTri(to.Contradicted, v.Contradicted)
		to.Why.Optional(v.JointWhy)
		to.Votes.Append(int64(v.Votes))
		r.endVerdict(j, v.Precheck)

		j.checksIn(all, k, func(c *judge.Check) {
			r.beginVerdict(in, j, k, runs.CitationEvidence+strconv.Itoa(c.Citation), o)
			text := &j.checks[c.Citation].text
			if text.placed {
				r.addPlace(text.doc, text.page, int64(text.start), int64(text.end))
			}
			r.addSupport(j, c.Support)
			addTri(to.Relevant, c.Relevant)
			r.addQuote(c.Quote, c.Aligned, c.QuoteAt)
			to.Why.Optional(c.Why)
			to.Verbatim.Append(c.Verbatim)
			r.endVerdict(j, c.Precheck)
		})

		r.beginVerdict(in, j, k, runs.ElsewhereEvidence, o)
		if p := j.elsewhere(v); p != nil {
			r.addPlace(p.Doc, p.Page, int64(p.Start), int64(p.End))
		}
		r.addSupport(j, v.Elsewhere)
		to.Quote.Optional(v.ElsewhereQuote)
		to.Aligned.Optional(v.ElsewhereAligned)
		r.endVerdict(j, v.Precheck)
	}
}

// endVerdict ends a verdict that a rule may have settled.
func (r *recorder) endVerdict(j *judging, settled string) {
	source := sourceOf(j.info.Kind)
	if settled != "" {
		r.verdict.Settled.Append(settled)
		source = runs.FromRule
	}
	r.verdict.Source.Append(source)
	r.verdicts.EndRow()
}

// addSupport records a support and the judge's word for it, if it has any.
func (r *recorder) addSupport(j *judging, s ibid.Support) {
	if s.Known() {
		r.verdict.Support.Append(s.Value)
	}
	if !j.wordless {
		r.verdict.Label.Append(s.Word())
	}
}

// addTampering records what is known of tampering with the judge of a row.
func (r *recorder) addTampering(j *judging) {
	r.verdict.Tampering.Optional(j.tampering())
	if len(j.suspected) > 0 {
		r.verdict.Suspected.Append(j.suspected)
	}
}

// addPlace records what was judged.
func (r *recorder) addPlace(doc string, page int32, start, end int64) {
	r.verdict.Doc.AppendAny(doc)
	if page > 0 {
		r.verdict.Page.Append(int64(page))
	}
	r.verdict.Start.Append(start)
	r.verdict.End.Append(end)
}

// addQuote records a quote.
func (r *recorder) addQuote(quote, aligned string, at judge.Interval) {
	r.verdict.Quote.Optional(quote)
	r.verdict.Aligned.Optional(aligned)
	if at.End > at.Start {
		r.verdict.QuoteStart.Append(int64(at.Start))
		r.verdict.QuoteEnd.Append(int64(at.End))
	}
}

// addLabel records what one person said.
func (r *recorder) addLabel(in *ibid.Answer, j *judging, l *judge.HumanLabel) {
	to, evidence := &r.verdict, runs.JointEvidence
	switch {
	case l.Citation >= 0:
		evidence = runs.CitationEvidence + strconv.Itoa(l.Citation)
	case l.Kind != ibid.SupportLabel:
		evidence = runs.ClaimEvidence
	}
	r.beginVerdict(in, j, l.Claim, evidence, nil)
	to.Annotator.Append(l.Annotator) // "" is the one unnamed annotator
	yes := l.Value.Value > 0.5
	switch l.Kind {
	case ibid.SupportLabel:
		to.Support.Append(l.Value.Value)
	case ibid.RelevantLabel:
		to.Relevant.Append(yes)
	case ibid.FactualLabel:
		to.Factual.Append(yes)
	case ibid.NeedsCitationLabel:
		to.NeedsCitation.Append(yes)
	}
	r.endVerdict(j, "")
}

func addTri(to runs.BoolColumn, v ibid.Tri) {
	if v != ibid.Unset {
		to.Append(v == ibid.Yes)
	}
}

// sufficient are sets of evidence as sets of citations.
func (j *judging) sufficient(sets [][]int) []string {
	out := []string{}
	for _, set := range sets {
		var names []string
		for _, e := range set {
			names = append(names, strconv.Itoa(j.request.Evidence[e].Citation))
		}
		out = append(out, strings.Join(names, "+"))
	}
	slices.Sort(out)
	return out
}
