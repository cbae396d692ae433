package report

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

// A problem is what is worst about a row or a citation; greater is worse.
type problem uint8

const (
	fine problem = iota
	unjudged
	repaired
	partly
	elsewhere
	beside
	uncited
	tooLong
	unsupported
	malformed
	misquoted
	outside
	noPage
	invented
	contradicted
	failed
	numProblems
)

// notJudged does not say that the judge was asked: of a place that could not be
// checked it has no text to read.
const notJudged = "There is no verdict: the judge had no text to judge by, or it could not answer."

var problemWords = [numProblems]Word{
	fine:         {"fine", "nothing wrong found", "Nothing that could be checked speaks against what is cited.", Good},
	unjudged:     {"unjudged", "not judged", notJudged, Neutral},
	repaired:     {"repaired", "quote found elsewhere", "The quote stands in the document, but not where the citation points.", Note},
	partly:       {"partly", "only partly right", "The citation overlaps the marked place, but covers too little of it or too much around it.", Note},
	elsewhere:    {"elsewhere", "supported elsewhere", "Other evidence supports the claim; what is cited does not.", Warn},
	beside:       {"beside", "wrong place", "The citation touches nothing that was marked as the right place.", Warn},
	uncited:      {"uncited", "nothing cited", "Something should have been cited, and nothing is.", Warn},
	tooLong:      {"too_long", "span too long", "The cited span is longer than max_span_length: it points at everything.", Warn},
	unsupported:  {"unsupported", "unsupported", "Neither what is cited nor any other evidence supports the claim.", Bad},
	malformed:    {"malformed", "no valid span", "The offsets are empty, inverted or negative and point nowhere.", Bad},
	misquoted:    {"misquoted", "not verbatim", "The quoted text is not what stands at the place, nor exactly once elsewhere in the document.", Bad},
	outside:      {"outside", "past the end", "The span ends after the end of its document or page.", Bad},
	noPage:       {"no_page", "no such page", "The document has no such page.", Bad},
	invented:     {"invented", "no such document", "No document of that name exists: the source is invented or misnamed.", Bad},
	contradicted: {"contradicted", "contradicted", "The cited text says the opposite of the claim.", Bad},
	failed:       {"error", "could not be scored", "The row could not be read or scored.", Bad},
}

// statusWords are the statuses of citations, by name, in the order of
// [span.Statuses].
var statusWords = []Word{
	{"ok", "ok", "The place exists and, if there is a quote, holds it.", Good},
	{"unchecked", "unchecked", "There is no text to check the place against.", Neutral},
	{"document_not_found", "document not found", problemWords[invented].Long, Bad},
	{"page_not_found", "page not found", problemWords[noPage].Long, Bad},
	{"span_out_of_bounds", "out of bounds", problemWords[outside].Long, Bad},
	{"span_too_long", "span too long", problemWords[tooLong].Long, Warn},
	{"quote_mismatch", "not verbatim", problemWords[misquoted].Long, Bad},
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

var problemOfStatus = map[string]problem{
	"document_not_found": invented, "page_not_found": noPage, "span_out_of_bounds": outside, "span_too_long": tooLong,
	"quote_mismatch": misquoted, "quote_repaired": repaired,
	"span_empty": malformed, "span_inverted": malformed, "span_negative": malformed,
}

var problemOfOutcome = map[string]problem{
	"contradicted": contradicted, "unsupported": unsupported, "supported_elsewhere": elsewhere, "unscored": unjudged,
}

// validStatus reports whether a citation with this status counts as valid.
func validStatus(name string) bool {
	return name == "ok" || name == "unchecked" || name == "quote_repaired"
}

// limits are the settings that decide what is a problem.
type limits struct {
	supported, goodMatch float64
	tolerance            int64 // code points by which a boundary may be off
}

// ofCitation is the worst about citation c of row i.
func (l *limits) ofCitation(r *results, i int, c *citation) problem {
	p := problemOfStatus[c.status]
	if c.exact.Valid {
		switch {
		case c.exact.Value == 0:
			p = max(p, beside)
		case max(c.exact.Value, c.snapped.Value) < l.goodMatch:
			p = max(p, partly)
		}
	}
	claims := r.claimsOf(i)
	contradicts := c.label == "contradicts"
	for _, k := range c.claims {
		if k >= 0 && k < int64(len(claims)) {
			claim := &claims[k]
			if c.support.Valid && c.support.Value >= l.supported {
				continue // this citation is not why the claim fails
			}
			if o := problemOfOutcome[claim.outcome]; o != contradicted || contradicts || len(claim.citations) == 1 {
				p = max(p, o)
			}
		}
	}
	if contradicts {
		p = max(p, contradicted)
	}
	return p
}

// ofRow is the worst about row i.
func (l *limits) ofRow(r *results, i int) problem {
	if r.failed[i] != "" {
		return failed
	}
	worst := fine
	citations := r.citationsOf(i)
	for k := range citations {
		worst = max(worst, l.ofCitation(r, i, &citations[k]))
	}
	if len(citations) == 0 && r.truthSpans[i].Valid && r.truthSpans[i].Value > 0 {
		worst = max(worst, uncited)
	}
	for _, c := range r.claimsOf(i) {
		o := problemOfOutcome[c.outcome]
		if (o == unsupported || o == elsewhere) && len(c.citations) == 0 {
			o = uncited // nothing is cited that could be the wrong thing
		}
		worst = max(worst, o)
	}
	return worst
}
