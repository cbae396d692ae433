package runs

// QuotesFile is the file of a run with the quotations of its answers.
const QuotesFile = "quotes.parquet"

// A Quotation is a quotation in an answer and where it stands: a row of quotes.parquet.
type Quotation struct {
	Key
	Number    int32          `json:"quotation" doc:"position among the quotations of the row, from 0"`
	Start     int64          `json:"start" unit:"code points" doc:"begin in the answer, inside of the marks; of a block quotation, its lines with their signs"`
	End       int64          `json:"end" unit:"code points" doc:"end in the answer, exclusive"`
	Kind      string         `json:"kind" doc:"marks, block, excerpt (of a mark), fragment (of a URL), or title or question, which never count"`
	Text      string         `json:"text" doc:"what is looked for: without marks of citations"`
	Counts    bool           `json:"counts" doc:"it is in the metrics of quotations"`
	Citations ListOf[int32]  `json:"citations" doc:"positions of the citations that it has" null:"never"`
	Cites     ListOf[string] `json:"cites" doc:"the documents that these name; a mark without a source as it is written" null:"never"`
	Outcome   string         `json:"outcome" doc:"verbatim, normalised (but for typography), elided (with gaps that it shows), elsewhere (only in a document that is not cited), altered, stitched (of pieces), nowhere; not decided: too_short, echo (of the user), no_text, other_language"`
	Doc       string         `json:"doc,omitempty" doc:"the document where it stands, or that it differs from" null:"there is none"`
	Places    JSONText       `json:"places,omitempty" doc:"where its pieces stand: a JSON list of objects with doc, start and end in code points" null:"nowhere"`

	ChangedWords   *int32 `json:"changed_words,omitempty" doc:"words of an altered one that differ" null:"it is not altered"`
	Difference     string `json:"difference,omitempty" doc:"how an altered one differs: was → is, −left out, +put in, with semicolons between" null:"it is not altered"`
	DifferenceKind string `json:"difference_kind,omitempty" doc:"words, number, or negation, where their number differs" null:"it is not altered"`
	Note           string `json:"note,omitempty" doc:"negation_left_out: in a gap; negation_before: one of the two words before the place" null:"nothing"`
}

// Quotations is the table of quotes.parquet.
var Quotations = NewTable[Quotation](QuotesFile, "one quotation in an answer, of runs that have texts of sources")
