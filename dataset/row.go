// Package dataset reads and writes the rows that ibid evaluates and the files
// it produces. It is the only package that knows Parquet and Arrow.
//
// It converts every foreign offset once, here, into half-open code points, and
// keeps null, empty and missing apart.
package dataset

// A NullInt is an integer that may be null.
type NullInt struct {
	Value int64
	Valid bool
}

// A NullFloat is a double that may be null.
type NullFloat struct {
	Value float64
	Valid bool
}

// A Row is one answer by one system, as the file gives it. Strings are "" when
// null unless a field says otherwise; a list is null (not known) when its
// Has field is false, and known to be empty when it is true and the list has no
// element.
//
// A Row filled by [Batch.Row] is valid until that batch is released: its strings
// share the batch's memory.
type Row struct {
	Pos     int64  // position in the input, over all its files
	File    string // the file as the user named it
	FileRow int64  // zero-based row in File

	// Err is set if a value of the row is bad, such as text that is not UTF-8
	// or an integer out of range: the row gets status "error". It names column
	// and element, not file and row. The bad value itself reads as null.
	Err error

	ID, Query, Answer       string
	IDNull                  bool   // a null id is a mistake of the whole input, not of the row
	QueryNull, AnswerNull   bool   // required columns whose value is null: the row is an error row
	System, Provider, Model string // System is "default" when null, empty or absent

	Citations    []Citation
	HasCitations bool
	Truth        []Truth
	HasTruth     bool
	Claims       []Claim
	HasClaims    bool
	Labels       []Label
	HasLabels    bool
	Documents    []Document
	HasDocuments bool
	Messages     []Message
	HasMessages  bool
	Tags         []Tag // sorted by key
}

// A Citation is one citation as given: its source side (Doc to Title), its
// answer side, and what the provider says about it.
type Citation struct {
	Doc        string
	DocNull    bool
	Page       NullInt
	Start, End NullInt
	Unit       string // "" for the convention of the file
	CitedText  string
	Title      string

	AnswerStart, AnswerEnd NullInt

	CitationID, ClaimID   string
	SourceType, Method    string
	Confidence, Relevance NullFloat
	TokenContribution     NullInt
	SourceReference       string // JSON
}

// A Truth is one span that an annotator marked. With DocNull the annotator
// looked and marked nothing.
type Truth struct {
	Annotator  string // "" is the one unnamed annotator
	Doc        string
	DocNull    bool
	Page       NullInt
	Start, End NullInt
	Unit       string
	ClaimID    string
}

// A Claim is one claim of the answer; Start and End are code points of the
// answer when given.
type Claim struct {
	ClaimID    string
	Text       string
	Start, End NullInt
}

// A Label is one human judgment of a claim, a citation, or the pair of both.
type Label struct {
	Annotator           string
	ClaimID, CitationID string
	Kind                string // support, relevant, needs_citation, factual
	Value               NullFloat
}

// A Document is one source. Text is "" and HasText false when only its name,
// or nothing but pages and blocks, is known.
type Document struct {
	File    string // the file of a document read from DOCUMENTS, as the user named it
	FileRow int64  // zero-based row in File
	Err     error  // a bad value, as in [Row]; of an inline document the row has it

	Doc, Title string
	Text       string
	HasText    bool
	SourceType string
	Pages      []string // page 1 is Pages[0]
	HasPages   bool
	Blocks     []string
	HasBlocks  bool
	Metadata   string // JSON
}

// A Message is one turn of the conversation that led to the answer.
type Message struct{ Role, Content string }

// A Tag is one entry of the row's tags.
type Tag struct{ Key, Value string }
