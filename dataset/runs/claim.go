package runs

// ClaimsFile is the file with the claims of a run that has a judge.
const ClaimsFile = "claims.parquet"

// A Claim is one claim of an answer and what became of it: a row of claims.parquet,
// and what people see of it. Fields that are null are nil, or "" and nil for texts
// and lists.
type Claim struct {
	Key
	Number  int32  `json:"claim" doc:"position among the claims of the row, from 0"`
	ClaimID string `json:"claim_id,omitempty" doc:"name of the claim in the input" null:"it has none"`
	Start   *int64 `json:"start" unit:"code points" doc:"begin of the claim in the answer" null:"not known"`
	End     *int64 `json:"end" unit:"code points" doc:"end of the claim in the answer, exclusive" null:"not known"`
	Text    string `json:"text" doc:"the claim" null:"empty"`

	Factual       *bool         `json:"factual" doc:"it states a fact" null:"not known"`
	NeedsCitation *bool         `json:"needs_citation" doc:"it should have a citation" null:"not known"`
	Citations     ListOf[int32] `json:"citations" doc:"positions of the citations that it is linked to" null:"not known"`
	Support       *float64      `json:"support" range:"[0, 1]" doc:"how far what it cites supports it, taken together" null:"not judged"`
	Label         string        `json:"label,omitempty" doc:"the judge's word for the support: full, partial, none, contradicts, unsure or undecided" null:"not judged"`
	Contradicted  *bool         `json:"contradicted" doc:"what it cites says the opposite" null:"not judged, or the judge does not ask"`
	Outcome       string        `json:"outcome" doc:"what became of the claim, see ibid help metrics" null:"not known"`

	Elsewhere *Elsewhere `json:"elsewhere" prefix:"elsewhere_"` // nil if there is none

	Reason   string   `json:"reason,omitempty" doc:"the judge's reason, or why it could not answer" null:"it gave none"`
	Votes    *int32   `json:"votes" doc:"verdicts that the support was combined from; 0 if the judge was asked in vain" null:"the judge was not asked"`
	Opinions []string `json:"opinions,omitempty" doc:"those verdicts, each as MODEL#VOTE=LABEL with votes from 0" null:"there was only one"`

	Context string `json:"context,omitempty" doc:"the sentence that the claim is cut from, behind the line that introduces it" null:"not known"`
}

// Elsewhere is the best evidence for a claim that the claim does not cite. Doc may be
// "": the judge then knows of support and not of a place.
type Elsewhere struct {
	Doc     string   `json:"doc" doc:"document with the best evidence that the claim does not cite" null:"none is known"`
	Page    *int32   `json:"page" range:">= 1" doc:"page of that document that the place counts from" null:"it counts from the start of the document"`
	Start   *int64   `json:"start" unit:"code points" doc:"begin of that evidence" null:"none is known"`
	End     *int64   `json:"end" unit:"code points" doc:"end of that evidence, exclusive" null:"none is known"`
	Support *float64 `json:"support" range:"[0, 1]" doc:"how far that evidence supports the claim" null:"not judged"`
}

// Claims is the table of claims.parquet.
var Claims = NewTable[Claim](ClaimsFile, "one claim of an answer, of runs that have a judge")
