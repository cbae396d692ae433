package dataset

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"ibid"
	"ibid/metrics/quote"
	"ibid/metrics/token"
)

// A Reading is one way to understand source offsets.
type Reading struct {
	Unit token.Unit
	End  SpanEnd
	Base OffsetBase
}

// readings are those that are tried. Of several that explain all quotes the first that
// changes least is taken.
var readings = func() (all []Reading) {
	for _, base := range []OffsetBase{FromDocument, FromPage} {
		for _, end := range []SpanEnd{Exclusive, Inclusive} {
			for _, unit := range []token.Unit{token.CodePoint, token.UTF16, token.Byte} {
				all = append(all, Reading{unit, end, base})
			}
		}
	}
	return all
}()

// changes is in how many respects two readings differ.
func (r Reading) changes(other Reading) (n int) {
	for _, differs := range []bool{r.Unit != other.Unit, r.End != other.End, r.Base != other.Base} {
		if differs {
			n++
		}
	}
	return n
}

// An OffsetProof says what a sample of quotes says about the offsets of a source.
type OffsetProof struct {
	Quotes int     // that some reading finds at their offsets, exactly
	Given  int     // of them, that the conventions of the run find there
	Better Reading // one that finds all of them, if Contradicted

	// Contradicted is true if Better finds every quote that any reading finds, and the
	// conventions do not. Quotes that no reading finds have no say.
	Contradicted bool
}

// A source is looked at from up to proofStarts rows on, evenly spread, and from each at the
// first proofQuotes quotes with offsets whose text is at hand, in the first proofRows
// rows.
const (
	proofStarts = 16
	proofQuotes = 64
	proofRows   = 4096
	proofBatch  = 64
)

var errEnough = errors.New("enough")

// ProveOffsets looks for the quotes of citations and truth at their offsets, read in
// every way. limit is how many rows of the source count. Offsets whose row states a
// unit are not looked at.
func ProveOffsets(ctx context.Context, s *Source, documents *View, c Conventions, limit int64) (OffsetProof, error) {
	p := offsetProver{resolver: NewResolver(documents, c), given: Reading{c.OffsetUnit, c.SpanEnd, c.OffsetBase}, common: 1<<len(readings) - 1}
	if columns := s.Columns(); !slices.Contains(columns, "citations.cited_text") && !slices.Contains(columns, "truth.cited_text") {
		return OffsetProof{}, nil
	}
	s = s.Select(WantKeys | WantSpans | WantQuotes | WantDocuments)
	starts := s.fileSet.sample(proofStarts)
	for i, first := range starts {
		last := limit // nothing is looked at twice
		if i+1 < len(starts) {
			last = min(limit, starts[i+1])
		}
		if err := p.stretch(ctx, s, first, min(last, first+proofRows)); err != nil {
			return OffsetProof{}, err
		}
	}
	return p.result(), p.resolver.Err()
}

// sample returns rows where reading can begin, evenly spread over all, at most n.
func (s *fileSet) sample(n int) []int64 {
	var starts []int64
	var at int64
	for i := range s.files {
		for _, row := range s.files[i].starts {
			starts = append(starts, at+row)
		}
		at += s.files[i].Rows
	}
	if len(starts) <= n {
		return starts
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = starts[i*len(starts)/n]
	}
	return out
}

// An offsetProver counts what quotes say.
type offsetProver struct {
	resolver *Resolver // by the reading that is tried
	given    Reading
	left     int    // quotes to look at in this stretch
	common   uint64 // readings that find all quotes so far, by number
	proof    OffsetProof
}

// stretch looks at the quotes of the rows [from, to).
func (p *offsetProver) stretch(ctx context.Context, s *Source, from, to int64) error {
	if from >= to {
		return nil
	}
	p.left = proofQuotes
	var row ibid.Answer
	err := s.Read(ctx, from, proofBatch, func(b *Batch) error {
		defer b.Release()
		for i := range b.Len() {
			if from == to || p.left <= 0 {
				return errEnough
			}
			from++
			if b.Row(i, &row); row.Err == nil {
				p.row(&row)
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (p *offsetProver) row(row *ibid.Answer) {
	r := p.resolver
	r.row = row
	if _, bad := r.inline.reset(row.Documents); bad != nil {
		return
	}
	for i := range row.Citations {
		r.query.ofCitation(&row.Citations[i])
		p.quote()
	}
	for i := range row.Truth {
		r.query.ofMark(&row.Truth[i])
		p.quote()
	}
}

// quote looks for the quote of the resolver's place.
func (p *offsetProver) quote() {
	r, q := p.resolver, &p.resolver.query
	if p.left <= 0 || q.docNull || q.unit != "" || quote.Blank(q.quote) || !q.start.Known() || !q.end.Known() || ibid.CheckSpan(q.start.Value, q.end.Value) != ibid.StatusOK {
		return
	}
	var s source
	r.find(q.doc, &s)
	if _, ok := r.region(&s, 0); !ok || s.layout.pieces { // in which not all units can be counted
		return
	}
	p.left--
	var found uint64
	for i, reading := range readings {
		var at ibid.Place
		r.conv = Conventions{OffsetUnit: reading.Unit, SpanEnd: reading.End, OffsetBase: reading.Base, Checks: Checks{Bounds: true}}
		q.place = &at
		if err := q.resolve(); err != nil || at.Status != ibid.StatusOK {
			continue
		}
		if text, _ := r.Excerpt(q.doc, at.Page, at.Start, at.End); text == q.quote || quote.Holds(text, q.quote) && quote.Holds(q.quote, text) {
			found |= 1 << i
			if reading == p.given {
				p.proof.Given++
			}
		}
	}
	if found != 0 {
		p.proof.Quotes++
		p.common &= found
	}
}

func (p *offsetProver) result() OffsetProof {
	out := p.proof
	best := -1
	for set := p.common; set != 0 && out.Quotes > 0; set &= set - 1 {
		r := readings[bits.TrailingZeros64(set)]
		if n := r.changes(p.given); best < 0 || n < best {
			best, out.Better = n, r
		}
	}
	out.Contradicted = best > 0
	return out
}
