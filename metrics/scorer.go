package metrics

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/presence"
	"ibid/metrics/span"
)

// answerDefinitions are the metrics that need the answer and its citations alone.
var answerDefinitions = map[Metric]Definition{
	CitationDensity: {
		Name: "citation_density", Group: "answer", Kind: Ratio, Direction: Neutral, Min: 0, Max: unbounded,
		Summary: "cited source text per answer text", Formula: "code points in the union of cited source spans / code points of the answer",
		UndefinedWhen: "citations not known, length of a cited text not known, or answer empty", Source: specification,
		Num: term(CitedChars), Den: term(AnswerChars), Derived: true,
	},
	CitationPresence: {
		Name: "citation_presence", Group: "presence", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "1 if the answer names a source in its text",
		Formula:       "1 if an assistant message, or else the answer, holds a URL, DOI, (Author, Year) or [file:page:start-end] where presence.mode looks, else 0; empty text gives 0",
		UndefinedWhen: "a check of URLs or of meaning, where one is asked for, could not be made", Source: "pattern match",
	},
}

// A Scorer computes the numbers of rows under fixed options. It holds scratch
// memory, so it is not safe for concurrent use; make one per goroutine. Once
// warm it does not allocate.
type Scorer struct {
	opt    Options
	policy ibid.Policy

	reasons [NumMetrics]ibid.Reason // before anything is known of a row; the values are 0
	reading []Metric                // that need the text of a source

	weights [len(components)]float64 // of the overall score's components, 0 of those that the run has not

	compare    span.Comparer
	names      names
	pred       side
	counted    []int32 // citations that count: all, or those of one kind
	unmeasured bool    // how long the text of a citation is is not known
	annotators []annotator
	combined   side
	sets       [][]span.Span    // of each annotator
	marks      []uint8          // of each document
	cited      []span.PredMatch // of each predicted span, Truth as index in Row.Truth
	mean       meanScratch
	tokens     tokenSides
	judged     judgedScratch
	component  componentScratch
	presence   presence.Result
}

// anyCitation is the detector of a run that says nothing about presence.
var anyCitation = sync.OnceValue(func() *presence.Detector {
	d, err := presence.New(presence.Options{})
	if err != nil {
		panic(err) // nothing is asked for that could be missing
	}
	return d
})

// NewScorer returns a scorer.
func NewScorer(o Options) *Scorer {
	s := &Scorer{opt: o, policy: ibid.Policy(o.TruthPolicy)}
	if s.opt.Presence == nil {
		s.opt.Presence = anyCitation()
	}
	for m := range definitions {
		if d := &definitions[m]; d.Judged {
			s.reasons[m] = ibid.NoJudge // unless the run has one
			if d.ReadsTexts() {
				s.reading = append(s.reading, Metric(m))
			}
		}
	}
	for m := range merged(tokenDefinitions, quoteDefinitions) {
		s.reasons[m] = ibid.NoDocuments // unless the run has texts
	}
	s.reasons[FabricatedCitationRate] = ibid.NoCitations // unless they are known
	s.reasons[OverallCitationAccuracy] = ibid.NoJudge    // unless the run has components
	s.weights = o.runWeights()
	return s
}

// Score fills out with the numbers of r.
func (s *Scorer) Score(r *Row, out *Scores) {
	out.reset(&s.reasons)
	s.names.reset()
	s.loadCitations(r, out)
	switch why := s.loadTruth(r); {
	case why != ibid.Defined:
		s.scorePredAlone(r, why, out)
	case !r.HasCitations:
		s.scoreTruthAlone(r, out)
	case s.policy == ibid.PolicyMean && len(s.annotators) > 1:
		s.scoreMean(r, out)
		s.enterCitations(out)
	default:
		s.scorePair(r, s.chosen(out), out)
		s.enterCitations(out)
	}
	s.scoreAnswer(r, out)
	s.findRepeats(r)
	if s.opt.JudgeComponents { // without a judge only answers that may abstain are cut into claims
		s.scoreJudged(r, out)
	}
	e := s.expected(r, out)
	s.scoreAbstention(r, out)
	if !s.opt.Compat {
		s.scoreComponents(r, out)
	}
	s.withholdUndecided(out)
	s.withholdUnread(r, out)
	if s.weights != [len(components)]float64{} {
		s.scoreOverall(r, e, out)
	}
	if r.Abstains && s.opt.JudgeComponents {
		out.nameAbstained()
	}
	if r.Answer.Answer != "" || len(r.Messages) > 0 {
		s.scorePresence(r, out)
	}
	s.scoreOffsets(r, out)
	scoreQuotations(&r.Quotations, out)
	if n := r.Answer.UnreadMarks; n.Known() {
		out.count(UnreadMarks, n.Value)
	}
}

// loadCitations fills the predicted side and counts the citations.
func (s *Scorer) loadCitations(r *Row, out *Scores) {
	s.pred.reset()
	s.unmeasured, s.counted = false, s.counted[:0]
	if !r.HasCitations {
		return
	}
	for i := range r.Citations {
		s.counted = append(s.counted, int32(i))
	}
	s.countPlaces(r, out)
	s.countMissing(r.Citations, out)
	s.pred.grow(len(r.Citations))
	out.Citations = slices.Grow(out.Citations, len(r.Citations))
	for i := range r.Citations {
		p := &r.Citations[i].Place
		out.Citations = append(out.Citations, CitationScore{BestTruth: -1})
		s.unmeasured = s.unmeasured || p.Level != ibid.LevelCharacters && (p.Status == ibid.StatusOK || p.Status == ibid.StatusUnchecked || p.Status == ibid.StatusNoClaim)
		if p.Level != ibid.LevelNowhere {
			key, doc := s.names.codes(p.Doc, p.Page)
			s.pred.add(i, p, key, doc)
			if p.Status == ibid.StatusQuoteNotFound && !p.InSets() {
				s.pred.loose.add(looseSpan{key: key, quote: r.Citations[i].CitedText}, true)
			}
		}
	}
}

// scoreAnswer measures how much source text the answer cites.
func (s *Scorer) scoreAnswer(r *Row, out *Scores) {
	chars := codePoints(r.Answer.Answer)
	if chars > 0 && strings.TrimSpace(r.Answer.Answer) == "" {
		chars = 0 // nothing is said
	}
	out.count(AnswerChars, chars)
	if !r.HasCitations {
		out.undefined(CitationDensity, ibid.NoCitations)
		return
	}
	if s.unmeasured {
		out.Counts[CitedChars], out.Known[CitedChars] = 0, false
		out.undefined(CitationDensity, ibid.NoDocuments)
		return
	}
	out.ratio(CitationDensity, out.Counts[CitedChars], chars, ibid.NoClaims)
}

// codePoints counts the code points of s, eight bytes at a time as long as they are ASCII.
func codePoints(s string) int64 {
	at := 0
	for ; at+8 <= len(s); at += 8 {
		w := s[at : at+8]
		if (w[0]|w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7])&0x80 != 0 {
			break
		}
	}
	return int64(at + utf8.RuneCountInString(s[at:]))
}

// scorePresence asks whether the answer names a source. That a check of URLs or
// of meaning fails is not the row's fault, but leaves it without a value: nobody has
// fetched a URL, or the embedder could not answer.
func (s *Scorer) scorePresence(r *Row, out *Scores) {
	in := presence.Input{Messages: r.Messages, Answer: r.Answer.Answer, HasAnswer: true}
	if out.PresenceErr = s.opt.Presence.Detect(context.Background(), in, &s.presence); out.PresenceErr != nil {
		why := ibid.RowError
		if errors.Is(out.PresenceErr, presence.ErrNotFetched) {
			why = ibid.NotFetched
		}
		out.undefined(CitationPresence, why)
		return
	}
	out.Values[CitationPresence], out.Reasons[CitationPresence] = s.presence.Score(), ibid.Defined
}
