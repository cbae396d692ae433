package openrouter

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ibid"
	"ibid/judge"
	"ibid/judge/prompts"
	"ibid/metrics/token"
)

// codeLength is how many hexadecimal digits the code of a review has.
const codeLength = 8

// An exhibits is the material of one request, ready to be printed.
type exhibits struct {
	request  *judge.Request
	roster   *judge.Roster
	passages []judge.Evidence // distinct evidence: e1, e2, ...
	marked   []markedClaim    // in the answer
	listed   []int            // claims after it
	digest   [32]byte         // of all that is printed
	fence
}

// A fence writes tags that carry a code which the material does not have.
type fence struct{ code [codeLength]byte }

// newExhibits finds the code that fences the material: the beginning of the
// digest of all of it, digested again until it occurs nowhere in it. So no
// text can close its own fence, equal material has equal fences, and nothing
// has to be drawn at random, which no cache would survive.
func newExhibits(r *judge.Request) *exhibits {
	x := &exhibits{request: r, roster: judge.NewRoster(r)}
	x.passages = x.roster.Passages()
	x.marked, x.listed = placeClaims(r)
	h := sha256.New()
	all := []string{r.Question, r.Answer} // that is printed
	for i := range r.Claims {
		all = append(all, r.Claims[i].Text)
	}
	for i := range x.passages {
		p := &x.passages[i]
		all = append(all, p.Title, p.Before, p.Text, p.After)
	}
	for _, text := range all {
		h.Write(append(binary.BigEndian.AppendUint64(nil, uint64(len(text))), text...))
	}
	h.Sum(x.digest[:0])
	x.code = codeOf(x.digest, all)
	return x
}

// codeOf is the beginning of a digest, or of its digest, and so on, that stands in none of
// the texts.
func codeOf(digest [32]byte, texts []string) (code [codeLength]byte) {
	for {
		hex.Encode(code[:], digest[:codeLength/2])
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, string(code[:])) }) {
			return code
		}
		digest = sha256.Sum256(digest[:])
	}
}

// prompt appends the message of the user for one vote. The first has claims and passages in their
// order, those of others are drawn from the material.
func (x *exhibits) prompt(b []byte, set *prompts.Set, vote int, necessity bool) []byte {
	return set.Fill(b, prompts.MatrixUser, func(b []byte, field string) []byte {
		switch field {
		case "check":
			return append(b, x.checkWord()...)
		case "code":
			return append(b, x.code[:]...)
		case "exhibits":
			return x.print(b, vote)
		case "claims":
			return strconv.AppendInt(b, int64(len(x.request.Claims)), 10)
		case "necessity":
			if necessity {
				return append(append(b, ' '), set.Text(prompts.Necessity)...)
			}
		}
		return b
	})
}

// checkWord is a word of four letters, drawn from the material, that stands in the first line of
// a prompt. A reply repeats it; one to a prompt of which the server has cut off the beginning
// cannot.
func (x *exhibits) checkWord() string {
	word := make([]byte, 4)
	for i := range word {
		word[i] = 'A' + x.digest[16+i]%26
	}
	return string(word)
}

func (x *exhibits) print(b []byte, vote int) []byte {
	order := &shuffle{binary.BigEndian.Uint64(x.digest[8:]) + uint64(vote)*splitMix, vote == 0}
	b = x.close(append(x.tag(b, "question"), x.request.Question...), "question")
	b = x.answer(append(b, '\n'))
	if len(x.listed) > 0 {
		b = x.tag(b, "claims")
		for _, i := range order.permute(len(x.listed)) {
			c := x.listed[i]
			b = append(x.claim(b, c, x.request.Claims[c].Text), '\n')
		}
		b = append(x.endTag(b, "claims"), "\n\n"...)
	}
	b = x.tag(b, "evidence")
	for _, e := range order.permute(len(x.passages)) {
		cut := ""
		if x.passages[e].Cut {
			cut = ` cut="yes"`
		}
		b = fmt.Appendf(b, "<passage-%s id=\"e%d\"%s>\n", x.code, e+1, cut)
		b = x.close(x.passage(b, &x.passages[e]), "passage")
	}
	b = x.notes(append(x.endTag(b, "evidence"), '\n'))
	return bytes.TrimSuffix(b, []byte("\n"))
}

// answer prints the whole answer, with claims marked where they stand.
func (x *exhibits) answer(b []byte) []byte {
	if x.request.Answer == "" {
		return b
	}
	b = x.tag(b, "answer")
	text, at := []rune(x.request.Answer), int64(0)
	for _, m := range x.marked {
		b = append(b, string(text[at:m.start])...)
		b = x.claim(b, m.claim, string(text[m.start:m.end]))
		at = m.end
	}
	return append(x.close(append(b, string(text[at:])...), "answer"), '\n')
}

// claim prints claim c with the ids of the evidence that it cites.
func (x *exhibits) claim(b []byte, c int, text string) []byte {
	cites := "nothing"
	if ids := x.roster.Cited(c); len(ids) > 0 {
		cites = strings.Join(ids, " ")
	}
	return x.endTag(fmt.Appendf(b, "<claim-%s id=\"c%d\" cites=\"%s\">%s", x.code, c+1, cites, text), "claim")
}

// passage prints the cited words, marked, in what stands around them.
func (x *exhibits) passage(b []byte, p *judge.Evidence) []byte {
	if p.Title != "" {
		b = x.close(append(x.tag(b, "title"), p.Title...), "title")
	}
	b = fmt.Appendf(b, "%s<cited-%s>%s", p.Before, x.code, p.Text)
	return append(x.endTag(b, "cited"), p.After...)
}

// notes names what to look at twice: numbers and names of a claim that stand in
// none of its passages.
func (x *exhibits) notes(b []byte) []byte {
	var lines []byte
	for c := range x.request.Claims {
		var cited []string
		for _, e := range x.request.Cited(c, nil) {
			p := &x.request.Evidence[e]
			cited = append(cited, p.Text, p.Before, p.After, p.Title)
		}
		if cited == nil {
			continue
		}
		missing := judge.Differences(x.request.Claims[c].Text, cited)
		if len(missing) == 0 {
			continue
		}
		lines = fmt.Appendf(lines, "%s has, and none of its passages in these words: %s\n", x.roster.ClaimID(c), strings.Join(missing[:min(len(missing), maxNotes)], ", "))
	}
	if lines == nil {
		return b
	}
	b = append(x.tag(append(b, '\n'), "notes"), lines...)
	return append(x.endTag(b, "notes"), '\n')
}

// maxNotes is how many words are noted for a claim.
const maxNotes = 8

// close ends what stands on lines of its own.
func (f *fence) close(b []byte, name string) []byte {
	return append(f.endTag(append(b, '\n'), name), '\n')
}

func (f *fence) tag(b []byte, name string) []byte { return fmt.Appendf(b, "<%s-%s>\n", name, f.code) }

func (f *fence) endTag(b []byte, name string) []byte { return fmt.Appendf(b, "</%s-%s>", name, f.code) }

// A shuffle draws orders from a digest: a stream of SplitMix64, so that they
// are the same in every version and on every machine.
type shuffle struct {
	state   uint64
	inOrder bool
}

const splitMix = 0x9e3779b97f4a7c15

func (s *shuffle) next() uint64 {
	s.state += splitMix
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// permute returns the numbers below n in an order of its own (Fisher and
// Yates; the bias of the remainder is of no consequence here).
func (s *shuffle) permute(n int) []int {
	order := allOf(n)
	for i := n - 1; i > 0 && !s.inOrder; i-- {
		k := int(s.next() % uint64(i+1))
		order[i], order[k] = order[k], order[i]
	}
	return order
}

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
