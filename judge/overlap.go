package judge

import (
	"math"

	"ibid"
)

// overlap is the share of a claim's content words that the cited sentences of evidence have, taken
// together: a number in [0, 1], null for a claim without content words. A word weighs
// ln((1+n)/(1+df)) + 1, where df of the n sentences have it. Words are compared by their first six
// letters.
func (w *wording) overlap(s *statement, evidence []int) ibid.Number {
	terms := w.terms[:0]
	clear(w.termOf)
	for _, k := range s.content {
		name := s.words[k].beginning()
		if _, known := w.termOf[name]; !known {
			w.termOf[name] = len(terms)
			terms = append(terms, term{})
		}
	}
	w.terms = terms
	n := 0
	for _, e := range evidence {
		t := &w.texts[e]
		for i := range t.sentences {
			sentence := &t.sentences[i]
			if !sentence.cited {
				continue
			}
			n++
			for _, k := range t.content[sentence.content[0]:sentence.content[1]] {
				if at, ok := w.termOf[t.words[k].beginning()]; ok && terms[at].last != n {
					terms[at].in, terms[at].last = terms[at].in+1, n
				}
			}
		}
	}
	had, all := 0.0, 0.0
	for i := range terms {
		weight := math.Log(float64(1+n)/float64(1+terms[i].in)) + 1
		if all += weight; terms[i].in > 0 {
			had += weight
		}
	}
	if all == 0 {
		return ibid.Number{}
	}
	return ibid.Some(had / all)
}

// A term is a word of a claim: how many cited sentences have it, and the last of them, from 1.
type term struct{ in, last int }

// beginning is the first six letters of a word.
func (x *word) beginning() string {
	letters := 0
	for at := range x.text {
		if letters == 6 {
			return x.text[:at]
		}
		letters++
	}
	return x.text
}
