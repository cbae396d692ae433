package harness

import (
	"slices"

	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/span"
)

// A recorder appends scored rows to the tables of one part. Each worker has its
// own.
type recorder struct {
	layout    *runs.RowsLayout
	rows      *dataset.Table
	citations *dataset.Table
	claims    *dataset.Table
	calls     *dataset.Table
	cluster   string // configs' statistics.cluster

	sourceTypes bool     // the run slices by them
	types       []string // scratch

	tagKeys, tagValues []string
	noTags             dataset.MapRef
	patterns           rowPatterns
	tally              tally
}

// A tally counts what happened to the rows of one or more parts.
type tally struct {
	Rows, Errors, Citations int64
	Statuses                [span.Negative + 1]int64
}

func newRecorder(layout *runs.RowsLayout, s *configs.Settings) (*recorder, error) {
	rows, err := dataset.NewTable(layout.Fields)
	if err != nil {
		return nil, err
	}
	citations, err := dataset.NewTable(runs.CitationFields)
	if err != nil {
		return nil, err
	}
	claims, err := dataset.NewTable(runs.ClaimFields)
	if err != nil {
		return nil, err
	}
	calls, err := dataset.NewTable(runs.CallFields)
	if err != nil {
		return nil, err
	}
	return &recorder{
		layout: layout, rows: rows, citations: citations, claims: claims, calls: calls, cluster: s.Statistics.Cluster,
		sourceTypes: slices.Contains(s.Slices, sourceTypeSlice),
		noTags:      rows.DefineMap(runs.RowTags, nil, nil),
		patterns:    rowPatterns{table: rows, layout: layout},
	}, nil
}

func (r *recorder) reset() {
	r.rows.Reset()
	r.citations.Reset()
	r.claims.Reset()
	r.calls.Reset()
	r.tally = tally{}
}

// table is the one that becomes a part file of the kind.
func (r *recorder) table(kind partFile) *dataset.Table {
	switch kind {
	case partClaims:
		return r.claims
	case partCalls:
		return r.calls
	case partCitations:
		return r.citations
	}
	return r.rows
}

// row records the row that s has scored, or, if failure is not nil, only that it
// failed. The scores of a failed row must be undefined.
func (r *recorder) row(in *dataset.Row, s *scorer, failure error) {
	t, scores := r.rows, &s.scores
	r.tally.Rows++
	t.AppendText(runs.RowID, in.ID)
	t.AppendText(runs.RowSystem, in.System)
	t.AppendInt(runs.RowRow, in.Pos)
	if failure == nil {
		t.AppendText(runs.RowStatus, runs.RowOK)
	} else {
		r.tally.Errors++
		t.AppendText(runs.RowStatus, runs.RowError)
		t.AppendString(runs.RowErrorText, failure.Error())
	}
	if scores.HasTruthAnnotator {
		t.AppendText(runs.RowAnnotator, scores.TruthAnnotator)
	}
	appendOptional(t, runs.RowProvider, in.Provider)
	appendOptional(t, runs.RowModel, in.Model)
	r.tags(in)
	r.patterns.of(scores).append(t, r.layout, scores)
	appendOptional(t, r.layout.Cluster, clusterOf(in, r.cluster))
	if j := s.judging; j != nil && failure == nil && j.verdict != nil {
		appendOptional(t, r.layout.Tampering, j.verdict.Tampering)
	}
	if r.sourceTypes {
		r.types = appendSourceTypes(r.types[:0], in)
		t.AppendStrings(r.layout.SourceTypes, r.types)
	}
	appendOptional(t, runs.RowComponents, scores.Components)
	r.bounds(scores)
	t.EndRow()
	if failure != nil {
		return
	}
	r.citationsOf(in, s)
	if j := s.judging; j != nil {
		r.claimsOf(in, j, scores)
		r.callsOf(in, j)
	}
}

// bounds records what a metric can be at least and at most where something of it
// is unscored.
func (r *recorder) bounds(scores *metrics.Scores) {
	for i, m := range r.layout.Bounded {
		if scores.HasBounds[m] {
			r.rows.AppendDouble(r.layout.Bounds+2*i, scores.Low[m])
			r.rows.AppendDouble(r.layout.Bounds+2*i+1, scores.High[m])
		}
	}
}

func (r *recorder) tags(in *dataset.Row) {
	if len(in.Tags) == 0 {
		r.rows.AppendMapRef(runs.RowTags, r.noTags)
		return
	}
	r.tagKeys, r.tagValues = r.tagKeys[:0], r.tagValues[:0]
	for _, tag := range in.Tags {
		r.tagKeys = append(r.tagKeys, tag.Key)
		r.tagValues = append(r.tagValues, tag.Value)
	}
	r.rows.AppendMap(runs.RowTags, r.tagKeys, r.tagValues)
}

// citationsOf records the citations of one row that was scored.
func (r *recorder) citationsOf(in *dataset.Row, s *scorer) {
	places, scores := &s.places, &s.scores
	t, n := r.citations, len(in.Citations)
	r.tally.Citations += int64(n)
	t.RepeatText(runs.CiteID, in.ID, n)
	t.RepeatText(runs.CiteSystem, in.System, n)
	t.RepeatInt(runs.CiteRow, in.Pos, n)
	for i := range in.Citations {
		c, p := &in.Citations[i], &places.Citations[i]
		r.tally.Statuses[p.Status]++
		t.AppendInt(runs.CiteCitation, int64(i))
		appendOptional(t, runs.CiteCitationID, c.CitationID)
		if !c.DocNull {
			t.AppendText(runs.CiteDoc, c.Doc)
		}
		appendNullInt(t, runs.CitePage, c.Page)
		r.extent(c, p)
		appendNullInt(t, runs.CiteAnswerStart, c.AnswerStart)
		appendNullInt(t, runs.CiteAnswerEnd, c.AnswerEnd)
		t.AppendText(runs.CiteStatus, p.Status.String())
		repaired := &places.Repaired[i]
		appendNullInt(t, runs.CiteRepairedStart, repaired.Start)
		appendNullInt(t, runs.CiteRepairedEnd, repaired.End)
		r.match(&scores.Citations[i])
		if s.judging != nil {
			r.citationVerdict(s.judging, i)
		}
		appendOptional(t, runs.CiteCitedText, c.CitedText)
		appendOptional(t, runs.CiteSourceType, c.SourceType)
		t.EndRow()
	}
}

// extent records where a citation points: code points where they are known.
func (r *recorder) extent(c *dataset.Citation, p *span.Place) {
	t := r.citations
	if p.Level == span.Characters {
		t.AppendInt(runs.CiteStart, p.Start)
		t.AppendInt(runs.CiteEnd, p.End)
		t.AppendText(runs.CiteUnit, "codepoint")
		return
	}
	appendNullInt(t, runs.CiteStart, c.Start)
	appendNullInt(t, runs.CiteEnd, c.End)
	appendOptional(t, runs.CiteUnit, c.Unit)
}

// match records how a citation compares with the truth of its row.
func (r *recorder) match(s *metrics.CitationScore) {
	if !s.Defined {
		return
	}
	t := r.citations
	if s.BestTruth >= 0 {
		t.AppendInt(runs.CiteBestTruth, int64(s.BestTruth))
	}
	t.AppendDouble(runs.CiteExact, s.Exact)
	t.AppendDouble(runs.CiteTolerance, s.Tolerance)
	t.AppendDouble(runs.CiteSnapped, s.Snapped)
}

// clusterOf returns the cluster of a row when clusters are not the question
// ids: the document of its first truth span, else of its first citation, or the
// value of a tag. It is "" if the row has none, or if clusters are the ids; the
// row is then its id's.
func clusterOf(in *dataset.Row, by string) string {
	switch by {
	case "id":
		return ""
	case "doc":
		for i := range in.Truth {
			if !in.Truth[i].DocNull {
				return in.Truth[i].Doc
			}
		}
		for i := range in.Citations {
			if !in.Citations[i].DocNull {
				return in.Citations[i].Doc
			}
		}
		return ""
	}
	return tagValue(in, by)
}

func tagValue(in *dataset.Row, key string) string {
	for _, tag := range in.Tags {
		if tag.Key == key {
			return tag.Value
		}
	}
	return ""
}

// appendOptional appends s, "" being null.
func appendOptional(t *dataset.Table, column int, s string) {
	if s != "" {
		t.AppendText(column, s)
	}
}

func appendNullInt(t *dataset.Table, column int, v dataset.NullInt) {
	if v.Valid {
		t.AppendInt(column, v.Value)
	}
}
