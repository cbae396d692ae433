package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ibid/metrics/presence"
	"ibid/metrics/token"
)

// A ClaimSource says what the claims of an answer are.
type ClaimSource uint8

// The sources of claims.
const (
	AutoClaims     ClaimSource = iota // the row's claims if it has them, else sentences
	ProvidedClaims                    // the row's claims
	SentenceClaims                    // the sentences of the answer
)

var claimSourceNames = [...]string{"auto", "provided", "sentences"}

// ParseClaimSource returns the source of that name: "auto", "provided" or
// "sentences".
func ParseClaimSource(name string) (ClaimSource, error) {
	for s, n := range claimSourceNames {
		if n == name {
			return ClaimSource(s), nil
		}
	}
	return 0, fmt.Errorf("claims %q: not one of auto, provided, sentences", name)
}

// String returns the name that [ParseClaimSource] takes.
func (s ClaimSource) String() string { return claimSourceNames[s] }

// A CutClaim is one claim of an answer. Start and End are half-open code points
// of the answer, with 0 <= Start < End <= its length.
type CutClaim struct {
	ID         string
	Text       string
	Start, End int64
	HasExtent  bool // false: Start and End mean nothing
}

// A ClaimCutter gives the claims of rows and keeps its memory from one row to
// the next. It belongs to one worker and is not safe for concurrent use.
type ClaimCutter struct {
	source    ClaimSource
	claims    []CutClaim
	splitter  token.Splitter
	sentences []token.Bounds
	markers   []token.Bounds
	finder    claimFinder
}

// NewClaimCutter returns a cutter of the claims from source.
func NewClaimCutter(source ClaimSource) *ClaimCutter { return &ClaimCutter{source: source} }

// Claims are the claims of one row.
type Claims struct {
	List []CutClaim // valid until the next call

	// Known is false if the claims must be the row's and it has none, or if the
	// answer is null. An answer that claims nothing, since it is empty or made of
	// markers, has a known and empty List.
	Known bool

	// Provided says that the claims, and so the claim ids of the row's
	// citations, are those of the row. Otherwise they are sentences, whose ids
	// are their indices, and claim ids of the row mean other claims if it has
	// claims of its own.
	Provided bool
}

// Cut returns the claims of a row whose places have been resolved.
//
// A claim of the row keeps its extent if that lies in the answer. Otherwise it
// has the extent at which its text stands in the answer, white space ignored,
// if it does so exactly once, and else none. Its text is that of its extent if
// it has none of its own. Citation markers are cut out of every text; a text
// made of them stays as it is.
func (c *ClaimCutter) Cut(row *Row, resolved *Resolved) Claims {
	c.claims = c.claims[:0]
	switch {
	case row.AnswerNull:
		return Claims{}
	case c.source == SentenceClaims || c.source == AutoClaims && !row.HasClaims:
		c.cutSentences(row.Answer)
		return Claims{List: c.claims, Known: true}
	case !row.HasClaims:
		return Claims{}
	}
	c.takeProvided(row, resolved)
	return Claims{List: c.claims, Known: true, Provided: true}
}

func (c *ClaimCutter) cutSentences(answer string) {
	c.markers = appendMarkers(c.markers[:0], answer)
	c.sentences = c.splitter.Append(c.sentences[:0], answer, c.markers)
	if len(c.sentences) == 0 {
		return
	}
	text := token.NewText(answer)
	markers := c.markers
	for i, b := range c.sentences {
		for len(markers) > 0 && markers[0].End <= b.Start {
			markers = markers[1:]
		}
		c.claims = append(c.claims, CutClaim{
			ID: strconv.Itoa(i), Text: text.Claim(b, markers),
			Start: int64(b.Start), End: int64(b.End), HasExtent: true,
		})
	}
}

func (c *ClaimCutter) takeProvided(row *Row, resolved *Resolved) {
	answer := token.NewText(row.Answer)
	c.finder.reset(row.Answer)
	for i := range row.Claims {
		claim := CutClaim{ID: row.Claims[i].ClaimID, Text: row.Claims[i].Text}
		at := resolved.Claims[i]
		claim.Start, claim.End = at.Start.Value, at.End.Value
		claim.HasExtent = at.Start.Valid && at.End.Valid && 0 <= claim.Start && claim.Start < claim.End && claim.End <= int64(answer.Len())
		if !claim.HasExtent {
			claim.Start, claim.End, claim.HasExtent = c.finder.once(claim.Text)
		}
		if claim.Text == "" && claim.HasExtent {
			claim.Text = answer.Slice(int(claim.Start), int(claim.End))
		}
		claim.Text = c.withoutMarkers(claim.Text)
		c.claims = append(c.claims, claim)
	}
}

// withoutMarkers returns text without the citation markers in it, or text if it
// has none or nothing else.
func (c *ClaimCutter) withoutMarkers(text string) string {
	c.markers = appendMarkers(c.markers[:0], text)
	if len(c.markers) == 0 {
		return text
	}
	t := token.NewText(text)
	if cut := t.Claim(token.Bounds{End: int32(t.Len())}, c.markers); cut != "" {
		return cut
	}
	return text
}

// appendMarkers appends the citation markers of text to dst, sorted. Of a
// statement they are the elements around its body.
func appendMarkers(dst []token.Bounds, text string) []token.Bounds {
	from := len(dst)
	found, _ := presence.Parse(text)
	for i := range found {
		m := &found[i]
		if m.Form == presence.Statement {
			dst = append(dst, bounds(m.Start, m.BodyStart), bounds(m.BodyEnd, m.End))
			continue
		}
		dst = append(dst, bounds(m.Start, m.End))
	}
	slices.SortFunc(dst[from:], func(a, b token.Bounds) int { return cmp.Compare(a.Start, b.Start) })
	return dst
}

func bounds(start, end int) token.Bounds {
	return token.Bounds{Start: int32(start), End: int32(end)}
}
