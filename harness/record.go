package harness

import (
	"slices"
	"unicode/utf8"

	"ibid"
	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
)

// A recorder appends scored rows to the tables of one part. Each worker has its
// own.
type recorder struct {
	layout    *runs.RowsLayout
	rows      *parquet.Table
	row       rowColumns
	citations *parquet.Table
	citation  citationColumns
	claims    *parquet.Table
	claim     claimColumns
	verdicts  *parquet.Table
	verdict   verdictColumns
	calls     *parquet.Table
	call      callColumns
	answers   *parquet.Table
	answer    answerColumns

	lacks  []string // see [Plan.lacks]; the layout may have more columns than the run fills
	hashes bool     // of answers are wanted
	types  []string // scratch
	keys   []string
	counts []int64
	values []float64

	tagKeys, tagValues []string
	patterns           rowPatterns
	tally              tally

	limits  metrics.ProblemLimits
	finding metrics.AnswerFinding // scratch
}

// The columns of the tables, by the fields of [runs.Row], [runs.Citation],
// [runs.Claim] and [runs.Call]. The numbers of a row are appended by its pattern.
type (
	rowColumns struct {
		ID, System, Status, Error, Annotator, Provider, Model, FailsBecause, Tampering, SpanNull, JudgeNull, Row  *parquet.Column
		Tags, Undefined, CostUSD, LatencyMillis, Tokens, SourceTypes, SourceStatuses, Documents, AnswerHash, Open *parquet.Column
		Bounds, Dialects                                                                                          *parquet.Column
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

// A tally counts what happened to the rows of one or more parts.
type tally struct {
	Rows, Errors, Citations int64
	Statuses                [ibid.NumStatuses]int64
	Places                  placesBySystem
}

// add adds what happened to other rows.
func (t *tally) add(other *tally) {
	t.Rows, t.Errors, t.Citations = t.Rows+other.Rows, t.Errors+other.Errors, t.Citations+other.Citations
	for i, n := range other.Statuses {
		t.Statuses[i] += n
	}
	t.Places.add(other.Places)
}

// statuses counts the citations of each status that there is.
func (t *tally) statuses() map[string]int64 {
	counts := make(map[string]int64)
	for status, n := range t.Statuses {
		if n > 0 {
			counts[ibid.Status(status).String()] = n
		}
	}
	return counts
}

func newRecorder(layout *runs.RowsLayout, lacks []string, s *configs.Settings) *recorder {
	r := &recorder{
		layout: layout, lacks: lacks,
		limits: metrics.ProblemLimits{Supported: s.Thresholds.Supported},
	}
	for _, t := range []struct {
		form    *runs.Form
		table   **parquet.Table
		columns any
	}{
		{&layout.Form, &r.rows, &r.row},
		{layout.Citations, &r.citations, &r.citation},
		{&runs.Claims.Form, &r.claims, &r.claim},
		{&runs.Verdicts.Form, &r.verdicts, &r.verdict},
		{&runs.Calls.Form, &r.calls, &r.call},
		{&runs.Answers.Form, &r.answers, &r.answer},
	} {
		*t.table = t.form.Bind(t.columns)
	}
	return r
}

// reset empties the tables for a part.
func (r *recorder) reset() {
	r.rows.Reset()
	r.citations.Reset()
	r.claims.Reset()
	r.verdicts.Reset()
	r.calls.Reset()
	r.answers.Reset()
	r.tally = tally{Places: make(placesBySystem)}
}

// table is the one that becomes a part file of the kind.
func (r *recorder) table(kind partFile) *parquet.Table {
	switch kind {
	case partClaims:
		return r.claims
	case partVerdicts:
		return r.verdicts
	case partCalls:
		return r.calls
	case partAnswers:
		return r.answers
	case partCitations:
		return r.citations
	}
	return r.rows
}

// add records the row that s has scored or, if failure is not nil, only that it
// failed. The scores of a failed row must be undefined.
func (r *recorder) add(in *ibid.Answer, s *scorer, failure error) {
	to, scores := &r.row, &s.scores
	r.tally.Rows++
	if !slices.Contains(r.lacks, runs.NeedsJudge) {
		r.addAnswer(in)
	}
	to.ID.AppendText(in.ID)
	to.System.AppendText(in.System)
	to.Row.AppendInt(in.Pos)
	if failure == nil {
		to.Status.AppendText(runs.RowOK)
	} else {
		r.tally.Errors++
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
	r.addTags(in)
	r.patterns.append(to, scores, !slices.Contains(r.lacks, runs.NeedsJudge))
	for _, c := range r.layout.Counts {
		if scores.Known[c.Count] {
			r.rows.At(c.At).AppendInt(scores.Counts[c.Count])
		}
	}
	for _, m := range r.layout.Metrics {
		if scores.Reasons[m.Metric] == ibid.Defined {
			r.rows.At(m.At).AppendDouble(scores.Values[m.Metric])
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
	r.rows.EndRow()
	if failure != nil {
		return
	}
	r.tally.Places.of(in.System).AddRow(in)
	r.addCitations(in, s)
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

func (r *recorder) addTags(in *ibid.Answer) {
	r.tagKeys, r.tagValues = r.tagKeys[:0], r.tagValues[:0]
	for _, tag := range in.Tags {
		r.tagKeys = append(r.tagKeys, tag.Key)
		r.tagValues = append(r.tagValues, tag.Value)
	}
	r.row.Tags.AppendMap(r.tagKeys, r.tagValues)
}

// addCitations records the citations of one row that was scored.
func (r *recorder) addCitations(in *ibid.Answer, s *scorer) {
	to, n := &r.citation, len(in.Citations)
	r.tally.Citations += int64(n)
	for i := range in.Citations {
		c, p := &in.Citations[i], &in.Citations[i].Place
		r.tally.Statuses[c.Status()]++
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
		r.citations.EndRow()
	}
}

// addAnswer records what was asked and answered.
func (r *recorder) addAnswer(in *ibid.Answer) {
	to := &r.answer
	to.Row.AppendInt(in.Pos)
	to.Query.AppendKnownText(in.Query)
	to.Answer.AppendKnownText(in.Answer)
	r.answers.EndRow()
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
		r.claims.EndRow()
	}
}

// addClaimVerdict records what the judge said of claim k.
func (r *recorder) addClaimVerdict(j *judging, k int) {
	to, v := &r.claim, &j.verdict.Claims[k]
	if v.Votes > 0 {
		to.Votes.AppendInt(int64(v.Votes))
		to.Label.AppendText(v.Joint.Word())
	}
	to.Reason.AppendKnownText(v.JointWhy)
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
			list = append(list, opinionOf(o.Model, o.Vote, o.Claims[k].Joint.Degree))
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
		r.calls.EndRow()
	}
}

// byQuestion reports whether a value of statistics.cluster is that rows depend on each other
// only by their question.
func byQuestion(cluster string) bool {
	return cluster != runs.AutoCluster && runs.ClusterTag(cluster) == ""
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
