package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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
	Calls     []callShown     `json:"calls,omitempty"` // of the judge
}

type claimShown struct {
	Outcome   int      `json:"outcome"`        // index of outcomeWords, -1: unknown
	Text      string   `json:"text,omitempty"` // when the claim has no place in the answer
	Citations []int64  `json:"citations,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Missed    bool     `json:"missed,omitempty"` // there is evidence that it should have cited
}

type citationShown struct {
	Status  int      `json:"status"` // index of statusWords
	Problem int      `json:"problem"`
	More    bool     `json:"more,omitempty"` // the problem is not what the status says
	Place   string   `json:"place"`
	Origin  *origin  `json:"origin,omitempty"`
	Instead []int32  `json:"instead,omitempty"` // kind and number of the mark that should have been cited
	Whose   string   `json:"whose,omitempty"`   // whose mark that is, in words
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

// A detailer makes the details of the rows of one run.
type detailer struct {
	limits  limits
	sources sources
	judge   string // what verdicts are called
	display Display
	parts   Parts
	started time.Time
	columns []*metricColumn // in the order of the page's metric names; nil where the run has none
	reasons *reasons
	calls   map[int64][]callShown // by row
}

// newDetailer makes the detailer of a run.
func (b *pageBuilder) newDetailer(r *results) *detailer {
	m := r.run.Manifest
	d := &detailer{
		limits: limitsOf(m), judge: judgeName(r), display: r.run.display(), parts: r.run.Parts, started: m.Timings.Started,
		reasons: &b.reasons,
	}
	d.sources.left = wholeBudget / len(b.results)
	for _, def := range b.definitions() {
		d.columns = append(d.columns, r.metric(def.Name))
	}
	return d
}

// row makes the detail of row i. in is nil if the texts are not at hand.
func (d *detailer) row(run int, r *results, i int, undefined []string, in *rowTexts) *rowDetail {
	out := &rowDetail{Record: d.record(r, i, undefined)}
	v := &out.View
	// Lists are empty, not null, for the script of the page.
	v.Answer, v.Citations, v.Sources = []int32{}, []citationShown{}, []sourceShown{}
	v.Calls = d.calls[r.row[i]]
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
		if in != nil && !d.parts.NoSpans {
			c := &v.Citations[k]
			c.Instead, c.Whose = d.instead(r, i, &citations[k], c, in)
		}
	}
	if in != nil && !d.parts.NoSpans {
		v.Sources = append(v.Sources, d.marks(run, r, i, in)...)
		v.Truth = otherTruth(r.annotator[i], in)
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
			if tolerance := d.limits.tolerance; tolerance > 0 {
				add(p.Doc, p.Page, mark{max(0, p.Start-tolerance), p.Start, markTolerance, int32(k)})
				add(p.Doc, p.Page, mark{p.End, p.End + tolerance, markTolerance, int32(k)})
			}
		}
		if c := &citations[k]; c.quoteStart.Valid && c.quoteEnd.Valid {
			add(p.Doc, p.Page, mark{c.quoteStart.Value, c.quoteEnd.Value, markSupport, int32(k)})
		}
	}
	for k := range in.places.Truth {
		if p := &in.places.Truth[k]; p.InSets() && (r.annotator[i] == "" || in.row.Truth[k].Annotator == r.annotator[i]) {
			add(p.Doc, p.Page, mark{p.Start, p.End, markTrue, int32(k)})
		}
	}
	for k, c := range r.claimsOf(i) {
		if c.elsewhereStart.Valid && c.elsewhereEnd.Valid && missed(&c) && !d.parts.NoHallucinations {
			add(c.elsewhereDoc, int32(c.elsewherePage.Value), mark{c.elsewhereStart.Value, c.elsewhereEnd.Value, markElsewhere, int32(k)})
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

// missed reports whether a claim has better evidence than what it cites.
func missed(c *claim) bool { return c.elsewhereDoc != "" && c.outcome != "supported_by_cited" }

// instead finds what should have been cited in place of a bad citation: the
// evidence for its claim that stands elsewhere, else the true span it is nearest
// to, else one that no citation touches. Nothing stands in for a citation of the
// right place.
func (d *detailer) instead(r *results, i int, c *citation, view *citationShown, in *rowTexts) (kindAndNumber []int32, whose string) {
	if problem(view.Problem) <= repaired {
		return nil, ""
	}
	claims := r.claimsOf(i)
	for _, k := range c.claims {
		if k >= 0 && k < int64(len(claims)) && missed(&claims[k]) && claims[k].outcome == "supported_elsewhere" && !d.parts.NoHallucinations {
			return []int32{markElsewhere, int32(k)}, "evidence it does not cite"
		}
	}
	if c.exact.Valid && max(c.exact.Value, c.snapped.Value) >= d.limits.goodMatch {
		return nil, ""
	}
	scored := func(k int) bool {
		return in.places.Truth[k].InSets() && (r.annotator[i] == "" || in.row.Truth[k].Annotator == r.annotator[i])
	}
	best := -1
	if c.bestTruth.Valid && c.bestTruth.Value >= 0 && c.bestTruth.Value < int64(len(in.places.Truth)) && scored(int(c.bestTruth.Value)) {
		best = int(c.bestTruth.Value)
	}
	for k := range in.places.Truth {
		if best < 0 && scored(k) && !slices.ContainsFunc(in.places.Citations, func(p span.Place) bool { return overlap(&p, &in.places.Truth[k]) }) {
			best = k
		}
	}
	for k := range in.places.Truth {
		if best < 0 && scored(k) {
			best = k
		}
	}
	if best < 0 {
		return nil, ""
	}
	return []int32{markTrue, int32(best)}, "marked by " + shown(nameOf(in.row.Truth[best].Annotator))
}

// overlap reports whether two places share text.
func overlap(a, b *span.Place) bool {
	return a.InSets() && b.InSets() && a.Doc == b.Doc && a.Page == b.Page && a.Start < b.End && b.Start < a.End
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

// split cuts the texts that a row uses where its marks begin and end; it is called
// once all texts are held.
func (d *detailer) split(v *rowShown) {
	for k := range v.Sources {
		s := &v.Sources[k]
		s.Pieces = d.sources.byKey[s.key].view(s.marks)
	}
	v.Sources = slices.DeleteFunc(v.Sources, func(s sourceShown) bool { return len(s.Pieces) == 0 })
}

// settle numbers the texts that a row uses; it is called for the rows of a page in
// order.
func (d *detailer) settle(v *rowShown, number func(*sourceText) int) {
	for k := range v.Sources {
		s := &v.Sources[k]
		s.Text = number(d.sources.byKey[s.key])
	}
}
