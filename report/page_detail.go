package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

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
	Truth     []string        `json:"truth,omitempty"`  // what annotators marked, in words
	Calls     []callShown     `json:"calls,omitempty"`  // of the judge
	Matrix    [][]int         `json:"matrix,omitempty"` // claims by sources, see [verdictTable.codes]
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
	Tone    tone     `json:"tone,omitempty"` // of the support
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
	run     int
	r       *results
	limits  limits
	sources sources
	columns []*metricColumn // in the order of the page's metric names; nil where the run has none
	reasons *reasons
}

func newDetailer(data *pageData, run int) *detailer {
	r := data.results[run]
	d := &detailer{run: run, r: r, limits: data.limits[run], reasons: &data.reasons}
	d.sources.left = wholeBudget / len(data.results)
	for _, def := range definitions(data) {
		d.columns = append(d.columns, r.metric(def.Name))
	}
	return d
}

// view puts opened row i into words. The answer is nil if it is not at hand.
func (r *results) view(i int, answer *ibid.Answer) *RowView {
	return NewRowView(&RowSource{
		Run: r.run.Manifest, Display: r.run.display(), Parts: r.run.Parts, Answer: answer, Claims: r.opened[i].claims, Citations: r.opened[i].citations,
		Row: &runs.Row{Key: runs.Key{ID: r.id[i], System: r.system[i], Row: r.row[i]}, Error: r.failed[i], Annotator: r.annotator[i]},
	})
}

// row makes the detail of row i. in is nil if the texts are not at hand.
func (d *detailer) row(i int, in *rowTexts) *rowDetail {
	var answer *ibid.Answer
	if in != nil {
		answer = in.row
	}
	view := d.r.view(i, answer)
	out := &rowDetail{Record: d.record(view, i)}
	v := &out.View
	// Lists are empty, not null, for the script of the page.
	v.Answer, v.Citations, v.Sources = []int32{}, []citationShown{}, []sourceShown{}
	v.Calls = d.r.opened[i].calls
	v.Problem = int(d.limits.ofRow(d.r, i))
	if clip(view.Answer, longAnswer) != view.Answer {
		v.Notices = append(v.Notices, fmt.Sprintf("Only the first %s characters of the answer are held by this page.", Thousands(longAnswer)))
	}
	for _, text := range d.r.opened[i].tampering {
		v.Notices = append(v.Notices, "Tampering: "+shown(text)+".")
	}
	v.divideAnswer(out.Record.Answer, view)
	for k := range view.Claims {
		v.Claims = append(v.Claims, view.Claims[k].shown(&view.parts))
	}
	for k := range view.Citations {
		v.Citations = append(v.Citations, d.citation(view, i, k))
	}
	v.Matrix = d.r.opened[i].verdicts.codes()
	if in != nil && !view.parts.NoSpans {
		missed := missedTruth(view)
		for k := range v.Citations {
			c := &v.Citations[k]
			c.Instead, c.Whose = d.instead(view, k, metrics.Problem(c.Problem), missed)
		}
		v.Sources = append(v.Sources, d.textsOf(view, in)...)
		v.Truth = otherTruth(view)
	}
	return out
}

// divideAnswer splits the answer into stretches by claim, and says after which stretch
// each citation is named.
func (v *rowShown) divideAnswer(text string, view *RowView) {
	citations, claims := view.Citations, view.Claims
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
		if !view.display.Markers {
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

// shown is the claim for the script of the page.
func (c *claimView) shown(left *Parts) claimShown {
	out := claimShown{Outcome: -1, Citations: c.Citations}
	if c.Start == nil || c.End == nil {
		out.Text = shown(c.Text)
	}
	if left.NoHallucinations {
		return out
	}
	out.Outcome = wordIndex(outcomeWords, c.Outcome)
	out.Missed = missedEvidence(&c.Claim) && c.Outcome != ibid.NotFactual.String()
	for _, n := range c.Remarks {
		out.Notes = append(out.Notes, n.sentence())
	}
	return out
}

// citation is citation k of row i for the script of the page.
func (d *detailer) citation(view *RowView, i, k int) citationShown {
	c := &view.Citations[k]
	problem := d.limits.ofCitation(d.r, i, &d.r.citationsOf(i)[k])
	out := citationShown{
		Status: wordIndex(statusWords, c.Status), Problem: int(problem), Place: c.Place, Support: c.Verdict.Short, Tone: c.Verdict.Tone, Why: c.why(),
		More: problem != metrics.NoProblem && problem != metrics.StatusProblem(statusNamed[c.Status]),
	}
	if c.Status != ibid.StatusOK.String() {
		out.Quote = shown(c.CitedText)
	}
	if o := &c.Origin; o.Type != "" || o.text() != "" {
		out.Origin = o
	}
	return out
}

// why says what is right and wrong with the citation.
func (c *citationView) why() []string {
	out := []string{}
	for _, n := range c.Remarks {
		out = append(out, n.sentence())
	}
	return out
}

// textsOf are the texts that the row points into, as far as they are at hand, with
// what is marked in them.
func (d *detailer) textsOf(view *RowView, in *rowTexts) []sourceShown {
	var out []sourceShown
	for _, t := range view.markedTexts(d.limits.tolerance) {
		// A row that could not be scored has no citations to name.
		marks := slices.DeleteFunc(t.marks, func(m mark) bool {
			return m.kind&(markPredicted|markTolerance) != 0 && int(m.of) >= len(view.Citations)
		})
		text, ok := in.text(t.doc, t.page)
		if !ok || len(marks) == 0 {
			continue
		}
		key := textKey{d.run, strings.Clone(t.doc), t.page}
		d.sources.add(key, text, marks)
		slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.kind, b.kind)) })
		out = append(out, sourceShown{Name: sourceName(key.doc, key.page), key: key, marks: marks})
	}
	return out
}

// instead finds what should have been cited in place of a bad citation: the
// evidence for its claim that stands elsewhere, else the true span it is nearest
// to, else one that no citation touches. Nothing stands in for a citation of the
// right place.
func (d *detailer) instead(view *RowView, k int, problem metrics.Problem, missed int) (kindAndNumber []int32, whose string) {
	if problem <= metrics.ProblemQuoteMoved {
		return nil, ""
	}
	c := &view.Citations[k]
	for _, k := range c.Claims {
		if k >= 0 && int(k) < len(view.Claims) && view.Claims[k].Elsewhere != nil && view.Claims[k].Outcome == ibid.SupportedElsewhere.String() && !view.parts.NoHallucinations {
			return []int32{markElsewhere, k}, "evidence it does not cite"
		}
	}
	if e, s := c.ExactJaccard, c.SnappedJaccard; e != nil && *e >= d.limits.GoodMatch || e != nil && s != nil && *s >= d.limits.GoodMatch {
		return nil, ""
	}
	truth := view.answer.Truth
	best := missed
	if b := c.BestTruth; b != nil && *b >= 0 && int(*b) < len(truth) && truth[*b].Place.InSets() && view.scores(int(*b)) {
		best = int(*b)
	}
	if best < 0 {
		return nil, ""
	}
	return []int32{markTrue, int32(best)}, "marked by " + shown(nameOf(truth[best].Annotator))
}

// missedTruth is the first true span that no citation touches, else the first one; -1
// if there is none. It takes O(n log n) steps.
func missedTruth(view *RowView) int {
	type reaching struct{ start, end int64 } // end is the greatest of the citations up to this one
	cited := make(map[textKey][]reaching)
	for i := range view.answer.Citations {
		if p := &view.answer.Citations[i].Place; p.InSets() {
			key := textKey{doc: p.Doc, page: p.Page}
			cited[key] = append(cited[key], reaching{p.Start, p.End})
		}
	}
	for _, list := range cited {
		slices.SortFunc(list, func(a, b reaching) int { return cmp.Compare(a.start, b.start) })
		for i := 1; i < len(list); i++ {
			list[i].end = max(list[i].end, list[i-1].end)
		}
	}
	first := -1
	for k := range view.answer.Truth {
		p := &view.answer.Truth[k].Place
		if !p.InSets() || !view.scores(k) {
			continue
		}
		list := cited[textKey{doc: p.Doc, page: p.Page}]
		before := sort.Search(len(list), func(i int) bool { return list[i].start >= p.End }) // those that begin before it ends
		if before == 0 || list[before-1].end <= p.Start {
			return k
		}
		if first < 0 {
			first = k
		}
	}
	return first
}

// otherTruth says what annotators marked whose spans are not scored here.
func otherTruth(view *RowView) []string {
	var out []string
	for k := range view.answer.Truth {
		t, p := &view.answer.Truth[k], &view.answer.Truth[k].Place
		switch {
		case t.DocNull:
			out = append(out, shown(nameOf(t.Annotator))+" looked and marked nothing")
		case !view.scores(k):
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

func (d *detailer) record(view *RowView, i int) rowRecord {
	out := rowRecord{
		Row: view.Row, ID: shown(view.ID), System: shown(view.System), Error: shown(view.Error), Query: clip(shown(view.Query), longAnswer),
		Answer: shown(clip(view.Answer, longAnswer)), Annotator: shown(view.Annotator), Metrics: make([]*float64, len(d.columns)), Undefined: d.reasons.of(d.r.undefined[i]),
		Citations: []runs.Citation{}, Truth: []truthRecord{},
	}
	for _, t := range d.r.tags[i] {
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
	for k := range view.Truth {
		t, p := &view.Truth[k], &view.Truth[k].Place
		out.Truth = append(out.Truth, truthRecord{shown(t.Annotator), shown(p.Doc), p.Page, p.Start, p.End})
	}
	for k := range view.Citations {
		c := view.Citations[k].Citation
		roundAll(&c.ExactJaccard, &c.ToleranceJaccard, &c.SnappedJaccard, &c.Support)
		if c.QuoteStart != nil {
			c.Quote = "" // the page has the text of that place
		}
		c.Doc = shown(clip(c.Doc, longText))
		out.Citations = append(out.Citations, c)
	}
	for k := range view.Claims {
		c := view.Claims[k].Claim
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
