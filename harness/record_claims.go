package harness

import (
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
)

// claimsOf records the claims of one row and the verdicts on them.
func (r *recorder) claimsOf(in *dataset.Row, j *judging, scores *metrics.Scores) {
	t := r.claims
	for k := range j.claims {
		c := &j.claims[k]
		t.AppendText(runs.ClaimRowID, in.ID)
		t.AppendText(runs.ClaimSystem, in.System)
		t.AppendInt(runs.ClaimRow, in.Pos)
		t.AppendInt(runs.ClaimClaim, int64(k))
		appendOptional(t, runs.ClaimID, c.ID)
		if c.HasExtent {
			t.AppendInt(runs.ClaimStart, c.Start)
			t.AppendInt(runs.ClaimEnd, c.End)
		}
		appendOptional(t, runs.ClaimText, j.cut.List[k].Text)
		t.AppendInts(runs.ClaimCitations, c.Citations)
		t.AppendText(runs.ClaimOutcome, scores.Outcomes[k].String())
		r.flags(c)
		r.support(c)
		switch {
		case j.verdict != nil:
			r.claimVerdict(j, &j.verdict.Claims[k])
			r.opinions(j.verdict, k)
		case j.failure != nil:
			t.AppendInt(runs.ClaimVotes, 0) // asked in vain
			t.AppendString(runs.ClaimReason, j.failure.Cause())
		}
		t.EndRow()
	}
}

// flags records whether the claim is factual and needs a citation, defaults
// filled in.
func (r *recorder) flags(c *metrics.Claim) {
	factual := c.Factual != metrics.No
	needs := c.NeedsCitation == metrics.Yes || c.NeedsCitation == metrics.Unset && factual
	r.claims.AppendBool(runs.ClaimFactual, factual)
	r.claims.AppendBool(runs.ClaimNeedsCitation, needs)
}

// support records the support that counted.
func (r *recorder) support(c *metrics.Claim) {
	if s := c.Joint; s.Known {
		r.claims.AppendDouble(runs.ClaimSupport, s.Value)
		r.claims.AppendBool(runs.ClaimContradicted, c.Contradicted)
	}
	if s := c.Elsewhere; s.Known {
		r.claims.AppendDouble(runs.ClaimElsewhereSupport, s.Value)
	}
}

// claimVerdict records what the judge said of the claim.
func (r *recorder) claimVerdict(j *judging, v *judge.ClaimVerdict) {
	t := r.claims
	if v.Votes > 0 {
		t.AppendInt(runs.ClaimVotes, int64(v.Votes))
		t.AppendText(runs.ClaimLabel, v.Joint.Label.String())
	}
	appendOptional(t, runs.ClaimReason, v.JointWhy)
	if p := j.elsewhere(v); p != nil {
		t.AppendString(runs.ClaimElsewhereDoc, p.Doc)
		if p.Page > 0 {
			t.AppendInt(runs.ClaimElsewherePage, int64(p.Page))
		}
		t.AppendInt(runs.ClaimElsewhereStart, int64(p.Start))
		t.AppendInt(runs.ClaimElsewhereEnd, int64(p.End))
	}
}

// opinions records what the verdict on claim k was combined from.
func (r *recorder) opinions(v *judge.Verdict, k int) {
	if len(v.Opinions) == 0 || v.Claims[k].Votes == 0 {
		return
	}
	list := make([]string, 0, len(v.Opinions))
	for i := range v.Opinions {
		o := &v.Opinions[i]
		list = append(list, opinionOf(o.Model, o.Vote, o.Claims[k].Joint.Label))
	}
	r.claims.AppendStrings(runs.ClaimOpinions, list)
}

// citationVerdict records the verdict on citation i of the row.
func (r *recorder) citationVerdict(j *judging, i int) {
	t, c, v := r.citations, &j.checks[i], &j.verdicts[i]
	t.AppendInts(runs.CiteClaims, c.claims)
	if v.Support.Known {
		t.AppendDouble(runs.CiteSupport, v.Support.Value)
	}
	if c.judged {
		t.AppendText(runs.CiteLabel, c.support.Label.String())
	}
	if v.Relevant != metrics.Unset {
		t.AppendBool(runs.CiteRelevant, v.Relevant == metrics.Yes)
	}
	if v.Necessary != metrics.Unset {
		t.AppendBool(runs.CiteNecessary, v.Necessary == metrics.Yes)
	}
	appendOptional(t, runs.CitePrecheck, c.precheck)
	appendOptional(t, runs.CiteReason, c.why)
	appendOptional(t, runs.CiteQuote, c.quote)
	if c.quote != "" && c.text.placed && c.quoteAt.End > c.quoteAt.Start {
		t.AppendInt(runs.CiteQuoteStart, int64(c.text.start+c.quoteAt.Start))
		t.AppendInt(runs.CiteQuoteEnd, int64(c.text.start+c.quoteAt.End))
	}
}
