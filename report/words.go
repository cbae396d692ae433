package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics"
	"ibid/report/doc"
)

// signs are the signs of tones, for readers who do not see their colour.
var signs = map[doc.Tone]string{doc.Good: "✓", doc.Warn: "!", doc.Bad: "✗", doc.Dim: "–"}

// A word is a state in words: a short name, a sentence, and how bad it is.
type word struct {
	Code  string // as in result files
	Short string
	Long  string
	Tone  doc.Tone
}

// span is a state with its sign, and links to what is in it.
func (w word) span(link string) doc.Span {
	return doc.Span{Text: signs[w.Tone] + " " + w.Short, Tone: w.Tone, Link: link}
}

// statusWords are the statuses of citations, in the order of [ibid.Statuses].
var statusWords = []word{
	{ibid.StatusOK.String(), "ok", "The place exists. If there is a quote, it is there.", doc.Good},
	{ibid.StatusUnchecked.String(), "unchecked", "The text that is known of the source does not show the place, so it was not checked.", doc.Dim},
	{ibid.StatusDocumentNotFound.String(), "document not found", "There is no document of that name: it is invented or misnamed.", doc.Bad},
	{ibid.StatusPageNotFound.String(), "page not found", "The document has no such page.", doc.Bad},
	{ibid.StatusOutOfBounds.String(), "out of bounds", "The span ends after the end of its document or page.", doc.Bad},
	{ibid.StatusTooLong.String(), "span too long", "The cited span is longer than max_span_length: too long to point at anything.", doc.Warn},
	{ibid.StatusQuoteMismatch.String(), "not verbatim", "The quoted text is neither at this place nor anywhere else in the document.", doc.Bad},
	{ibid.StatusQuoteRepaired.String(), "quote repaired", "The quote is not at the given place but elsewhere in the document. The citation was moved there.", doc.Dim},
	{ibid.StatusQuoteLocated.String(), "quote located", "The citation gives no offsets. Its quote was found, and it counts there.", doc.Dim},
	{ibid.StatusQuoteAmbiguous.String(), "quote ambiguous", "The quote is in several places, and any may be meant. The citation was not moved.", doc.Dim},
	{ibid.StatusQuoteNotFound.String(), "quote not found", "The citation gives no offsets, and its quote is not in the document.", doc.Bad},
	{ibid.StatusEmpty.String(), "empty span", "Start and end are the same: the citation marks no text.", doc.Bad},
	{ibid.StatusInverted.String(), "inverted span", "The span ends before it starts.", doc.Bad},
	{ibid.StatusNegative.String(), "negative offset", "An offset is below 0.", doc.Bad},
	{ibid.StatusNoClaim.String(), "backs no text", "The citation belongs to no claim, as in a list of references. Judged metrics leave it out.", doc.Dim},
}

// outcomeWords are the outcomes of claims, best first.
var outcomeWords = []word{
	{ibid.SupportedByCited.String(), "supported by what is cited", "The cited text supports the claim.", doc.Good},
	{ibid.SupportedElsewhere.String(), "supported elsewhere", "Other text supports the claim, the cited text does not. The claim may be right, the citation is wrong.", doc.Warn},
	{ibid.Contradicted.String(), "contradicted", "The cited text says the opposite of the claim.", doc.Bad},
	{ibid.Unsupported.String(), "unsupported", "No evidence supports the claim, cited or not.", doc.Bad},
	// It does not say that the judge was asked: of a place that could not be checked it
	// has no text to read.
	{ibid.Unscored.String(), "not judged", "There is no verdict: the judge could not answer, or nobody was asked.", doc.Dim},
	{ibid.NoText.String(), "no text", "The text that the claim cites is not known, so nobody could judge it.", doc.Dim},
	{ibid.Undecided.String(), "undecided", "The judge read what is cited, and that cannot settle it: the text is cut off.", doc.Dim},
	{ibid.NotFactual.String(), "not factual", "The sentence claims nothing that could be checked.", doc.Dim},
}

// problemWords are the problems in words: those of the status or the outcome that a
// problem is, where it is one. Their codes are the names of the problems, as in the
// column fails_because.
var problemWords = func() [metrics.NumProblems]word {
	status := func(s ibid.Status) word { return statusWords[s] }
	outcome := func(o ibid.Outcome) word { return wordOf(outcomeWords, o.String()) }
	words := [metrics.NumProblems]word{
		metrics.NoProblem:         {Short: "nothing wrong found", Long: "No check found anything wrong.", Tone: doc.Good},
		metrics.ProblemUnjudged:   outcome(ibid.Unscored),
		metrics.ProblemQuoteMoved: status(ibid.StatusQuoteRepaired),
		metrics.ProblemPartly:     {Short: "only partly right", Long: "The citation overlaps the marked place, but covers too little of it or too much around it.", Tone: doc.Dim},
		metrics.ProblemLowScore:   {Short: "overall below 0.5", Long: "The overall score of the answer is below 0.5.", Tone: doc.Warn},
		metrics.ProblemElsewhere:  outcome(ibid.SupportedElsewhere),
		metrics.ProblemWrongPlace: {Short: "wrong place", Long: "The citation touches nothing that was marked as the right place.", Tone: doc.Warn},
		metrics.ProblemUncited:    {Short: "nothing cited", Long: "Something should have been cited, and nothing is.", Tone: doc.Warn},
		metrics.ProblemTooLong:    status(ibid.StatusTooLong),

		metrics.ProblemQuoteReworded:      {Short: "quotation reworded", Long: "A quotation differs in some words from what its source says.", Tone: doc.Dim},
		metrics.ProblemQuoteMisattributed: {Short: "quotation of another source", Long: "A quotation stands only in a source that is not cited.", Tone: doc.Warn},
		metrics.ProblemQuoteChanged:       {Short: "quotation changed", Long: "A quotation differs in a number or a negation from what its source says.", Tone: doc.Bad},
		metrics.ProblemQuoteFabricated:    {Short: "quotation made up", Long: "A quotation stands in no source, or is made of pieces of several places.", Tone: doc.Bad},

		metrics.ProblemUnsupported:  outcome(ibid.Unsupported),
		metrics.ProblemMalformed:    {Short: "no valid span", Long: "The offsets are empty, inverted or negative and point nowhere.", Tone: doc.Bad},
		metrics.ProblemMisquoted:    status(ibid.StatusQuoteMismatch),
		metrics.ProblemOutOfBounds:  status(ibid.StatusOutOfBounds),
		metrics.ProblemNoPage:       status(ibid.StatusPageNotFound),
		metrics.ProblemNoDocument:   status(ibid.StatusDocumentNotFound),
		metrics.ProblemContradicted: outcome(ibid.Contradicted),
		metrics.ProblemError:        {Short: "could not be scored", Long: "The row could not be read or scored.", Tone: doc.Bad},
	}
	for p := range words {
		words[p].Code = metrics.Problem(p).String()
	}
	return words
}()

// answerWords are what becomes of answers that do not fail.
var answerWords = []word{
	{"undecided", "undecided", "It does not fail, and the judge could not decide about some of its claims.", doc.Dim},
	{"not_judged", "not judged", "It does not fail, and some of its claims have no verdict.", doc.Dim},
	{"not_checked", "not checked", "What it cites, or the text of that, is not known, so nothing of it could be checked.", doc.Dim},
	{ibid.Abstained.String(), ibid.Abstained.String(), "It says that it cannot answer, and claims and cites nothing.", doc.Dim},
	{"passes", "passes", "No check found anything wrong.", doc.Good},
}

// answerWord is what became of an answer with this as its worst problem, and so many claims
// that are undecided, not judged, and without any text; abstains says that it does, and cites
// that it is known what it cites.
func answerWord(p metrics.Problem, undecided, unjudged, noText int64, abstains, cites bool) *word {
	switch {
	case p.Fails():
		return &problemWords[p]
	case undecided > 0:
		return &answerWords[0]
	case unjudged > 0:
		return &answerWords[1]
	case abstains:
		return &answerWords[3]
	case noText > 0 || !cites:
		return &answerWords[2]
	}
	return &answerWords[4]
}

// answerStates are all states of answers, the gravest first.
func answerStates() []word {
	words := slices.Clone(problemWords[metrics.ProblemLowScore:])
	slices.Reverse(words)
	return append(words, answerWords...)
}

// labelWords are the verdicts on support in words.
var labelWords = map[string]string{
	ibid.Full.String():        "full support",
	ibid.Mostly.String():      "mostly supported",
	ibid.Partial.String():     "partial support",
	ibid.None.String():        "no support",
	ibid.Contradicts.String(): "contradicts",
	ibid.Unsure.String():      "unsure",
	ibid.Undecided.String():   "undecided",
}

// wordOf finds a code among words; a code that is not there stands for itself.
func wordOf(words []word, code string) word {
	if k := slices.IndexFunc(words, func(w word) bool { return w.Code == code }); k >= 0 {
		return words[k]
	}
	return word{Code: code, Short: strings.ReplaceAll(code, "_", " "), Tone: doc.Dim}
}

// validStatus reports whether a citation with this status counts as valid.
func validStatus(name string) bool {
	s, known := statusNamed[name]
	return known && s.Valid()
}

// Statuses and outcomes by the names that files have.
var statusNamed, outcomeNamed = byName(ibid.Statuses()), byName(ibid.Outcomes())

func byName[T fmt.Stringer](all []T) map[string]T {
	m := make(map[string]T)
	for _, v := range all {
		m[v.String()] = v
	}
	return m
}
