//go:build unix

package main

import (
	"context"
	"math"
	"strings"

	"ibid"
	"ibid/judge"
	"ibid/metrics/token"
)

// overlap is the least that a judge must beat: the share of a claim's words that the
// evidence has, a word weighing ln((1+n)/(1+df)) + 1 for df of the n sentences of that
// evidence. Words are whole, in lower case; there are no stop words, stems or numbers.
type overlap struct{}

// Info implements [judge.Judge].
func (overlap) Info() judge.Info {
	return judge.Info{Kind: "overlap", Model: "overlap-1", Baseline: true}
}

// Judge implements [judge.Judge]. Elsewhere it does not look.
func (overlap) Judge(_ context.Context, r *judge.Request) (*judge.Verdict, error) {
	v := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(r.Claims))}
	for c := range r.Claims {
		out := &v.Claims[c]
		out.ElsewhereEvidence = -1
		cited := r.Cited(c, nil)
		var texts []string
		for _, e := range cited {
			texts = append(texts, r.Evidence[e].Text)
			support := overlapOf(r.Claims[c].Text, r.Evidence[e].Text)
			out.Checks = append(out.Checks, judge.Check{Evidence: e, Citation: r.Evidence[e].Citation, Support: support})
		}
		out.Joint = ibid.None.Support()
		if len(cited) > 0 {
			out.Joint, out.Votes = overlapOf(r.Claims[c].Text, strings.Join(texts, "\n")), 1
		}
	}
	return v, nil
}

func overlapOf(claim, evidence string) ibid.Support {
	runes := []rune(evidence)
	count := make(map[string]int)
	sentences := token.Sentences(evidence, nil)
	for _, s := range sentences {
		for word := range wordsOf(string(runes[s.Start:s.End])) {
			count[word]++
		}
	}
	present := wordsOf(evidence) // also of headings, which are no sentences
	had, all := 0.0, 0.0
	for word := range wordsOf(claim) {
		weight := math.Log(float64(1+len(sentences))/float64(1+count[word])) + 1
		all += weight
		if present[word] {
			had += weight
		}
	}
	if all == 0 {
		return ibid.Support{}
	}
	return ibid.Scored(min(had/all, 1))
}

func wordsOf(text string) map[string]bool {
	words := make(map[string]bool)
	runes, index := []rune(strings.ToLower(text)), token.Words(strings.ToLower(text))
	for i, start := range index.Starts {
		words[string(runes[start:index.Ends[i]])] = true
	}
	return words
}
