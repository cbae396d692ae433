package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"ibid/metrics/token"
)

// NoCitation is the citation of evidence that nothing cites.
const NoCitation = -1

// Limits of what a request shows of texts that nothing cites there.
const (
	passagesMost    = 12
	passageLeast    = 0.3  // of the weight of a claim's words
	passageSentence = 1000 // code points of a sentence: what is longer is a table, or no text
	passageBeside   = 300  // code points of a sentence that is shown beside it
)

// AddPassages adds to the evidence of r what a claim could have cited and did not: of each claim
// the two sentences of r.Sources that have most of its words, twelve in all, each with the
// sentences beside it. A word weighs ln((1+n)/(1+df)) + 1, where df of all n sentences have it, and
// words are compared by their first six letters. Sentences with cited words are left out, since
// they are shown, and so are those of more than 1,000 code points, and those that have less than
// .3 of a claim's weight.
func AddPassages(r *Request) {
	if len(r.Sources) == 0 {
		return
	}
	w := newWording()
	all := newSentenceIndex(w, r.Sources)
	best := make(map[int]float64) // of each sentence that is shown: the largest share
	for c := range r.Claims {
		statement := w.statement(r.Claims[c].Text)
		for _, f := range all.best(&statement) {
			best[f.sentence] = max(best[f.sentence], f.share)
		}
	}
	delete(best, -1)
	shown := slices.Collect(maps.Keys(best))
	slices.SortFunc(shown, func(a, b int) int { return cmp.Or(cmp.Compare(best[b], best[a]), a-b) })
	shown = shown[:min(len(shown), passagesMost)]
	slices.Sort(shown)
	for _, n := range shown {
		s, source := &all.sentences[n], &r.Sources[all.sentences[n].source]
		text, from, to := token.NewText(source.Text), s.at.Start, s.at.End
		if n > 0 && all.beside(n-1, s.source) {
			from = all.sentences[n-1].at.Start
		}
		if n+1 < len(all.sentences) && all.beside(n+1, s.source) {
			to = all.sentences[n+1].at.End
		}
		r.Evidence = append(r.Evidence, Evidence{
			Citation: NoCitation, Text: text.Slice(int(s.at.Start), int(s.at.End)), Doc: source.Doc,
			Before: text.Slice(int(from), int(s.at.Start)), After: text.Slice(int(s.at.End), int(to)),
			At: Place{Doc: source.Doc, Page: source.Page, Start: s.at.Start, End: s.at.End},
		})
	}
}

// A sentenceIndex has the words of the sentences of sources.
type sentenceIndex struct {
	ids       map[string]int // of words, by how they begin
	df        []float64      // by id: how many sentences have it
	sentences []indexedSentence
	weights   []float64 // by id, of the claim that is looked for
}

// An indexedSentence is a sentence of a source.
type indexedSentence struct {
	source int
	at     Interval
	words  []int // ids, each once
	usable bool  // it may be shown
}

func newSentenceIndex(w *wording, sources []Source) *sentenceIndex {
	x := &sentenceIndex{ids: make(map[string]int)}
	var last []int // by id: the last sentence that has it, from 1
	for i := range sources {
		t := w.words(sources[i].Text)
		for k := range t.sentences {
			from := &t.sentences[k]
			s := indexedSentence{source: i, at: from.at}
			s.usable = s.at.End-s.at.Start <= passageSentence &&
				!slices.ContainsFunc(sources[i].Cited, func(c Interval) bool { return c.Start < s.at.End && s.at.Start < c.End })
			for _, at := range t.content[from.content[0]:from.content[1]] {
				name := t.words[at].beginning()
				id, known := x.ids[name]
				if !known {
					id = len(x.ids)
					x.ids[name], x.df, last = id, append(x.df, 0), append(last, 0)
				}
				if n := len(x.sentences) + 1; last[id] != n {
					last[id], s.words = n, append(s.words, id)
					x.df[id]++
				}
			}
			x.sentences = append(x.sentences, s)
		}
	}
	x.weights = make([]float64, len(x.df))
	return x
}

// beside reports whether a sentence is one of the source, and short enough to be shown beside
// another.
func (x *sentenceIndex) beside(n, source int) bool {
	s := &x.sentences[n]
	return s.source == source && s.at.End-s.at.Start <= passageBeside
}

// A foundSentence is a sentence, -1 for none, and how much of a claim's weight it has.
type foundSentence struct {
	sentence int
	share    float64
}

// best are the two sentences that have most of a claim's words.
func (x *sentenceIndex) best(s *statement) [2]foundSentence {
	n, whole := float64(len(x.sentences)), 0.0
	clear(x.weights)
	seen := make(map[string]bool)
	for _, k := range s.content {
		name := s.words[k].beginning()
		if seen[name] {
			continue
		}
		seen[name] = true
		weight := math.Log(1+n) + 1 // of a word that no sentence has
		if id, known := x.ids[name]; known {
			weight = math.Log((1+n)/(1+x.df[id])) + 1
			x.weights[id] = weight
		}
		whole += weight
	}
	out := [2]foundSentence{{sentence: -1}, {sentence: -1}}
	for i := range x.sentences {
		has := 0.0
		for _, id := range x.sentences[i].words {
			has += x.weights[id]
		}
		found := foundSentence{i, has / whole} // NaN of a claim without words, which no sentence has
		switch {
		case !x.sentences[i].usable || !(found.share >= passageLeast):
		case found.share > out[0].share:
			out[0], out[1] = found, out[0]
		case found.share > out[1].share:
			out[1] = found
		}
	}
	return out
}
