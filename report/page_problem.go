package report

import (
	"ibid"
	"ibid/metrics"
)

// A Tone says how bad something is. Pages show it by colour, sign and word
// together.
type Tone string

// The tones.
const (
	Good    Tone = "good"
	Note    Tone = "note" // worth a look
	Warn    Tone = "warn"
	Bad     Tone = "bad"
	Neutral Tone = "neutral"
)

// Sign is the sign of a tone, for readers who do not see its colour.
func (t Tone) Sign() string {
	switch t {
	case Good:
		return "✓"
	case Note:
		return "i"
	case Warn:
		return "!"
	case Bad:
		return "✗"
	}
	return "–"
}

// A Word is a state in words: a short name, a sentence, and how bad it is.
type Word struct {
	Code  string `json:"code"` // as in result files
	Short string `json:"short"`
	Long  string `json:"long"`
	Tone  Tone   `json:"tone"`
}

// notJudged does not say that the judge was asked: of a place that could not be
// checked it has no text to read.
const notJudged = "There is no verdict: the judge had no text to judge by, or it could not answer."

// problemWords are the problems in words. Their codes are the names of the
// problems, as in the column fails_because.
var problemWords = [metrics.NumProblems]Word{
	metrics.NoProblem:           {metrics.NoProblem.String(), "nothing wrong found", "Nothing that could be checked speaks against what is cited.", Good},
	metrics.ProblemUnjudged:     {metrics.ProblemUnjudged.String(), "not judged", notJudged, Neutral},
	metrics.ProblemQuoteMoved:   {metrics.ProblemQuoteMoved.String(), "quote found elsewhere", "The quote stands in the document, but not where the citation points.", Note},
	metrics.ProblemPartly:       {metrics.ProblemPartly.String(), "only partly right", "The citation overlaps the marked place, but covers too little of it or too much around it.", Note},
	metrics.ProblemLowScore:     {metrics.ProblemLowScore.String(), "overall below 0.5", "The overall score of the answer is below 0.5.", Warn},
	metrics.ProblemElsewhere:    {metrics.ProblemElsewhere.String(), "supported elsewhere", "Other evidence supports the claim; what is cited does not.", Warn},
	metrics.ProblemWrongPlace:   {metrics.ProblemWrongPlace.String(), "wrong place", "The citation touches nothing that was marked as the right place.", Warn},
	metrics.ProblemUncited:      {metrics.ProblemUncited.String(), "nothing cited", "Something should have been cited, and nothing is.", Warn},
	metrics.ProblemTooLong:      {metrics.ProblemTooLong.String(), "span too long", "The cited span is longer than max_span_length: it points at everything.", Warn},
	metrics.ProblemUnsupported:  {metrics.ProblemUnsupported.String(), "unsupported", "Neither what is cited nor any other evidence supports the claim.", Bad},
	metrics.ProblemMalformed:    {metrics.ProblemMalformed.String(), "no valid span", "The offsets are empty, inverted or negative and point nowhere.", Bad},
	metrics.ProblemMisquoted:    {metrics.ProblemMisquoted.String(), "not verbatim", "The quoted text is not what stands at the place, nor exactly once elsewhere in the document.", Bad},
	metrics.ProblemOutOfBounds:  {metrics.ProblemOutOfBounds.String(), "past the end", "The span ends after the end of its document or page.", Bad},
	metrics.ProblemNoPage:       {metrics.ProblemNoPage.String(), "no such page", "The document has no such page.", Bad},
	metrics.ProblemNoDocument:   {metrics.ProblemNoDocument.String(), "no such document", "No document of that name exists: the source is invented or misnamed.", Bad},
	metrics.ProblemContradicted: {metrics.ProblemContradicted.String(), "contradicted", "The cited text says the opposite of the claim.", Bad},
	metrics.ProblemError:        {metrics.ProblemError.String(), "could not be scored", "The row could not be read or scored.", Bad},
}

// statusWords are the statuses of citations, by name, in the order of
// [ibid.Statuses].
var statusWords = []Word{
	{"ok", "ok", "The place exists and, if there is a quote, holds it.", Good},
	{"unchecked", "unchecked", "There is no text to check the place against.", Neutral},
	{"document_not_found", "document not found", problemWords[metrics.ProblemNoDocument].Long, Bad},
	{"page_not_found", "page not found", problemWords[metrics.ProblemNoPage].Long, Bad},
	{"span_out_of_bounds", "out of bounds", problemWords[metrics.ProblemOutOfBounds].Long, Bad},
	{"span_too_long", "span too long", problemWords[metrics.ProblemTooLong].Long, Warn},
	{"quote_mismatch", "not verbatim", problemWords[metrics.ProblemMisquoted].Long, Bad},
	{"quote_repaired", "quote repaired", "The quote was found exactly once elsewhere in the document; both places are kept.", Note},
	{"span_empty", "empty span", "Start and end are the same: the citation marks no text.", Bad},
	{"span_inverted", "inverted span", "The span ends before it starts.", Bad},
	{"span_negative", "negative offset", "An offset is below 0.", Bad},
}

// outcomeWords are the outcomes of claims, best first.
var outcomeWords = []Word{
	{"supported_by_cited", "supported by what is cited", "The cited text supports the claim.", Good},
	{"supported_elsewhere", "supported elsewhere", "Other evidence supports the claim, the cited text does not: the claim may be right, the citation is wrong.", Warn},
	{"contradicted", "contradicted", "The cited text says the opposite.", Bad},
	{"unsupported", "unsupported", "No evidence supports the claim, cited or not.", Bad},
	{"unscored", "not judged", notJudged, Neutral},
	{"not_factual", "not factual", "The sentence claims nothing that could be checked.", Neutral},
}

// labelWords are the verdicts on support.
var labelWords = map[string]Word{
	"full":        {"full", "full support", "", Good},
	"mostly":      {"mostly", "mostly supported", "", Good},
	"partial":     {"partial", "partial support", "", Warn},
	"none":        {"none", "no support", "", Bad},
	"contradicts": {"contradicts", "contradicts", "", Bad},
	"unsure":      {"unsure", "unsure", "", Neutral},
}

// wordOf finds a code among words; a code that is not there stands for itself.
func wordOf(words []Word, code string) Word {
	for _, w := range words {
		if w.Code == code {
			return w
		}
	}
	return Word{Code: code, Short: label(code), Tone: Neutral}
}

// validStatus reports whether a citation with this status counts as valid.
func validStatus(name string) bool {
	return name == "ok" || name == "unchecked" || name == "quote_repaired"
}

// limits are the settings that decide what is a problem.
type limits struct {
	metrics.ProblemLimits
	tolerance int64 // code points by which a boundary may be off
}

// Statuses and outcomes by the names that files have.
var (
	statusNamed = func() map[string]ibid.Status {
		m := make(map[string]ibid.Status)
		for _, s := range ibid.Statuses() {
			m[s.String()] = s
		}
		return m
	}()
	outcomeNamed = func() map[string]ibid.Outcome {
		m := make(map[string]ibid.Outcome)
		for _, o := range ibid.Outcomes() {
			m[o.String()] = o
		}
		return m
	}()
)

// citationFinding is what decides about citation c of its row.
func citationFinding(c *citation) metrics.CitationFinding {
	status, known := statusNamed[c.status]
	if !known {
		status = ibid.StatusUnchecked
	}
	return metrics.CitationFinding{
		Status: status, HasTruth: c.exact.Known(), Exact: c.exact.Value, Snapped: c.snapped.Value,
		Support:     c.support,
		Contradicts: c.label == ibid.Contradicts.String(), Claims: c.claims,
	}
}

// ofCitation is the worst about citation c of row i.
func (l *limits) ofCitation(r *results, i int, c *citation) metrics.Problem {
	f := citationFinding(c)
	return l.OfCitation(&f, r.findingsOf(i))
}

// ofRow is the worst about row i: of a row that fails, why the run says that it
// does. Runs of earlier versions do not say it, and their rows are looked at here.
func (l *limits) ofRow(r *results, i int) metrics.Problem {
	if p, ok := metrics.ParseProblem(r.because[i]); ok {
		return p
	}
	a := metrics.AnswerFinding{
		Error: r.failed[i] != "", Claims: r.findingsOf(i), Marked: r.truthSpans[i].Known() && r.truthSpans[i].Value > 0,
	}
	for k := range r.citationsOf(i) {
		a.Citations = append(a.Citations, citationFinding(&r.citationsOf(i)[k]))
	}
	a.Overall, a.HasOverall = r.metric("overall_citation_accuracy").at(i)
	return l.OfAnswer(&a)
}
