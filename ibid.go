// Package ibid is the vocabulary of citation accuracy: what an answer, a
// citation, a claim, a mark, a label and a document are, and the few small values
// that say what is known of them. Every other package takes these types.
//
// An AI system answered a question and cited its sources. A [Citation] points at
// a [Place] in a [Document]; people leave a [Mark] where a citation should point,
// and a [Label] on what they think of one. A [Claim] is one statement of the
// answer; a judge says how far the cited places bear it out ([Support]), which
// gives its [Outcome].
//
// All offsets are half-open intervals of Unicode code points, counted from 0,
// unless a field says otherwise. Null is not empty: a list that is not known and
// a list that is known to be empty are different things, and so are a number that
// is 0 and one that is not known ([Maybe]).
package ibid

import (
	"fmt"
	"hash/crc32"
	"unsafe"
)

// An Answer is one answer by one system, as the file gives it. Strings are "" when
// null unless a field says otherwise; a list is null (not known) when its
// Has field is false, and known to be empty when it is true and the list has no
// element.
//
// An Answer that a reader filled is valid as long as the reader says: its strings
// may share memory with the reader's.
type Answer struct {
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

	// What the answer took: US dollars, tokens read and written, milliseconds.
	CostUSD       Number
	Tokens        Integer
	LatencyMillis Number

	UnreadMarks Integer // marks in the answer that were not understood; null if none were read

	Citations    []Citation
	HasCitations bool
	Truth        []Mark
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

	SourceRecord string // what another tool saved, as JSON, of which an import made the row; readers leave it ""
}

// A Citation is one citation: as given, its source side (Doc to Title), its
// answer side, and what the provider says about it; and where it points once
// package dataset has resolved it.
type Citation struct {
	Doc        string
	DocNull    bool
	Page       Integer
	Start, End Integer
	Unit       string // "" for the convention of the file
	CitedText  string
	Title      string

	AnswerStart, AnswerEnd Integer
	AnswerRole             Role

	CitationID, ClaimID   string
	SourceType, Method    string
	Confidence, Relevance Number
	TokenContribution     Integer
	SourceReference       string // JSON

	Place    Place    // resolved from Doc to CitedText
	Given    Interval // Start and End in code points, where Repaired is known and they can be converted
	Repaired Interval // where CitedText was found, in code points of the key of Place; null unless the status is quote_repaired
	Held     bool     // the place as given was compared with CitedText, and holds it
	Extent   Interval // AnswerStart and AnswerEnd in code points of the answer
	NoClaim  bool     // it stands in the answer and backs no text: no judged metric counts it
}

// Status is the status of the citation's place, or, where that is valid,
// [StatusNoClaim] for a citation that backs no text.
func (c *Citation) Status() Status {
	if c.NoClaim && c.Place.Status.Valid() {
		return StatusNoClaim
	}
	return c.Place.Status
}

// A Role says what the interval of a citation in the answer is.
type Role uint8

// The roles.
const (
	NoRole  Role = iota // not given: the interval itself tells
	Segment             // the text that the citation backs
	Marker              // the mark that stands for it, such as [1]; may be empty
)

var roleNames = [...]string{"", "segment", "marker"}

// ParseRole returns the role of that name: "segment", "marker" or "".
func ParseRole(name string) (Role, error) {
	for r, n := range roleNames {
		if n == name {
			return Role(r), nil
		}
	}
	return NoRole, fmt.Errorf("answer_role %.80q: neither segment nor marker", name)
}

// String returns the name that [ParseRole] takes.
func (r Role) String() string { return roleNames[r] }

// A Mark is one span that an annotator marked. With DocNull the annotator
// looked and marked nothing.
type Mark struct {
	Annotator  string // "" is the one unnamed annotator
	Doc        string
	DocNull    bool
	Page       Integer
	Start, End Integer
	Unit       string
	CitedText  string
	ClaimID    string

	Place Place // resolved from Doc to CitedText
}

// A Claim is one claim of an answer, the citations linked to it, and the verdict
// on it.
type Claim struct {
	ClaimID    string
	Text       string
	Context    string  // the sentence that it is cut from, behind the line that introduces that; "" if not known
	Start, End Integer // in the answer, as given

	Extent Interval // in code points of the answer; an end may be null only before the claims are cut

	// Citations are the linked citations, valid or not, as ascending indices in the
	// answer's citations.
	Citations []int32

	Factual       Tri // Unset counts as Yes
	NeedsCitation Tri // Unset counts as Factual

	Joint        Support // by its cited evidence taken together
	Contradicted Tri     // by its cited evidence; Unset: nobody was asked
	Elsewhere    Support // the best by evidence that it does not cite
}

// A Label is one human judgment of a claim, a citation, or the pair of both.
type Label struct {
	Annotator           string
	ClaimID, CitationID string
	Kind                string // one of the kinds of labels
	Value               Number
}

// The kinds of labels: what was asked.
const (
	SupportLabel       = "support"
	RelevantLabel      = "relevant"
	NeedsCitationLabel = "needs_citation"
	FactualLabel       = "factual"
)

// LabelKinds returns all kinds of labels.
func LabelKinds() []string {
	return []string{SupportLabel, RelevantLabel, NeedsCitationLabel, FactualLabel}
}

// A Document is one source. Text is "" and HasText false when only its name,
// or nothing but pages and blocks, is known.
type Document struct {
	File    string // the file of a document read from DOCUMENTS, as the user named it
	FileRow int64  // zero-based row in File
	Err     error  // a bad value, as in [Answer]; of an inline document the row has it

	Doc, Title string
	Text       string
	HasText    bool
	SourceType string
	Pages      []string // page 1 is Pages[0]
	HasPages   bool
	Blocks     []string
	HasBlocks  bool
	Partial    bool   // it has a part of the document, such as the snippet of a search result
	Metadata   string // JSON
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// NameOnly reports whether the document has no text of its own. The documents of the run may have
// the text under its name.
func (d *Document) NameOnly() bool { return !d.HasText && !d.HasPages && !d.HasBlocks }

// TextDigest tells the texts of documents of one name apart: "#" and 16 hexadecimal digits,
// "" of a document without text. It is no protection against texts made to be equal.
func (d *Document) TextDigest() string {
	var a, b uint32
	add := func(text string) {
		bytes := unsafe.Slice(unsafe.StringData(text), len(text)) // which nobody writes to
		a, b = crc32.Update(a, castagnoli, bytes), crc32.Update(b, crc32.IEEETable, bytes)
	}
	if d.NameOnly() {
		return ""
	}
	add(d.Text)
	for _, list := range [][]string{d.Pages, d.Blocks} {
		for _, text := range list {
			add(text)
			add("\xff")
		}
	}
	return fmt.Sprintf("#%08x%08x", a, b)
}

// A Message is one turn of the conversation that led to the answer.
type Message struct{ Role, Content string }

// A Tag is one entry of the row's tags.
type Tag struct{ Key, Value string }

// Tag returns the value of the tag of that key.
func (a *Answer) Tag(key string) (value string, ok bool) {
	for _, tag := range a.Tags {
		if tag.Key == key {
			return tag.Value, true
		}
	}
	return "", false
}
