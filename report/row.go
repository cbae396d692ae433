package report

import (
	"cmp"
	"fmt"
	"slices"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/presence"
	"ibid/report/doc"
)

// How much is shown of a quote or a reason, and of an answer, in code points.
const (
	longText   = 1500
	longAnswer = 20_000
)

// A RowSource is what is known of one row: what its run wrote and, if the inputs are
// at hand, what they say. Only Run and Row must be there.
type RowSource struct {
	Run        *runs.Manifest
	Row        *runs.Row
	Claims     []runs.Claim
	Citations  []runs.Citation
	Calls      []runs.Call
	Verdicts   []runs.Judgment
	Quotations []runs.Quotation

	Answer   *ibid.Answer                                // as the dataset has it, its places resolved
	Text     func(doc string, page int32) (string, bool) // of a key; nil leaves texts out
	Meant    map[string]string                           // documents that are there, by the names that are not
	Presence *presence.Signals

	Display configs.CitationDisplay
	Parts   Parts

	limits *metrics.ProblemLimits // of the run; nil if they are to be found out
}

// ReadTables reads what the tables of a run have of the row.
func (s *RowSource) ReadTables(dir string) error {
	var errs [5]error
	s.Citations, errs[0] = runs.Citations.OfRow(dir, s.Row.Row)
	s.Claims, errs[1] = runs.Claims.OfRow(dir, s.Row.Row)
	s.Calls, errs[2] = runs.Calls.OfRow(dir, s.Row.Row)
	s.Verdicts, errs[3] = runs.Verdicts.OfRow(dir, s.Row.Row)
	s.Quotations, errs[4] = runs.Quotations.OfRow(dir, s.Row.Row)
	return cmp.Or(errs[:]...)
}

// A RowView is one row as people see it: what it scored, what is right and wrong with
// its claims and citations in words and, if its texts are at hand, where its citations
// point. The terminal, JSON and the page are made from it. Its texts are those of the
// user; who shows them makes them safe.
type RowView struct {
	Schema     string           `json:"schema"`
	Row        int64            `json:"row"`
	ID         string           `json:"id"`
	System     string           `json:"system"`
	Error      string           `json:"error,omitempty"`
	Query      string           `json:"query"`
	Answer     string           `json:"answer"`
	Annotator  string           `json:"truth_annotator,omitempty"`
	Metrics    []metricView     `json:"metrics"`
	Claims     []claimView      `json:"claims"`
	Citations  []citationView   `json:"citations"`
	Quotations []runs.Quotation `json:"quotations,omitempty"`
	Matrix     *verdictTable    `json:"matrix,omitempty"`      // claims by sources, of runs that have a judge
	Calls      []runs.Call      `json:"judge_calls,omitempty"` // of a judge that asks models

	// Tampering says whether the material tries to steer the judge: none,
	// in_answer, in_evidence, suspected; "" if the judge does not look, and nothing is
	// suspected. Suspected says what.
	Tampering string       `json:"tampering,omitempty"`
	Suspected []string     `json:"suspected,omitempty"`
	Truth     []truthView  `json:"truth"`
	Sources   []sourceView `json:"sources"`

	Presence *presence.Signals `json:"presence,omitempty"` // nil if the answer is not at hand

	State   word              `json:"-"` // what became of it
	Overall *float64          `json:"-"`
	Tags    map[string]string `json:"-"`
	Others  doc.Text          `json:"-"` // other answers to the question
	Before  *earlierAnswer    `json:"-"` // nil if there is none

	notKept   int64 // citations, of a summary of rows that has none of them
	source    *RowSource
	marked    map[textKey][]mark // what is cited and right in each text
	untouched []int              // spans of the truth that nothing cites
	missed    int                // what stands in for a citation of no right place, see findMissed
}

// A metricView is one metric of the row. Number is nil where the metric is undefined,
// and Reason says why.
type metricView struct {
	Name   string   `json:"name"`
	Number *float64 `json:"value"`
	Reason string   `json:"undefined,omitempty"`
}

// A claimView is what became of one claim of the answer.
type claimView struct {
	runs.Claim
	Elsewhere *elsewhereView `json:"elsewhere"` // nil if no place of it is known
}

// An elsewhereView is the best evidence for a claim that it does not cite.
type elsewhereView struct {
	runs.Elsewhere
	Text string `json:"text,omitempty"` // what stands there, if the texts are at hand
}

// A citationView is one citation as the results have it.
type citationView struct {
	runs.Citation
	Repaired string          `json:"repaired,omitempty"`     // the repaired place in words
	Meant    string          `json:"did_you_mean,omitempty"` // a document that is there, where the cited one is not
	Place    string          `json:"-"`                      // where it points, in words
	Problem  metrics.Problem `json:"-"`                      // the worst that is wrong with it
	Origin   doc.Text        `json:"-"`                      // as far as the display wants it
}

// A truthView is one span that an annotator marked.
type truthView struct {
	Annotator string     `json:"annotator"`
	Place     ibid.Place `json:"place"`
}

// A sourceView is one text with the neighbourhoods of the row's spans.
type sourceView struct {
	Doc      string    `json:"doc"`
	Page     int32     `json:"page"`
	Passages []passage `json:"passages"`
}

// Parts are the parts that a report leaves out. The zero value leaves out none.
type Parts struct {
	NoSpans          bool // what is cited and true, in the texts of the documents
	NoHallucinations bool // which claims lack support, and why
}

// NewRowView puts a row into words.
func NewRowView(s *RowSource) *RowView {
	row := s.Row
	v := &RowView{
		Schema: "ibid.row/v1", Row: row.Row, ID: row.ID, System: row.System, Error: row.Error, Annotator: row.Annotator, Tampering: row.Tampering,
		Suspected: suspectedIn(s.Verdicts), Matrix: newVerdictTable(s.Verdicts), Quotations: s.Quotations, Calls: s.Calls, Presence: s.Presence, source: s,
		State: stateOf(row), Overall: row.Number("overall_citation_accuracy"), Tags: row.Tags,
	}
	if s.limits == nil {
		s.limits = new(limitsOf(s.Run))
	}
	if len(row.Numbers)+len(row.Undefined) > 0 {
		for _, d := range metrics.Definitions() {
			number := row.Number(d.Name)
			if reason, undefined := row.Undefined[d.Name]; undefined || number != nil {
				v.Metrics = append(v.Metrics, metricView{d.Name, number, reason})
			}
		}
	}
	if n := row.Number(metrics.Citations.String()); n != nil && len(s.Citations) == 0 {
		v.notKept = int64(*n)
	}
	if a := s.Answer; a != nil {
		v.Query, v.Answer = a.Query, a.Answer
		for k := range a.Truth {
			if t := &a.Truth[k]; !t.DocNull {
				v.Truth = append(v.Truth, truthView{t.Annotator, t.Place})
			}
		}
		v.findMissed()
		v.marked = v.markedTexts()
	}
	findings := make([]metrics.ClaimFinding, len(s.Claims))
	for k := range s.Claims {
		findings[k] = metrics.ClaimFinding{Outcome: outcomeNamed[s.Claims[k].Outcome], Cited: len(s.Claims[k].Citations)}
		c := &s.Claims[k]
		view := claimView{Claim: *c}
		if e := c.Elsewhere; e != nil && e.Doc != "" {
			view.Elsewhere = &elsewhereView{Elsewhere: *e}
			if s.Text != nil {
				view.Elsewhere.quote(s.Text)
			}
		}
		v.Claims = append(v.Claims, view)
	}
	for k := range s.Citations {
		c := &s.Citations[k]
		view := citationView{
			Citation: *c, Meant: s.Meant[c.Doc], Problem: s.limits.OfCitation(citationFinding(c), findings),
			Place: placeInWords(c.Doc, c.Page, c.Start, c.End, c.Unit),
		}
		if c.RepairedStart != nil && c.RepairedEnd != nil {
			view.Repaired = fmt.Sprintf("[%d, %d)", *c.RepairedStart, *c.RepairedEnd)
		}
		if s.Answer != nil && c.Number >= 0 && int(c.Number) < len(s.Answer.Citations) {
			view.Origin = originOf(&s.Answer.Citations[c.Number], &s.Display, s.Run.Timings.Started)
		}
		v.Citations = append(v.Citations, view)
	}
	return v
}

// stateOf is what became of an answer: why it fails, or else whether all of it was checked.
func stateOf(row *runs.Row) word {
	p, _ := metrics.ParseProblem(row.FailsBecause)
	_, cites := row.Numbers["citations"]
	return *answerWord(p, row.Open["undecided_outcomes"], row.Open["unscored_factual"], row.Open["no_text_factual"], row.Numbers["abstained"] > 0, cites)
}

// citationFinding is what decides about a citation.
func citationFinding(c *runs.Citation) *metrics.CitationFinding {
	status, known := statusNamed[c.Status]
	if !known {
		status = ibid.StatusUnchecked
	}
	f := &metrics.CitationFinding{Status: status, Contradicts: c.Label == ibid.Contradicts.String(), Claims: c.Claims}
	if c.ExactJaccard != nil {
		f.HasTruth, f.Exact = true, *c.ExactJaccard
	}
	if c.SnappedJaccard != nil {
		f.Snapped = *c.SnappedJaccard
	}
	if c.Support != nil {
		f.Support = ibid.Some(*c.Support)
	}
	return f
}

func limitsOf(m *runs.Manifest) metrics.ProblemLimits {
	return metrics.ProblemLimits{Supported: m.Supported()}
}

// asJSON is the row with the texts around its places.
func (v *RowView) asJSON() any {
	if v.source.Text != nil {
		for t, marks := range v.marked {
			if whole, ok := v.source.Text(t.doc, t.page); ok {
				if list := passages(whole, marks); len(list) > 0 {
					v.Sources = append(v.Sources, sourceView{t.doc, t.page, list})
				}
			}
		}
		slices.SortFunc(v.Sources, func(a, b sourceView) int { return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Page, b.Page)) })
	}
	return v
}

// quote takes the text of the place.
func (e *elsewhereView) quote(text func(doc string, page int32) (string, bool)) {
	whole, ok := text(e.Doc, pageOf(e.Page))
	if ok && e.Start != nil && e.End != nil && *e.Start >= 0 && *e.End >= *e.Start {
		at := bytesBefore(whole, []int64{*e.Start, *e.End})
		e.Text = whole[at[0]:at[1]]
	}
}

// markedTexts are the texts that the row points into, with what is cited and right in them.
func (v *RowView) markedTexts() map[textKey][]mark {
	out := make(map[textKey][]mark)
	add := func(p *ibid.Place, kind int32) {
		if p.InSets() && p.Start >= 0 && p.End > p.Start && p.End <= ibid.MaxEnd {
			out[keyOf(p)] = append(out[keyOf(p)], mark{p.Start, p.End, kind})
		}
	}
	for k := range v.source.Answer.Citations {
		add(&v.source.Answer.Citations[k].Place, markPredicted)
	}
	for k := range v.source.Answer.Truth {
		if v.scores(k) {
			add(&v.source.Answer.Truth[k].Place, markTrue)
		}
	}
	return out
}

// scores reports whether the row is compared with mark k of the truth.
func (v *RowView) scores(k int) bool {
	return v.Annotator == "" || v.source.Answer.Truth[k].Annotator == v.Annotator
}

// verdictOf is the verdict on a citation in words, with the degree; "" if there is none.
func verdictOf(c *runs.Citation) string {
	if c.Support == nil && c.Label == "" {
		return ""
	}
	text := cmp.Or(labelWords[c.Label], "support")
	if c.Support != nil {
		text += " " + number(*c.Support)
	}
	return text
}

// pageOf is the page that a place counts from, 0 for the start of the document.
func pageOf(page *int32) int32 {
	if page == nil {
		return 0
	}
	return *page
}

func placeInWords(doc string, page *int32, start, end *int64, unit string) string {
	if doc == "" {
		return "no document named"
	}
	text := sourceName(doc, pageOf(page))
	if start != nil && end != nil {
		text += " " + extent(*start, *end)
		if unit != "" && unit != "codepoint" {
			text += " in " + clip(unit, 40) + "s"
		}
	}
	return text
}

// sourceName is a document, or a page of it, in words.
func sourceName(doc string, page int32) string {
	name := clip(doc, 200)
	if page > 0 {
		name += fmt.Sprintf(", page %d", page)
	}
	return name
}

func extent(start, end int64) string {
	return fmt.Sprintf("[%s, %s)", Thousands(start), Thousands(end))
}

// judgeWords are the kinds of judges that are no models, in words: what their verdicts are
// called, and who judged.
var judgeWords = map[string]struct{ verdict, who string }{
	"none":     {who: "nobody: this run looks at where citations point, not at what they say"},
	"lexical":  {"Lexical judge", "wording"},
	"human":    {"Human label", "labels of people"},
	"recorded": {"Recorded verdict", "what the input had recorded of its citations"},
}

// judgedBy says who judged, such as "labels of people (mean)" or "vendor/model (openai)".
func judgedBy(kind, model string) string {
	who, more := judgeWords[kind].who, clip(model, 80)
	if who == "" && more != "" {
		who, more = more, kind
	}
	if who = cmp.Or(who, kind); more != "" && kind != "none" {
		who += " (" + more + ")"
	}
	return who
}
