package metrics

import (
	"ibid/metrics/presence"
	"ibid/metrics/span"
	"ibid/metrics/token"
)

// A Row is one answer by one system with its citations and truth, after
// offsets have been resolved, and with its claims and the verdicts on them if
// there is a judge. A [Scorer] reads it and keeps nothing of it.
type Row struct {
	ID, System, Provider, Model string
	Query, Answer               string
	Tags                        []Tag

	Citations    []span.Place
	HasCitations bool // false: not known, whatever Citations holds
	Truth        []Annotated
	HasTruth     bool // false: not known, whatever Truth holds

	// Claims are the claims of the answer with their links to Citations.
	Claims    []Claim
	HasClaims bool  // false: not known, whatever Claims holds
	Unlinked  int64 // citations that are linked to every claim because nothing says to which

	// Judged: the row has been put to a judge. JudgeFailed: the judge could not
	// answer, and no verdict in this row is read.
	Judged, JudgeFailed bool

	// Verdicts are parallel to Citations; nil: none is scored.
	Verdicts []CitationVerdict
	// Pairs are parallel to Claims, and each element to the Citations of its
	// claim: the verdicts on one claim and one citation, which only the dialects
	// and necessity_shared need. nil: what holds of a citation holds for each of
	// its claims.
	Pairs [][]PairVerdict

	// Messages are the conversation that the answer is the end of.
	Messages []presence.Message

	// Tokens gives the tokens of source texts; nil when the run has no texts.
	Tokens TokenSource
}

// A Tag is one entry of a row's tags.
type Tag struct{ Key, Value string }

// An Annotated is one span that an annotator marked, or the fact that the
// annotator looked at the row and marked nothing.
type Annotated struct {
	Annotator string // "" is the one unnamed annotator
	Marked    bool   // false: looked and marked nothing; Place means nothing
	Place     span.Place
}

// A TokenSource knows the tokens of source texts.
type TokenSource interface {
	// Tokens returns the tokens of the text of the key (doc, page), with
	// offsets that count as those of the key do. ok is false if there is no
	// such text. The index is valid until the next call.
	Tokens(doc string, page int32) (index *token.Index, ok bool)
}
