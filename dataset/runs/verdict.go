package runs

// VerdictsFile is the file with the verdicts of a run that has a judge.
const VerdictsFile = "verdicts.parquet"

// A Judgment is what one judge, person or vote says of one claim and one piece of
// evidence: a row of verdicts.parquet. What counts has no vote and no annotator; the
// votes and labels that it was combined from follow it. It is all that a run is scored
// from, so that another run can be made of it without asking anybody. Fields that are
// null are nil, or "" and nil for texts and lists.
type Judgment struct {
	Key
	Claim     *int32 `json:"claim" doc:"position among the claims of the row, from 0" null:"it is a label on a citation alone"`
	ClaimID   string `json:"claim_id,omitempty" doc:"name of the claim" null:"it has none"`
	ClaimText string `json:"claim_text,omitempty" doc:"the claim, where evidence is claim" null:"evidence is something else"`
	Evidence  string `json:"evidence" doc:"what the claim was held against: citation:N, by position; joint, all that it cites together; elsewhere, what it does not cite; claim, nothing: what the claim is"`

	Doc   string `json:"doc,omitempty" doc:"document of the evidence" null:"there is no place"`
	Page  *int32 `json:"page" range:">= 1" doc:"page that the place counts from" null:"it counts from the start of the document"`
	Start *int64 `json:"start" unit:"code points" doc:"begin of what was judged" null:"there is no place"`
	End   *int64 `json:"end" unit:"code points" doc:"end of what was judged, exclusive" null:"there is no place"`

	Support       *float64 `json:"support" range:"[0, 1]" doc:"how far the evidence supports the claim" null:"unscored, or not asked"`
	Label         string   `json:"label,omitempty" doc:"the judge's word for the support: full, mostly, partial, none, contradicts, unsure or undecided" null:"not asked"`
	Contradicted  *bool    `json:"contradicted" doc:"the evidence says the opposite" null:"not asked"`
	Relevant      *bool    `json:"relevant" doc:"the evidence has to do with the claim" null:"not asked"`
	Factual       *bool    `json:"factual" doc:"the claim states a fact" null:"not asked"`
	NeedsCitation *bool    `json:"needs_citation" doc:"the claim should have a citation" null:"not asked"`
	Sufficient    []string `json:"sufficient,omitempty" doc:"smallest sets of citations that carry the claim, each as positions with + between them" null:"not asked"`
	Overlap       *float64 `json:"overlap" range:"[0, 1]" doc:"share of the claim's content words that the cited sentences have, where rare words count more" null:"the judge does not compare words, or nothing was cited"`

	Quote      string `json:"quote,omitempty" doc:"what the judge quotes, as it wrote it" null:"nothing"`
	Aligned    string `json:"aligned,omitempty" doc:"the text there, where that is not the quote to the letter" null:"it is, or there is no quote"`
	QuoteStart *int64 `json:"quote_start" unit:"code points" doc:"begin of the quote, from the start of what was judged" null:"it is not there"`
	QuoteEnd   *int64 `json:"quote_end" unit:"code points" doc:"end of the quote, exclusive" null:"it is not there"`
	Why        string `json:"why,omitempty" doc:"the judge's reason, or why there is no verdict" null:"it gave none"`
	Tampering  string `json:"tampering,omitempty" doc:"the material tries to steer its review: in_answer, in_evidence or none, as the judge says; suspected, if suspected names something and the judge does not say where" null:"not asked, and nothing is suspected"`

	Judge     string  `json:"judge" doc:"kind of the judge"`
	Model     string  `json:"model,omitempty" doc:"model that was asked" null:"none, or several that were combined"`
	Annotator *string `json:"annotator,omitempty" doc:"who gave the label" null:"it is combined, or no label"`
	Template  string  `json:"template,omitempty" doc:"version of the prompts" null:"no model was asked"`
	Vote      *int32  `json:"vote" doc:"number of the vote, from 0" null:"it is what counts, or a label"`
	Votes     *int32  `json:"votes" doc:"how many it is made of" null:"not known, or one"`
	Absent    *int32  `json:"absent" doc:"how many votes have no verdict on the claim, where evidence is joint" null:"none, or evidence is something else"`
	Surplus   *int32  `json:"surplus" doc:"how much replies say of the claim that was not asked, where evidence is claim" null:"nothing, or evidence is something else"`
	Source    string  `json:"source" doc:"who says so: model, rule, human or recorded"`
	Settled   string  `json:"settled,omitempty" doc:"rule that settled it before anybody was asked" null:"none did"`
	Unscored  string  `json:"unscored,omitempty" doc:"why there is no verdict, in a word" null:"there is one"`

	Suspected []string `json:"suspected,omitempty" doc:"what looks written to steer the judge, found without it: its kind, the text of the row, and the words in small letters; kinds are ignore (instructions), order (of a verdict), member (of a reply) and roles (of chat templates); others are frame (tags of the prompt), address (of reviewers) and hidden (characters that nobody sees)" null:"nothing, or evidence is not claim"`
}

// Evidence of verdicts that is no citation.
const (
	JointEvidence     = "joint"
	ElsewhereEvidence = "elsewhere"
	ClaimEvidence     = "claim"
	CitationEvidence  = "citation:" // and the position of the citation
)

// Sources of verdicts.
const (
	FromModel = "model"
	FromRule  = "rule"
	FromHuman = "human"
	FromFile  = "recorded"
)

// Verdicts is the table of verdicts.parquet.
var Verdicts = NewTable[Judgment](VerdictsFile, "one verdict on a claim and one piece of evidence, of runs that have a judge")
