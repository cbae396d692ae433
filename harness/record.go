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
		ID, System, Status, Error, Annotator, Provider, Model, FailsBecause, Tampering, SpanNull, JudgeNull runs.TextColumn
		Row                                                                                                 runs.IntColumn
		Tags, Undefined                                                                                     runs.MapColumn
		CostUSD, LatencyMillis                                                                              runs.DoubleColumn
		Tokens                                                                                              runs.IntColumn
		SourceTypes, SourceStatuses, Documents                                                              runs.TextsColumn
		AnswerHash                                                                                          runs.IntColumn
		Open                                                                                                runs.IntMapColumn
		Bounds, Dialects                                                                                    runs.DoubleMapColumn
	}
	citationColumns struct {
		ID, System, CitationID, Doc, Unit, Status, AnswerRole                                 runs.TextColumn
		Label, Precheck, Reason, Quote, CitedText, SourceType                                 runs.TextColumn
		SourceRef                                                                             runs.TextColumn
		Row, Number, Page, Start, End, AnswerStart, AnswerEnd, ScopeStart, ScopeEnd           runs.IntColumn
		CitedLength, ClaimLength, RepairedStart, RepairedEnd, BestTruth, QuoteStart, QuoteEnd runs.IntColumn
		ExactJaccard, ToleranceJaccard, SnappedJaccard, Support, Concision                    runs.DoubleColumn
		Relevant, Necessary                                                                   runs.BoolColumn
		Claims                                                                                runs.IntsColumn
	}
	claimColumns struct {
		ID, System, ClaimID, Text, Context, Label, Outcome, Reason, ElsewhereDoc    runs.TextColumn
		Row, Number, Start, End, Votes, ElsewherePage, ElsewhereStart, ElsewhereEnd runs.IntColumn
		Support, ElsewhereSupport                                                   runs.DoubleColumn
		Factual, NeedsCitation, Contradicted                                        runs.BoolColumn
		Citations                                                                   runs.IntsColumn
		Opinions                                                                    runs.TextsColumn
	}
	answerColumns struct {
		Row           runs.IntColumn
		Query, Answer runs.TextColumn
	}
	callColumns struct {
		ID, System, Model, Provider, GenerationID, Status, Error             runs.TextColumn
		Row, Number, Attempts, PromptTokens, CompletionTokens, LatencyMillis runs.IntColumn
		CostUSD                                                              runs.DoubleColumn
		Cached, Repaired                                                     runs.BoolColumn
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

func newRecorder(layout *runs.RowsLayout, lacks []string, s *configs.Settings) (*recorder, error) {
	r := &recorder{
		layout: layout, lacks: lacks,
		limits: metrics.ProblemLimits{Supported: s.Thresholds.Supported, GoodMatch: s.Thresholds.GoodMatch},
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
		var err error
		if *t.table, err = t.form.Bind(t.columns); err != nil {
			return nil, err
		}
	}
	return r, nil
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
	to.ID.Append(in.ID)
	to.System.Append(in.System)
	to.Row.Append(in.Pos)
	if failure == nil {
		to.Status.Append(runs.RowOK)
	} else {
		r.tally.Errors++
		to.Status.Append(runs.RowError)
		to.Error.AppendAny(failure.Error())
	}
	if problem := r.problem(in, s, failure); problem.Fails() {
		to.FailsBecause.Append(problem.String())
	}
	if scores.HasTruthAnnotator {
		to.Annotator.Append(scores.TruthAnnotator)
	}
	to.Provider.Optional(in.Provider)
	to.Model.Optional(in.Model)
	to.CostUSD.Optional(in.CostUSD)
	to.Tokens.Optional(in.Tokens)
	to.LatencyMillis.Optional(in.LatencyMillis)
	r.addTags(in)
	r.patterns.append(to, scores, !slices.Contains(r.lacks, runs.NeedsJudge))
	for _, c := range r.layout.Counts {
		if scores.Known[c.Count] {
			r.rows.AppendInt(c.At, scores.Counts[c.Count])
		}
	}
	for _, m := range r.layout.Metrics {
		if scores.Reasons[m.Metric] == ibid.Defined {
			r.rows.AppendDouble(m.At, scores.Values[m.Metric])
		}
	}
	if j := s.judging; j != nil && failure == nil {
		to.Tampering.Optional(j.tampering())
	}
	if !slices.Contains(r.lacks, runs.SourceTypeSlice) {
		r.types = runs.AppendSourceTypes(r.types[:0], in)
		to.SourceTypes.Append(r.types)
	}
	if !slices.Contains(r.lacks, runs.SourceStatusSlice) {
		r.types = runs.AppendSourceStatuses(r.types[:0], in)
		to.SourceStatuses.Append(r.types)
	}
	if !slices.Contains(r.lacks, runs.NeedsAuto) {
		r.types = runs.AppendDocuments(r.types[:0], in)
		to.Documents.Append(r.types)
	}
	if r.hashes && failure == nil {
		to.AnswerHash.Append(answerHash(in))
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
	r.row.Open.Append(keys, counts)
	keys = keys[:0]
	if s.Bounded {
		for _, m := range bounded {
			if s.HasBounds[m] {
				keys, values = append(keys, m.String()+runs.LowSuffix, m.String()+runs.HighSuffix), append(values, s.Low[m], s.High[m])
			}
		}
	}
	r.row.Bounds.Append(keys, values)
	keys, values = keys[:0], values[:0]
	for _, m := range dialects {
		if v, ok := s.Value(m); ok {
			keys, values = append(keys, m.String()), append(values, v)
		}
	}
	r.row.Dialects.Append(keys, values)
	r.keys, r.counts, r.values = keys, counts, values
}

// problem is the worst about the row that s has scored.
func (r *recorder) problem(in *ibid.Answer, s *scorer, failure error) metrics.Problem {
	f, scores := &r.finding, &s.scores
	if failure != nil {
		return r.limits.OfAnswer(&metrics.AnswerFinding{Error: true})
	}
	f.Citations, f.Claims = slices.Grow(f.Citations[:0], len(in.Citations))[:len(in.Citations)], f.Claims[:0]
	f.Marked = scores.Counts[metrics.TruthSpans] > 0
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
	r.row.Tags.Append(r.tagKeys, r.tagValues)
}

// addCitations records the citations of one row that was scored.
func (r *recorder) addCitations(in *ibid.Answer, s *scorer) {
	to, n := &r.citation, len(in.Citations)
	r.tally.Citations += int64(n)
	to.ID.Repeat(in.ID, n)
	to.System.Repeat(in.System, n)
	for i := range in.Citations {
		c, p := &in.Citations[i], &in.Citations[i].Place
		r.tally.Statuses[c.Status()]++
		to.Row.Append(in.Pos)
		to.Number.Append(int64(i))
		to.CitationID.Optional(c.CitationID)
		if !c.DocNull {
			to.Doc.Append(c.Doc)
		}
		to.Page.Optional(c.Page)
		given := c.Given
		if !c.Repaired.Known() && p.Level == ibid.LevelCharacters {
			given = ibid.Between(p.Start, p.End)
		}
		if given.Known() {
			to.Start.Append(given.Start.Value)
			to.End.Append(given.End.Value)
			to.Unit.Append("codepoint")
		} else {
			to.Start.Optional(c.Start)
			to.End.Optional(c.End)
			to.Unit.Optional(c.Unit)
		}
		if p.Level == ibid.LevelCharacters && p.End >= p.Start {
			to.CitedLength.Append(p.Length())
		}
		to.AnswerStart.Optional(c.AnswerStart)
		to.AnswerEnd.Optional(c.AnswerEnd)
		to.AnswerRole.Optional(c.AnswerRole.String())
		if s.judging != nil {
			if scope := s.judging.scope(i); scope.Known() {
				to.ScopeStart.Append(scope.Start.Value)
				to.ScopeEnd.Append(scope.End.Value)
			}
		}
		to.Status.Append(c.Status().String())
		to.RepairedStart.Optional(in.Citations[i].Repaired.Start)
		to.RepairedEnd.Optional(in.Citations[i].Repaired.End)
		if score := &s.scores.Citations[i]; score.Defined {
			if score.BestTruth >= 0 {
				to.BestTruth.Append(int64(score.BestTruth))
			}
			to.ExactJaccard.Append(score.Exact)
			to.ToleranceJaccard.Append(score.Tolerance)
			to.SnappedJaccard.Append(score.Snapped)
		}
		if s.judging != nil {
			if score := s.scores.Citations[i]; score.Concision > 0 {
				to.Concision.Append(score.Concision)
			}
			r.addCitationVerdict(s.judging, i, s.scores.Citations[i].VerdictOf)
		}
		to.CitedText.Optional(c.CitedText)
		to.SourceType.Optional(c.SourceType)
		to.SourceRef.Optional(runs.SourceRef(c))
		r.citations.EndRow()
	}
}

// addAnswer records what was asked and answered.
func (r *recorder) addAnswer(in *ibid.Answer) {
	to := &r.answer
	to.Row.Append(in.Pos)
	to.Query.Optional(in.Query)
	to.Answer.Optional(in.Answer)
	r.answers.EndRow()
}

// addClaims records the claims of one row and the verdicts on them.
func (r *recorder) addClaims(in *ibid.Answer, j *judging, scores *metrics.Scores) {
	to := &r.claim
	for k := range j.claims {
		c := &j.claims[k]
		to.ID.Append(in.ID)
		to.System.Append(in.System)
		to.Row.Append(in.Pos)
		to.Number.Append(int64(k))
		to.ClaimID.Optional(c.ClaimID)
		if c.Extent.Known() {
			to.Start.Append(c.Extent.Start.Value)
			to.End.Append(c.Extent.End.Value)
		}
		to.Text.Optional(c.Text)
		to.Context.Optional(c.Context)
		to.Citations.Append(c.Citations)
		to.Outcome.Append(scores.Outcomes[k].String())
		factual := c.Factual != ibid.No
		to.Factual.Append(factual)
		to.NeedsCitation.Append(c.NeedsCitation == ibid.Yes || c.NeedsCitation == ibid.Unset && factual)
		if c.Joint.Known() {
			to.Support.Append(c.Joint.Value)
			addTri(to.Contradicted, c.Contradicted)
		}
		if c.Elsewhere.Known() {
			to.ElsewhereSupport.Append(c.Elsewhere.Value)
		}
		switch {
		case j.verdict != nil:
			r.addClaimVerdict(j, k)
		case j.failure != nil:
			to.Votes.Append(0) // asked in vain
			to.Reason.AppendAny(j.failure.Cause())
		}
		r.claims.EndRow()
	}
}

// addClaimVerdict records what the judge said of claim k.
func (r *recorder) addClaimVerdict(j *judging, k int) {
	to, v := &r.claim, &j.verdict.Claims[k]
	if v.Votes > 0 {
		to.Votes.Append(int64(v.Votes))
		to.Label.Append(v.Joint.Word())
	}
	to.Reason.Optional(v.JointWhy)
	if p := j.elsewhere(v); p != nil {
		to.ElsewhereDoc.AppendAny(p.Doc)
		if p.Page > 0 {
			to.ElsewherePage.Append(int64(p.Page))
		}
		to.ElsewhereStart.Append(int64(p.Start))
		to.ElsewhereEnd.Append(int64(p.End))
	}
	if opinions := j.verdict.Opinions; len(opinions) > 0 && v.Votes > 0 {
		list := make([]string, 0, len(opinions))
		for i := range opinions {
			o := &opinions[i]
			list = append(list, opinionOf(o.Model, o.Vote, o.Claims[k].Joint.Degree))
		}
		to.Opinions.Append(list)
	}
}

// addCitationVerdict records what is known of citation i of the row; it has the verdict
// on citation of.
func (r *recorder) addCitationVerdict(j *judging, i, of int) {
	to, c, v := &r.citation, &j.checks[of], &j.verdicts[of]
	linked, necessary := j.checks[i].claims, j.verdicts[i].Necessary
	to.Claims.Append(linked)
	if len(linked) > 0 {
		length := 0
		for _, k := range linked {
			length += utf8.RuneCountInString(j.claims[k].Text)
		}
		to.ClaimLength.Append(int64(length))
	}
	if v.Support.Known() {
		to.Support.Append(v.Support.Value)
	}
	if c.judged {
		to.Label.Append(c.Support.Word())
	}
	if v.Relevant != ibid.Unset {
		to.Relevant.Append(v.Relevant == ibid.Yes)
	}
	if necessary != ibid.Unset {
		to.Necessary.Append(necessary == ibid.Yes)
	}
	to.Precheck.Optional(c.Precheck)
	to.Reason.Optional(c.Why)
	to.Quote.Optional(c.Quote)
	if c.Quote != "" && c.text.placed && c.QuoteAt.End > c.QuoteAt.Start {
		to.QuoteStart.Append(int64(c.text.start + c.QuoteAt.Start))
		to.QuoteEnd.Append(int64(c.text.start + c.QuoteAt.End))
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
		to.ID.Append(in.ID)
		to.System.Append(in.System)
		to.Row.Append(in.Pos)
		to.Number.Append(int64(i))
		to.Model.Optional(c.Model)
		to.Provider.Optional(c.Provider)
		to.Cached.Append(c.Cached)
		to.Repaired.Append(c.Repaired)
		to.Attempts.Append(int64(c.Attempts))
		to.PromptTokens.Append(c.PromptTokens)
		to.CompletionTokens.Append(c.CompletionTokens)
		to.CostUSD.Append(float64(c.CostNanoUSD) / 1e9)
		to.LatencyMillis.Append(c.LatencyMillis)
		to.GenerationID.Optional(c.GenerationID)
		to.Status.Append(c.Status)
		to.Error.Optional(c.Error)
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
