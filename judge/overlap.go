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
	type term struct{ in, last int } // sentences that have it, and the last of them
	terms := make(map[string]*term, len(s.content))
	for _, k := range s.content {
		terms[s.words[k].beginning()] = &term{last: -1}
	}
	n := 0
	for _, e := range evidence {
		t := &w.texts[e]
		for i := range t.sentences {
			sentence := &t.sentences[i]
			if !sentence.cited {
				continue
			}
			for _, k := range t.content[sentence.content[0]:sentence.content[1]] {
				if x := terms[t.words[k].beginning()]; x != nil && x.last != n {
					x.in, x.last = x.in+1, n
				}
			}
			n++
		}
	}
	had, all := 0.0, 0.0
	for _, k := range s.content { // in their order, so that the sum is the same every time
		x := terms[s.words[k].beginning()]
		if x.last == counted {
			continue
		}
		x.last = counted
		weight := math.Log(float64(1+n)/float64(1+x.in)) + 1
		if all += weight; x.in > 0 {
			had += weight
		}
	}
	if all == 0 {
		return ibid.Number{}
	}
	return ibid.Some(had / all)
}

// counted marks a term whose weight is in the sums.
const counted = -2

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
