package verify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset"
)

// A nasty writes random data that looks for trouble: duplicates, overlaps, empty and
// inverted spans, many pages, null and empty lists, several annotators, huge offsets,
// documents that questions share, claims that nobody labelled, text outside the basic
// plane, ids that are missing.
type nasty struct {
	*rand.Rand
	docs   []ibid.Document
	inline bool
}

func (n *nasty) often(p float64) bool { return n.Float64() < p }

func pick[T any](n *nasty, of ...T) T { return of[n.IntN(len(of))] }

var nastyWords = strings.Fields(`the tower of Paris is 330 metres high, built in 1889. café naïve 𝒜𝓁𝓅𝒽𝒶 😀😀 东京 塔 ﬁve “quoted” — dash e.g. Dr. don't 3.14 na` + "\u00ad" + `ive x`)

func (n *nasty) text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(pick(n, nastyWords...))
		b.WriteString(pick(n, " ", " ", " ", "  ", "\n", "\u00a0", ". "))
	}
	return b.String()
}

// documents are sources of all kinds: with text, with pages or blocks, with pages that are
// not those of the text, with nothing.
func (n *nasty) documents(many int) {
	for i := range many {
		d := ibid.Document{Doc: pick(n, "d", "D", "https://e.org/", "é") + fmt.Sprint(i)}
		kind := n.IntN(6)
		if i == 1 {
			kind = 0
		}
		switch kind {
		case 0, 1, 2:
			d.Text, d.HasText = n.text(20+n.IntN(200)), true
		case 3:
			for range 1 + n.IntN(6) {
				d.Pages = append(d.Pages, n.text(10+n.IntN(30)))
			}
			d.HasPages = true
			if n.often(.5) {
				d.Text, d.HasText = strings.Join(d.Pages, "\n\n"), true
			} else if n.often(.3) {
				d.Text, d.HasText = n.text(50), true // not made of the pages
			}
		case 4:
			for range 1 + n.IntN(6) {
				d.Blocks = append(d.Blocks, n.text(5+n.IntN(20)))
			}
			d.HasBlocks = true
		}
		n.docs = append(n.docs, d)
	}
}

func length(d *ibid.Document) int {
	text := d.Text
	if !d.HasText {
		text = strings.Join(d.Pages, "") + strings.Join(d.Blocks, "")
	}
	return len([]rune(text))
}

func known(v int) ibid.Integer { return ibid.Some(int64(v)) }

// span is a place in a document, which may be near another, or nonsense.
func (n *nasty) span(d *ibid.Document, near [][2]int) (start, end ibid.Integer) {
	size := max(length(d), 40)
	from := n.IntN(size)
	to := from + 1 + n.IntN(60)
	if len(near) > 0 && n.often(.6) {
		p := pick(n, near...)
		from, to = p[0]+pick(n, 0, 0, 0, -3, 7, 12, -20), p[1]+pick(n, 0, 0, 0, 4, -6, 11, 30)
	}
	switch n.IntN(60) {
	case 0:
		to = from
	case 1:
		from, to = to, from
	case 2:
		from = -5
	case 3:
		from, to = ibid.MaxEnd-10, ibid.MaxEnd+pick(n, 0, 5, 9)
	case 4:
		from, to = ibid.MaxEnd+pick(n, 1, 1, 40), ibid.MaxEnd+60
	case 5:
		return ibid.Integer{}, ibid.Integer{}
	case 6:
		to = from + 20000
	case 7:
		if n.often(.1) {
			return known(from), ibid.Integer{} // an error row
		}
	}
	return known(from), known(to)
}

// quote is what a citation says it quotes.
func (n *nasty) quote(d *ibid.Document, start, end ibid.Integer) string {
	if !n.often(.3) {
		return ""
	}
	r := []rune(d.Text)
	if len(r) < 10 || n.often(.15) {
		return pick(n, "nowhere to be found", "  ", "...", "the")
	}
	from := n.IntN(len(r) - 5)
	if start.Known() && end.Known() && 0 <= start.Value && start.Value < int64(len(r)) && n.often(.6) {
		from = int(start.Value)
	}
	to := min(len(r), from+5+n.IntN(40))
	s := string(r[from:to])
	switch n.IntN(6) {
	case 0:
		s = "“" + strings.ReplaceAll(s, " ", "  ") + "”"
	case 1:
		if to+10 < len(r) {
			s += " … " + string(r[to+3:to+10])
		}
	}
	return s
}

func (n *nasty) row(i int) ibid.Answer {
	a := ibid.Answer{
		ID: fmt.Sprint("q", i/2), System: pick(n, "a", "a", "b"), Query: n.text(3), Answer: n.text(n.IntN(30)),
		HasCitations: !n.often(.05), HasTruth: !n.often(.1), HasClaims: !n.often(.15), HasLabels: true,
	}
	a.System = []string{"a", "b"}[i%2]
	if n.often(.02) {
		a.AnswerNull, a.Answer = true, ""
	}
	if n.often(.7) {
		a.Tags = []ibid.Tag{{Key: "lang", Value: pick(n, "en", "de", "")}, {Key: "topic", Value: fmt.Sprint("t", i%7)}}
	}
	of := n.docs
	if n.inline && n.often(.5) {
		a.HasDocuments = true
		a.Documents = of[:n.IntN(len(of))]
	}
	some := func() *ibid.Document { return &of[n.IntN(len(of))] }
	own := []*ibid.Document{some(), some()}
	var near [][2]int
	if a.HasTruth {
		for range n.IntN(6) {
			d := pick(n, own...)
			m := ibid.Mark{Annotator: pick(n, "", "ada", "ada", "bob", "cem"), Doc: d.Doc}
			if n.often(.08) {
				m.Doc, m.DocNull = "", true
				a.Truth = append(a.Truth, m)
				continue
			}
			m.Start, m.End = n.span(d, near)
			if m.Start.Known() && n.often(.9) {
				near = append(near, [2]int{int(m.Start.Value), int(m.End.Value)})
			}
			m.CitedText = n.quote(d, m.Start, m.End)
			m.Page, m.Unit = n.page(d, &m.Start, &m.End)
			a.Truth = append(a.Truth, m)
			if n.often(.15) {
				a.Truth = append(a.Truth, m)
			}
		}
	}
	if a.HasClaims {
		at := 0
		r := []rune(a.Answer)
		for k := range n.IntN(5) {
			c := ibid.Claim{ClaimID: fmt.Sprint("c", k), Text: "claim " + n.text(3)}
			if n.often(.1) {
				c.ClaimID = ""
			}
			if at+3 < len(r) {
				end := min(len(r), at+3+n.IntN(40))
				c.Start, c.End = known(at), known(end)
				c.Text = string(r[at:end])
				at = end - pick(n, 0, 0, 0, 2)
			}
			a.Claims = append(a.Claims, c)
		}
	}
	if a.HasCitations {
		for k := range n.IntN(7) {
			d := pick(n, own...)
			c := ibid.Citation{Doc: d.Doc, CitationID: fmt.Sprint("x", k), SourceType: pick(n, "", "web", "pdf"), Method: pick(n, "", "located")}
			switch n.IntN(25) {
			case 0:
				c.Doc = "invented"
			case 1:
				c.Doc = "https://nowhere.org/x"
			case 2:
				c.Doc, c.DocNull = "", true
			}
			c.Start, c.End = n.span(d, near)
			c.CitedText = n.quote(d, c.Start, c.End)
			c.Page, c.Unit = n.page(d, &c.Start, &c.End)
			if len(a.Claims) > 0 && n.often(.5) {
				c.ClaimID = pick(n, a.Claims...).ClaimID
			}
			if size := len([]rune(a.Answer)); size > 0 && n.often(.6) {
				at := n.IntN(size)
				c.AnswerStart, c.AnswerEnd = known(at), known(at+n.IntN(12))
				c.AnswerRole = pick(n, ibid.NoRole, ibid.Segment, ibid.Marker)
			}
			a.Citations = append(a.Citations, c)
			if n.often(.15) {
				a.Citations = append(a.Citations, c)
			}
		}
	}
	n.label(&a)
	return a
}

// page gives a place a page, and now and then another unit.
func (n *nasty) page(d *ibid.Document, start, end *ibid.Integer) (page ibid.Integer, unit string) {
	if n.often(.3) || d.HasPages {
		page = known(pick(n, 1, 1, 2, 3, 9, 0))
	}
	switch n.IntN(20) {
	case 0:
		*start, *end = known(1+n.IntN(3)), known(2+n.IntN(4))
		unit = "page"
	case 1:
		*start, *end = known(n.IntN(3)), known(1+n.IntN(4))
		unit = "block"
	case 2:
		unit = "document"
	case 3:
		unit = pick(n, "byte", "utf16")
	}
	return page, unit
}

// label has some people say something of some claims and citations.
func (n *nasty) label(a *ibid.Answer) {
	for k := range a.Claims {
		for _, who := range []string{"ada", "bob", ""} {
			if n.often(.4) {
				a.Labels = append(a.Labels, ibid.Label{Annotator: who, ClaimID: a.Claims[k].ClaimID, Kind: pick(n, ibid.LabelKinds()...), Value: ibid.Some(pick(n, 0, .2, .5, .7, .8, 1))})
			}
		}
	}
	for k := range a.Citations {
		if n.often(.5) {
			a.Labels = append(a.Labels, ibid.Label{Annotator: pick(n, "ada", "bob"), CitationID: a.Citations[k].CitationID, Kind: pick(n, ibid.SupportLabel, ibid.RelevantLabel), Value: ibid.Some(pick(n, 0, .3, .7, .75, 1))})
		}
	}
}

// writeNasty writes a dataset of many rows and its documents.
func writeNasty(t testing.TB, dir string, seed uint64, rows int) (data, docs string) {
	t.Helper()
	n := &nasty{Rand: rand.New(rand.NewPCG(seed, 17)), inline: seed%2 == 0}
	n.documents(4 + n.IntN(12))
	data, docs = fmt.Sprintf("%s/nasty-%d.parquet", dir, seed), fmt.Sprintf("%s/docs-%d.parquet", dir, seed)
	w, err := dataset.NewWriter(data, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		a := n.row(i)
		if i == 0 { // quotes that prove how offsets count
			a.HasCitations = true
			r := []rune(n.docs[1].Text)
			for k := range 5 {
				a.Citations = append(a.Citations, ibid.Citation{Doc: n.docs[1].Doc, Start: known(7 * k), End: known(7*k + 30), CitedText: string(r[7*k : 7*k+30])})
			}
		}
		if err := w.Write(&a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.NewDocumentWriter(docs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n.docs {
		if n.inline && i%2 == 0 {
			continue
		}
		if err := d.Write(&n.docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return data, docs
}
