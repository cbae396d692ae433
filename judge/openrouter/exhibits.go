package openrouter

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"ibid/judge"
	"ibid/judge/prompts"
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
	all := x.texts()
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

// texts are all that is printed.
func (x *exhibits) texts() []string {
	out := []string{x.request.Question, x.request.Answer}
	for i := range x.request.Claims {
		out = append(out, x.request.Claims[i].Text)
	}
	for i := range x.passages {
		p := &x.passages[i]
		out = append(out, p.Title, p.Before, p.Text, p.After)
	}
	return out
}

// prompt appends the message of the user for one vote. Votes differ in the
// order of claims and passages, which is drawn from the material.
func (x *exhibits) prompt(b []byte, set *prompts.Set, vote int, necessity bool) []byte {
	return set.Fill(b, prompts.MatrixUser, func(b []byte, field string) []byte {
		switch field {
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

func (x *exhibits) print(b []byte, vote int) []byte {
	order := newShuffle(x.digest, vote)
	b = x.tag(b, "question")
	b = append(b, x.request.Question...)
	b = x.close(b, "question")
	b = append(b, '\n')
	b = x.answer(b)
	if len(x.listed) > 0 {
		b = x.tag(b, "claims")
		for _, i := range order.permute(len(x.listed)) {
			c := x.listed[i]
			b = append(x.claim(b, c, x.request.Claims[c].Text), '\n')
		}
		b = x.endTag(b, "claims")
		b = append(b, '\n')
	}
	b = x.tag(b, "evidence")
	for _, e := range order.permute(len(x.passages)) {
		b = append(append(append(b, "<passage-"...), x.code[:]...), ` id="e`...)
		b = strconv.AppendInt(b, int64(e+1), 10)
		b = append(b, "\">\n"...)
		b = x.passage(b, &x.passages[e])
		b = x.close(b, "passage")
	}
	b = x.endTag(b, "evidence")
	b = x.notes(b)
	return bytes.TrimSuffix(b, []byte("\n"))
}

// answer prints the whole answer, with claims marked where they stand.
func (x *exhibits) answer(b []byte) []byte {
	if x.request.Answer == "" {
		return b
	}
	b = x.tag(b, "answer")
	at := 0
	for _, m := range x.marked {
		b = append(b, x.request.Answer[at:m.start]...)
		b = x.claim(b, m.claim, x.request.Answer[m.start:m.end])
		at = m.end
	}
	b = append(b, x.request.Answer[at:]...)
	b = x.close(b, "answer")
	return append(b, '\n')
}

// claim prints claim c with the ids of the evidence that it cites.
func (x *exhibits) claim(b []byte, c int, text string) []byte {
	b = append(append(append(b, "<claim-"...), x.code[:]...), ` id="c`...)
	b = append(strconv.AppendInt(b, int64(c+1), 10), `" citations="`...)
	b = x.roster.AppendCited(b, c)
	b = append(append(b, "\">"...), text...)
	return bytes.TrimSuffix(x.endTag(b, "claim"), []byte("\n"))
}

// passage prints the cited words, marked, in what stands around them.
func (x *exhibits) passage(b []byte, p *judge.Evidence) []byte {
	if p.Title != "" {
		b = append(x.tag(b, "title"), p.Title...)
		b = x.close(b, "title")
	}
	b = append(b, p.Before...)
	b = append(bytes.TrimSuffix(x.tag(b, "cited"), []byte("\n")), p.Text...)
	b = bytes.TrimSuffix(x.endTag(b, "cited"), []byte("\n"))
	return append(b, p.After...)
}

// notes names what to look at twice: numbers and names of a claim that stand in
// none of its passages.
func (x *exhibits) notes(b []byte) []byte {
	begun := false
	var cited []string
	var evidence []int
	for c := range x.request.Claims {
		claim := &x.request.Claims[c]
		evidence = x.request.Cited(c, evidence[:0])
		if len(evidence) == 0 {
			continue
		}
		cited = cited[:0]
		for _, e := range evidence {
			p := &x.request.Evidence[e]
			cited = append(cited, p.Text, p.Before, p.After, p.Title)
		}
		missing := judge.Differences(claim.Text, cited)
		if len(missing) == 0 {
			continue
		}
		if !begun {
			b = append(b, '\n')
			b = x.tag(b, "notes")
			begun = true
		}
		b = append(b, x.roster.ClaimID(c)...)
		b = append(b, " has, and none of its passages in these words: "...)
		b = append(b, strings.Join(missing[:min(len(missing), maxNotes)], ", ")...)
		b = append(b, '\n')
	}
	if begun {
		b = x.endTag(b, "notes")
	}
	return b
}

// maxNotes is how many words are noted for a claim.
const maxNotes = 8

func (f *fence) close(b []byte, name string) []byte {
	return f.endTag(append(b, '\n'), name)
}

func (f *fence) tag(b []byte, name string) []byte {
	b = append(append(append(append(b, '<'), name...), '-'), f.code[:]...)
	return append(b, ">\n"...)
}

func (f *fence) endTag(b []byte, name string) []byte {
	b = append(append(append(append(b, "</"...), name...), '-'), f.code[:]...)
	return append(b, ">\n"...)
}

// A shuffle draws orders from a digest: a stream of SplitMix64, so that they
// are the same in every version and on every machine.
type shuffle struct{ state uint64 }

func newShuffle(digest [32]byte, vote int) *shuffle {
	return &shuffle{binary.BigEndian.Uint64(digest[8:]) + uint64(vote)*0x9e3779b97f4a7c15}
}

func (s *shuffle) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// permute returns the numbers below n in an order of its own (Fisher and
// Yates; the bias of the remainder is of no consequence here).
func (s *shuffle) permute(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		k := int(s.next() % uint64(i+1))
		order[i], order[k] = order[k], order[i]
	}
	return order
}
