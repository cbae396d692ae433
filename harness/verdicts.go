package harness

import (
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
)

// verdictColumns are the columns of verdicts.parquet, by the fields of [runs.Judgment].
type verdictColumns struct {
	ID, System, ClaimID, ClaimText, Evidence, Doc, Label, Quote, Aligned, Why, Tampering, Judge, Model       *parquet.Column
	Annotator, Template, Source, Settled, Unscored, Row, Claim, Page, Start, End, QuoteStart, QuoteEnd, Vote *parquet.Column
	Votes, Absent, Surplus, Support, Overlap, Contradicted, Relevant, Factual, NeedsCitation                 *parquet.Column
	Sufficient, Suspected                                                                                    *parquet.Column
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
		why := ""
		if j.failure.Err != nil {
			why = j.failure.Err.Error()
		}
		for k := range j.claims {
			r.addUnscored(in, j, k, nil, j.failure.Reason, why, 0)
		}
	}
}

// addUnscored records that claim k has no verdict.
func (r *recorder) addUnscored(in *ibid.Answer, j *judging, k int, o *judge.Opinion, reason judge.Reason, why string, absent int) {
	for _, evidence := range []string{runs.ClaimEvidence, runs.JointEvidence} {
		r.beginVerdict(in, j, k, evidence, o)
		r.verdict.Unscored.AppendText(string(reason))
		r.verdict.Why.AppendKnownText(why)
		if evidence == runs.JointEvidence {
			addCount(r.verdict.Absent, absent)
		} else if o == nil {
			r.addTampering(j)
		}
		r.endVerdict(j, "")
	}
}

// addCount appends a count, null for 0.
func addCount(to *parquet.Column, n int) {
	if n > 0 {
		to.AppendInt(int64(n))
	}
}

// beginVerdict begins a verdict on claim k, -1 for none; o is nil for what counts.
func (r *recorder) beginVerdict(in *ibid.Answer, j *judging, k int, evidence string, o *judge.Opinion) {
	to := &r.verdict
	to.ID.AppendText(in.ID)
	to.System.AppendText(in.System)
	to.Row.AppendInt(in.Pos)
	if k >= 0 {
		to.Claim.AppendInt(int64(k))
		to.ClaimID.AppendKnownText(j.claims[k].ClaimID)
	}
	if evidence == runs.ClaimEvidence {
		to.ClaimText.AppendKnownText(j.claims[k].Text)
	}
	to.Evidence.AppendText(evidence)
	to.Judge.AppendText(j.info.Kind)
	to.Template.AppendKnownText(j.info.Prompt)
	switch {
	case o != nil:
		to.Model.AppendKnownText(o.Model)
		to.Vote.AppendInt(int64(o.Vote))
	default:
		to.Model.AppendKnownText(j.info.Model)
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
		if v.Unscored != "" {
			r.addUnscored(in, j, k, o, v.Unscored, v.JointWhy, v.Absent)
			continue
		}
		r.beginVerdict(in, j, k, runs.ClaimEvidence, o)
		addTri(to.Factual, v.Factual)
		addTri(to.NeedsCitation, v.NeedsCitation)
		if v.Sufficient != nil {
			to.Sufficient.AppendStrings(j.sufficient(v.Sufficient))
		}
		if o == nil {
			r.addTampering(j)
		}
		addCount(to.Surplus, v.Surplus)
		r.endVerdict(j, v.Precheck)

		r.beginVerdict(in, j, k, runs.JointEvidence, o)
		r.addSupport(j, v.Joint)
		to.Overlap.AppendKnownDouble(v.Overlap)
		addTri(to.Contradicted, v.Contradicted)
		to.Why.AppendKnownText(v.JointWhy)
		to.Votes.AppendInt(int64(v.Votes))
		addCount(to.Absent, v.Absent)
		r.endVerdict(j, v.Precheck)

		j.checksIn(all, k, func(c *judge.Check) {
			r.beginVerdict(in, j, k, runs.CitationEvidence+strconv.Itoa(c.Citation), o)
			text := &j.checks[c.Citation].text
			if text.placed {
				r.addPlace(text.doc, text.page, int64(text.start), int64(text.end))
			}
			r.addSupport(j, c.Support)
			to.Overlap.AppendKnownDouble(c.Overlap)
			addTri(to.Relevant, c.Relevant)
			r.addQuote(c.Quote, c.Aligned, c.QuoteAt)
			to.Why.AppendKnownText(c.Why)
			r.endVerdict(j, c.Precheck)
		})

		r.beginVerdict(in, j, k, runs.ElsewhereEvidence, o)
		if p := j.elsewhere(v); p != nil {
			r.addPlace(p.Doc, p.Page, int64(p.Start), int64(p.End))
		}
		r.addSupport(j, v.Elsewhere)
		to.Quote.AppendKnownText(v.ElsewhereQuote)
		to.Aligned.AppendKnownText(v.ElsewhereAligned)
		r.endVerdict(j, v.Precheck)
	}
}

// endVerdict ends a verdict that a rule may have settled.
func (r *recorder) endVerdict(j *judging, settled string) {
	source := sourceOf(j.info.Kind)
	if settled != "" {
		r.verdict.Settled.AppendText(settled)
		source = runs.FromRule
	}
	r.verdict.Source.AppendText(source)
	r.tables[partVerdicts].EndRow()
}

// addSupport records a support and the judge's word for it, if it has any.
func (r *recorder) addSupport(j *judging, s ibid.Support) {
	if s.Known() {
		r.verdict.Support.AppendDouble(s.Value)
	}
	if !j.wordless {
		r.verdict.Label.AppendText(s.Word())
	}
}

// addTampering records what is known of tampering with the judge of a row.
func (r *recorder) addTampering(j *judging) {
	r.verdict.Tampering.AppendKnownText(j.tampering())
	if len(j.suspected) > 0 {
		r.verdict.Suspected.AppendStrings(j.suspected)
	}
}

// addPlace records what was judged.
func (r *recorder) addPlace(doc string, page int32, start, end int64) {
	r.verdict.Doc.AppendString(doc)
	if page > 0 {
		r.verdict.Page.AppendInt(int64(page))
	}
	r.verdict.Start.AppendInt(start)
	r.verdict.End.AppendInt(end)
}

// addQuote records a quote.
func (r *recorder) addQuote(quote, aligned string, at judge.Interval) {
	r.verdict.Quote.AppendKnownText(quote)
	r.verdict.Aligned.AppendKnownText(aligned)
	if at.End > at.Start {
		r.verdict.QuoteStart.AppendInt(int64(at.Start))
		r.verdict.QuoteEnd.AppendInt(int64(at.End))
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
	to.Annotator.AppendText(l.Annotator) // "" is the one unnamed annotator
	yes := l.Value.Value > 0.5
	switch l.Kind {
	case ibid.SupportLabel:
		to.Support.AppendDouble(l.Value.Value)
	case ibid.RelevantLabel:
		to.Relevant.AppendBool(yes)
	case ibid.FactualLabel:
		to.Factual.AppendBool(yes)
	case ibid.NeedsCitationLabel:
		to.NeedsCitation.AppendBool(yes)
	}
	r.endVerdict(j, "")
}

func addTri(to *parquet.Column, v ibid.Tri) {
	if v != ibid.Unset {
		to.AppendBool(v == ibid.Yes)
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
