package claims

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Form is how a mark is written.
type Form uint8

// The forms of marks.
const (
	Located     Form = iota // [file:page:start-end], [file:page:start-end | excerpt: "…"]
	Numbered                // [1], [1, 3], [[1]], 【1】, [Source 1], (Document 2)
	Caret                   // [^1], word^1
	Superscript             // word¹
	Dagger                  // 【1†…】, [3†L10]
	Tag                     // <cite>1</cite>, <sup>1</sup>, <co: 0>…</co: 0>, <cite doc="…">…</cite>
	Named                   // [report.pdf], [report.pdf, p. 2], (Source: report.pdf)
	Link                    // [text](url), <a href="url">text</a>
	URL                     // https://…, <https://…>
	DOI                     // doi:10.…, arXiv:…, PMID: …
	Author                  // (Smith et al., 2020), Smith et al. (2020), [Müller 2018]
	Turn                    // citeturn0search3
)

var formNames = [...]string{"located", "numbered", "caret", "superscript", "dagger", "tag", "named", "link", "url", "doi", "author", "turn"}

// String returns the name of the form, such as "located".
func (f Form) String() string { return formNames[f] }

// IsForm reports whether the method of a citation is the form of a mark: its quote, if it
// has one, is what the answer says, not what its source does.
func IsForm(method string) bool { return slices.Contains(formNames[:], method) }

// A Cited is a source that an answer can cite.
type Cited struct{ Doc, Title string }

// A Mark is one citation that stands in a text. A mark of several sources, such as
// [1, 3], is one Mark for each.
type Mark struct {
	Form       Form
	Start, End int // code points of the text, half-open

	// WordsStart and WordsEnd are the words that a tag says are cited, in code points:
	// those between <co: 1> and </co: 1>. They are equal if there are none.
	WordsStart, WordsEnd int

	// Source is the index of the source that it cites, -1 if it cites none of them.
	Source int

	// Doc is the name of the source; the name or the URL as it is written if no source
	// is called so; "" if it is a number or a turn that stands for nothing.
	Doc string

	// Listed says that the answer has a list of its own, and that the number of the
	// mark was looked up in it.
	Listed bool

	// Whole says that the answer as a whole cites it: it is listed at the end, and no mark
	// stands elsewhere.
	Whole bool

	// OfTurn says that its number counts what a turn of a conversation found, which no
	// file holds.
	OfTurn bool

	Number   int   // as it is written, -1 if there is none
	Page     int32 // 0 if there is none
	HasSpan  bool
	From, To int64  // offsets in the source as they are written
	Quote    string // an excerpt, or the text fragment of a URL
}

// An Unread was seen as a mark and not understood.
type Unread struct {
	Form string // author_year, ibidem, located, range or turn
	Text string // as it is written, without its brackets
}

// ReadMarks returns the marks that stand in a text, in the order of the text, and
// those that it does not understand. sources are what the answer could cite, in
// their order; first is the number of the first of them, 1 or 0.
//
// A number stands for the entry of the answer's own list of references if it has one,
// else for the source at its place. A name is that of a source as it is written, else
// without case, its title, the same URL, its last path element, or that without its
// ending: the first of these that is true of exactly one source.
//
// Code, formulas, pictures, definitions of footnotes and the answer's own list are not
// looked at. The time is linear in the length of the text.
func ReadMarks(text string, sources []Cited, first int) ([]Mark, []Unread) {
	r := readMarks(text, sources, first)
	return r.points(), r.unread
}

// miss notes a mark that is not understood.
func (r *reading) miss(form, text string) { r.unread = append(r.unread, Unread{form, text}) }

// A reading is what a text cites. Offsets are bytes.
type reading struct {
	text    string
	marks   []written
	unread  []Unread
	entries []entry  // of the answer's own list
	lists   []extent // the answer's own list: headings, entries, definitions
	codes   []extent // between backticks
	others  []link   // pictures, and links to what is no source
	gone    []extent // marks that are no text, with brackets that hold nothing else; (ibid.)
	around  []extent // what stands around the words of other marks
	cuts    []extent // all that is no text: gone, around, lists
	whole   bool     // the marks are what the answer as a whole cites
}

// A written is a mark as it stands in the text.
type written struct {
	form    Form
	at      extent
	keep    extent // of it, what stays of the text
	wraps   bool   // keep are words that the mark says are cited
	worded  bool   // a number that a word or a tag stands beside: no index, no list of values
	turn    bool   // its number is one that the file does not hold
	fromOne bool   // it counts from 1 whatever the number of the first source is
	refs    []Mark // bound; places are filled by points
}

// OwnStart returns where in a text the answer itself begins, in bytes: behind the reasoning
// of the model, which is a block <think>…</think> at the head of the text, or what stands
// before a line that is only </think>.
func OwnStart(text string) int {
	const open, closing = "<think>", "</think>"
	end := strings.Index(text, closing)
	if end < 0 {
		return 0
	}
	after := text[end+len(closing):]
	line, _, _ := strings.Cut(after, "\n")
	if head := strings.TrimSpace(text[:end]); !strings.HasPrefix(head, open) && (strings.TrimSpace(line) != "" || strings.TrimSpace(text[lineStart(text, end):end]) != "") {
		return 0
	}
	return len(text) - len(after)
}

// body is the answer itself, without the fence around it if it is JSON.
func body(text string) extent {
	e := extent{OwnStart(text), len(text)}
	s := strings.TrimRightFunc(text[e.start:], unicode.IsSpace)
	inner, fenced := strings.CutPrefix(strings.TrimLeftFunc(s, unicode.IsSpace), "```")
	_, inner, _ = strings.Cut(inner, "\n")
	if inner, closed := strings.CutSuffix(inner, "```"); fenced && closed && isJSON(inner) {
		e.end = e.start + len(s) - len("```")
		e.start = e.end - len(inner)
	}
	return e
}

func readMarks(text string, sources []Cited, first int) *reading {
	r := &reading{text: text}
	names := &nameTable{sources: sources}
	own := body(text)
	list := findList(text[:own.end], own.start)
	s := scanner{text: text[:own.end], at: own.start, names: names, reading: r, skip: list.skip, labels: list.labels}
	s.scan(list.lastStart())
	list.takeLast(&s)
	s.scan(own.end)
	r.lists, r.entries = list.regions, list.entries
	b := binder{reading: r, names: names, first: first}
	b.bind()
	b.wholeAnswer()
	b.readProse(own.start, own.end)
	r.findCuts()
	return r
}

// points returns the marks with places in code points.
func (r *reading) points() []Mark {
	var all []Mark
	at, count := 0, 0
	point := func(offset int) int {
		if offset < at {
			return count - utf8.RuneCountInString(r.text[offset:at])
		}
		count += utf8.RuneCountInString(r.text[at:offset])
		at = offset
		return count
	}
	for i := range r.marks {
		w := &r.marks[i]
		start := point(w.at.start)
		words := [2]int{}
		if w.wraps {
			words = [2]int{point(w.keep.start), point(w.keep.end)}
		}
		end := point(w.at.end)
		for _, m := range w.refs {
			m.Form, m.Start, m.End, m.WordsStart, m.WordsEnd, m.OfTurn = w.form, start, end, words[0], words[1], w.turn
			m.Whole = r.whole
			all = append(all, m)
		}
	}
	return all
}

// findCuts fills gone and cuts. Labels of links whose words are no text go with them.
func (r *reading) findCuts() {
	all := r.marks
	for i := 0; i < len(all); {
		// A group of marks with nothing but commas between them.
		group := all[i].at
		first, words := i, false
		for ; i < len(all) && (i == first || onlySeparators(r.text[group.end:all[i].at.start])); i++ {
			group.end = all[i].at.end
			words = words || !all[i].keep.empty() && (all[i].wraps || all[i].form != Link)
		}
		if pointer, ok := r.pointer(group); ok {
			for k := first; k < i; k++ {
				all[k].keep = extent{}
			}
			r.gone = append(r.gone, pointer)
			continue
		}
		around, enclosed := group, false
		if !words {
			around, enclosed = r.enclosed(group)
		}
		alone := enclosed || !words && r.followsSentence(group)
		if alone {
			for k := first; k < i; k++ {
				all[k].keep = extent{}
			}
		}
		for k := first; k < i; k++ {
			words = words || !all[k].keep.empty()
		}
		if !words {
			r.gone = append(r.gone, around)
			continue
		}
		for _, w := range all[first:i] {
			if w.keep.empty() {
				r.gone = append(r.gone, w.at)
				continue
			}
			r.around = append(r.around, extent{w.at.start, w.keep.start}, extent{w.keep.end, w.at.end})
		}
	}
	r.gone = united(r.gone)
	r.cuts = united(slices.DeleteFunc(slices.Concat(r.gone, r.around, r.lists), extent.empty))
}

// enclosed widens a group of marks by brackets that hold nothing else, or nothing but a
// word such as "Source:" or "see".
func (r *reading) enclosed(e extent) (extent, bool) {
	left := strings.TrimRight(r.text[:e.start], " ")
	right := strings.TrimLeft(r.text[e.end:], " ")
	head := left[max(0, len(left)-maxMarkWord):]
	if i := strings.LastIndexAny(head, "([（［"); i >= 0 {
		_, size := utf8.DecodeRuneInString(head[i:])
		word, colon := strings.CutSuffix(strings.ReplaceAll(head[i+size:], "：", ":"), ":")
		if rest, _ := cutLead(word + " x"); rest == "x" && word != "" || colon && markWords[folded(word)] {
			left = left[:len(left)-len(head)+i+size]
		}
	}
	open, size := utf8.DecodeLastRuneInString(left)
	closing, width := utf8.DecodeRuneInString(right)
	if want, ok := brackets[open]; !ok || want != closing {
		return e, false
	}
	return extent{len(left) - size, len(r.text) - len(right) + width}, true
}

// followsSentence reports whether marks stand on their line behind a full stop, and
// what follows them, if anything, begins with no small letter.
func (r *reading) followsSentence(e extent) bool {
	line := r.text[max(0, e.start-200):e.start]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	line = strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_)”\"»", r) })
	last, _ := utf8.DecodeLastRuneInString(line)
	if line == "" || !isStop(last) || !strings.ContainsFunc(line, unicode.IsLetter) {
		return false
	}
	rest := r.text[e.end:min(len(r.text), e.end+200)]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.TrimLeft(rest, " \t.,;)*_")
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsUpper(next) || next == '[' || next == '('
}

// onlySeparators reports whether two marks with s between them are one group.
func onlySeparators(s string) bool {
	word := strings.TrimFunc(s, separates)
	return (word == "" || len(word) < maxMarkWord && joints[folded(word)]) && strings.Count(s, "\n") == 0
}
