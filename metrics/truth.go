package metrics

import (
	"cmp"
	"slices"

	"ibid"
	"ibid/metrics/span"
)

// An annotator is what one person marked in a row.
type annotator struct {
	name string
	side side
}

// loadTruth sorts the truth of the row by annotator, in the order of their
// names. It says why there is none to score against: the list is null, the one
// annotator asked for has not seen the row, or a mark is in no place that a text has.
func (s *Scorer) loadTruth(r *Row) ibid.Reason {
	s.annotators = s.annotators[:0]
	if !r.HasTruth {
		return ibid.NoTruth
	}
	only, one := s.policy.Annotator()
	for i := range r.Truth {
		t := &r.Truth[i]
		if one && t.Annotator != only {
			continue
		}
		a := s.annotator(t.Annotator)
		if !t.DocNull {
			if misplaced(&t.Place) {
				return ibid.TruthNotFound
			}
			key, doc := s.names.codes(t.Place.Doc, t.Place.Page)
			spans, pages, docs := len(a.side.spans), len(a.side.pages), len(a.side.docs)
			a.side.add(i, &t.Place, key, doc)
			if len(a.side.docs) > docs && combines(s.policy) {
				a.side.marks = append(a.side.marks, markedPlace{
					doc: doc, spans: [2]int{spans, len(a.side.spans)}, pages: [2]int{pages, len(a.side.pages)}, finer: t.Place.Level != ibid.LevelDocument,
				})
			}
		}
	}
	if one && len(s.annotators) == 0 {
		return ibid.NoTruth
	}
	if len(s.annotators) > 1 {
		slices.SortFunc(s.annotators, func(a, b annotator) int { return cmp.Compare(a.name, b.name) })
	}
	return ibid.Defined
}

// misplaced reports whether the place of a mark is not where it should be: its quote is
// nowhere, or moved where such places are left out, or no text is as long as it says.
// Nobody is measured against such a mark.
func misplaced(p *ibid.Place) bool {
	return p.Excluded || p.Status == ibid.StatusQuoteNotFound || p.InSets() && p.End > ibid.MaxEnd
}

// annotator returns the entry for a name, a new one if there is none.
func (s *Scorer) annotator(name string) *annotator {
	for i := range s.annotators {
		if s.annotators[i].name == name {
			return &s.annotators[i]
		}
	}
	if n := len(s.annotators); n < cap(s.annotators) {
		s.annotators = s.annotators[:n+1] // keeps the slices of an earlier row
	} else {
		s.annotators = append(s.annotators, annotator{})
	}
	a := &s.annotators[len(s.annotators)-1]
	a.name = name
	a.side.reset()
	return a
}

// best returns the annotator with the highest char_f1: a defined one before an
// undefined one, the first name on ties.
func (s *Scorer) best() *annotator {
	best := &s.annotators[0]
	if len(s.annotators) == 1 {
		return best
	}
	var most span.Fraction
	for i := range s.annotators {
		a := &s.annotators[i]
		z := s.compare.Sizes(a.side.spans, s.pred.spans, 0)
		f1 := span.Fraction{Num: 2 * z.Overlap, Den: z.Truth + z.Pred}
		if f1.Den > 0 && (most.Den == 0 || f1.Compare(most) > 0) {
			best, most = a, f1
		}
	}
	return best
}

// combines reports whether a policy combines the marks of all annotators.
func combines(policy ibid.Policy) bool {
	return policy == ibid.PolicyUnion || policy == ibid.PolicyMajority || policy == ibid.PolicyIntersection
}

// A markedPlace is a mark of an annotator as it entered a side.
type markedPlace struct {
	doc   int32
	spans [2]int // from and to, of side.spans
	pages [2]int // of side.pages
	finer bool   // than a document
}

// combine fills s.combined with what the policy makes of all annotators' marks. Its
// documents and pages are those of the combined spans: two people who marked different
// passages of a document agree on none of it. Where some mark is of whole pages or of a
// document and has no span, the vote is on pages or on the document.
func (s *Scorer) combine(policy ibid.Policy) *side {
	c := &s.combined
	c.reset()
	sets := func(set func(*side) []span.Span) [][]span.Span {
		s.sets = s.sets[:0]
		for i := range s.annotators {
			s.sets = append(s.sets, set(&s.annotators[i].side))
		}
		return s.sets
	}
	c.spans = s.compare.Combine(c.spans, policy, sets(func(a *side) []span.Span { return a.spans }))
	c.source = nil
	whole, paged := s.spanless()
	for i := range s.annotators {
		a := &s.annotators[i].side
		a.keptPages, a.keptDocs = a.keptPages[:0], a.keptDocs[:0]
		for _, m := range a.marks {
			agreed := touchesAny(c.spans, a.spans[m.spans[0]:m.spans[1]])
			if agreed || slices.Contains(whole, m.doc) {
				a.keptDocs = append(a.keptDocs, span.Span{Key: m.doc, Start: 0, End: 1})
			}
			if agreed || slices.Contains(paged, m.doc) {
				a.keptPages = append(a.keptPages, a.pages[m.pages[0]:m.pages[1]]...)
				c.pagesUnknown = c.pagesUnknown || m.finer && m.pages[0] == m.pages[1]
			}
		}
	}
	c.pages = s.compare.Combine(c.pages, policy, sets(func(a *side) []span.Span { return a.keptPages }))
	c.docs = s.compare.Combine(c.docs, policy, sets(func(a *side) []span.Span { return a.keptDocs }))
	return c
}

// spanless are the documents in which some annotator marked a place without a span, and
// those in which some such place is finer than the document.
func (s *Scorer) spanless() (whole, paged []int32) {
	for i := range s.annotators {
		for _, m := range s.annotators[i].side.marks {
			if m.spans[0] < m.spans[1] {
				continue
			}
			if whole = append(whole, m.doc); m.finer {
				paged = append(paged, m.doc)
			}
		}
	}
	return whole, paged
}

// touchesAny reports whether one of the spans has a code point in common with runs, which
// are in normal form.
func touchesAny(runs, spans []span.Span) bool {
	return slices.ContainsFunc(spans, func(x span.Span) bool {
		at, _ := slices.BinarySearchFunc(runs, x, func(r, x span.Span) int {
			if r.Key == x.Key && r.End <= x.Start {
				return -1
			}
			return cmp.Or(cmp.Compare(r.Key, x.Key), 1)
		})
		return at < len(runs) && runs[at].Key == x.Key && runs[at].Start < x.End && x.Start < x.End
	})
}

// chosen returns the truth that the policy scores against, for every policy but the
// mean, and notes a single annotator's name.
func (s *Scorer) chosen(out *Scores) *side {
	if len(s.annotators) == 0 {
		s.combined.reset()
		return &s.combined
	}
	if combines(s.policy) {
		return s.combine(s.policy)
	}
	a := s.best()
	out.TruthAnnotator, out.HasTruthAnnotator = a.name, a.name != ""
	return &a.side
}

// A side is one of the two sets of places that are compared: the citations, or
// the truth of one annotator or of several combined. Each set is a slice of
// spans, so that one arithmetic serves all of them.
type side struct {
	spans  []span.Span // the spans of T or P, as given; keys are codes of names
	source []int32     // index of the citation or annotation of each span; nil for combined annotators

	// pages touched; keys are codes of documents, page 1 is [0, 1). A place
	// finer than a document whose pages are not known makes the pages of the
	// side unknown: counting the others only would reward not naming pages.
	pages        []span.Span
	pagesUnknown bool

	docs []span.Span // documents touched; keys are codes of documents, each is [0, 1)

	// Of an annotator whose marks are combined with those of others: the places, and the
	// pages and documents that have a vote.
	marks               []markedPlace
	keptPages, keptDocs []span.Span

	loose loose
}

// Loose spans are those of a side that lie where no text is: beyond [ibid.MaxEnd], each
// distinct one a place of its own, or nowhere, if the quote that stands for the place was
// not found. They touch nothing of the other side.
type loose struct {
	seen     map[looseSpan]bool
	spans    int64 // as given
	distinct int64
	chars    int64 // of the distinct ones, and of what others have beyond the limit
}

type looseSpan struct {
	key        int32
	start, end int64
	quote      string // where there are no offsets
}

func (l *loose) reset() {
	clear(l.seen)
	l.spans, l.distinct, l.chars = 0, 0, 0
}

// add enters a span. whole is false if it is only the end of another.
func (l *loose) add(x looseSpan, whole bool) {
	if whole {
		l.spans++
	}
	if l.seen[x] {
		return
	}
	if l.seen == nil {
		l.seen = map[looseSpan]bool{}
	}
	l.seen[x] = true
	l.chars += x.end - x.start
	if whole {
		l.distinct++
	}
}

// count adds the loose spans to the sizes of the predicted side, and what tolerance
// makes of them.
func (l *loose) count(z *span.Sizes, tolerance int64) {
	wide := l.chars + 2*tolerance*l.distinct
	z.Pred, z.Union = z.Pred+l.chars, z.Union+l.chars
	z.WidePred, z.WideUnion = z.WidePred+wide, z.WideUnion+wide
}

func (s *side) reset() {
	s.spans, s.source, s.pages, s.docs, s.marks = s.spans[:0], s.source[:0], s.pages[:0], s.docs[:0], s.marks[:0]
	s.pagesUnknown = false
	s.loose.reset()
}

// grow makes room for n places more.
func (s *side) grow(n int) {
	s.spans, s.source, s.docs, s.pages = slices.Grow(s.spans, n), slices.Grow(s.source, n), slices.Grow(s.docs, n), slices.Grow(s.pages, n)
}

// add enters the place with the given index.
func (s *side) add(index int, p *ibid.Place, key, doc int32) {
	if p.InSets() {
		if p.End > ibid.MaxEnd {
			from := max(p.Start, ibid.MaxEnd)
			s.loose.add(looseSpan{key: key, start: from, end: p.End}, from == p.Start)
		}
		for i := range p.Parts() {
			if part := p.Part(i); part.Start < ibid.MaxEnd {
				s.spans = append(s.spans, span.Of(part, key))
				s.source = append(s.source, int32(index))
			}
		}
	}
	if !p.Status.Usable() || p.Excluded || p.Level == ibid.LevelNowhere {
		return
	}
	s.docs = append(s.docs, span.Span{Key: doc, Start: 0, End: 1})
	if p.Level == ibid.LevelDocument {
		return
	}
	if p.FirstPage <= 0 || p.LastPage < p.FirstPage {
		s.pagesUnknown = true
		return
	}
	s.pages = append(s.pages, span.Span{Key: doc, Start: p.FirstPage - 1, End: p.LastPage})
}

// names numbers the distinct documents of one row, and the keys (document, page) within which
// offsets count, so that the arithmetic compares integers and not names.
type names struct {
	keys numbering[docPage]
	docs numbering[string]
}

// A docPage is a key by the number of its document.
type docPage struct{ doc, page int32 }

// name returns the document and the page of a key.
func (n *names) name(of int32) (doc string, page int32) {
	k := n.keys.all[of]
	return n.docs.all[k.doc], k.page
}

func (n *names) reset() {
	n.keys.reset()
	n.docs.reset()
}

// codes returns the numbers of the key (doc, page) and of the document.
func (n *names) codes(doc string, page int32) (of, document int32) {
	document = n.docs.number(doc)
	return n.keys.number(docPage{document, page}), document
}

// A numbering numbers what it meets, from 0 on.
type numbering[T comparable] struct {
	all []T
	of  map[T]int32 // in use beyond scanLimit
}

// scanLimit is how many there are up to which a linear search beats a map.
const scanLimit = 16

func (n *numbering[T]) reset() {
	clear(n.of)
	n.all = n.all[:0]
}

func (n *numbering[T]) number(x T) int32 {
	if len(n.all) <= scanLimit {
		for i := range n.all {
			if n.all[i] == x {
				return int32(i)
			}
		}
	} else if code, ok := n.of[x]; ok {
		return code
	}
	n.all = append(n.all, x)
	if len(n.all) > scanLimit {
		if n.of == nil {
			n.of = make(map[T]int32)
		}
		for i := len(n.of); i < len(n.all); i++ {
			n.of[n.all[i]] = int32(i)
		}
	}
	return int32(len(n.all) - 1)
}

// meanScratch is the memory of the policy mean.
type meanScratch struct {
	part    Scores          // one annotator's numbers
	defined [numMetrics]int // annotators for whom each of the comparisons is defined
	cited   []span.PredMatch
	columns [8]float64 // that a metric is derived from
}

// scoreMean scores against every annotator. Counts are added up, and what is derived from
// them is derived from the sums; any other metric is the mean over the annotators for whom it
// is defined. A citation's best truth is sought among all annotations.
func (s *Scorer) scoreMean(r *Row, out *Scores) {
	mean := &s.mean
	mean.defined = [numMetrics]int{}
	mean.cited = mean.cited[:0]
	for i := range s.annotators {
		mean.part.reset(&s.reasons)
		s.scorePair(r, &s.annotators[i].side, &mean.part)
		out.addCounts(&mean.part)
		mean.add(out)
		mean.keep(s.cited)
	}
	for _, m := range comparisons {
		n := mean.defined[m]
		if n == 0 {
			continue
		}
		out.quotient(m, out.Values[m], float64(n), ibid.Defined)
		if definitions[m].Derived {
			out.derive(m, mean.columns[:])
		}
	}
	if s.opt.Compat {
		out.copyMetric(SpanAccuracyScore, MeanToleranceJaccard)
	}
	// The citations are the same for every annotator.
	out.count(CitedChars, mean.part.Counts[CitedChars])
	s.cited = mean.cited
}

// add adds one annotator's values to out. Where nobody's is defined, the reason
// of the last stays.
func (mean *meanScratch) add(out *Scores) {
	for _, m := range comparisons {
		if mean.part.Reasons[m] == ibid.Defined {
			out.Values[m] += mean.part.Values[m]
			mean.defined[m]++
		} else {
			out.Reasons[m] = mean.part.Reasons[m]
		}
	}
}

// keep keeps the better of two truth spans of each citation.
func (mean *meanScratch) keep(cited []span.PredMatch) {
	if len(mean.cited) == 0 {
		mean.cited = append(mean.cited, cited...)
		return
	}
	for j, m := range cited {
		old := &mean.cited[j]
		touches := old.Touches || m.Touches
		d := cmp.Or(m.Snapped.Compare(old.Snapped), m.Exact.Compare(old.Exact))
		if m.Truth >= 0 && (old.Truth < 0 || d > 0 || d == 0 && m.Truth < old.Truth) {
			*old = m
		}
		old.Touches = touches
	}
}

// addCounts adds the known counts of part.
func (s *Scores) addCounts(part *Scores) {
	for c, known := range part.Known {
		if known {
			s.count(Count(c), s.Counts[c]+part.Counts[c])
		}
	}
}
