package judge

const (
	// mismatchFactor is what a score is multiplied by when a number or date of
	// the claim is not in the evidence, or one of the two is negated. It is one
	// of the two constants of [Lexical] that may be set by looking at human
	// labels.
	mismatchFactor = 0.6

	// A passage that covers this much of a claim is about the same thing, so
	// that a difference in negation counts.
	aboutClaim = 0.5

	// A passage that covers this much of a claim and differs in negation or in
	// a number contradicts it.
	sameClaim = 0.8

	// Evidence that covers this much of the claim or of the question is
	// relevant.
	relevantCover = 0.25

	// windowPassages is how many sentences in a row make a passage of a source.
	windowPassages = 3
)

// Why a lexical score is lower than the words in common say.
const (
	whyNumber       = "a number or date of the claim is not in the evidence"
	whyNegation     = "the closest passage is negated and the claim is not, or the reverse"
	whyContradicted = "the closest passage says the same with another number or date, or negated"
)

// An assessment is how well texts cover one statement.
type assessment struct {
	cover   float64 // share of the statement's weight, in [0, 1]
	support Support
	why     string
	best    int32 // the passage that covers most, -1 if none covers anything
}

// An assessor compares statements with passages.
type assessor struct {
	terms    *terms
	passages *passages
	covered  []int32 // per term: the last assessment that found it
	run      int32   // number of that assessment

	number    int32 // of the statement looked at, from 1
	statement *statement
}

func (a *assessor) reset(t *terms, p *passages) {
	a.terms, a.passages, a.run = t, p, 0
	if cap(a.covered) < len(t.list) {
		a.covered = make([]int32, len(t.list))
	}
	a.covered = a.covered[:len(t.list)]
	clear(a.covered)
}

// look makes statement i the one that is assessed.
func (a *assessor) look(i int) {
	a.number, a.statement = int32(i+1), &a.terms.statements[i]
	for _, id := range a.terms.members[a.statement.from:a.statement.to] {
		a.terms.owner[id] = a.number
	}
}

// A tally adds up what passages cover of a statement.
type tally struct {
	weight  float64
	exact   int32
	best    int32
	bestSum float64
}

func (a *assessor) begin() tally {
	a.run++
	return tally{best: -1}
}

// take adds passage i to the tally.
func (a *assessor) take(y *tally, i int32) {
	p := &a.passages.list[i]
	sum := 0.0
	for _, id := range a.passages.hits[p.hitFrom:p.hitTo] {
		if a.terms.owner[id] != a.number {
			continue
		}
		x := &a.terms.list[id]
		sum += x.weight
		if a.covered[id] != a.run {
			a.covered[id] = a.run
			y.weight += x.weight
			if x.kind != featureWord {
				y.exact++
			}
		}
	}
	if sum > y.bestSum {
		y.best, y.bestSum = i, sum
	}
}

// conclude makes an assessment of what was taken.
func (a *assessor) conclude(y *tally) assessment {
	s := a.statement
	out := assessment{best: y.best}
	if s.weight == 0 {
		return out
	}
	out.cover = min(y.weight/s.weight, 1)
	score := out.cover
	negation := y.best >= 0 && y.bestSum >= aboutClaim*s.weight && a.passages.list[y.best].negated != s.negated
	switch {
	case negation:
		score, out.why = score*mismatchFactor, whyNegation
	case y.exact < s.exact:
		score, out.why = score*mismatchFactor, whyNumber
	}
	out.support = Scored(score)
	if negation && y.bestSum >= sameClaim*s.weight || y.exact < s.exact && a.conflicts(y.best) {
		out.support, out.why = Contradicts.Support(), whyContradicted
	}
	return out
}

// conflicts reports whether passage i says what the statement does with another
// number or date in place of one of its own: it covers the statement's words
// and has, in a unit in which it lacks one, one that the statement has not.
func (a *assessor) conflicts(i int32) bool {
	if i < 0 {
		return false
	}
	p := &a.passages.list[i]
	loose := 0.0
	for _, id := range a.passages.hits[p.hitFrom:p.hitTo] {
		if x := &a.terms.list[id]; a.terms.owner[id] == a.number && x.kind == featureWord {
			loose += x.weight
		}
	}
	if a.statement.loose == 0 || loose < sameClaim*a.statement.loose {
		return false
	}
	for _, id := range a.terms.members[a.statement.from:a.statement.to] {
		x := &a.terms.list[id]
		if x.kind == featureWord || a.covered[id] == a.run {
			continue
		}
		for _, m := range a.passages.numbers[p.numFrom:p.numTo] {
			if m.unit == x.unit() && (m.term < 0 || a.terms.owner[m.term] != a.number) {
				return true
			}
		}
	}
	return false
}

// text assesses the text i alone.
func (a *assessor) text(i int) assessment {
	y := a.begin()
	r := a.passages.texts[i]
	for j := r.from; j < r.to; j++ {
		a.take(&y, j)
	}
	return a.conclude(&y)
}

// joint assesses the texts of evidence taken together.
func (a *assessor) joint(evidence []int) assessment {
	y := a.begin()
	for _, e := range evidence {
		r := a.passages.texts[e]
		for j := r.from; j < r.to; j++ {
			a.take(&y, j)
		}
	}
	return a.conclude(&y)
}

// A window is a run of passages [from, to) of the text i and what it is worth.
type window struct {
	text     int
	from, to int32
	assessment
}

// window finds the run of at most windowPassages passages of text i that
// supports the statement best, and improves on best: the shortest, then the
// first. usable says which passages may be part of one.
func (a *assessor) window(i int, best window, usable func(p *passage) bool) window {
	r := a.passages.texts[i]
	for from := r.from; from < r.to; from++ {
		if p := &a.passages.list[from]; p.hitFrom == p.hitTo || !usable(p) {
			continue
		}
		y := a.begin()
		for to := from; to < min(from+windowPassages, r.to) && usable(&a.passages.list[to]); to++ {
			before := y.weight
			a.take(&y, to)
			if y.weight == before {
				continue
			}
			if found := a.conclude(&y); found.support.Score > best.support.Score {
				best = window{i, from, to + 1, found}
			}
		}
	}
	return best
}
