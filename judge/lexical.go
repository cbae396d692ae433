package judge

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Lexical compares wording. It is a baseline to measure judges against, and
// stands in where there is no model: it sees which words of a claim its
// evidence has, not what either means.
//
// The score of a claim is the share of its content words that the evidence has,
// weighted by inverse document frequency over the sentences of the request. The
// first six letters of a word are compared, in lower case; scripts without
// spaces are compared by pairs of letters. Numbers with their units and dates
// are compared exactly, in one form: 4,200 is 4200, 4.2 million is 4200000, July
// 11, 1909 is 1909-07-11; units are not converted. If a number or date of the
// claim is not in the evidence, or the closest sentence is negated and the
// claim is not (or the reverse), the score is multiplied by 0.6; if that
// sentence has at least 0.8 of the claim's words, it contradicts.
//
// Elsewhere looks at sources and evidence that the claim does not cite, in
// passages of up to three sentences. A question and a claim without a content
// word are not factual; the latter is unscored. Two constants may be set by
// looking at human labels, [stemLength] and [mismatchFactor]; the agreement with
// people hardly depends on either.
//
// It does not know synonyms, who did what to whom, or how far apart the words
// stand: a long text covers more than it supports.
type Lexical struct {
	lexicon *lexicon
	pool    sync.Pool // of *workspace
}

// lexicalVersion changes whenever a score may.
const lexicalVersion = "lexical-1"

// NewLexical returns the baseline judge.
func NewLexical() *Lexical {
	return &Lexical{lexicon: loadLexicon()}
}

// Info says that this is a baseline.
func (l *Lexical) Info() Info { return Info{Kind: "lexical", Model: lexicalVersion, Baseline: true} }

// workspace is the memory of one request, used again for the next.
type workspace struct {
	scanner  scanner
	terms    terms
	passages passages
	assessor assessor
	votes    [maxLanguages]int

	claims, questions []feature
	ends              []int // per claim: the end of its features in claims
}

// maxKept is the number of passages or terms above which a workspace is given
// back to the system.
const maxKept = 1 << 16

// Judge compares the claims of r with its evidence and sources. It fails only
// when ctx ends.
func (l *Lexical) Judge(ctx context.Context, r *Request) (*Verdict, error) {
	w, _ := l.pool.Get().(*workspace)
	if w == nil {
		w = &workspace{scanner: scanner{lexicon: l.lexicon}}
	}
	defer func() {
		if cap(w.passages.hits) <= maxKept && cap(w.terms.list) <= maxKept && cap(w.passages.list) <= maxKept {
			w.scanner.text = ""
			l.pool.Put(w)
		}
	}()
	return w.judge(ctx, r)
}

func (w *workspace) judge(ctx context.Context, r *Request) (*Verdict, error) {
	w.statements(r)
	if err := w.texts(ctx, r); err != nil {
		return nil, err
	}
	v := &Verdict{Claims: make([]ClaimVerdict, len(r.Claims))}
	n := 0
	for c := range r.Claims {
		n += len(r.Claims[c].Evidence)
	}
	checks := make([]Check, n)
	for c := range r.Claims {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := len(r.Claims[c].Evidence)
		v.Claims[c].Checks, checks = checks[:n:n], checks[n:]
		w.claim(r, c, &v.Claims[c])
	}
	return v, nil
}

// statements reads the claims and, as the last statement, the question.
func (w *workspace) statements(r *Request) {
	w.claims, w.ends = w.claims[:0], w.ends[:0]
	for c := range r.Claims {
		w.scanner.scan(r.Claims[c].Text)
		w.claims = append(w.claims, w.scanner.features...)
		w.ends = append(w.ends, len(w.claims))
	}
	w.scanner.scan(r.Question)
	w.questions = append(w.questions[:0], w.scanner.features...)
	language := w.language()
	w.terms.reset(len(w.claims) + len(w.questions))
	from := 0
	for _, to := range w.ends {
		w.terms.add(w.claims[from:to], language)
		from = to
	}
	w.terms.add(w.questions, language)
}

// language returns the bit of the language with the most stop words in what
// was read, the first of those; 0 if there are none.
func (w *workspace) language() uint16 {
	clear(w.votes[:])
	for _, features := range [...][]feature{w.claims, w.questions} {
		for i := range features {
			for set := features[i].word.stop; set != 0; set &= set - 1 {
				w.votes[bits.TrailingZeros16(set)]++
			}
		}
	}
	best := 0
	for i, n := range w.votes {
		if n > w.votes[best] {
			best = i
		}
	}
	if w.votes[best] == 0 {
		return 0
	}
	return 1 << best
}

// texts finds the terms in the evidence and the sources.
func (w *workspace) texts(ctx context.Context, r *Request) error {
	w.passages.reset()
	add := func(text string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.scanner.scan(text)
		w.passages.add(w.scanner.features, &w.terms)
		return nil
	}
	for i := range r.Evidence {
		if err := add(r.Evidence[i].Text); err != nil {
			return err
		}
	}
	for i := range r.Sources {
		if err := add(r.Sources[i].Text); err != nil {
			return err
		}
	}
	w.terms.weigh(len(w.passages.list))
	w.assessor.reset(&w.terms, &w.passages)
	return ctx.Err()
}

// relevantToQuestion reports whether evidence e covers the question enough.
func (w *workspace) relevantToQuestion(r *Request, e int) bool {
	w.assessor.look(len(r.Claims))
	return w.assessor.text(e).cover >= relevantCover
}

func (w *workspace) claim(r *Request, c int, out *ClaimVerdict) {
	claim := &r.Claims[c]
	s := &w.terms.statements[c]
	out.Factual = tri(s.from < s.to && !isQuestion(claim.Text))
	out.ElsewhereEvidence = -1
	for i, e := range claim.Evidence {
		out.Checks[i] = Check{Evidence: e, Citation: r.Evidence[e].Citation, Relevant: tri(w.relevantToQuestion(r, e))}
	}
	w.assessor.look(c)
	var alone assessment
	for i, e := range claim.Evidence {
		alone = w.assessor.text(e)
		check := &out.Checks[i]
		check.Support, check.Why = alone.support, alone.why
		check.Relevant = tri(check.Relevant == Yes || alone.cover >= relevantCover)
		if alone.best >= 0 {
			p := &w.passages.list[alone.best]
			check.Quote = r.Evidence[e].Text[p.start:p.end]
			check.QuoteAt = Interval{Start: p.cp, End: p.cpEnd}
		}
	}
	switch len(claim.Evidence) {
	case 0:
		out.Joint = None.Support()
	case 1:
		out.Joint, out.JointWhy, out.Votes = alone.support, alone.why, 1
	default:
		joint := w.assessor.joint(claim.Evidence)
		out.Joint, out.JointWhy, out.Votes = joint.support, joint.why, 1
	}
	out.Contradicted = out.Joint.Label == Contradicts
	w.elsewhere(r, c, out)
}

// elsewhere looks for the best passage that the claim does not cite. Sources
// come first, for they say where it stands.
func (w *workspace) elsewhere(r *Request, c int, out *ClaimVerdict) {
	claim := &r.Claims[c]
	if s := &w.terms.statements[c]; s.weight == 0 {
		return
	}
	best := window{text: -1}
	for i := range r.Sources {
		cited := r.Sources[i].Cited
		best = w.assessor.window(len(r.Evidence)+i, best, func(p *passage) bool {
			for _, at := range cited {
				if at.Start < p.cpEnd && p.cp < at.End && slices.Contains(claim.Citations, at.Citation) {
					return false
				}
			}
			return true
		})
	}
	for e := range r.Evidence {
		// Another citation of the same text is no other evidence.
		same := func(own int) bool { return r.Evidence[own].Text == r.Evidence[e].Text }
		if !slices.ContainsFunc(claim.Evidence, same) {
			best = w.assessor.window(e, best, func(*passage) bool { return true })
		}
	}
	out.Elsewhere = None.Support()
	if best.text < 0 {
		return
	}
	out.Elsewhere = best.support
	first, last := &w.passages.list[best.from], &w.passages.list[best.to-1]
	if i := best.text - len(r.Evidence); i >= 0 {
		src := &r.Sources[i]
		out.ElsewhereQuote = src.Text[first.start:last.end]
		out.ElsewherePlace = &Place{Doc: src.Doc, Page: src.Page, Start: first.cp, End: last.cpEnd}
		return
	}
	out.ElsewhereEvidence = best.text
	out.ElsewhereQuote = r.Evidence[best.text].Text[first.start:last.end]
	out.ElsewhereAt = Interval{Start: first.cp, End: last.cpEnd}
}

// isQuestion reports whether a claim ends in a question mark.
func isQuestion(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \t\r\n\"'”’»)"))
	return r == '?' || r == '？' || r == '؟'
}
