package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/presence"
	"ibid/metrics/token"
)

// A ClaimSource says what the claims of an answer are.
type ClaimSource uint8

// The sources of claims.
const (
	autoClaims     ClaimSource = iota // the row's claims if it has them, else sentences
	providedClaims                    // the row's claims
	sentenceClaims                    // the sentences of the answer
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

// A ClaimCutter gives the claims of rows and keeps its memory from one row to
// the next. It belongs to one worker and is not safe for concurrent use.
type ClaimCutter struct {
	source    ClaimSource
	claims    []ibid.Claim
	splitter  token.Splitter
	sentences []token.Bounds
	markers   []token.Bounds
	finder    claimFinder
}

// NewClaimCutter returns a cutter of the claims from source.
func NewClaimCutter(source ClaimSource) *ClaimCutter { return &ClaimCutter{source: source} }

// Claims are the claims of one row.
type Claims struct {
	List []ibid.Claim // valid until the next call; extents lie in the answer and are not empty

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
func (c *ClaimCutter) Cut(row *ibid.Answer) Claims {
	c.claims = c.claims[:0]
	switch {
	case row.AnswerNull:
		return Claims{}
	case c.source == sentenceClaims || c.source == autoClaims && !row.HasClaims:
		c.cutSentences(row.Answer)
		return Claims{List: c.claims, Known: true}
	case !row.HasClaims:
		return Claims{}
	}
	c.takeProvided(row)
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
		c.claims = append(c.claims, ibid.Claim{
			ClaimID: strconv.Itoa(i), Text: text.Claim(b, markers), Extent: ibid.Between(int64(b.Start), int64(b.End)),
		})
	}
}

func (c *ClaimCutter) takeProvided(row *ibid.Answer) {
	answer := token.NewText(row.Answer)
	c.finder.reset(row.Answer)
	for i := range row.Claims {
		given := &row.Claims[i]
		claim := ibid.Claim{ClaimID: given.ClaimID, Text: given.Text}
		if at := given.Extent; at.Known() && 0 <= at.Start.Value && at.Start.Value < at.End.Value && at.End.Value <= int64(answer.Len()) {
			claim.Extent = at
		} else {
			claim.Extent = c.finder.once(claim.Text)
		}
		if at := claim.Extent; claim.Text == "" && at.Known() {
			claim.Text = answer.Slice(int(at.Start.Value), int(at.End.Value))
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

// A claimFinder finds claims in an answer by their text, white space ignored:
// programs that cut answers into claims change it.
type claimFinder struct {
	answer string
	ready  bool // dense and points are those of answer

	dense  []byte  // the answer without white space
	points []int32 // for each byte of dense, the code point of the answer it is of
	claim  []byte
}

func (f *claimFinder) reset(answer string) { f.answer, f.ready = answer, false }

// once returns where in the answer the claim stands, in code points; null if it
// does so nowhere or more than once, and for a claim of nothing but white space.
func (f *claimFinder) once(claim string) ibid.Interval {
	f.claim = f.claim[:0]
	for _, r := range claim {
		if !unicode.IsSpace(r) {
			f.claim = utf8.AppendRune(f.claim, r)
		}
	}
	if len(f.claim) == 0 {
		return ibid.Interval{}
	}
	if !f.ready {
		f.squeeze()
	}
	at := bytes.Index(f.dense, f.claim)
	if at < 0 || bytes.Contains(f.dense[at+1:], f.claim) {
		return ibid.Interval{}
	}
	return ibid.Between(int64(f.points[at]), int64(f.points[at+len(f.claim)-1])+1)
}

// squeeze makes dense and points.
func (f *claimFinder) squeeze() {
	f.dense, f.points, f.ready = f.dense[:0], f.points[:0], true
	cp := int32(0)
	for _, r := range f.answer {
		if !unicode.IsSpace(r) {
			f.dense = utf8.AppendRune(f.dense, r)
			for len(f.points) < len(f.dense) {
				f.points = append(f.points, cp)
			}
		}
		cp++
	}
}
