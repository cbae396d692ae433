package openrouter

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"ibid"
	"ibid/judge"
	"ibid/metrics/token"
)

// A markedClaim is a claim that is marked where it stands in the answer, in code points.
type markedClaim struct {
	claim      int
	start, end int64
}

// placeClaims returns the claims that can be marked in the answer, in its order, and
// the others in theirs: those without an extent in it, those that overlap another, and
// those whose words do not stand there.
func placeClaims(r *judge.Request) (marked []markedClaim, listed []int) {
	answer := []rune(r.Answer)
	for c := range r.Claims {
		at := r.Claims[c].Extent
		if start, end := at.Start.Value, at.End.Value; at.Known() && 0 <= start && start < end && end <= int64(len(answer)) {
			marked = append(marked, markedClaim{c, start, end})
		} else {
			listed = append(listed, c)
		}
	}
	slices.SortStableFunc(marked, func(a, b markedClaim) int { return cmp.Compare(a.start, b.start) })
	alone := marked[:0:0]
	before := int64(0) // where the last of those before ends
	for i, m := range marked {
		overlaps := m.start < before || i+1 < len(marked) && marked[i+1].start < m.end
		if before = max(before, m.end); !overlaps && hasWords(string(answer[m.start:m.end]), r.Claims[m.claim].Text) {
			alone = append(alone, m)
		} else {
			listed = append(listed, m.claim)
		}
	}
	slices.Sort(listed)
	return alone, listed
}

// hasWords reports whether text has the words of claim in their order; others, such as
// marks, may stand between them.
func hasWords(text, claim string) bool {
	words := wordsOf(claim)
	for _, w := range wordsOf(text) {
		if len(words) > 0 && w == words[0] {
			words = words[1:]
		}
	}
	return len(words) == 0
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// sentencesAround is how many sentences stay on either side of a claim where the
// answer is too long to be shown whole.
const sentencesAround = 2

// leftOut stands for what was left out of an answer.
const leftOut = "\n[…]\n"

// cutAnswer leaves of the answer the sentences of the claims and those around them, and
// moves the extents of the claims with them.
func cutAnswer(answer string, claims []ibid.Claim) (string, []ibid.Claim) {
	runes := []rune(answer)
	sentences := token.Sentences(answer, nil)
	keep := make([]bool, len(sentences))
	for i := range claims {
		at := claims[i].Extent
		if !at.Known() {
			continue
		}
		for s, b := range sentences {
			if int64(b.Start) < at.End.Value && at.Start.Value < int64(b.End) {
				for k := max(s-sentencesAround, 0); k <= min(s+sentencesAround, len(sentences)-1); k++ {
					keep[k] = true
				}
			}
		}
	}
	out := slices.Clone(claims)
	for i := range out {
		out[i].Extent = ibid.Interval{}
	}
	var kept []rune
	for first := 0; first < len(sentences); first++ {
		if !keep[first] {
			continue
		}
		last := first
		for last+1 < len(sentences) && keep[last+1] {
			last++
		}
		from, to := int64(sentences[first].Start), int64(sentences[last].End)
		if from > 0 {
			kept = append(kept, []rune(leftOut)...)
		}
		for i := range claims {
			if at := claims[i].Extent; at.Known() && from <= at.Start.Value && at.End.Value <= to {
				moved := int64(len(kept)) - from
				out[i].Extent = ibid.Between(at.Start.Value+moved, at.End.Value+moved)
			}
		}
		kept = append(kept, runes[from:to]...)
		first = last
	}
	if len(sentences) > 0 && !keep[len(sentences)-1] {
		kept = append(kept, []rune(leftOut)...)
	}
	return string(kept), out
}
