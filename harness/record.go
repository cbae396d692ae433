package harness

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
)

// A recorder appends scored rows to the tables of one part. Each worker has its
// own.
type recorder struct {
	layout   *runs.RowsLayout
	tables   map[partFile]*parquet.Table
	row      rowColumns
	citation citationColumns
	claim    claimColumns
	verdict  verdictColumns
	quote    quotationColumns
	call     callColumns
	answer   answerColumns

	lacks  []string // see [Plan.lacks]; the layout may have more columns than the run fills
	hashes bool     // of answers are wanted
	types  []string // scratch
	keys   []string
	counts []int64
	values []float64

	tagKeys, tagValues []string
	patterns           rowPatterns
	kinds              kindNumbers
	errors             int64          // rows of the part
	places             placesBySystem // of the part

	limits  metrics.ProblemLimits
	finding metrics.AnswerFinding // scratch
}

// The columns of the tables, by the fields of [runs.Row], [runs.Citation],
// [runs.Claim] and [runs.Call]. The numbers of a row are appended by its pattern.
type (
	rowColumns struct {
		ID, System, Status, Error, Annotator, Provider, Model, FailsBecause, Tampering, SpanNull, JudgeNull, Row  *parquet.Column
		Tags, Undefined, CostUSD, LatencyMillis, Tokens, SourceTypes, SourceStatuses, Documents, AnswerHash, Open *parquet.Column
		Bounds, Dialects, Kinds                                                                                   *parquet.Column
	}
	citationColumns struct {
		ID, System, CitationID, Doc, Unit, Status, AnswerRole, Label, Precheck, Reason, Quote, CitedText    *parquet.Column
		SourceType, SourceRef, Row, Number, Page, Start, End, AnswerStart, AnswerEnd, ScopeStart, ScopeEnd  *parquet.Column
		CitedLength, ClaimLength, RepairedStart, RepairedEnd, BestTruth, QuoteStart, QuoteEnd, ExactJaccard *parquet.Column
		ToleranceJaccard, SnappedJaccard, Support, Concision, Relevant, Necessary, Claims                   *parquet.Column
	}
	claimColumns struct {
		ID, System, ClaimID, Text, Context, Label, Outcome, Reason, ElsewhereDoc, Row, Number, Start, End, Votes *parquet.Column
		ElsewherePage, ElsewhereStart, ElsewhereEnd, Support, ElsewhereSupport, Factual, NeedsCitation           *parquet.Column
		Contradicted, Citations, Opinions                                                                        *parquet.Column
	}
	answerColumns struct {
		Row, Query, Answer *parquet.Column
	}
	callColumns struct {
		ID, System, Model, Provider, GenerationID, Status, Error, Row, Number, Attempts, PromptTokens *parquet.Column
		CompletionTokens, LatencyMillis, CostUSD, Cached, Repaired                                    *parquet.Column
	}
)

func newRecorder(layout *runs.RowsLayout, lacks []string, supported float64) *recorder {
	r := &recorder{
		layout: layout, lacks: lacks, patterns: make(rowPatterns),
		limits: metrics.ProblemLimits{Supported: supported},
	}
	r.tables = make(map[partFile]*parquet.Table)
	for kind, columns := range map[partFile]any{
		partRowsFile: &r.row, partCitations: &r.citation, partClaims: &r.claim, partVerdicts: &r.verdict, partQuotes: &r.quote, partCalls: &r.call, partAnswers: &r.answer,
	} {
		r.tables[kind] = kind.form(layout).Bind(columns)
	}
	return r
}

// reset empties the tables for a part.
func (r *recorder) reset() {
	for _, t := range r.tables {
		t.Reset()
	}
	r.errors, r.places = 0, make(placesBySystem)
}

// add records the row that s has scored or, if failure is not nil, only that it
// failed. The scores of a failed row must be undefined.
func (r *recorder) add(in *ibid.Answer, s *scorer, failure error) {
	to, rows, scores := &r.row, r.tables[partRowsFile], &s.scores
	if !slices.Contains(r.lacks, runs.NeedsJudge) {
		r.answer.Row.AppendInt(in.Pos)
		r.answer.Query.AppendKnownText(in.Query)
		r.answer.Answer.AppendKnownText(in.Answer)
		r.tables[partAnswers].EndRow()
	}
	to.ID.AppendText(in.ID)
	to.System.AppendText(in.System)
	to.Row.AppendInt(in.Pos)
	if failure == nil {
		to.Status.AppendText(runs.RowOK)
	} else {
		r.errors++
		to.Status.AppendText(runs.RowError)
		to.Error.AppendString(failure.Error())
	}
	if problem := r.problem(in, s, failure); problem.Fails() {
		to.FailsBecause.AppendText(problem.String())
	}
	if scores.HasTruthAnnotator {
		to.Annotator.AppendText(scores.TruthAnnotator)
	}
	to.Provider.AppendKnownText(in.Provider)
	to.Model.AppendKnownText(in.Model)
	to.CostUSD.AppendKnownDouble(in.CostUSD)
	to.Tokens.AppendKnownInt(in.Tokens)
	to.LatencyMillis.AppendKnownDouble(in.LatencyMillis)
	r.tagKeys, r.tagValues = r.tagKeys[:0], r.tagValues[:0]
	for _, tag := range in.Tags {
		r.tagKeys = append(r.tagKeys, tag.Key)
		r.tagValues = append(r.tagValues, tag.Value)
	}
	to.Tags.AppendMap(r.tagKeys, r.tagValues)
	if r.kinds.read(in, s, failure); len(r.kinds.names) > 0 {
		to.Kinds.AppendDoubleMap(r.kinds.names, r.kinds.values)
	}
	r.patterns.append(to, scores, &r.kinds, !slices.Contains(r.lacks, runs.NeedsJudge))
	for _, c := range r.layout.Counts {
		if scores.Known[c.Count] {
			rows.At(c.At).AppendInt(scores.Counts[c.Count])
		}
	}
	for _, m := range r.layout.Metrics {
		if scores.Reasons[m.Metric] == ibid.Defined {
			rows.At(m.At).AppendDouble(scores.Values[m.Metric])
		}
	}
	if j := s.judging; j != nil && failure == nil {
		to.Tampering.AppendKnownText(j.tampering())
	}
	if !slices.Contains(r.lacks, runs.SourceTypeSlice) {
		r.types = runs.AppendSlices(r.types[:0], in, runs.SourceTypeSlice)
		to.SourceTypes.AppendStrings(r.types)
	}
	if !slices.Contains(r.lacks, runs.SourceStatusSlice) {
		r.types = runs.AppendSlices(r.types[:0], in, runs.SourceStatusSlice)
		to.SourceStatuses.AppendStrings(r.types)
	}
	if !slices.Contains(r.lacks, runs.NeedsAuto) {
		r.types = runs.AppendDocuments(r.types[:0], in)
		to.Documents.AppendStrings(r.types)
	}
	if r.hashes && failure == nil {
		to.AnswerHash.AppendInt(answerHash(in))
	}
	if failure == nil && !slices.Contains(r.lacks, runs.NeedsJudge) {
		r.addMaps(scores)
	}
	rows.EndRow()
	if failure != nil {
		return
	}
	places := r.places.of(in.System)
	places.AddRow(in)
	s.compareMarks(in, places)
	r.addCitations(in, s)
	r.addQuotations(in, s.quotations)
	if j := s.judging; j != nil {
		r.addClaims(in, j, scores)
		r.addVerdicts(in, j)
		r.addCalls(in, j)
	}
}

// Metrics that stand in maps, and their keys.
var (
	bounded  = runs.BoundedMetrics()
	dialects = runs.DialectMetrics()
)

// addMaps records what is open, what metrics can be at least and at most then, and the metrics
// named after papers.
func (r *recorder) addMaps(s *metrics.Scores) {
	keys, counts, values := r.keys[:0], r.counts[:0], r.values[:0]
	for o, n := range s.Open {
		if n > 0 {
			keys, counts = append(keys, metrics.Open(o).String()), append(counts, n)
		}
	}
	r.row.Open.AppendIntMap(keys, counts)
	keys = keys[:0]
	if s.Bounded {
		for _, m := range bounded {
			if s.HasBounds[m] {
				keys, values = append(keys, m.String()+runs.LowSuffix, m.String()+runs.HighSuffix), append(values, s.Low[m], s.High[m])
			}
		}
	}
	r.row.Bounds.AppendDoubleMap(keys, values)
	keys, values = keys[:0], values[:0]
	for _, m := range dialects {
		if v, ok := s.Value(m); ok {
			keys, values = append(keys, m.String()), append(values, v)
		}
	}
	r.row.Dialects.AppendDoubleMap(keys, values)
	r.keys, r.counts, r.values = keys, counts, values
}

// problem is the worst about the row that s has scored.
func (r *recorder) problem(in *ibid.Answer, s *scorer, failure error) metrics.Problem {
	f, scores := &r.finding, &s.scores
	if failure != nil {
		return r.limits.OfAnswer(&metrics.AnswerFinding{Error: true})
	}
	f.Citations, f.Claims = slices.Grow(f.Citations[:0], len(in.Citations))[:len(in.Citations)], f.Claims[:0]
	f.Quotations = worstQuotation(s.quotations)
	f.ToCite = scores.Counts[metrics.TruthSpans] > 0 || in.HasCitations && scores.Counts[metrics.NeedingClaims] > 0
	f.Overall, f.HasOverall = scores.Values[metrics.OverallCitationAccuracy], scores.Reasons[metrics.OverallCitationAccuracy] == ibid.Defined
	for i := range in.Citations {
		match := &scores.Citations[i]
		c := &f.Citations[i]
		*c = metrics.CitationFinding{Status: in.Citations[i].Status(), HasTruth: match.Defined, Exact: match.Exact, Snapped: match.Snapped}
		if j := s.judging; j != nil {
			of := match.VerdictOf
			c.Support, c.Contradicts = j.verdicts[of].Support.Number, j.checks[of].judged && j.checks[of].Support.Degree == ibid.Contradicts
			c.Claims = j.checks[i].claims
		}
	}
	if j := s.judging; j != nil {
		for k := range j.claims {
			f.Claims = append(f.Claims, metrics.ClaimFinding{Outcome: scores.Outcomes[k], Cited: len(j.claims[k].Citations)})
		}
	}
	return r.limits.OfAnswer(f)
}

// addCitations records the citations of one row that was scored.
func (r *recorder) addCitations(in *ibid.Answer, s *scorer) {
	to, citations := &r.citation, r.tables[partCitations]
	for i := range in.Citations {
		c, p := &in.Citations[i], &in.Citations[i].Place
		to.ID.AppendText(in.ID)
		to.System.AppendText(in.System)
		to.Row.AppendInt(in.Pos)
		to.Number.AppendInt(int64(i))
		to.CitationID.AppendKnownText(c.CitationID)
		if !c.DocNull {
			to.Doc.AppendText(c.Doc)
		}
		to.Page.AppendKnownInt(c.Page)
		given := c.Given
		if !c.Repaired.Known() && p.Level == ibid.LevelCharacters {
			given = ibid.Between(p.Start, p.End)
		}
		if given.Known() {
			to.Start.AppendInt(given.Start.Value)
			to.End.AppendInt(given.End.Value)
			to.Unit.AppendText("codepoint")
		} else {
			to.Start.AppendKnownInt(c.Start)
			to.End.AppendKnownInt(c.End)
			to.Unit.AppendKnownText(c.Unit)
		}
		if p.Level == ibid.LevelCharacters && p.End >= p.Start {
			to.CitedLength.AppendInt(p.Length())
		}
		to.AnswerStart.AppendKnownInt(c.AnswerStart)
		to.AnswerEnd.AppendKnownInt(c.AnswerEnd)
		to.AnswerRole.AppendKnownText(c.AnswerRole.String())
		if s.judging != nil {
			if scope := s.judging.scope(i); scope.Known() {
				to.ScopeStart.AppendInt(scope.Start.Value)
				to.ScopeEnd.AppendInt(scope.End.Value)
			}
		}
		to.Status.AppendText(c.Status().String())
		to.RepairedStart.AppendKnownInt(in.Citations[i].Repaired.Start)
		to.RepairedEnd.AppendKnownInt(in.Citations[i].Repaired.End)
		if score := &s.scores.Citations[i]; score.Defined {
			if score.BestTruth >= 0 {
				to.BestTruth.AppendInt(int64(score.BestTruth))
			}
			to.ExactJaccard.AppendDouble(score.Exact)
			to.ToleranceJaccard.AppendDouble(score.Tolerance)
			to.SnappedJaccard.AppendDouble(score.Snapped)
		}
		if s.judging != nil {
			if score := s.scores.Citations[i]; score.Concision > 0 {
				to.Concision.AppendDouble(score.Concision)
			}
			r.addCitationVerdict(s.judging, i, s.scores.Citations[i].VerdictOf)
		}
		to.CitedText.AppendKnownText(c.CitedText)
		to.SourceType.AppendKnownText(c.SourceType)
		to.SourceRef.AppendKnownText(runs.SourceRef(c))
		citations.EndRow()
	}
}

// addClaims records the claims of one row and the verdicts on them.
func (r *recorder) addClaims(in *ibid.Answer, j *judging, scores *metrics.Scores) {
	to := &r.claim
	for k := range j.claims {
		c := &j.claims[k]
		to.ID.AppendText(in.ID)
		to.System.AppendText(in.System)
		to.Row.AppendInt(in.Pos)
		to.Number.AppendInt(int64(k))
		to.ClaimID.AppendKnownText(c.ClaimID)
		if c.Extent.Known() {
			to.Start.AppendInt(c.Extent.Start.Value)
			to.End.AppendInt(c.Extent.End.Value)
		}
		to.Text.AppendKnownText(c.Text)
		to.Context.AppendKnownText(c.Context)
		to.Citations.AppendInts(c.Citations)
		to.Outcome.AppendText(scores.Outcomes[k].String())
		factual := c.Factual != ibid.No
		to.Factual.AppendBool(factual)
		to.NeedsCitation.AppendBool(c.NeedsCitation == ibid.Yes || c.NeedsCitation == ibid.Unset && factual)
		if c.Joint.Known() {
			to.Support.AppendDouble(c.Joint.Value)
			addTri(to.Contradicted, c.Contradicted)
		}
		if c.Elsewhere.Known() {
			to.ElsewhereSupport.AppendDouble(c.Elsewhere.Value)
		}
		switch {
		case j.verdict != nil:
			r.addClaimVerdict(j, k)
		case j.failure != nil:
			to.Votes.AppendInt(0) // asked in vain
			to.Reason.AppendString(j.failure.Cause())
		}
		r.tables[partClaims].EndRow()
	}
}

// evidenceCut is why a claim is undecided whose evidence is cut out of a longer text.
const evidenceCut = "evidence_cut: what is left out of the cited text may say it"

// addClaimVerdict records what the judge said of claim k.
func (r *recorder) addClaimVerdict(j *judging, k int) {
	to, v := &r.claim, &j.verdict.Claims[k]
	if v.Unscored != "" {
		to.Votes.AppendInt(0) // asked in vain
		to.Reason.AppendString(fmt.Sprintf("%s: %s", v.Unscored, v.JointWhy))
		return
	}
	if v.Votes > 0 {
		to.Votes.AppendInt(int64(v.Votes))
		to.Label.AppendText(v.Joint.Word())
	}
	if v.Joint.Known() && j.claims[k].Joint == ibid.Undecidable() { // what the judge says was set aside
		to.Reason.AppendString(evidenceCut)
	} else {
		to.Reason.AppendKnownText(v.JointWhy)
	}
	if p := j.elsewhere(v); p != nil {
		to.ElsewhereDoc.AppendString(p.Doc)
		if p.Page > 0 {
			to.ElsewherePage.AppendInt(int64(p.Page))
		}
		to.ElsewhereStart.AppendInt(int64(p.Start))
		to.ElsewhereEnd.AppendInt(int64(p.End))
	}
	if opinions := j.verdict.Opinions; len(opinions) > 0 && v.Votes > 0 {
		list := make([]string, 0, len(opinions))
		for i := range opinions {
			o := &opinions[i]
			if o.Claims[k].Unscored != "" {
				continue // absent
			}
			list = append(list, fmt.Sprintf("%s#%d=%s", o.Model, o.Vote, o.Claims[k].Joint.Degree)) // read by panelTables.count
		}
		to.Opinions.AppendStrings(list)
	}
}

// addCitationVerdict records what is known of citation i of the row; it has the verdict
// on citation of.
func (r *recorder) addCitationVerdict(j *judging, i, of int) {
	to, c, v := &r.citation, &j.checks[of], &j.verdicts[of]
	linked, necessary := j.checks[i].claims, j.verdicts[i].Necessary
	to.Claims.AppendInts(linked)
	if len(linked) > 0 {
		length := 0
		for _, k := range linked {
			length += utf8.RuneCountInString(j.claims[k].Text)
		}
		to.ClaimLength.AppendInt(int64(length))
	}
	if v.Support.Known() {
		to.Support.AppendDouble(v.Support.Value)
	}
	if c.judged {
		to.Label.AppendText(c.Support.Word())
	}
	if v.Relevant != ibid.Unset {
		to.Relevant.AppendBool(v.Relevant == ibid.Yes)
	}
	if necessary != ibid.Unset {
		to.Necessary.AppendBool(necessary == ibid.Yes)
	}
	to.Precheck.AppendKnownText(c.Precheck)
	to.Reason.AppendKnownText(c.Why)
	to.Quote.AppendKnownText(c.Quote)
	if c.Quote != "" && c.text.placed && c.QuoteAt.End > c.QuoteAt.Start {
		to.QuoteStart.AppendInt(int64(c.text.start + c.QuoteAt.Start))
		to.QuoteEnd.AppendInt(int64(c.text.start + c.QuoteAt.End))
	}
}

// addCalls records what was asked of a model about one row, in vain or not.
func (r *recorder) addCalls(in *ibid.Answer, j *judging) {
	var calls []judge.Call
	switch {
	case j.verdict != nil:
		calls = j.verdict.Calls
	case j.failure != nil:
		calls = j.failure.Calls
	case j.answer != nil && j.answer.split != nil: // no sentence claims anything
		calls = j.answer.split.Calls
	}
	to := &r.call
	for i := range calls {
		c := &calls[i]
		to.ID.AppendText(in.ID)
		to.System.AppendText(in.System)
		to.Row.AppendInt(in.Pos)
		to.Number.AppendInt(int64(i))
		to.Model.AppendKnownText(c.Model)
		to.Provider.AppendKnownText(c.Provider)
		to.Cached.AppendBool(c.Cached)
		to.Repaired.AppendBool(c.Repaired)
		to.Attempts.AppendInt(int64(c.Attempts))
		to.PromptTokens.AppendInt(c.PromptTokens)
		to.CompletionTokens.AppendInt(c.CompletionTokens)
		to.CostUSD.AppendDouble(float64(c.CostNanoUSD) / 1e9)
		to.LatencyMillis.AppendInt(c.LatencyMillis)
		to.GenerationID.AppendKnownText(c.GenerationID)
		to.Status.AppendText(c.Status)
		to.Error.AppendKnownText(c.Error)
		r.tables[partCalls].EndRow()
	}
}

// clusterOf is the row's value of the tag that statistics.cluster names, "" if it names
// none or the row has none.
func clusterOf(in *ibid.Answer, by string) string {
	tag := runs.ClusterTag(by)
	if tag == "" {
		return ""
	}
	value, _ := in.Tag(tag)
	return value
}
