package harness

import (
	"context"
	"errors"
	"slices"

	"ibid/dataset"
	"ibid/judge"
	"ibid/metrics"
	"ibid/metrics/span"
)

// A judging puts rows to a judge; each worker has its own. What it holds is of
// the row at hand.
type judging struct {
	judge    judge.Judge
	human    bool
	evidence evidenceKind
	resolver *dataset.Resolver
	cutter   *dataset.ClaimCutter

	cut      dataset.Claims
	claims   []metrics.Claim
	linker   metrics.Linker
	anchors  []metrics.Anchor
	links    [][]int32 // claims of each citation
	unlinked int64
	request  judge.Request
	answer   *answer           // of a live judge, who was asked before; nil asks now
	index    []int             // of each citation in the request's evidence, -1 if it is not there
	verdict  *judge.Verdict    // nil if there is none
	failure  *judge.RowFailure // the judge could not answer
	verdicts []metrics.CitationVerdict
	pairs    [][]metrics.PairVerdict
	checks   []citationCheck // what was said of each citation, parallel to the row's
}

// newJudging returns the judging of one worker.
func newJudging(p *Plan, resolver *dataset.Resolver) (*judging, error) {
	s := &p.job.Config.Settings
	source, err := dataset.ParseClaimSource(s.Claims)
	if err != nil {
		return nil, err
	}
	return &judging{
		judge: p.judge, human: p.job.judgeKind() == humanJudge, evidence: evidenceKinds[s.Judge.Evidence],
		resolver: resolver, cutter: dataset.NewClaimCutter(source),
	}, nil
}

// A citationCheck is the verdict on a citation that its claims' verdicts agree
// on best: where it finds the most support.
type citationCheck struct {
	claims   []int32
	support  judge.Support
	relevant judge.Tri
	why      string
	quote    string
	quoteAt  judge.Interval // code points of the citation's text
	text     excerpt
	precheck string // what decided without asking
	judged   bool
}

// row judges one row whose places are resolved; the verdict table is then in
// claims, verdicts and pairs. An error ends the run. A judge that cannot answer
// leaves the row unscored and says why in the log.
func (j *judging) row(ctx context.Context, in *dataset.Row, places *dataset.Resolved) error {
	j.verdict, j.failure = nil, nil
	j.prepare(in, places)
	if len(j.claims) > 0 {
		v, err := j.ask(ctx)
		switch {
		case errors.As(err, &j.failure):
		case err != nil:
			return err
		default:
			j.verdict = v
			j.take(v)
		}
	}
	j.tabulate(in, places)
	return j.resolver.Err()
}

// prepare cuts the answer into claims, links them to citations and writes the
// request.
func (j *judging) prepare(in *dataset.Row, places *dataset.Resolved) {
	j.cutClaims(in, places)
	j.link(in, places)
	j.write(in, places)
}

// ask returns the verdict on the request, or the answer that is there already.
func (j *judging) ask(ctx context.Context) (*judge.Verdict, error) {
	if j.answer != nil {
		return j.answer.verdict, j.answer.err
	}
	return j.judge.Judge(ctx, &j.request)
}

// fill gives the metrics' row what was judged.
func (j *judging) fill(r *metrics.Row) {
	r.Claims, r.HasClaims, r.Unlinked = j.claims, j.cut.Known, j.unlinked
	r.Judged, r.JudgeFailed = true, j.failure != nil
	r.Verdicts, r.Pairs = j.verdicts, j.pairs
}

// cutClaims finds the claims of the answer.
func (j *judging) cutClaims(in *dataset.Row, places *dataset.Resolved) {
	j.cut = j.cutter.Cut(in, places)
	j.claims = j.claims[:0]
	for _, c := range j.cut.List {
		j.claims = append(j.claims, metrics.Claim{ID: c.ID, Start: c.Start, End: c.End, HasExtent: c.HasExtent})
	}
}

// link finds out which citation belongs to which claim.
func (j *judging) link(in *dataset.Row, places *dataset.Resolved) {
	j.anchors = j.anchors[:0]
	for i := range in.Citations {
		at := &places.Answer[i]
		var a metrics.Anchor
		if j.cut.Provided || !in.HasClaims {
			a.ClaimID = in.Citations[i].ClaimID
		}
		if at.Start.Valid {
			a.HasPosition, a.Start, a.End = true, at.Start.Value, at.Start.Value
			if at.End.Valid {
				a.End = at.End.Value
			}
		}
		j.anchors = append(j.anchors, a)
	}
	var unlinked []bool
	j.links, unlinked = j.linker.Link(j.claims, j.anchors)
	j.unlinked = 0
	for _, u := range unlinked {
		if u {
			j.unlinked++
		}
	}
}

// write writes the request.
func (j *judging) write(in *dataset.Row, places *dataset.Resolved) {
	r := &j.request
	*r = judge.Request{
		Row: in.ID + "/" + in.System, Question: in.Query, Answer: in.Answer,
		Claims: r.Claims[:0], Evidence: r.Evidence[:0], Sources: r.Sources[:0], Labels: r.Labels[:0], Invalid: r.Invalid[:0],
	}
	j.checks = j.checks[:0]
	j.index = j.index[:0]
	for i := range in.Citations {
		j.index = append(j.index, -1)
		check := citationCheck{claims: j.links[i], text: j.excerptOf(in, places, i)}
		if status := places.Citations[i].Status; !status.Valid() && !j.human {
			check.precheck = status.String()
			r.Invalid = append(r.Invalid, judge.InvalidCitation{Citation: i, Reason: check.precheck})
		} else if check.text.known && status.Valid() {
			j.index[i] = len(r.Evidence)
			r.Evidence = append(r.Evidence, judge.Evidence{Text: check.text.text, Citation: i})
		}
		j.checks = append(j.checks, check)
	}
	for k := range j.claims {
		c := judge.Claim{ID: j.cut.List[k].ID, Text: j.cut.List[k].Text}
		for _, i := range j.claims[k].Citations {
			c.Citations = append(c.Citations, int(i))
			if j.index[i] >= 0 {
				c.Evidence = append(c.Evidence, j.index[i])
			}
		}
		r.Claims = append(r.Claims, c)
	}
	j.sources(in, places)
	if j.human {
		j.labels(in)
	}
}

// labels translates the row's labels; one that names a claim or a citation that
// is not there speaks of nothing and is left out.
func (j *judging) labels(in *dataset.Row) {
	for i := range in.Labels {
		l := &in.Labels[i]
		if !l.Value.Valid {
			continue
		}
		h := judge.HumanLabel{Annotator: l.Annotator, Kind: l.Kind, Value: l.Value.Value, Claim: -1, Citation: -1}
		if l.ClaimID != "" {
			if h.Claim = j.claimNamed(l.ClaimID); h.Claim < 0 {
				continue
			}
		}
		if l.CitationID != "" {
			if h.Citation = citationNamed(in, l.CitationID); h.Citation < 0 {
				continue
			}
		}
		j.request.Labels = append(j.request.Labels, h)
	}
}

func (j *judging) claimNamed(id string) int {
	for k := range j.cut.List {
		if j.cut.List[k].ID == id {
			return k
		}
	}
	return -1
}

func citationNamed(in *dataset.Row, id string) int {
	for i := range in.Citations {
		if in.Citations[i].CitationID == id {
			return i
		}
	}
	return -1
}

// take copies the verdict on each claim.
func (j *judging) take(v *judge.Verdict) {
	for k := range v.Claims {
		from, to := &v.Claims[k], &j.claims[k]
		to.Factual, to.NeedsCitation = flagOf(from.Factual), flagOf(from.NeedsCitation)
		to.Contradicted = from.Contradicted
		to.Elsewhere = supportOf(from.Elsewhere)
		to.Joint = supportOf(from.Joint)
		if to.Joint.Known && !j.human && !j.enough(k, to.Joint.Value) {
			// Evidence that nobody could read may hold what is missing.
			to.Joint = metrics.Support{}
		}
		for i := range from.Checks {
			j.takeCheck(&from.Checks[i])
		}
	}
}

// enough reports whether a support stands although some cited evidence has no
// text: it cannot become less by more evidence once it is complete.
func (j *judging) enough(k int, support float64) bool {
	if support == 1 {
		return true
	}
	for _, i := range j.claims[k].Citations {
		if c := &j.checks[i]; c.text.missing {
			return false
		}
	}
	return true
}

// takeCheck keeps the check with the best support of each citation.
func (j *judging) takeCheck(from *judge.Check) {
	c := &j.checks[from.Citation]
	if from.Relevant == judge.Yes || c.relevant == judge.Unset {
		c.relevant = from.Relevant
	}
	if c.judged && (!from.Support.Known || c.support.Known && c.support.Score >= from.Support.Score) {
		return
	}
	c.judged = true
	c.support, c.why, c.quote, c.quoteAt, c.precheck = from.Support, from.Why, from.Quote, from.QuoteAt, from.Precheck
}

// tabulate makes the verdicts on citations, in the order of the row.
func (j *judging) tabulate(in *dataset.Row, places *dataset.Resolved) {
	j.verdicts = j.verdicts[:0]
	for i := range in.Citations {
		c := &j.checks[i]
		v := metrics.CitationVerdict{Support: supportOf(c.support), Relevant: flagOf(c.relevant)}
		if !j.human && !places.Citations[i].Status.Valid() {
			v = metrics.CitationVerdict{Support: metrics.Support{Known: true}, Relevant: metrics.No}
		}
		j.verdicts = append(j.verdicts, v)
	}
	j.tabulatePairs(places)
}

// tabulatePairs makes the verdicts on claims with citations: of each claim one per
// citation of it.
func (j *judging) tabulatePairs(places *dataset.Resolved) {
	j.pairs = slices.Grow(j.pairs[:0], len(j.claims))[:len(j.claims)]
	for k := range j.claims {
		cited := j.claims[k].Citations
		pairs := slices.Grow(j.pairs[k][:0], len(cited))[:len(cited)]
		clear(pairs)
		for n, i := range cited {
			if !j.human && !places.Citations[i].Status.Valid() {
				pairs[n] = metrics.PairVerdict{Support: metrics.Support{Known: true}, Relevant: metrics.No}
			}
		}
		if j.verdict != nil {
			for i := range j.verdict.Claims[k].Checks {
				c := &j.verdict.Claims[k].Checks[i]
				if n := slices.Index(cited, int32(c.Citation)); n >= 0 {
					pairs[n].Support, pairs[n].Relevant = supportOf(c.Support), flagOf(c.Relevant)
				}
			}
			j.necessity(k, pairs)
		}
		j.pairs[k] = pairs
	}
}

func flagOf(t judge.Tri) metrics.Flag {
	switch t {
	case judge.Yes:
		return metrics.Yes
	case judge.No:
		return metrics.No
	}
	return metrics.Unset
}

func supportOf(s judge.Support) metrics.Support {
	return metrics.Support{Value: s.Score, Known: s.Known}
}

// sources are the texts that the row's documents have, for what a claim could
// have cited.
func (j *judging) sources(in *dataset.Row, places *dataset.Resolved) {
	r := &j.request
	add := func(doc string, page int32) *judge.Source {
		for i := range r.Sources {
			if r.Sources[i].Doc == doc && r.Sources[i].Page == page {
				return &r.Sources[i]
			}
		}
		text, ok := j.resolver.Text(doc, page)
		if !ok {
			return nil
		}
		r.Sources = append(r.Sources, judge.Source{Doc: doc, Page: page, Text: text})
		return &r.Sources[len(r.Sources)-1]
	}
	for i := range in.Citations {
		p := &places.Citations[i]
		if p.Level == span.Nowhere {
			continue
		}
		s := add(p.Doc, p.Page)
		if at := j.checks[i].text; s != nil && at.placed {
			s.Cited = append(s.Cited, judge.Interval{Start: at.start, End: at.end, Citation: i})
		}
	}
	for i := range in.Documents {
		add(in.Documents[i].Doc, 0)
	}
}
