package runs

import "cmp"

// CitationsFile is the file of a run with its citations.
const CitationsFile = "citations.parquet"

// A Citation is one citation as a run found it: a row of citations.parquet, and what
// people see of it. Fields that are null are nil, or "" and nil for texts and lists.
//
// Start, End and Unit agree with each other: code points and "codepoint" where the
// place could be resolved, else the numbers and the unit as given.
type Citation struct {
	Key
	Number      int32  `json:"citation" doc:"position among the citations of the row, from 0"`
	CitationID  string `json:"citation_id,omitempty" doc:"name of the citation in the input" null:"it has none"`
	Doc         string `json:"doc" doc:"document cited" null:"the citation names none"`
	Page        *int32 `json:"page" range:">= 1" doc:"page of the document" null:"not given"`
	Start       *int64 `json:"start" unit:"see unit" doc:"begin of the cited span" null:"not given"`
	End         *int64 `json:"end" unit:"see unit" doc:"end of the cited span, exclusive" null:"not given"`
	Unit        string `json:"unit" doc:"what start and end count: codepoint where the place was found, else as the input has it" null:"not given"`
	AnswerStart *int64 `json:"answer_start" unit:"code points" doc:"begin of the citation in the answer" null:"not known"`
	AnswerEnd   *int64 `json:"answer_end" unit:"code points" doc:"end of the citation in the answer, exclusive" null:"not known"`

	CitedLength *int64 `json:"cited_length" unit:"code points" doc:"length of the cited span" null:"start and end do not count code points, or end comes before start"`
	ClaimLength *int64 `json:"claim_length" unit:"code points" doc:"length of the text of the claims that it is linked to, together" null:"it is linked to none" needs:"judge"`

	Status string `json:"status" doc:"ok, or what is wrong with the place; no_claim: it backs no text of the answer and is in no judged metric"`

	RepairedStart *int64 `json:"repaired_start" unit:"code points" doc:"begin of the place where the quote is, if it is not where the citation says" null:"nothing was repaired"`
	RepairedEnd   *int64 `json:"repaired_end" unit:"code points" doc:"end of that place, exclusive" null:"nothing was repaired"`

	BestTruth        *int32   `json:"best_truth" doc:"position of the truth span with the greatest overlap, from 0" null:"none overlaps, or truth is not known"`
	ExactJaccard     *float64 `json:"exact_jaccard" range:"[0, 1]" doc:"overlap with that truth span over the union of both" null:"truth is not known"`
	ToleranceJaccard *float64 `json:"tolerance_jaccard" range:"[0, 1]" doc:"the same with the citation widened by the tolerance" null:"truth is not known"`
	SnappedJaccard   *float64 `json:"snapped_jaccard" range:"[0, 1]" doc:"the same with ends that differ by no more than the tolerance counted as equal" null:"truth is not known"`

	Claims    ListOf[int32] `json:"claims" doc:"positions of the claims that it is linked to" null:"never" needs:"judge"`
	Support   *float64      `json:"support" range:"[0, 1]" doc:"how far it supports its claims, as the judge says; 0 if it is not valid" null:"not judged, or undecided" needs:"judge"`
	Label     string        `json:"label,omitempty" doc:"the judge's word for the support: full, partial, none, contradicts, unsure or undecided" null:"the judge was not asked" needs:"judge"`
	Relevant  *bool         `json:"relevant" doc:"it has to do with its claims" null:"not judged" needs:"judge"`
	Necessary *bool         `json:"necessary" doc:"a claim is not supported without it" null:"not judged" needs:"judge"`
	Precheck  string        `json:"precheck,omitempty" doc:"why no judge was asked" null:"one was asked, or there is none" needs:"judge"`
	Reason    string        `json:"reason,omitempty" doc:"the judge's reason" null:"it gave none" needs:"judge"`

	Quote      string `json:"quote,omitempty" doc:"what the judge quotes of the source as evidence" null:"nothing" needs:"judge"`
	QuoteStart *int64 `json:"quote_start" unit:"code points" doc:"begin of that quote in the text that start counts in" null:"it has no place" needs:"judge"`
	QuoteEnd   *int64 `json:"quote_end" unit:"code points" doc:"end of that quote, exclusive" null:"it has no place" needs:"judge"`
	CitedText  string `json:"cited_text,omitempty" doc:"what the citation says is there" null:"not given"`
	SourceType string `json:"source_type,omitempty" doc:"kind of the source, as the input has it" null:"not given"`

	AnswerRole string   `json:"answer_role,omitempty" doc:"segment: that is the text which the citation backs; marker: its mark, such as [1]" null:"not given"`
	ScopeStart *int64   `json:"scope_start" unit:"code points" doc:"begin of the first stretch of the answer that the citation backs" null:"it backs none, or its place is not known" needs:"judge"`
	ScopeEnd   *int64   `json:"scope_end" unit:"code points" doc:"end of the last stretch of the answer that the citation backs, exclusive" null:"it backs none, or its place is not known" needs:"judge"`
	Concision  *float64 `json:"concision" range:"(0, 1]" doc:"1, or less the more it points to beside what matters, as in citation_quality_score" null:"the run follows specification 1.0" needs:"judge"`

	SourceRef JSONText `json:"source_ref,omitempty" doc:"what else the input says of the citation and its source, as a JSON object: the members of source_reference, title, method, confidence, relevance, token_contribution" null:"nothing"`

	SourceStatus  string `json:"source_status,omitempty" doc:"state of the source, such as active or archived" null:"not given" sql:"coalesce(source_ref->>'promotion_status', source_ref->>'source_status')"`
	SourceVersion string `json:"source_version,omitempty" doc:"version of the source" null:"not given" sql:"coalesce(source_ref->>'asset_version', source_ref->>'source_version')"`
	SourceURL     string `json:"source_url,omitempty" doc:"page about the source" null:"not given" sql:"coalesce(source_ref->>'asset_detail_url', source_ref->>'source_url')"`
}

// Citations is the table of citations.parquet.
var Citations = NewTable[Citation](CitationsFile, "one citation of an answer, of the rows that could be scored")

// derive fills what follows from source_ref.
func (c *Citation) derive() {
	of := sourceOf(string(c.SourceRef))
	c.SourceStatus, c.SourceVersion, c.SourceURL = of.Status, of.Version, of.URL
}

// A JSONText is JSON as it stands, "" for none.
type JSONText string

// MarshalJSON is the text itself.
func (t JSONText) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(t, "null")), nil }
