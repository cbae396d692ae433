package claims

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

// A sentence is a stretch of a unit.
type sentence struct {
	extent            // marks that follow it belong to it
	unit   int        // index in answer.units
	kind   claimsKind // what it claims
	cited  bool       // a mark or a cited segment is in it
}

// A claimsKind says whether a sentence claims anything.
type claimsKind uint8

const (
	claiming   claimsKind = iota
	asking                // a question, or no word: never a claim
	leading               // a lead-in
	abstaining            // abstains: a claim only if it is cited
	phrased               // begins with a phrase of those that claim nothing: a claim only if it is cited
)

func (s *sentence) claims() bool {
	return s.kind == claiming || (s.kind == phrased || s.kind == abstaining) && s.cited
}

// findSentences cuts the units into sentences. borders are where segments of the
// provider begin and end, ascending: a sentence that ends there without a space does
// so at the border of a content block.
func (c *Cutter) findSentences(borders []int) {
	a := &c.answer
	c.sentences = c.sentences[:0]
	for i := range a.units {
		u := &a.units[i]
		from := len(c.sentences)
		switch {
		case u.row != nil:
			c.add(u.extent, i)
		case u.block < 0 && u.key != "":
			c.split(u.value, i, borders)
			if len(c.sentences) <= from+1 { // "key: value"
				c.sentences = c.sentences[:from]
				c.add(u.extent, i)
			} else {
				u.key = ""
			}
		default:
			c.split(u.extent, i, borders)
		}
		if n := len(c.sentences); n > from && u.leadIn != noLead {
			c.lead(&c.sentences[n-1])
		}
	}
}

// lead makes a sentence the lead-in of what follows its unit.
func (c *Cutter) lead(s *sentence) {
	a := &c.answer
	s.kind = leading
	in := introduction{extent: s.extent, from: s.unit + 1, to: s.unit + 1}
	if a.units[s.unit].leadIn == leadToText {
		in.from, in.to = a.led(s.unit)
	}
	said := a.render(s.extent)
	for u := in.from; u < in.to; u++ {
		if l := &a.units[u].lead; *l == "" {
			*l = said
		} else {
			*l += " " + said
		}
	}
	a.introductions = append(a.introductions, in)
}

// split adds the sentences of e.
func (c *Cutter) split(e extent, unit int, borders []int) {
	a := &c.answer
	at := a.points(e)
	c.masks = c.masks[:0]
	for _, set := range [][]extent{a.marks, a.gaps} {
		for _, m := range meetingAll(set, e) {
			p := a.points(m.and(e))
			c.masks = append(c.masks, token.Bounds{Start: p.Start - at.Start, End: p.End - at.Start})
		}
	}
	slices.SortFunc(c.masks, func(x, y token.Bounds) int { return cmp.Compare(x.Start, y.Start) })
	c.bounds = c.splitter.Append(c.bounds[:0], a.s[e.start:e.end], c.masks)
	for _, b := range c.bounds {
		s := a.bytes(int(b.Start+at.Start), int(b.End+at.Start))
		for {
			end := c.glued(s, borders)
			if end < 0 {
				break
			}
			c.add(extent{s.start, end}, unit)
			s.start = end
		}
		c.add(s, unit)
	}
}

// glued returns where a sentence ends within s without a space behind it: at a
// border, or where a capitalised word follows a small one; or before a mark that the next one
// begins with. It is -1 if none does.
func (c *Cutter) glued(s extent, borders []int) int {
	a := &c.answer
	for i := s.start + 1; i < s.end-1; i++ {
		if b := a.plain[i]; b != '.' && b != '!' && b != '?' {
			continue
		}
		if end := a.beforeSubject(s, i); end > 0 {
			return end
		}
		next, _ := utf8.DecodeRune(a.plain[i+1 : s.end])
		before, _ := utf8.DecodeLastRune(a.plain[s.start:i])
		if !unicode.IsUpper(next) || !unicode.IsLower(before) && !unicode.IsDigit(before) && before != ')' {
			continue
		}
		if _, atBorder := slices.BinarySearch(borders, i+1); atBorder || unicode.IsLower(before) && a.isGlued(s, i) {
			return i + 1
		}
	}
	return -1
}

// markVerbs are what a mark does that is the subject of its sentence: [2] says that it is so.
var markVerbs = wordSet(listText("mark_verbs"))

// beforeSubject returns the end of a sentence whose full stop is at stop if a mark follows
// that is the subject of the next sentence, else 0.
func (a *answer) beforeSubject(s extent, stop int) int {
	s = s.and(extent{stop - gluedReach, stop + 4*gluedReach})
	left := strings.TrimRight(string(a.plain[s.start:stop]), " \"”’»")
	word := left[strings.LastIndexFunc(left, func(r rune) bool { return !isWordRune(r) })+1:]
	space := strings.IndexByte(a.s[stop:s.end], ' ')
	if space < 0 || len(word) < 3 || markWords[folded(word)] { // et al. [2] shows; Ref. [2] shows
		return 0
	}
	rest := strings.TrimLeft(string(a.plain[stop+space:s.end]), " ,")
	verb, _, _ := strings.Cut(rest, " ")
	if !markVerbs[verb] || !meeting(a.marks, extent{stop + space, s.end - len(rest)}) {
		return 0
	}
	return stop + space
}

// gluedReach is how far, in bytes, the words beside a full stop are looked at.
const gluedReach = 64

// isGlued reports whether two sentences meet at a full stop without a space: a small
// word before it, and behind it a capitalised one that is no part of a name.
func (a *answer) isGlued(s extent, stop int) bool {
	s = s.and(extent{stop - gluedReach, stop + gluedReach})
	left := string(a.plain[s.start:stop])
	word := left[strings.LastIndexFunc(left, func(r rune) bool { return !isWordRune(r) })+1:]
	whole := left[strings.LastIndexFunc(left, unicode.IsSpace)+1:]
	right := string(a.plain[stop+1 : s.end])
	if i := strings.IndexFunc(right, unicode.IsSpace); i >= 0 {
		right = right[:i]
	} else {
		return false
	}
	rest := right[min(len(right), 1):]
	return len(word) >= 3 && strings.ToLower(word) == word && !strings.ContainsAny(whole, "/@._=&(") && strings.ToLower(rest) == rest && !strings.ContainsAny(strings.TrimRight(rest, ",'’"), "./@_=&()")
}

// add adds a sentence.
func (c *Cutter) add(e extent, unit int) {
	a := &c.answer
	if e = a.trimmed(e); e.empty() {
		return
	}
	u := &a.units[unit]
	s := sentence{extent: e, unit: unit, cited: meeting(a.marks, e)}
	text := strings.TrimRightFunc(a.without(e), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_~)]", r) })
	last, _ := lastRune(text)
	switch prose := u.key == "" && u.row == nil; {
	case !a.hasWord(e), prose && strings.ContainsRune("?？؟", last):
		s.kind = asking
	case s.cited || !prose: // claims
	case c.abstention().abstains(text, c.noClaim):
		s.kind = abstaining
	case c.noClaim.begins(text):
		s.kind = phrased
	}
	c.sentences = append(c.sentences, s)
}
