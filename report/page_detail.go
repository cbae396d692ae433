package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibid/metrics/span"
)

// A rowDetail is one row opened: what the results say, and how it is shown.
type rowDetail struct {
	Record rowRecord `json:"record"`
	View   rowShown  `json:"view"`
}

// A rowShown is how a row is laid out.
type rowShown struct {
	Problem   int             `json:"problem"`
	Notices   []string        `json:"notices,omitempty"`
	Answer    []int32         `json:"answer"`            // start, end (UTF-16 units) and claim (-1: none) of each stretch
	Markers   [][]int32       `json:"markers,omitempty"` // stretch, then the citations that are named after it
	Loose     []int32         `json:"loose,omitempty"`   // citations with no place in the answer
	Claims    []claimShown    `json:"claims,omitempty"`
	Citations []citationShown `json:"citations"`
	Sources   []sourceShown   `json:"sources"`
	Truth     []string        `json:"truth,omitempty"` // what annotators marked, in words
	Metrics   [][2]string     `json:"metrics"`         // name and value
	Undefined []string        `json:"undefined,omitempty"`
}

type claimShown struct {
	Outcome   int      `json:"outcome"`        // index of outcomeWords, -1: unknown
	Text      string   `json:"text,omitempty"` // when the claim has no place in the answer
	Citations []int64  `json:"citations,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

type citationShown struct {
	Status  int      `json:"status"` // index of statusWords
	Problem int      `json:"problem"`
	More    bool     `json:"more,omitempty"` // the problem is not what the status says
	Place   string   `json:"place"`
	Title   string   `json:"title,omitempty"`
	Why     []string `json:"why"`
	Quote   string   `json:"quote,omitempty"` // quoted text that is not at the place
	Support string   `json:"support,omitempty"`
	Tone    Tone     `json:"tone,omitempty"` // of the support
}

type sourceShown struct {
	Name   string      `json:"name"`
	Text   int         `json:"text"` // number of the text
	Pieces []pieceView `json:"pieces"`
	marks  []mark
	key    textKey
}

// A detailer makes the details of rows.
type detailer struct {
	limits  limits
	sources sources
	judge   string // what verdicts are called
}

// row makes the detail of row i. in is nil if the texts are not at hand.
func (d *detailer) row(run int, r *results, i int, undefined []string, in *rowTexts) *rowDetail {
	out := &rowDetail{Record: d.record(r, i, undefined)}
	v := &out.View
	// Lists are empty, not null, for the script of the page.
	v.Answer, v.Citations, v.Sources, v.Metrics = []int32{}, []citationShown{}, []sourceShown{}, [][2]string{}
	v.Problem = int(d.limits.ofRow(r, i))
	citations, claims := r.citationsOf(i), r.claimsOf(i)
	if in != nil {
		out.Record.Query, out.Record.Answer = shown(in.row.Query), shown(in.row.Answer)
		if clipped := clip(in.row.Answer, longAnswer); clipped != in.row.Answer {
			out.Record.Answer = shown(clipped)
			v.Notices = append(v.Notices, fmt.Sprintf("Only the first %s characters of the answer are held by this page.", Thousands(longAnswer)))
		}
		out.Record.Query = clip(out.Record.Query, longAnswer)
		for k := range in.row.Truth {
			if t := &in.row.Truth[k]; !t.DocNull {
				p := &in.places.Truth[k]
				out.Record.Truth = append(out.Record.Truth, truthRecord{shown(t.Annotator), shown(p.Doc), p.Page, p.Start, p.End})
			}
		}
	}
	d.answer(v, out.Record.Answer, citations, claims)
	for k := range claims {
		v.Claims = append(v.Claims, d.claim(&claims[k]))
	}
	for k := range citations {
		v.Citations = append(v.Citations, d.citation(r, i, &citations[k], in, k))
	}
	if in != nil {
		v.Sources = append(v.Sources, d.marks(run, r, i, in)...)
		v.Truth = otherTruth(r.annotator[i], in)
	}
	for _, m := range r.metrics {
		if x, ok := m.at(i); ok {
			v.Metrics = append(v.Metrics, [2]string{m.def.Name, number(x)})
		}
	}
	for _, reason := range sortedKeys(out.Record.Undefined) {
		v.Undefined = append(v.Undefined, fmt.Sprintf("%s: %s", reason, strings.Join(out.Record.Undefined[reason], ", ")))
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// marks are the texts that the row points into, with what is marked in them.
func (d *detailer) marks(run int, r *results, i int, in *rowTexts) []sourceShown {
	byKey := make(map[textKey]int)
	var out []sourceShown
	add := func(doc string, page int32, m mark) {
		if m.start < 0 || m.end <= m.start || m.end > span.MaxEnd {
			return
		}
		key := textKey{run, doc, page}
		n, ok := byKey[key]
		if !ok {
			n = len(out)
			byKey[key] = n
			out = append(out, sourceShown{Name: sourceName(doc, page), key: key})
		}
		out[n].marks = append(out[n].marks, m)
	}
	citations := r.citationsOf(i)
	for k := range citations {
		if k >= len(in.places.Citations) {
			break // the dataset is not what the run read
		}
		p := &in.places.Citations[k]
		if p.InSets() {
			add(p.Doc, p.Page, mark{p.Start, p.End, markPredicted, int32(k)})
		}
		if c := &citations[k]; c.quoteStart.Valid && c.quoteEnd.Valid {
			add(p.Doc, p.Page, mark{c.quoteStart.Value, c.quoteEnd.Value, markSupport, int32(k)})
		}
	}
	for k := range in.places.Truth {
		if p := &in.places.Truth[k]; p.InSets() && (r.annotator[i] == "" || in.row.Truth[k].Annotator == r.annotator[i]) {
			add(p.Doc, p.Page, mark{p.Start, p.End, markTrue, -1})
		}
	}
	for _, c := range r.claimsOf(i) {
		if c.elsewhereStart.Valid && c.elsewhereEnd.Valid {
			add(c.elsewhereDoc, int32(c.elsewherePage.Value), mark{c.elsewhereStart.Value, c.elsewhereEnd.Value, markElsewhere, -1})
		}
	}
	out = slices.DeleteFunc(out, func(s sourceShown) bool {
		text, ok := in.text(s.key.doc, s.key.page)
		if ok {
			key := s.key
			key.doc = strings.Clone(key.doc)
			d.sources.add(key, text, s.marks)
		}
		return !ok
	})
	for k := range out {
		out[k].key.doc = strings.Clone(out[k].key.doc)
		slices.SortStableFunc(out[k].marks, func(a, b mark) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.kind, b.kind))
		})
	}
	return out
}

func sourceName(doc string, page int32) string {
	name := shown(clip(doc, 200))
	if page > 0 {
		name += fmt.Sprintf(", page %d", page)
	}
	return name
}

// otherTruth says what annotators marked whose spans are not scored here.
func otherTruth(scored string, in *rowTexts) []string {
	var out []string
	for k := range in.row.Truth {
		t, p := &in.row.Truth[k], &in.places.Truth[k]
		switch {
		case t.DocNull:
			out = append(out, shown(nameOf(t.Annotator))+" looked and marked nothing")
		case scored != "" && t.Annotator != scored:
			out = append(out, fmt.Sprintf("%s marked %s %s (not scored in this row)", shown(nameOf(t.Annotator)), sourceName(p.Doc, p.Page), extent(p.Start, p.End)))
		}
	}
	return out
}

func nameOf(annotator string) string {
	if annotator == "" {
		return "the annotator"
	}
	return clip(annotator, 100)
}

func extent(start, end int64) string {
	return fmt.Sprintf("[%s, %s)", Thousands(start), Thousands(end))
}

// settle numbers the texts that rows use and splits them; it is called for the
// rows of a page in order, once all texts are held.
func (d *detailer) settle(v *rowShown, number func(*sourceText) int) {
	for k := range v.Sources {
		s := &v.Sources[k]
		t := d.sources.byKey[s.key]
		s.Text, s.Pieces = number(t), t.view(s.marks)
	}
	v.Sources = slices.DeleteFunc(v.Sources, func(s sourceShown) bool { return len(s.Pieces) == 0 })
}
