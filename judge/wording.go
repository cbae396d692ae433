package judge

import (
	"context"
	_ "embed"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// Lexical compares wording, offline. It says that a claim is supported where the claim
// stands in its evidence in nearly the same words, and else that it cannot tell: a claim
// that is worded otherwise may be supported all the same.
//
// A claim stands in a sentence that holds cited words (a claim of two sentences in two
// neighbouring ones) if all of its content words, of which it has two at least, stand there
// in its order, and
//
//   - of other content words at most half as many as the claim has lie between;
//   - no turning word (not, may, most, former …) that the claim does not have lies between,
//     or among the four words before or behind in the sentences;
//   - the words before its words that say how these belong to others (of, to, for, from, by …), and 's
//     behind them, are the same;
//   - no word that changes its neighbour (over, second, million, said …) lies between or directly
//     beside that the claim does not have;
//   - no refuting word (false, myth …) is among the four words before or behind in the text;
//   - he and she do not clash, and I, we and you of the claim stand there, too;
//   - neither the claim nor the sentence is a question.
//
// Words are equal if they are so in lower case without an ending s, es, d, ed or ing.
// Numbers are compared by value, with sign, unit and currency; scripts without spaces letter
// by letter. These lists are of English: in other languages a claim stands only where it is
// a whole sentence of the evidence, word for word.
//
// Of 793 claims of ExpertQA it calls 4 supported, 2 of them rightly; of 100 of WiCE none.
type Lexical struct{ pool sync.Pool } // of *wording

// lexicalVersion changes whenever a verdict may.
const lexicalVersion = "lexical-7"

// NewLexical returns the offline judge.
func NewLexical() *Lexical { return new(Lexical) }

// Info says that this is a baseline.
func (l *Lexical) Info() Info { return Info{Kind: "lexical", Model: lexicalVersion, Baseline: true} }

// Judge looks for the claims of r in its evidence and sources. It fails only when ctx ends.
func (l *Lexical) Judge(ctx context.Context, r *Request) (*Verdict, error) {
	w, ok := l.pool.Get().(*wording)
	if !ok {
		w = newWording()
	}
	defer l.pool.Put(w)
	w.read(r)
	v := &Verdict{Claims: make([]ClaimVerdict, len(r.Claims))}
	for c := range r.Claims {
		if ctx.Err() != nil {
			break
		}
		w.judge(r, c, &v.Claims[c])
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return v, nil
}

// Factual says of each claim of r whether it can be checked: a question and a claim without
// a content word cannot.
func Factual(r *Request) []ibid.Tri {
	w, out := new(wording), make([]ibid.Tri, len(r.Claims))
	for c := range r.Claims {
		s := w.statement(r.Claims[c].Text)
		out[c] = ibid.TriOf(len(s.content) > 0 && !s.question)
	}
	return out
}

// Why a claim is supported, or cannot be decided.
const (
	whyWords = "found word for word"
	whyNone  = "wording cannot tell"
)

// wording is the work on one request.
type wording struct {
	splitter token.Splitter
	bounds   []token.Bounds
	texts    []wordedText // of the evidence, then of the sources

	terms  []term         // of a claim, each once
	termOf map[string]int // their places, by how they begin
}

func newWording() *wording { return &wording{termOf: make(map[string]int)} }

// A wordedText is a text in words and sentences.
type wordedText struct {
	text      string
	words     []word
	content   []int // words that are no fill words
	sentences []wordedSentence
	before    int32 // code points before the cited words of evidence
}

// A wordedSentence is a sentence of a text.
type wordedSentence struct {
	words, content [2]int // half-open, of the lists of its text
	at             Interval
	question       bool
	english        bool
	cited          bool // of evidence: it holds cited words
}

// A statement is a claim in words.
type statement struct {
	wordedText
	question, english bool
	he, she           bool
	persons           []string
}

func (w *wording) read(r *Request) {
	w.texts = w.texts[:0]
	for i := range r.Evidence {
		e := &r.Evidence[i]
		t := w.words(e.Before + e.Text + e.After)
		t.before = int32(utf8.RuneCountInString(e.Before))
		end := t.before + int32(utf8.RuneCountInString(e.Text))
		for k := range t.sentences {
			s := &t.sentences[k]
			s.cited = s.at.Start < end && t.before < s.at.End
		}
		w.texts = append(w.texts, t)
	}
	for i := range r.Sources {
		w.texts = append(w.texts, w.words(r.Sources[i].Text))
	}
}

// words divides a text into sentences and words.
func (w *wording) words(text string) (t wordedText) {
	t.text = text
	w.bounds = w.splitter.Append(w.bounds[:0], text, nil)
	at, cp := 0, int32(0)
	to := func(end int32) int {
		for ; cp < end && at < len(text); cp++ {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		return at
	}
	for _, b := range w.bounds {
		from := to(b.Start)
		s := wordedSentence{at: Interval{Start: b.Start, End: b.End}}
		s.words[0], s.content[0] = len(t.words), len(t.content)
		piece := text[from:to(b.End)]
		t.words = appendWords(t.words, piece)
		for k := s.words[0]; k < len(t.words); k++ {
			if !t.words[k].is(fillWord) {
				t.content = append(t.content, k)
			}
		}
		s.words[1], s.content[1] = len(t.words), len(t.content)
		s.question, s.english = isQuestion(piece), isEnglish(piece, t.words[s.words[0]:])
		t.sentences = append(t.sentences, s)
	}
	return t
}

var (
	listNumber = regexp.MustCompile(`^\s*\d{1,2}[.)]\s+|\s*\n\s*\d{1,2}[.)]?\s*$`)
	frame      = regexp.MustCompile(`(?i)^\s*(?:according to|as per|based on|as (?:stated|described|noted|reported|shown|mentioned) (?:in|by))\b[^,.;:]{0,80},\s*` +
		`|^\s*(?:the|this)\s+(?:\w+\s+){0,2}(?:document|article|source|report|text|passage|page|study|paper)s?\s+(?:also\s+)?` + saying + `(?:that\s+)?` +
		`|^\s*(?:(?:document|doc|source|passage|context|chunk|snippet)\s+\d+\s+)?(?:also\s+)?` + saying + `that\s+`) // also behind a mark that is gone: [2] states that
)

const saying = `(?:says?|states?|notes?|reports?|mentions?|explains?|shows?|describes?|indicates?)\s+`

// statement reads a claim, without its number in a list and one frame such as "According to
// the report,".
func (w *wording) statement(text string) (s statement) {
	text = listNumber.ReplaceAllString(text, "")
	text = text[len(frame.FindString(text)):]
	s.wordedText = w.words(text)
	s.english = true
	for i := range s.sentences {
		s.question, s.english = s.question || s.sentences[i].question, s.english && s.sentences[i].english
	}
	for i := range s.words {
		x := &s.words[i]
		s.he, s.she = s.he || x.is(heWord), s.she || x.is(sheWord)
		if x.is(personWord) {
			s.persons = append(s.persons, x.text)
		}
	}
	return s
}

func (w *wording) judge(r *Request, c int, out *ClaimVerdict) {
	s := w.statement(r.Claims[c].Text)
	out.Factual, out.ElsewhereEvidence = ibid.TriOf(len(s.content) > 0 && !s.question), -1
	cited := r.Cited(c, nil)
	out.Joint = ibid.None.Support()
	why := undecidedWhy(r, c, cited)
	if len(cited) > 0 {
		out.Joint, out.JointWhy, out.Votes = ibid.Undecidable(), why, 1
		out.Overlap = w.overlap(&s, cited)
	}
	for i, e := range cited {
		check := Check{Evidence: e, Citation: r.Evidence[e].Citation, Support: ibid.Undecidable(), Why: why, Overlap: out.Overlap}
		if len(cited) > 1 {
			check.Overlap = w.overlap(&s, cited[i:i+1])
		}
		t := &w.texts[e]
		if at, ok := s.find(t, func(s *wordedSentence) bool { return s.cited }); ok {
			check.Support, check.Why = ibid.Full.Support(), whyWords
			length := int32(utf8.RuneCountInString(r.Evidence[e].Text))
			check.QuoteAt = Interval{Start: max(at.Start-t.before, 0), End: min(at.End-t.before, length)}
			check.Quote = token.NewText(r.Evidence[e].Text).Slice(int(check.QuoteAt.Start), int(check.QuoteAt.End))
			out.Joint, out.JointWhy = check.Support, whyWords
		}
		out.Checks = append(out.Checks, check)
	}
	w.elsewhere(r, &r.Claims[c], &s, cited, out)
}

// undecidedWhy is what the cited words lack, if it is a number or a name.
func undecidedWhy(r *Request, c int, cited []int) string {
	var texts []string
	for _, e := range cited {
		texts = append(texts, r.Evidence[e].Before+r.Evidence[e].Text+r.Evidence[e].After)
	}
	if lacks := Differences(r.Claims[c].Text, texts); len(lacks) > 0 {
		return lacks[0] + " is not in the cited sentence"
	}
	return whyNone
}

// elsewhere looks for the first sentence that the claim does not cite and in which it
// stands; where other texts are known and it stands in none, wording cannot tell.
func (w *wording) elsewhere(r *Request, claim *ibid.Claim, s *statement, cited []int, out *ClaimVerdict) {
	out.Elsewhere = ibid.None.Support()
	look := func(t *wordedText, usable func(*wordedSentence) bool) (at Interval, ok bool) {
		if slices.ContainsFunc(t.sentences, func(s wordedSentence) bool { return usable(&s) }) {
			out.Elsewhere = ibid.Undecidable()
		}
		if at, ok = s.find(t, usable); ok {
			out.Elsewhere = ibid.Full.Support()
		}
		return at, ok
	}
	for i := range r.Sources {
		source, t := &r.Sources[i], &w.texts[len(r.Evidence)+i]
		at, ok := look(t, func(s *wordedSentence) bool {
			return !slices.ContainsFunc(source.Cited, func(at Interval) bool {
				return at.Start < s.at.End && s.at.Start < at.End && slices.Contains(claim.Citations, int32(at.Citation))
			})
		})
		if ok {
			out.ElsewherePlace = &Place{Doc: source.Doc, Page: source.Page, Start: at.Start, End: at.End}
			out.ElsewhereQuote = token.NewText(source.Text).Slice(int(at.Start), int(at.End))
			return
		}
	}
	for e := range r.Evidence {
		// Another citation of the same text is no other evidence.
		if slices.ContainsFunc(cited, func(own int) bool { return r.Evidence[own].Text == r.Evidence[e].Text }) {
			continue
		}
		t := &w.texts[e]
		if at, ok := look(t, func(s *wordedSentence) bool { return s.cited }); ok {
			length := int32(utf8.RuneCountInString(r.Evidence[e].Text))
			at = Interval{Start: max(at.Start-t.before, 0), End: min(at.End-t.before, length)}
			out.ElsewhereEvidence, out.ElsewhereAt = e, at
			out.ElsewhereQuote = token.NewText(r.Evidence[e].Text).Slice(int(at.Start), int(at.End))
			return
		}
	}
}

// find returns the first sentence of a text in which the claim stands, among those that are
// usable; of a claim of two sentences the first two neighbours.
func (s *statement) find(t *wordedText, usable func(*wordedSentence) bool) (at Interval, ok bool) {
	if len(s.content) < 2 || s.question || len(s.sentences) > 2 {
		return at, false
	}
	n := len(s.sentences)
	for i := 0; i+n <= len(t.sentences); i++ {
		in := t.sentences[i : i+n]
		first, last := &in[0], &in[n-1]
		if !usable(first) || !usable(last) || first.question || last.question {
			continue
		}
		within := [2]int{first.words[0], last.words[1]}
		words := t.words[within[0]:within[1]]
		stands := slices.EqualFunc(s.words, words, func(a, b word) bool { return a.text == b.text }) && !t.refuted(within)
		if !stands && s.english && first.english && last.english {
			stands = s.agrees(words) && s.standsIn(t, within, t.content[first.content[0]:last.content[1]])
		}
		if stands {
			return Interval{Start: first.at.Start, End: last.at.End}, true
		}
	}
	return at, false
}

// agrees reports whether he and she do not clash, and I, we and you of the claim are there.
func (s *statement) agrees(words []word) bool {
	he, she := false, false
	for i := range words {
		he, she = he || words[i].is(heWord), she || words[i].is(sheWord)
	}
	if s.he && she && !he || s.she && he && !she {
		return false
	}
	return !slices.ContainsFunc(s.persons, func(p string) bool {
		return !slices.ContainsFunc(words, func(x word) bool { return x.text == p })
	})
}

// nearWords is how many words on either side of a place can turn or refute it.
const nearWords = 4

// standsIn reports whether the content words of the claim stand in order among those of
// sentences, whose words are the range within.
func (s *statement) standsIn(t *wordedText, within [2]int, content []int) bool {
	for from := range content {
		k, last := 0, 0
		var matched []int
		for i := from; i < len(content) && k < len(s.content); i++ {
			if t.words[content[i]].equal(&s.words[s.content[k]]) {
				matched, last = append(matched, content[i]), i
				k++
			} else if k == 0 {
				break // begins elsewhere
			}
		}
		between := last - from + 1 - len(s.content)
		if k < len(s.content) || between > len(s.content)/2 {
			continue
		}
		lo, hi := max(matched[0]-nearWords, within[0]), min(matched[len(matched)-1]+1+nearWords, within[1])
		turned := false
		for k, at := range matched {
			turned = turned || linkOf(t.words[within[0]:within[1]], at-within[0]) != linkOf(s.words, s.content[k])
		}
		for i := lo; i < hi && !turned; i++ {
			between := matched[0]-1 <= i && i <= matched[len(matched)-1]+1 && t.words[i].is(betweenWord)
			turned = (between || t.words[i].turns(i == within[0])) && !slices.Contains(matched, i)
		}
		if !turned && !t.refuted([2]int{matched[0], matched[len(matched)-1] + 1}) {
			return true
		}
	}
	return false
}

// linkOf is the word that says how the word at a place belongs to others, which stands before it, with
// or without an article, or 's behind it: sued Bob, sued by Bob, Bob's.
func linkOf(words []word, at int) (link string) {
	if at+1 < len(words) && words[at+1].text == "s" {
		link = "'s"
	}
	for at--; at >= 0; at-- {
		switch x := &words[at]; {
		case x.is(fillWord) && (x.text == "a" || x.text == "an" || x.text == "the"):
		case x.is(linkWord):
			return x.text + link
		default:
			return link
		}
	}
	return link
}

// refuted reports whether a refuting word is near a range of words, but not in it.
func (t *wordedText) refuted(in [2]int) bool {
	near := func(words []word) bool {
		return slices.ContainsFunc(words, func(x word) bool { return x.is(refuteWord) })
	}
	return near(t.words[max(in[0]-nearWords, 0):in[0]]) || near(t.words[in[1]:min(in[1]+nearWords, len(t.words))])
}

// A word is a word, a number, or a letter of a script without spaces.
type word struct {
	text    string // in lower case; of a number its value with sign, unit and currency
	class   wordClass
	capital bool
	forms   [7]uint64 // hashes of the word, and of it without an ending
	count   int
	mask    uint64 // a bit of each form
}

type wordClass uint16

// The classes of words in wording.txt. Those of a quote are of several languages.
const (
	fillWord wordClass = 1 << iota
	turnWord
	refuteWord
	linkWord
	betweenWord // turns if it stands between words of the claim or beside them
	heWord
	sheWord
	personWord
	negation // of a quote
	factWord // of a quote: decides what a sentence says, such as modals, quantifiers, units and directions
	opener   // of a quote: capitalised where a sentence begins, and names nothing
)

func (x *word) is(c wordClass) bool { return x.class&c != 0 }

// turns reports whether the word turns what stands beside it. A capital within a sentence
// makes a name of it, as of May.
func (x *word) turns(first bool) bool { return x.is(turnWord|refuteWord) && (first || !x.capital) }

// equal reports whether two words are the same but for an ending.
func (x *word) equal(y *word) bool {
	if x.mask&y.mask == 0 {
		return false
	}
	for _, a := range x.forms[:x.count] {
		if slices.Contains(y.forms[:y.count], a) {
			return true
		}
	}
	return false
}

func (x *word) add(form string) {
	h := uint64(14695981039346656037)
	for i := range len(form) {
		h = (h ^ uint64(form[i])) * 1099511628211
	}
	x.forms[x.count] = h
	x.mask |= 1 << (bits.RotateLeft64(h, 7) % 64)
	x.count++
}

// wordEndings are what two equal words may differ in. Three letters stay before them.
var wordEndings = []string{"s", "es", "d", "ed", "ing"}

func newWord(text string, capital bool) word {
	x := word{text: text, capital: capital}
	if n, ok := wordLists().numerals[text]; ok {
		x.text = n
		x.add(n)
		return x
	}
	x.class = wordLists().classes[text]
	x.add(text)
	for _, ending := range wordEndings {
		stem, ok := strings.CutSuffix(text, ending)
		if !ok || utf8.RuneCountInString(stem) < 3 {
			continue
		}
		if x.add(stem); ending == "ing" {
			x.add(stem + "e")
		}
	}
	return x
}

//go:embed wording.txt
var wordingText string

// lists are those of wording.txt.
type lists struct {
	classes  map[string]wordClass
	numerals map[string]string
}

var wordLists = sync.OnceValue(func() *lists {
	l := &lists{classes: make(map[string]wordClass), numerals: make(map[string]string)}
	class := map[string]wordClass{"fill": fillWord, "turn": turnWord, "refute": refuteWord, "he": heWord, "she": sheWord, "person": personWord, "negation": negation, "fact": factWord, "opener": opener}
	class["link"], class["between"] = linkWord, betweenWord
	for line := range strings.Lines(wordingText) {
		name, words, _ := strings.Cut(line, ":")
		for _, w := range strings.Fields(words) {
			if name == "numeral" {
				l.numerals[w] = strconv.Itoa(len(l.numerals))
			} else {
				l.classes[w] |= class[name]
			}
		}
	}
	return l
})

// isEnglish reports whether a text is English: all letters are Latin, of the commonest words
// of seven languages none has more than English, and it has one of these at least unless all
// letters are ASCII.
func isEnglish(text string, words []word) bool {
	ascii := true
	for _, r := range text {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) {
			if ascii = false; !unicode.Is(unicode.Latin, r) {
				return false
			}
		}
	}
	var counts [8]int
	most := 0
	for i := range words {
		for k, in := 0, token.CommonIn(words[i].text); in>>k > 0; k++ {
			counts[k] += int(in >> k & 1)
			most = max(most, counts[k])
		}
	}
	return counts[0] == most && (ascii || counts[0] > 0)
}

// tag is a tag of HTML or XML, which says nothing, and is no sign of comparison.
var tag = regexp.MustCompile(`^</?[A-Za-z][\w-]*(?:\s+[\w-]+\s*=[^<>]{0,400})?\s*/?>`)

// appendWords appends the words of a text, without tags and citation marks such as [3].
func appendWords(words []word, text string) []word {
	before := len(words)
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case isDigit(text[at]):
			end, value := number(text, at)
			if !(at > 0 && text[at-1] == '[' && end < len(text) && text[end] == ']') {
				x := word{text: value}
				x.add(value)
				if left := strings.TrimRight(text[:at], "-–—"); left != text[:at] && left != "" && isDigit(left[len(left)-1]) && len(words) > before {
					x.class, words[len(words)-1].class = betweenWord, betweenWord // of a range
				}
				words = append(words, x)
			}
			at = end
		case r == '<' && tag.MatchString(text[at:]):
			at += len(tag.FindString(text[at:]))
		case token.Unspaced(r), unicode.In(r, unicode.N, unicode.Sm) && !strings.ContainsRune("|~−", r): // such as ½ and <
			words = append(words, newWord(text[at:at+size], false))
			at += size
		case unicode.IsLetter(r):
			end := at
			for end < len(text) {
				r, size := utf8.DecodeRuneInString(text[end:])
				if token.Unspaced(r) || !unicode.In(r, unicode.L, unicode.M, unicode.N) {
					break
				}
				end += size
			}
			x := strings.ToLower(text[at:end])
			if rest := text[end:]; strings.HasSuffix(x, "n") && (isNot(rest, "'t") || isNot(rest, "’t")) { // such as doesn't
				words = append(words, newWord("not", false))
				at = end + strings.IndexByte(rest, 't') + 1
				continue
			}
			words = append(words, newWord(x, unicode.IsUpper(r)))
			if last := len(words) - 1; text[at:end] == "A" && last > before { // of vitamin A
				words[last].class = 0
			}
			at = end
		default:
			at += size
		}
	}
	return words
}

// isNot reports whether a text begins with the end of a negation, and the word ends there.
func isNot(rest, end string) bool {
	rest, ok := strings.CutPrefix(rest, end)
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLetter(r))
}

// number reads the number at a digit: its value with sign, unit and currency, or a time. Commas that
// group digits by three, the zeros that end a fraction and the endings of ordinals do not
// count.
func number(text string, at int) (end int, value string) {
	end = digits(text, at)
	value = text[at:end]
	for end+3 < len(text) && text[end] == ',' && digits(text, end+1) == end+4 && len(value) > 0 {
		value += text[end+1 : end+4]
		end += 4
	}
	value = strings.TrimLeft(value, "0")
	for end+1 < len(text) && text[end] == ':' && isDigit(text[end+1]) { // 10:30
		stop := digits(text, end+1)
		value, end = value+text[end:stop], stop
	}
	if end+1 < len(text) && (text[end] == '.' || text[end] == ',') && isDigit(text[end+1]) {
		stop := digits(text, end+1)
		fraction := text[end:stop]
		if text[end] == '.' {
			fraction = strings.TrimRight(strings.TrimRight(fraction, "0"), ".")
		}
		value, end = value+fraction, stop
	}
	if value == "" || value[0] == '.' {
		value = "0" + value
	}
	before, sign := text[:at], ""
	for _, currency := range currencies {
		if outer, ok := strings.CutSuffix(strings.TrimRight(before, " "), currency); ok {
			value += currency
			before = outer
		}
	}
	for _, minus := range []string{"-", "−"} {
		if outer, ok := strings.CutSuffix(before, minus); ok {
			if r, _ := utf8.DecodeLastRuneInString(outer); outer == "" || !unicode.In(r, unicode.L, unicode.N) {
				sign = "-"
			}
		}
	}
	letters := end
	for letters < len(text) {
		r, size := utf8.DecodeRuneInString(text[letters:])
		if !unicode.IsLetter(r) || token.Unspaced(r) {
			break
		}
		letters += size
	}
	if unit := strings.ToLower(text[end:letters]); !slices.Contains([]string{"st", "nd", "rd", "th"}, unit) {
		value += unit
	}
	end = letters
	for _, unit := range append([]string{"%", "‰", "°"}, currencies...) {
		if rest := strings.TrimLeft(text[end:], " "); strings.HasPrefix(rest, unit) {
			value += unit
			end = len(text) - len(rest) + len(unit)
			break
		}
	}
	return end, sign + value
}

var currencies = []string{"$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₫", "₪", "¢"}

// digits is the end of the digits that begin at a place.
func digits(text string, at int) int {
	return len(text) - len(strings.TrimLeft(text[at:], "0123456789"))
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isQuestion reports whether a sentence ends in a question mark.
func isQuestion(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \t\r\n\"'”’»)"))
	return strings.ContainsRune("?？؟", last)
}
