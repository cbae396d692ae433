package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
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
	Citations []int32  `json:"citations,omitempty"`
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
	Telling // of the row that is made
	limits  limits
	sources sources
	display Display
	started time.Time
	columns []*metricColumn // in the order of the page's metric names; nil where the run has none
	reasons *reasons
	calls   map[int64][]callShown // by row
}

// newDetailer makes the detailer of a run.
func newDetailer(data *pageData, r *results) *detailer {
	m := r.run.Manifest
	d := &detailer{
		Telling: Telling{Judge: judgeName(r), Parts: r.run.Parts},
		limits:  limitsOf(m), display: r.run.display(), started: m.Timings.Started, reasons: &data.reasons,
	}
	d.sources.left = wholeBudget / len(data.results)
	for _, def := range definitions(data) {
		d.columns = append(d.columns, r.metric(def.Name))
	}
	return d
}

// row makes the detail of row i. in is nil if the texts are not at hand.
func (d *detailer) row(run int, r *results, i int, undefined []string, in *rowTexts) *rowDetail {
	d.Annotator = r.annotator[i]
	out := &rowDetail{Record: d.record(r, i, undefined)}
	v := &out.View
	// Lists are empty, not null, for the script of the page.
	v.Answer, v.Citations, v.Sources = []int32{}, []citationShown{}, []sourceShown{}
	v.Calls = d.calls[r.row[i]]
	v.Problem = int(d.limits.ofRow(r, i))
	citations, claims := r.opened[i].citations, r.opened[i].claims
	if in != nil {
		out.Record.Query, out.Record.Answer = shown(in.row.Query), shown(in.row.Answer)
		if clipped := clip(in.row.Answer, longAnswer); clipped != in.row.Answer {
			out.Record.Answer = shown(clipped)
			v.Notices = append(v.Notices, fmt.Sprintf("Only the first %s characters of the answer are held by this page.", Thousands(longAnswer)))
		}
		out.Record.Query = clip(out.Record.Query, longAnswer)
		for k := range in.row.Truth {
			if t := &in.row.Truth[k]; !t.DocNull {
				p := &in.row.Truth[k].Place
				out.Record.Truth = append(out.Record.Truth, truthRecord{shown(t.Annotator), shown(p.Doc), p.Page, p.Start, p.End})
			}
		}
	}
	d.answer(v, out.Record.Answer, citations, claims)
	for k := range claims {
		v.Claims = append(v.Claims, d.claim(&claims[k]))
	}
	for k := range citations {
		v.Citations = append(v.Citations, d.citation(r, i, k, in))
		if in != nil && !d.Parts.NoSpans {
			c := &v.Citations[k]
			c.Instead, c.Whose = d.instead(r, i, &citations[k], c, in)
		}
	}
	if in != nil && !d.Parts.NoSpans {
		v.Sources = append(v.Sources, d.marks(run, r, i, in)...)
		v.Truth = otherTruth(r.annotator[i], in)
	}
	return out
}

// answer splits the answer into stretches by claim, and says after which stretch
// each citation is named.
func (d *detailer) answer(v *rowShown, text string, citations []runs.Citation, claims []runs.Claim) {
	length := int64(len([]rune(text)))
	cuts := []int64{0, length}
	inside := func(at int64) bool { return at > 0 && at < length }
	for k := range claims {
		if c := &claims[k]; c.Start != nil && c.End != nil {
			for _, at := range []int64{*c.Start, *c.End} {
				if inside(at) {
					cuts = append(cuts, at)
				}
			}
		}
	}
	for k := range citations {
		if at := citations[k].AnswerEnd; at != nil && inside(*at) {
			cuts = append(cuts, *at)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	units := unitsBefore(text, cuts)
	claimAt := func(start, end int64) int32 {
		for k := range claims {
			if c := &claims[k]; c.Start != nil && c.End != nil && *c.Start <= start && end <= *c.End {
				return int32(k)
			}
		}
		return -1
	}
	for i := 0; i+1 < len(cuts); i++ {
		v.Answer = append(v.Answer, units[i], units[i+1], claimAt(cuts[i], cuts[i+1]))
	}
	for k := range citations {
		if !d.display.Markers {
			break
		}
		i, found := 0, false
		if end := citations[k].AnswerEnd; end != nil {
			i, found = slices.BinarySearch(cuts, *end)
		}
		if !found || i == 0 {
			v.Loose = append(v.Loose, int32(k))
			continue
		}
		v.Markers = append(v.Markers, []int32{int32(i - 1), int32(k)})
	}
	slices.SortStableFunc(v.Markers, func(a, b []int32) int { return cmp.Compare(a[0], b[0]) })
}

// claim says in words what became of a claim.
func (d *detailer) claim(c *runs.Claim) claimShown {
	out := claimShown{Outcome: -1, Citations: c.Citations}
	if c.Start == nil || c.End == nil {
		out.Text = shown(c.Text)
	}
	if d.Parts.NoHallucinations {
		return out
	}
	out.Outcome = slices.IndexFunc(outcomeWords, func(w Word) bool { return w.Code == c.Outcome })
	out.Missed = MissedEvidence(c) && c.Outcome != ibid.NotFactual.String()
	for _, n := range d.ClaimRemarks(c) {
		out.Notes = append(out.Notes, n.Sentence())
	}
	return out
}

// citation says in words what is right and wrong with citation k of row i.
func (d *detailer) citation(r *results, i, k int, in *rowTexts) citationShown {
	row := r.opened[i]
	c := &row.citations[k]
	support := SupportOf(c)
	out := citationShown{
		Status:  slices.IndexFunc(statusWords, func(w Word) bool { return w.Code == c.Status }),
		Problem: int(d.limits.ofCitation(r, i, &r.citationsOf(i)[k])),
		Place:   PlaceOf(c), Support: support.Short, Tone: support.Tone,
		Why: []string{},
	}
	out.More = out.Problem != int(metrics.NoProblem) && metrics.Problem(out.Problem) != metrics.StatusProblem(statusNamed[c.Status])
	if c.Status != ibid.StatusOK.String() {
		out.Quote = shown(c.CitedText)
	}
	if in != nil && k < len(in.row.Citations) {
		if o := originOf(&in.row.Citations[k], c.SourceType, &d.display, d.started); o.Type != "" || o.text() != "" {
			out.Origin = &o
		}
	}
	for _, n := range d.CitationRemarks(c, row.claims) {
		out.Why = append(out.Why, n.Sentence())
	}
	return out
}

// marks are the texts that the row points into, with what is marked in them.
func (d *detailer) marks(run int, r *results, i int, in *rowTexts) []sourceShown {
	byKey := make(map[textKey]int)
	var out []sourceShown
	add := func(doc string, page int32, m mark) {
		if m.start < 0 || m.end <= m.start || m.end > ibid.MaxEnd {
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
	citations := r.opened[i].citations
	for k := range citations {
		if k >= len(in.row.Citations) {
			break // the dataset is not what the run read
		}
		p := &in.row.Citations[k].Place
		if p.InSets() {
			add(p.Doc, p.Page, mark{p.Start, p.End, markPredicted, int32(k)})
			if tolerance := d.limits.tolerance; tolerance > 0 {
				add(p.Doc, p.Page, mark{max(0, p.Start-tolerance), p.Start, markTolerance, int32(k)})
				add(p.Doc, p.Page, mark{p.End, p.End + tolerance, markTolerance, int32(k)})
			}
		}
		if c := &citations[k]; c.QuoteStart != nil && c.QuoteEnd != nil {
			add(p.Doc, p.Page, mark{*c.QuoteStart, *c.QuoteEnd, markSupport, int32(k)})
		}
	}
	for k := range in.row.Truth {
		if p := &in.row.Truth[k].Place; p.InSets() && (r.annotator[i] == "" || in.row.Truth[k].Annotator == r.annotator[i]) {
			add(p.Doc, p.Page, mark{p.Start, p.End, markTrue, int32(k)})
		}
	}
	for k, c := range r.opened[i].claims {
		if e := c.Elsewhere; MissedEvidence(&c) && e.Start != nil && e.End != nil && !d.Parts.NoHallucinations {
			page := int32(0)
			if e.Page != nil {
				page = *e.Page
			}
			add(e.Doc, page, mark{*e.Start, *e.End, markElsewhere, int32(k)})
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

// instead finds what should have been cited in place of a bad citation: the
// evidence for its claim that stands elsewhere, else the true span it is nearest
// to, else one that no citation touches. Nothing stands in for a citation of the
// right place.
func (d *detailer) instead(r *results, i int, c *runs.Citation, view *citationShown, in *rowTexts) (kindAndNumber []int32, whose string) {
	if metrics.Problem(view.Problem) <= metrics.ProblemQuoteMoved {
		return nil, ""
	}
	claims := r.opened[i].claims
	for _, k := range c.Claims {
		if k >= 0 && int(k) < len(claims) && MissedEvidence(&claims[k]) && claims[k].Outcome == ibid.SupportedElsewhere.String() && !d.Parts.NoHallucinations {
			return []int32{markElsewhere, k}, "evidence it does not cite"
		}
	}
	if c.ExactJaccard != nil && max(*c.ExactJaccard, orZero(c.SnappedJaccard)) >= d.limits.GoodMatch {
		return nil, ""
	}
	scored := func(k int) bool {
		return in.row.Truth[k].Place.InSets() && (r.annotator[i] == "" || in.row.Truth[k].Annotator == r.annotator[i])
	}
	best := -1
	if b := c.BestTruth; b != nil && *b >= 0 && int(*b) < len(in.row.Truth) && scored(int(*b)) {
		best = int(*b)
	}
	for k := range in.row.Truth {
		if best < 0 && scored(k) && !slices.ContainsFunc(in.row.Citations, func(c ibid.Citation) bool { return overlap(&c.Place, &in.row.Truth[k].Place) }) {
			best = k
		}
	}
	for k := range in.row.Truth {
		if best < 0 && scored(k) {
			best = k
		}
	}
	if best < 0 {
		return nil, ""
	}
	return []int32{markTrue, int32(best)}, "marked by " + shown(nameOf(in.row.Truth[best].Annotator))
}

func orZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// overlap reports whether two places share text.
func overlap(a, b *ibid.Place) bool {
	return a.InSets() && b.InSets() && a.Doc == b.Doc && a.Page == b.Page && a.Start < b.End && b.Start < a.End
}

// otherTruth says what annotators marked whose spans are not scored here.
func otherTruth(scored string, in *rowTexts) []string {
	var out []string
	for k := range in.row.Truth {
		t, p := &in.row.Truth[k], &in.row.Truth[k].Place
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

// A rowRecord is the row as data; texts are as the dataset has them, but for
// control characters. Scores have six digits: a page is to be looked at, the
// exact values are in rows.parquet.
type rowRecord struct {
	Row       int64             `json:"row"`
	ID        string            `json:"id"`
	System    string            `json:"system"`
	Error     string            `json:"error,omitempty"`
	Query     string            `json:"query"`
	Answer    string            `json:"answer"`
	Annotator string            `json:"truth_annotator,omitempty"`
	Tags      map[string]string `json:"tags,omitempty"`
	Metrics   []*float64        `json:"metrics"`   // in the order of the page's metric names
	Undefined int               `json:"undefined"` // number of the page's list of reasons
	Citations []runs.Citation   `json:"citations"`
	Claims    []runs.Claim      `json:"claims,omitempty"`
	Truth     []truthRecord     `json:"truth"`
}

type truthRecord struct {
	Annotator string `json:"annotator"`
	Doc       string `json:"doc"`
	Page      int32  `json:"page,omitempty"`
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
}

func (d *detailer) record(r *results, i int, undefined []string) rowRecord {
	out := rowRecord{
		Row: r.row[i], ID: shown(r.id[i]), System: shown(r.system[i]), Error: shown(r.failed[i]),
		Annotator: shown(r.annotator[i]), Metrics: make([]*float64, len(d.columns)), Undefined: d.reasons.of(undefined),
		Citations: []runs.Citation{}, Truth: []truthRecord{},
	}
	for _, t := range r.tags[i] {
		if out.Tags == nil {
			out.Tags = make(map[string]string)
		}
		out.Tags[shown(t.Key)] = shown(t.Value)
	}
	values := make([]float64, len(d.columns))
	for k, c := range d.columns {
		if x, ok := c.at(i); ok {
			values[k] = sixDigits(x)
			out.Metrics[k] = &values[k]
		}
	}
	for _, c := range r.opened[i].citations {
		roundAll(&c.ExactJaccard, &c.ToleranceJaccard, &c.SnappedJaccard, &c.Support)
		if c.QuoteStart != nil {
			c.Quote = "" // the page has the text of that place
		}
		c.Doc = shown(clip(c.Doc, longText))
		out.Citations = append(out.Citations, c)
	}
	for _, c := range r.opened[i].claims {
		roundAll(&c.Support)
		if c.Elsewhere != nil {
			e := *c.Elsewhere
			roundAll(&e.Support)
			e.Doc = shown(clip(e.Doc, longText))
			c.Elsewhere = &e
		}
		out.Claims = append(out.Claims, c)
	}
	return out
}

// roundAll rounds scores that are there to six digits, without changing what others
// point to.
func roundAll(scores ...**float64) {
	for _, s := range scores {
		if *s != nil {
			*s = new(sixDigits(**s))
		}
	}
}

// sixDigits rounds to six significant digits.
func sixDigits(v float64) float64 {
	if v == 0 || v == math.Trunc(v) {
		return v
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	if scale > 1e200 {
		return v // a power so large is not exact enough to round by
	}
	return math.Round(v*scale) / scale
}
