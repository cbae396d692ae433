package judge

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"ibid"
)

// Lexical compares wording. It is a baseline to measure judges against, and
// stands in where there is no model: it sees which words of a claim its
// evidence has, not what either means.
//
// The score of a claim is the share of its content words that the evidence has.
// A word weighs its inverse document frequency over the sentences that the claim
// cites, ln((1+n)/(1+df)) + 1, as scikit-learn's smooth_idf has it. Words are
// compared by their first six letters in lower case, scripts without spaces by
// pairs of letters. Numbers are compared by their digits; numerals and the names
// of months count as numbers, so that July 11, 1909 is 1909-07-11. Units and
// words such as million are words like others. The score is multiplied by 0.6 if a
// number of the claim is not in the evidence, else by 0.2 if the closest sentence has at
// least 0.8 of the claim and one of the two is negated.
//
// It says of no claim that its evidence contradicts it. Negations of that kind are 4
// among 1,500 claims that people labelled (WiCE's development and test parts, ExpertQA):
// 2 had no support, 2 were supported. Another number in a sentence with 0.8 of the other
// words never occurs there; with 0.5 of them it does 9 times, and people found support for
// all 9.
//
// Elsewhere looks at sources and evidence that the claim does not cite, in
// passages of up to three sentences. A question and a claim without a content
// word are not factual; the latter is unscored.
//
// AUROC against people: 0.772 for 358 claims of WiCE, 0.601 for 793 of ExpertQA.
// It does not know synonyms, who did what to whom, or how far apart the words
// are: a long text covers more than it supports.
type Lexical struct {
	pool sync.Pool // of *lexicalWork
}

// lexicalVersion changes whenever a score may.
const lexicalVersion = "lexical-3"

const (
	// numberFactor is what a score is multiplied by when a number of the claim is
	// not in the evidence.
	numberFactor = 0.6
	// negationFactor is the same for a sentence with sameShare of the claim, of which
	// it is the negation.
	negationFactor = 0.2
	sameShare      = 0.8
	// Evidence with this much of the claim or of the question is relevant.
	relevantShare = 0.25
	// A passage outside the cited evidence has up to this many sentences.
	passageSentences = 3
	// A sentence ends after this many words even without a full stop.
	maxSentence = 80
	// Work on a request with more words than this is not kept for the next.
	maxKept = 1 << 16
)

// Why a lexical score is lower than the words in common say.
const (
	whyNumber   = "a number or date of the claim is not in the evidence"
	whyNegation = "the closest passage says the same and is negated, or the claim is"
)

// NewLexical returns the baseline judge.
func NewLexical() *Lexical { return new(Lexical) }

// Info says that this is a baseline.
func (l *Lexical) Info() Info {
	return Info{Kind: "lexical", Model: lexicalVersion, Baseline: true}
}

// Judge compares the claims of r with its evidence and sources. It fails only
// when ctx ends.
func (l *Lexical) Judge(ctx context.Context, r *Request) (*Verdict, error) {
	w := l.work()
	v := w.judge(ctx, r)
	l.keep(w)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return v, nil
}

// work returns room for the work on a request, which keep takes back.
func (l *Lexical) work() *lexicalWork {
	if w, ok := l.pool.Get().(*lexicalWork); ok {
		return w
	}
	return new(lexicalWork)
}

func (l *Lexical) keep(w *lexicalWork) {
	if cap(w.found) <= maxKept && cap(w.reader.words) <= maxKept {
		l.pool.Put(w)
	}
}

// lexicalWork is what is known of one request: the words of its claims and its
// question, and the sentences of its texts.
type lexicalWork struct {
	reader     wordReader
	ids        wordMap[int32] // key of a word of a statement -> index of terms
	terms      []lexicalTerm
	statements []statement  // the claims, then the question
	texts      [][]sentence // the evidence, then the sources
	relevant   []bool       // per evidence: it has enough of the question
	cited      []int        // the evidence of the claim that is judged

	// What the slices of statements and texts are parts of.
	members, found []int32
	sentences      []sentence

	now  *statement // the one that texts are compared with
	run  int32      // the number of the last comparison
	many [][]sentence
}

// A lexicalTerm is a word of a statement.
type lexicalTerm struct {
	number  bool
	of      *statement // the last one that was looked at and has it
	in, run int32      // the last sentence, counted from 1, and comparison that have it
	weight  float64
}

// A statement is a claim, or the question.
type statement struct {
	terms   []int32 // each once
	numbers int     // how many of them are numbers
	negated bool
	weight  float64 // of its terms
}

type sentence struct {
	terms      []int32 // the words of statements that it has, each once
	negated    bool
	start, end int32 // bytes
	at         Interval
}

// read reads the claims, the question and the texts of r.
func (w *lexicalWork) read(r *Request) {
	w.ids.clear()
	w.terms, w.members, w.statements = w.terms[:0], w.members[:0], w.statements[:0]
	w.found, w.sentences, w.texts, w.relevant, w.run = w.found[:0], w.sentences[:0], w.texts[:0], w.relevant[:0], 0
	for c := range r.Claims {
		w.addStatement(r.Claims[c].Text)
	}
	w.addStatement(r.Question)
	for i := range r.Evidence {
		w.addText(r.Evidence[i].Text)
	}
	for i := range r.Sources {
		w.addText(r.Sources[i].Text)
	}
}

// judge returns a verdict, nil if ctx has ended.
func (w *lexicalWork) judge(ctx context.Context, r *Request) *Verdict {
	w.read(r)
	w.look(len(r.Claims), nil)
	for e := range r.Evidence {
		w.relevant = append(w.relevant, w.compare(w.texts[e]).share >= relevantShare)
	}
	v := &Verdict{Claims: make([]ClaimVerdict, len(r.Claims))}
	checks := 0 // at most
	for c := range r.Claims {
		checks += len(r.Claims[c].Citations)
	}
	all := make([]Check, checks)
	for c := range r.Claims {
		if ctx.Err() != nil {
			return nil
		}
		w.cited = r.Cited(c, w.cited[:0])
		n := len(w.cited)
		v.Claims[c].Checks, all = all[:n:n], all[n:]
		w.claim(r, c, &v.Claims[c])
	}
	return v
}

func (w *lexicalWork) addStatement(text string) {
	var s statement
	from := len(w.members)
	for _, word := range w.reader.read(text) {
		s.negated = s.negated || word.negates
		if word.stop || word.negates {
			continue
		}
		id, known := w.ids.get(word.key)
		if !known {
			id = int32(len(w.terms))
			w.ids.put(word.key, id)
			w.terms = append(w.terms, lexicalTerm{number: word.number})
		}
		if slices.Contains(w.members[from:], id) {
			continue
		}
		w.members = append(w.members, id)
		if word.number {
			s.numbers++
		}
	}
	s.terms = w.members[from:]
	w.statements = append(w.statements, s)
}

func (w *lexicalWork) addText(text string) {
	first, from, n := len(w.sentences), 0, 0
	for _, word := range w.reader.read(text) {
		if n++; word.begins || n > maxSentence {
			w.sentences = append(w.sentences, sentence{start: word.start, at: Interval{Start: word.cp}})
			from, n = len(w.found), 1
		}
		number := int32(len(w.sentences))
		s := &w.sentences[number-1]
		s.end, s.at.End = word.end, word.cpEnd
		s.negated = s.negated || word.negates
		if word.stop || word.negates {
			continue
		}
		if id, ok := w.ids.get(word.key); ok && w.terms[id].in != number {
			w.terms[id].in = number
			w.found = append(w.found, id)
			s.terms = w.found[from:]
		}
	}
	w.texts = append(w.texts, w.sentences[first:])
}

// look makes statement i the one that texts are compared with, and weighs its
// words by how many sentences of that evidence have them; of all texts if there
// is none.
func (w *lexicalWork) look(i int, evidence []int) {
	w.now = &w.statements[i]
	for _, id := range w.now.terms {
		w.terms[id].of, w.terms[id].weight = w.now, 0
	}
	texts := w.texts
	if len(evidence) > 0 {
		texts = w.of(evidence)
	}
	n := 0
	for _, text := range texts {
		n += len(text)
		for i := range text {
			for _, id := range text[i].terms {
				w.terms[id].weight++
			}
		}
	}
	w.now.weight = 0
	for _, id := range w.now.terms {
		term := &w.terms[id]
		term.weight = math.Log(float64(1+n)/(1+term.weight)) + 1
		w.now.weight += term.weight
	}
}

// of returns the texts of evidence, valid until the next call.
func (w *lexicalWork) of(evidence []int) [][]sentence {
	w.many = w.many[:0]
	for _, e := range evidence {
		w.many = append(w.many, w.texts[e])
	}
	return w.many
}

// A comparison says what texts have of a statement.
type comparison struct {
	share   float64   // of its weight, in [0, 1]
	closest *sentence // the one that has most, nil if none has anything
	support ibid.Support
	why     string
}

// compare compares texts, taken together, with the statement looked at.
func (w *lexicalWork) compare(texts ...[]sentence) (c comparison) {
	w.run++
	all, most, numbers := 0.0, 0.0, 0
	for _, text := range texts {
		for i := range text {
			own := 0.0
			for _, id := range text[i].terms {
				term := &w.terms[id]
				if term.of != w.now {
					continue
				}
				own += term.weight
				if term.run != w.run {
					term.run = w.run
					all += term.weight
					if term.number {
						numbers++
					}
				}
			}
			if own > most {
				c.closest, most = &text[i], own
			}
		}
	}
	if w.now.weight == 0 {
		return c
	}
	c.share = min(all/w.now.weight, 1)
	score := c.share
	switch {
	case numbers < w.now.numbers:
		score, c.why = c.share*numberFactor, whyNumber
	case most >= sameShare*w.now.weight && c.closest.negated != w.now.negated:
		score, c.why = c.share*negationFactor, whyNegation
	}
	c.support = ibid.Scored(score)
	return c
}

func (w *lexicalWork) claim(r *Request, c int, out *ClaimVerdict) {
	claim := &r.Claims[c]
	w.look(c, w.cited)
	out.Factual = ibid.TriOf(w.now.weight > 0 && !isQuestion(claim.Text))
	out.ElsewhereEvidence = -1
	for i, e := range w.cited {
		alone := w.compare(w.texts[e])
		check := &out.Checks[i]
		*check = Check{
			Evidence: e, Citation: r.Evidence[e].Citation, Support: alone.support, Why: alone.why,
			Relevant: ibid.TriOf(w.relevant[e] || alone.share >= relevantShare),
		}
		if s := alone.closest; s != nil {
			check.Quote, check.QuoteAt = r.Evidence[e].Text[s.start:s.end], s.at
		}
	}
	out.Joint = ibid.None.Support()
	if len(w.cited) > 0 {
		joint := w.compare(w.of(w.cited)...)
		out.Joint, out.JointWhy, out.Votes = joint.support, joint.why, 1
	}
	if w.now.weight > 0 {
		w.elsewhere(r, claim, out)
	}
}

// elsewhere finds the passage that the claim does not cite and that supports it best.
func (w *lexicalWork) elsewhere(r *Request, claim *ibid.Claim, out *ClaimVerdict) {
	out.Elsewhere = ibid.None.Support()
	var best found // the first and shortest of equal ones; sources come first, because they say where it is
	w.uncited(r, claim, func(c comparison, passage []sentence, in int) {
		if score := c.support.Value; score > best.score {
			best = found{in, passage, score}
		}
	})
	if best.score == 0 {
		return
	}
	out.Elsewhere = ibid.Scored(best.score)
	var at Interval
	if out.ElsewhereQuote, out.ElsewherePlace, at = best.where(r); out.ElsewherePlace == nil {
		out.ElsewhereEvidence, out.ElsewhereAt = best.in, at
	}
}

// uncited calls yield with the passages that a claim does not cite and that have a word of
// it, those of the sources first.
func (w *lexicalWork) uncited(r *Request, claim *ibid.Claim, yield func(c comparison, passage []sentence, in int)) {
	search := func(t int, usable func(s *sentence) bool) {
		for from := range w.texts[t] {
			text := w.texts[t][from:]
			if len(text[0].terms) == 0 {
				continue
			}
			for n := 1; n <= min(passageSentences, len(text)) && usable(&text[n-1]); n++ {
				if len(text[n-1].terms) > 0 {
					yield(w.compare(text[:n]), text[:n], t)
				}
			}
		}
	}
	for i := range r.Sources {
		search(len(r.Evidence)+i, func(s *sentence) bool {
			return !slices.ContainsFunc(r.Sources[i].Cited, func(at Interval) bool {
				return at.Start < s.at.End && s.at.Start < at.End && slices.Contains(claim.Citations, int32(at.Citation))
			})
		})
	}
	for e := range r.Evidence {
		// Another citation of the same text is no other evidence.
		same := func(own int) bool { return r.Evidence[own].Text == r.Evidence[e].Text }
		if !slices.ContainsFunc(w.cited, same) {
			search(e, func(*sentence) bool { return true })
		}
	}
}

// Factual says of each claim of r whether it can be checked, by the rule of this judge: a
// question and a claim without a content word cannot.
func (l *Lexical) Factual(r *Request) []ibid.Tri {
	w := l.work()
	defer l.keep(w)
	w.read(r)
	out := make([]ibid.Tri, len(r.Claims))
	for c := range r.Claims {
		out[c] = ibid.TriOf(len(w.statements[c].terms) > 0 && !isQuestion(r.Claims[c].Text))
	}
	return out
}

// A found is a passage of a text: of the evidence, then of the sources.
type found struct {
	in      int
	passage []sentence
	score   float64
}

// where is the text of f and its place: in the sources, or else in the text of the evidence.
func (f found) where(r *Request) (text string, place *Place, at Interval) {
	first, last := &f.passage[0], &f.passage[len(f.passage)-1]
	at = Interval{Start: first.at.Start, End: last.at.End}
	if f.in < len(r.Evidence) {
		return r.Evidence[f.in].Text[first.start:last.end], nil, at
	}
	source := &r.Sources[f.in-len(r.Evidence)]
	return source.Text[first.start:last.end], &Place{Doc: source.Doc, Page: source.Page, Start: at.Start, End: at.End}, Interval{}
}

// isQuestion reports whether a claim ends in a question mark.
func isQuestion(text string) bool {
	return strings.ContainsRune("?？؟", lastRune(strings.TrimRight(text, " \t\r\n\"'”’»)")))
}
