package dataset

import (
	"fmt"
	"maps"

	"ibid"
)

// The stored types are the columns of DATASET as parquet-go reads and writes them, a
// second opinion on our own files. Pointers keep null apart from zero, nil slices null apart from
// empty.

type storedRow struct {
	ID        *string           `parquet:"id,optional"`
	Query     *string           `parquet:"query,optional"`
	Answer    *string           `parquet:"answer,optional"`
	System    *string           `parquet:"system,optional,dict"`
	Provider  *string           `parquet:"provider,optional,dict"`
	Model     *string           `parquet:"model,optional,dict"`
	Citations []storedCitation  `parquet:"citations,optional,list"`
	Truth     []storedTruth     `parquet:"truth,optional,list"`
	Claims    []storedClaim     `parquet:"claims,optional,list"`
	Labels    []storedLabel     `parquet:"labels,optional,list"`
	Documents []storedInline    `parquet:"documents,optional,list"`
	Messages  []storedMessage   `parquet:"messages,optional,list"`
	Tags      map[string]string `parquet:"tags,optional"`
}

type storedCitation struct {
	Doc               *string  `parquet:"doc,optional,dict"`
	Page              *int32   `parquet:"page,optional"`
	Start             *int64   `parquet:"start,optional"`
	End               *int64   `parquet:"end,optional"`
	Unit              *string  `parquet:"unit,optional,dict"`
	CitedText         *string  `parquet:"cited_text,optional"`
	Title             *string  `parquet:"title,optional,dict"`
	AnswerStart       *int64   `parquet:"answer_start,optional"`
	AnswerEnd         *int64   `parquet:"answer_end,optional"`
	AnswerRole        *string  `parquet:"answer_role,optional,dict"`
	CitationID        *string  `parquet:"citation_id,optional"`
	ClaimID           *string  `parquet:"claim_id,optional"`
	SourceType        *string  `parquet:"source_type,optional,dict"`
	Method            *string  `parquet:"method,optional,dict"`
	Confidence        *float64 `parquet:"confidence,optional"`
	Relevance         *float64 `parquet:"relevance,optional"`
	TokenContribution *int64   `parquet:"token_contribution,optional"`
	SourceReference   *string  `parquet:"source_reference,optional"`
}

type storedTruth struct {
	Annotator *string `parquet:"annotator,optional,dict"`
	Doc       *string `parquet:"doc,optional,dict"`
	Page      *int32  `parquet:"page,optional"`
	Start     *int64  `parquet:"start,optional"`
	End       *int64  `parquet:"end,optional"`
	Unit      *string `parquet:"unit,optional,dict"`
	CitedText *string `parquet:"cited_text,optional"`
	ClaimID   *string `parquet:"claim_id,optional"`
}

type storedClaim struct {
	ClaimID *string `parquet:"claim_id,optional"`
	Text    *string `parquet:"text,optional"`
	Start   *int64  `parquet:"start,optional"`
	End     *int64  `parquet:"end,optional"`
}

type storedLabel struct {
	Annotator  *string  `parquet:"annotator,optional,dict"`
	ClaimID    *string  `parquet:"claim_id,optional"`
	CitationID *string  `parquet:"citation_id,optional"`
	Kind       *string  `parquet:"kind,optional,dict"`
	Value      *float64 `parquet:"value,optional"`
}

type storedInline struct {
	Doc        *string  `parquet:"doc,optional,dict"`
	Title      *string  `parquet:"title,optional,dict"`
	Text       *string  `parquet:"text,optional"`
	SourceType *string  `parquet:"source_type,optional,dict"`
	Pages      []string `parquet:"pages,optional,list"`
	Blocks     []string `parquet:"blocks,optional,list"`
}

type storedMessage struct {
	Role    *string `parquet:"role,optional,dict"`
	Content *string `parquet:"content,optional"`
}

// storeRow converts r. The strings stay those of r.
func storeRow(r *ibid.Answer) (storedRow, error) {
	row := storedRow{
		ID:        storeString(&r.ID, !r.IDNull),
		Query:     storeString(&r.Query, !r.QueryNull),
		Answer:    storeString(&r.Answer, !r.AnswerNull),
		System:    storeText(&r.System),
		Provider:  storeText(&r.Provider),
		Model:     storeText(&r.Model),
		Claims:    storeList(r.Claims, r.HasClaims, storeClaim),
		Labels:    storeList(r.Labels, r.HasLabels, storeLabel),
		Documents: storeList(r.Documents, r.HasDocuments, storeInline),
		Messages:  storeList(r.Messages, r.HasMessages, storeMessage),
	}
	for i := range r.Citations {
		if p := r.Citations[i].Page; p.Known() && !fitsInt32(p.Value) {
			return row, pageError("citations.page", i, p.Value)
		}
	}
	for i := range r.Truth {
		if p := r.Truth[i].Page; p.Known() && !fitsInt32(p.Value) {
			return row, pageError("truth.page", i, p.Value)
		}
	}
	row.Citations = storeList(r.Citations, r.HasCitations, storeCitation)
	row.Truth = storeList(r.Truth, r.HasTruth, storeTruth)
	if len(r.Tags) > 0 {
		row.Tags = maps.Collect(func(yield func(string, string) bool) {
			for _, t := range r.Tags {
				if !yield(t.Key, t.Value) {
					return
				}
			}
		})
	}
	return row, nil
}

func pageError(column string, element int, page int64) *ibid.Error {
	return &ibid.Error{Column: column, Err: fmt.Errorf("element %d: %d is no page number", element, page)}
}

func storeCitation(c *ibid.Citation) storedCitation {
	return storedCitation{
		Doc:               storeString(&c.Doc, !c.DocNull),
		Page:              storePage(c.Page),
		Start:             storeInt(&c.Start),
		End:               storeInt(&c.End),
		Unit:              storeText(&c.Unit),
		CitedText:         storeText(&c.CitedText),
		Title:             storeText(&c.Title),
		AnswerStart:       storeInt(&c.AnswerStart),
		AnswerEnd:         storeInt(&c.AnswerEnd),
		AnswerRole:        storeRole(c.AnswerRole),
		CitationID:        storeText(&c.CitationID),
		ClaimID:           storeText(&c.ClaimID),
		SourceType:        storeText(&c.SourceType),
		Method:            storeText(&c.Method),
		Confidence:        storeFloat(&c.Confidence),
		Relevance:         storeFloat(&c.Relevance),
		TokenContribution: storeInt(&c.TokenContribution),
		SourceReference:   storeText(&c.SourceReference),
	}
}

func storeRole(r ibid.Role) *string {
	name := r.String()
	return storeText(&name)
}

func storeTruth(t *ibid.Mark) storedTruth {
	return storedTruth{
		Annotator: storeText(&t.Annotator),
		Doc:       storeString(&t.Doc, !t.DocNull),
		Page:      storePage(t.Page),
		Start:     storeInt(&t.Start),
		End:       storeInt(&t.End),
		Unit:      storeText(&t.Unit),
		CitedText: storeText(&t.CitedText),
		ClaimID:   storeText(&t.ClaimID),
	}
}

func storeClaim(c *ibid.Claim) storedClaim {
	return storedClaim{
		ClaimID: storeText(&c.ClaimID), Text: storeText(&c.Text),
		Start: storeInt(&c.Start), End: storeInt(&c.End),
	}
}

func storeLabel(l *ibid.Label) storedLabel {
	return storedLabel{
		Annotator: storeText(&l.Annotator), ClaimID: storeText(&l.ClaimID), CitationID: storeText(&l.CitationID),
		Kind: storeText(&l.Kind), Value: storeFloat(&l.Value),
	}
}

func storeInline(d *ibid.Document) storedInline {
	return storedInline{
		Doc: storeText(&d.Doc), Title: storeText(&d.Title), Text: storeString(&d.Text, d.HasText),
		SourceType: storeText(&d.SourceType),
		Pages:      storeStrings(d.Pages, d.HasPages), Blocks: storeStrings(d.Blocks, d.HasBlocks),
	}
}

func storeMessage(m *ibid.Message) storedMessage {
	return storedMessage{Role: storeText(&m.Role), Content: storeText(&m.Content)}
}

// storeText writes "" as null.
func storeText(s *string) *string { return storeString(s, *s != "") }

func storeString(s *string, valid bool) *string {
	if !valid {
		return nil
	}
	return s
}

func storeInt(v *ibid.Integer) *int64 {
	if !v.Known() {
		return nil
	}
	return &v.Value
}

func storeFloat(v *ibid.Number) *float64 {
	if !v.Known() {
		return nil
	}
	return &v.Value
}

func storePage(v ibid.Integer) *int32 {
	if !v.Known() {
		return nil
	}
	page := int32(v.Value)
	return &page
}

// storeList returns nil for a null list, and never nil for an empty one.
func storeList[T, S any](list []T, has bool, store func(*T) S) []S {
	if !has {
		return nil
	}
	out := make([]S, len(list))
	for i := range list {
		out[i] = store(&list[i])
	}
	return out
}

func storeStrings(list []string, has bool) []string {
	switch {
	case !has:
		return nil
	case list == nil:
		return []string{}
	}
	return list
}
