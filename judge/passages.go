package judge

import (
	"cmp"
	"math"
	"slices"

	"ibid/metrics/token"
)

// NoCitation is the citation of evidence that nothing cites.
const NoCitation = -1

// Limits of what a request shows of texts that nothing cites there.
const (
	passagesOfClaim = 2
	passagesMost    = 12
	passageLeast    = 0.3 // of the weight of the claim's words
)

// AddPassages adds to the evidence of r what a claim could have cited and did not: of each claim
// the two sentences of r.Sources that have most of its words, twelve in all, each with the
// sentences beside it. A word weighs ln((1+n)/(1+df)) + 1, where df of all n sentences have it, and
// words are compared by their first six letters. Sentences with cited words are left out, since
// they are shown, and those that have less than .3 of a claim's weight.
func AddPassages(r *Request) {
	if len(r.Sources) == 0 {
		return
	}
	w := newWording()
	texts := make([]wordedText, len(r.Sources))
	df, sentences := make(map[string]float64), 0.0
	for i := range r.Sources {
		texts[i] = w.words(r.Sources[i].Text)
		for k := range texts[i].sentences {
			sentences++
			for name := range texts[i].namesOf(&texts[i].sentences[k]) {
				df[name]++
			}
		}
	}
	type found struct {
		source, sentence int
		share            float64
	}
	best := make(map[[2]int]float64) // of each sentence that is shown: the largest share
	for c := range r.Claims {
		s := w.statement(r.Claims[c].Text)
		all, weights := 0.0, make(map[string]float64)
		for _, k := range s.content {
			name := s.words[k].beginning()
			if weights[name] == 0 {
				weights[name] = math.Log((1+sentences)/(1+df[name])) + 1
				all += weights[name]
			}
		}
		var of []found
		for i := range texts {
			for k := range texts[i].sentences {
				at := &texts[i].sentences[k]
				has := 0.0
				for name := range texts[i].namesOf(at) {
					has += weights[name]
				}
				if all == 0 || has < passageLeast*all || citedIn(&r.Sources[i], at.at) {
					continue
				}
				of = append(of, found{i, k, has / all})
			}
		}
		slices.SortStableFunc(of, func(a, b found) int { return cmp.Compare(b.share, a.share) })
		for _, f := range of[:min(len(of), passagesOfClaim)] {
			key := [2]int{f.source, f.sentence}
			best[key] = max(best[key], f.share)
		}
	}
	shown := make([][2]int, 0, len(best))
	for at := range best {
		shown = append(shown, at)
	}
	inOrder := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
	slices.SortFunc(shown, func(a, b [2]int) int { return cmp.Or(cmp.Compare(best[b], best[a]), inOrder(a, b)) })
	shown = shown[:min(len(shown), passagesMost)]
	slices.SortFunc(shown, inOrder)
	for _, at := range shown {
		source, all := &r.Sources[at[0]], texts[at[0]].sentences
		text, here := token.NewText(source.Text), all[at[1]].at
		from, to := here.Start, here.End
		if at[1] > 0 {
			from = all[at[1]-1].at.Start
		}
		if at[1]+1 < len(all) {
			to = all[at[1]+1].at.End
		}
		r.Evidence = append(r.Evidence, Evidence{
			Citation: NoCitation, Text: text.Slice(int(here.Start), int(here.End)), Doc: source.Doc,
			Before: text.Slice(int(from), int(here.Start)), After: text.Slice(int(here.End), int(to)),
			At: Place{Doc: source.Doc, Page: source.Page, Start: here.Start, End: here.End},
		})
	}
}

// namesOf are the beginnings of the content words of a sentence, each once.
func (t *wordedText) namesOf(s *wordedSentence) map[string]bool {
	names := make(map[string]bool)
	for _, k := range t.content[s.content[0]:s.content[1]] {
		names[t.words[k].beginning()] = true
	}
	return names
}

// citedIn reports whether citations point at a part of a source.
func citedIn(s *Source, at Interval) bool {
	return slices.ContainsFunc(s.Cited, func(c Interval) bool { return c.Start < at.End && at.Start < c.End })
}
