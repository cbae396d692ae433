package claims

import (
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// A nameTable finds sources by what an answer calls them. Its indices are made when
// they are first needed.
type nameTable struct {
	sources []Cited
	tests   [len(nameTests)]map[string]int // index of the source, -1 if there are several
}

// nameTests are what makes a name that of a source, the strictest first. "" is the key
// of what a test does not apply to.
var nameTests = [...]struct {
	source func(s Cited) string
	name   func(string) string
}{
	{func(s Cited) string { return s.Doc }, func(name string) string { return name }},
	{func(s Cited) string { return strings.ToLower(s.Doc) }, strings.ToLower},
	{func(s Cited) string { return folded(s.Title) }, folded},
	{func(s Cited) string { return urlKey(s.Doc) }, urlKey},
	{func(s Cited) string { return lastElement(s.Doc) }, strings.ToLower},
	{func(s Cited) string { return strings.TrimSuffix(lastElement(s.Doc), path.Ext(lastElement(s.Doc))) }, strings.ToLower},
}

func lastElement(name string) string {
	if isHTTP(name) {
		name = urlKey(name)
	}
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	return strings.ToLower(name)
}

// find returns the index of the source that an answer calls so, -1 if none or several
// are called so.
func (t *nameTable) find(name string) int {
	if name == "" || len(t.sources) == 0 {
		return -1
	}
	for k := range nameTests {
		if t.tests[k] == nil {
			t.index(k)
		}
		if key := nameTests[k].name(name); key != "" {
			if i, ok := t.tests[k][key]; ok && i >= 0 {
				return i
			}
		}
	}
	if plain := strings.Trim(name, quoteSigns); plain != name {
		return t.find(plain)
	}
	return -1
}

// quoteSigns may stand around the name of a source; @ stands before the key of one.
const quoteSigns = "*_`@\"'“”„‘’«»「」『』《》 "

func (t *nameTable) index(k int) {
	t.tests[k] = make(map[string]int, len(t.sources))
	for i, s := range t.sources {
		key := nameTests[k].source(s)
		if key == "" {
			continue
		}
		if before, ok := t.tests[k][key]; ok && (before < 0 || t.sources[before].Doc != s.Doc) {
			i = -1
		} else if ok {
			i = before
		}
		t.tests[k][key] = i
	}
}

// alone returns the index of the only source whose name or title stands in a text as
// words of their own, -1 if there is none or several do.
func (t *nameTable) alone(text string) int {
	lower, found := strings.ToLower(text), -1
	for i, s := range t.sources {
		if !holdsWords(lower, strings.ToLower(s.Doc)) && !holdsWords(lower, strings.ToLower(s.Title)) {
			continue
		}
		if found >= 0 && t.sources[found].Doc != s.Doc {
			return -1
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

// holdsWords reports whether a text holds words of three characters or more, with no
// letter or digit beside them.
func holdsWords(text, words string) bool {
	if len(words) < 3 {
		return text == words && words != ""
	}
	for from := 0; ; {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		i += from
		before, _ := lastRune(text[:i])
		after := strings.TrimLeftFunc(text[i+len(words):], func(r rune) bool { return !isWordRune(r) })
		if !isWordRune(before) && len(after) < len(text)-i-len(words) || i+len(words) == len(text) && !isWordRune(before) {
			return true
		}
		from = i + 1
	}
}

// isHTTP reports whether a name is an http or https URL.
func isHTTP(s string) bool {
	i := strings.Index(s, "://")
	return i > 0 && i < len(s)-3 && (strings.EqualFold(s[:i], "http") || strings.EqualFold(s[:i], "https"))
}

// hostOf is the host of a URL in small letters, without www.; "" if it is none.
func hostOf(s string) string {
	if !isHTTP(s) {
		return ""
	}
	rest := s[strings.Index(s, "://")+3:]
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	rest = strings.ToLower(rest)
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, ":443"), ":80")
	return strings.TrimPrefix(rest, "www.")
}

// trackers are parameters of URLs that say how a reader came to the page.
var trackers = wordSet("gclid\nfbclid\nmsclkid\nref_src\nsrsltid\nmc_cid\nmc_eid")

// urlKey is the same for URLs of one page: without scheme, www., default port, slash at
// the end, fragment and trackers, with a decoded path. It is "" for other names.
func urlKey(s string) string {
	host := hostOf(s)
	if host == "" {
		return ""
	}
	rest := s[strings.Index(s, "://")+3:]
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		return host
	}
	rest, _, _ = strings.Cut(rest[i:], "#")
	name, query, _ := strings.Cut(rest, "?")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	name = strings.TrimRight(name, "/")
	if host == "doi.org" || host == "dx.doi.org" {
		return "doi.org" + strings.ToLower(name)
	}
	key := host + name
	sign := byte('?')
	for p := range strings.SplitSeq(query, "&") {
		parameter, _, _ := strings.Cut(p, "=")
		if p == "" || trackers[strings.ToLower(parameter)] || strings.HasPrefix(strings.ToLower(parameter), "utm_") {
			continue
		}
		key += string(sign) + p
		sign = '&'
	}
	return key
}

// fragmentQuote is the quote of a text fragment, #:~:text=a,b: "a ... b". The words
// before and behind it that the fragment may have are left out.
func fragmentQuote(s string) string {
	_, fragment, ok := strings.Cut(s, ":~:text=")
	if !ok {
		return ""
	}
	fragment, _, _ = strings.Cut(fragment, "&")
	parts := strings.Split(fragment, ",")
	if len(parts) > 1 && strings.HasSuffix(parts[0], "-") {
		parts = parts[1:]
	}
	if n := len(parts); n > 1 && strings.HasPrefix(parts[n-1], "-") {
		parts = parts[:n-1]
	}
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			parts[i] = plain
		}
	}
	return strings.Join(parts, " ... ")
}

// A binder says what the marks of a text stand for.
type binder struct {
	*reading
	names   *nameTable
	first   int
	targets map[int]Mark // of the numbers of entries
	named   bool         // sources are called by numbers that are not their places
	lower   []string     // title and name of each source, once authors are looked for
}

// numericNames reports whether all sources are called by numbers that do not count them.
func (b *binder) numericNames() bool {
	counts := true
	for i, s := range b.names.sources {
		n, ok := wholeNumber(s.Doc)
		if !ok {
			return false
		}
		counts = counts && n == i+1
	}
	return !counts
}

// bind binds marks and drops those that are none.
func (b *binder) bind() {
	b.named = b.numericNames()
	b.targets = make(map[int]Mark, len(b.entries))
	for _, e := range b.entries {
		if _, ok := b.targets[e.number]; !ok {
			m := b.entry(&e)
			if i := b.place(e.number); m.Source < 0 && 0 <= i && i < len(b.names.sources) && b.names.sources[i].isNameless() {
				m.Source, m.Doc = i, b.names.sources[i].Doc
			}
			b.targets[e.number] = m
		}
	}
	n := 0
	for i := range b.marks {
		w := &b.marks[i]
		if w.form == Author && !b.author(w) || w.form == Numbered && !w.worded && !b.isList(w) {
			continue
		}
		for k := range w.refs {
			b.ref(w, &w.refs[k])
		}
		b.marks[n] = *w
		n++
	}
	b.marks = b.marks[:n]
}

// isNameless reports whether a source has no name that an entry of a list could have: at most a
// number.
func (c *Cited) isNameless() bool {
	_, numbered := wholeNumber(c.Doc)
	return (numbered || c.Doc == "") && c.Title == ""
}

// entry is what an entry of the answer's own list stands for.
func (b *binder) entry(e *entry) Mark {
	m := Mark{Source: -1, Doc: e.text, Number: -1}
	if e.url != "" {
		m.Doc, m.Quote = e.url, fragmentQuote(e.url)
	}
	if m.Source = b.names.find(m.Doc); m.Source < 0 && e.url == "" {
		m.Source = b.names.alone(e.text)
	}
	if list, ok := parseNumbers(e.text); m.Source < 0 && e.url == "" && ok && list.worded && len(list.numbers) == 1 { // Document 1
		if i := b.place(list.numbers[0]); 0 <= i && i < len(b.names.sources) {
			m.Source = i
		}
	}
	if m.Source >= 0 {
		m.Doc = b.names.sources[m.Source].Doc
	}
	return m
}

// wholeAnswer finds what the answer as a whole cites if no mark stands elsewhere: the entries of
// its own list, or marks alone in the last line, perhaps behind a word as in "Sources: [1], [2]", or
// names and words such as "Document 1" behind one.
func (b *binder) wholeAnswer() {
	if len(b.marks) == 0 {
		w := written{form: Named, worded: true}
		for i := range b.entries {
			if m := b.entry(&b.entries[i]); m.Source >= 0 || b.entries[i].url != "" {
				w.refs = append(w.refs, m)
			}
		}
		if len(w.refs) > 0 {
			w.at = b.lists[len(b.lists)-1]
		} else if w = b.lastLine(); len(w.refs) == 0 {
			return
		}
		b.marks = append(b.marks, w)
		b.whole = true
		return
	}
	line := b.last() // of marks alone, or behind such a word
	at := b.marks[0].at.start
	_, headed := referenceWord(b.text[line.start:max(line.start, at)])
	b.whole = at >= line.start && line.start > 0 && (headed || !strings.ContainsFunc(b.text[line.start:at], isWordRune))
	for i := range b.marks {
		next := line.end
		if i+1 < len(b.marks) {
			next = b.marks[i+1].at.start
		}
		end := b.marks[i].at.end
		b.whole = b.whole && !strings.ContainsFunc(b.text[end:max(end, next)], isWordRune)
	}
}

// last is the last line with anything in it.
func (b *binder) last() extent {
	text := strings.TrimRightFunc(b.text, unicode.IsSpace)
	return extent{lineStart(text, len(text)), len(text)}
}

// lastLine reads the numbers and names in a last line such as "Sources: Document 1, Document 2",
// if it holds nothing else.
func (b *binder) lastLine() (w written) {
	at := b.last()
	rest, ok := referenceWord(b.text[at.start:at.end])
	if list, isList := parseNumbers(rest); ok && isList && !list.wrong {
		w = written{form: Numbered, worded: true, at: at, refs: byNumber(list.numbers)}
		for k := range w.refs {
			b.ref(&w, &w.refs[k])
		}
		return w
	}
	w = written{form: Named, at: at}
	for name := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(",;，、；", r) }) {
		m := reference(strings.Trim(name, " ."))
		if m.Source = b.names.find(m.Doc); !ok || m.Source < 0 {
			return written{}
		}
		b.ref(&w, &m)
		w.refs = append(w.refs, m)
	}
	return w
}

// ref binds one reference of a mark.
func (b *binder) ref(w *written, m *Mark) {
	switch {
	case m.Source >= 0:
		m.Doc = b.names.sources[m.Source].Doc
	case w.turn:
	case m.Number >= 0:
		b.number(w, m)
	case isHTTP(m.Doc):
		m.Quote = fragmentQuote(m.Doc)
		if m.Source = b.names.find(m.Doc); m.Source >= 0 {
			m.Doc = b.names.sources[m.Source].Doc
		}
	}
}

func (b *binder) number(w *written, m *Mark) {
	if len(b.entries) > 0 && !w.fromOne {
		m.Listed = true
		if to, ok := b.targets[m.Number]; ok {
			m.Source, m.Doc = to.Source, to.Doc
			if m.Quote == "" {
				m.Quote = to.Quote
			}
		}
		if m.Number >= firstLabel {
			m.Number = -1
		}
		return
	}
	i := b.place(m.Number)
	if w.fromOne {
		i = m.Number - 1
	}
	if 0 <= i && i < len(b.names.sources) {
		m.Source, m.Doc = i, b.names.sources[i].Doc
	}
}

// isList reports whether numbers in brackets without a word can be numbers of sources.
func (b *binder) isList(w *written) bool {
	known, zero := 0, false
	for _, m := range w.refs {
		if b.has(m.Number) {
			known++
		} else if m.Number >= 1000 {
			return false // a year
		}
		zero = zero || m.Number == 0
	}
	if len(w.refs) == 1 {
		return true
	}
	return (!zero || b.has(0)) && (known > 0 || len(b.entries) == 0 && len(b.names.sources) == 0)
}

func (b *binder) has(number int) bool {
	if b.first == unnumbered {
		return number < 1000
	}
	if len(b.entries) > 0 {
		_, ok := b.targets[number]
		return ok
	}
	i := b.place(number)
	return 0 <= i && i < len(b.names.sources)
}

// unnumbered as the number of the first source says that sources are not in the order
// that numbers count.
const unnumbered = -1

// place is the index of the source that a number stands for.
func (b *binder) place(number int) int {
	if b.first == unnumbered {
		return -1
	}
	if b.named {
		return b.names.find(strconv.Itoa(number))
	}
	return number - b.first
}

// author binds authors and years where exactly one source or entry has surname and
// year. It returns false if it binds none.
func (b *binder) author(w *written) bool {
	var refs []Mark
	for _, m := range w.refs {
		surname, year, _ := strings.Cut(m.Doc, "\x00")
		has := func(lower string) bool { return strings.Contains(lower, year) && holdsWords(lower, surname) }
		found, count := Mark{}, 0
		for i, s := range b.names.sources {
			if len(b.lower) == i {
				b.lower = append(b.lower, strings.ToLower(s.Title+" "+s.Doc))
			}
			if has(b.lower[i]) && (count == 0 || s.Doc != found.Doc) {
				found, count = Mark{Source: i, Doc: s.Doc, Number: -1}, count+1
			}
		}
		if count == 0 {
			for k := range b.entries {
				if e := &b.entries[k]; has(strings.ToLower(e.text)) {
					found, count = b.targets[e.number], count+1
					found.Number = -1
				}
			}
		}
		if count != 1 {
			b.miss("author_year", b.text[w.at.start:w.at.end])
			continue
		}
		found.Page = m.Page
		refs = append(refs, found)
	}
	w.refs = refs
	return len(refs) > 0
}
