package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/annotations"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/judge/openrouter"
	"ibid/metrics"
	"ibid/metrics/claims"
	"ibid/metrics/quote"
)

// A judging puts rows to a judge, one at a time. Each worker has its own. Its fields
// from cut on describe the current row.
type judging struct {
	judge      judge.Judge
	info       judge.Info              // of it
	kept       *keptVerdicts           // the judge, if it is one; else nil
	human      bool                    // labels count whether a text is known or not
	ofInput    bool                    // the labels are verdicts in source_reference
	whole      bool                    // evidence is the whole text that a citation points into
	wordless   bool                    // the judge gives numbers, and no words for them
	supported  float64                 // support from which a claim or citation is supported
	thresholds *annotations.Thresholds // of overlap; nil if wording alone decides
	passages   bool                    // a model is asked about whole rows, and shown what they could have cited
	windows    bool                    // the judge can tell the cited words from what stands around them
	edges      sentenceEdges
	resolver   *dataset.Resolver
	documents  bool // the run has some
	cutter     *claims.Cutter
	split      bool // a model makes claims of sentences

	cut     claims.Claims
	claims  []ibid.Claim
	linker  metrics.Linker
	links   [][]int32 // claims of each citation
	request judge.Request
	parts   []claimPart
	answer  *answer                    // of a live judge, who was asked before; nil asks now
	said    map[string][]runs.Judgment // verdicts that were kept, by the rows of the part as id/system
	index   []int                      // of each citation in the request's evidence, -1 if it is not there
	verdict *judge.Verdict             // nil if there is none
	failure *judge.RowFailure          // the judge could not answer

	suspected []string // what looks written for the judge; nil if nothing was asked

	textless bool // no text of the answer's sources is known: nothing is asked
	verdicts []metrics.CitationVerdict
	pairs    [][]metrics.PairVerdict
	checks   []citationCheck // what was said of each citation, parallel to the row's
}

// newJudging returns the judging of one worker.
func newJudging(p *Plan, resolver *dataset.Resolver) (*judging, error) {
	s := &p.job.Config.Settings
	options, err := claimOptions(s)
	if err != nil {
		return nil, err
	}
	kind := p.job.judgeKind()
	kept, _ := p.judge.(*keptVerdicts)
	return &judging{
		kept:  kept,
		judge: p.judge, info: p.judge.Info(), human: fromFields(s, kind), ofInput: kind == recordedJudge && kept == nil, whole: s.Judge.Evidence == "document",
		passages: (kind == openrouter.KindOpenRouter || kind == openrouter.KindOpenAI) && !s.Judge.SmallVerifier(),
		windows:  s.Judge.Evidence == "window" && kind != humanJudge && kind != recordedJudge && s.Judge.Protocol == openrouter.Verdicts,
		wordless: s.Judge.SmallVerifier(), supported: p.options.Supported, thresholds: p.overlapThresholds(),
		edges:    sentenceEdges{tolerance: s.SpanMatching.ToleranceChars, excerpt: resolver.Excerpt},
		resolver: resolver, documents: p.hasDocuments(), cutter: claims.NewCutter(options),
		split: options.Source == claims.Model,
	}, nil
}

// claimOptions are the settings that say what a claim is.
func claimOptions(s *configs.Settings) (o claims.Options, err error) {
	o.Source, o.MarkScope = claims.Source(s.Claims), claims.MarkScope(s.MarkScope)
	o.Phrases = claims.NewPhrases(claims.Phrases{NoClaim: s.NoClaimPhrases, Abstention: s.AbstentionPhrases})
	if len(s.AbstentionPhrases) > 0 {
		if err := claims.CheckPatterns(o.Phrases.Abstention); err != nil {
			return o, ibid.Usagef("abstention_phrases: %v", err)
		}
	}
	return o, nil
}

// A claimPart is the part of a claim that some of its citations back, where they do
// not back all of it. The judge is asked for it as for a claim of its own.
type claimPart struct {
	claim     int
	citations []int
}

// A citationCheck is what the judge said of a citation, as far as judged says, and
// what it was shown. If several claims cite it, it is the check that found the most
// support.
type citationCheck struct {
	judge.Check // its Evidence and Citation mean nothing
	claims      []int32
	text        excerpt
	judged      bool
}

// row judges one row. Its places must be resolved. Afterwards claims, verdicts and
// pairs hold what the judge said. If the judge cannot answer, failure says why and
// the row has no scores of the judge. An error ends the run.
func (j *judging) row(ctx context.Context, in *ibid.Answer) error {
	j.verdict, j.failure, j.suspected = nil, nil, nil
	j.prepare(in)
	if j.asks() {
		if j.kept != nil && j.kept.excerpts {
			j.suspected = suspectedIn(j.said[j.request.Row])
		} else {
			material := j.request
			material.Claims = j.claims // parts of them say nothing new
			for _, s := range judge.Suspicions(&material) {
				j.suspected = append(j.suspected, strings.ToValidUTF8(s.String(), "\uFFFD"))
			}
		}
		var v *judge.Verdict
		var err error
		switch {
		case j.answer != nil: // a live judge was asked before
			v, err = j.answer.verdict, j.answer.err
			if v != nil && j.answer.split != nil {
				v.Calls = append(slices.Clone(j.answer.split.Calls), v.Calls...)
			}
		case j.kept != nil:
			v, err = j.kept.verdict(&j.request, j.said[j.request.Row])
		default:
			v, err = j.judge.Judge(ctx, &j.request)
		}
		switch {
		case errors.As(err, &j.failure):
		case err != nil:
			return err
		default:
			if j.info.Kind == lexicalJudge {
				j.decide(in, v)
			}
			j.verdict = v
			j.copyVerdict(v)
		}
	}
	j.tabulate(in)
	return j.resolver.Err()
}

// prepare cuts the answer into claims, links them to citations and writes the
// request.
func (j *judging) prepare(in *ibid.Answer) {
	j.cut = j.cutter.Cut(in)
	switch {
	case j.answer != nil && j.answer.split != nil:
		j.cut.List = j.cutter.Rewrite(j.answer.split.Claims)
	case j.split && j.kept != nil:
		if claims := splitIn(j.said[in.ID+"/"+in.System], len(j.cut.List)); claims != nil {
			j.cut.List = j.cutter.Rewrite(claims)
		}
	}
	j.claims = j.cut.List
	ids := j.cut.Provided || !in.HasClaims
	j.links = j.linker.Link(j.claims, in.Citations, j.cut.Scopes, ids)
	for i := range in.Citations {
		c := &in.Citations[i]
		c.NoClaim = j.cut.Known && j.cut.Scopes[i] != nil && len(j.cut.Scopes[i]) == 0 && !(ids && c.ClaimID != "")
	}
	j.writeRequest(in)
}

// scope is the part of the answer from the start of the first stretch that citation i
// backs to the end of the last; null if it backs none or stands nowhere.
func (j *judging) scope(i int) ibid.Interval {
	if !j.cut.Known || len(j.cut.Scopes[i]) == 0 {
		return ibid.Interval{}
	}
	all := j.cut.Scopes[i]
	return ibid.Interval{Start: all[0].Start, End: all[len(all)-1].End}
}

// tampering is the word for it: what the judge says, unless it finds none or does not look,
// and the material is suspicious; "" if nobody found anything, and the judge does not look.
func (j *judging) tampering() string {
	word := ""
	if j.verdict != nil {
		word = j.verdict.Tampering
	}
	if len(j.suspected) > 0 && !ibid.Tampered(word) {
		return ibid.TamperingSuspected
	}
	return word
}

// asks reports whether the judge is asked about the row.
func (j *judging) asks() bool { return len(j.claims) > 0 && !j.textless }

// fill gives the metrics' row what was judged.
func (j *judging) fill(r *metrics.Row) {
	r.Claims, r.HasClaims, r.Abstains = j.claims, j.cut.Known, j.cut.Abstains
	r.Judged, r.JudgeFailed, r.Textless = true, j.failure != nil, j.textless
	r.Scopes = j.cut.Scopes
	r.Verdicts, r.Pairs = j.verdicts, j.pairs
}

// writeRequest writes the request: claims, evidence, and what a check without a model
// decides.
func (j *judging) writeRequest(in *ibid.Answer) {
	r := &j.request
	*r = judge.Request{
		Row: in.ID + "/" + in.System, Question: in.Query, Answer: in.Answer,
		Claims: r.Claims[:0], Evidence: r.Evidence[:0], Sources: r.Sources[:0], Labels: r.Labels[:0], Invalid: r.Invalid[:0],
	}
	j.checks = j.checks[:0]
	j.index = j.index[:0]
	for i := range in.Citations {
		j.index = append(j.index, -1)
		check := citationCheck{claims: j.links[i], text: j.excerptOf(in, i)}
		if status := in.Citations[i].Place.Status; !status.Valid() && !j.human && !in.Citations[i].NoClaim {
			check.Precheck = status.String()
			r.Invalid = append(r.Invalid, judge.InvalidCitation{Citation: i, Reason: check.Precheck})
		} else if check.text.known && status.Valid() {
			j.index[i] = len(r.Evidence)
			r.Evidence = append(r.Evidence, judge.Evidence{
				Text: check.text.text, Citation: i, Doc: cmp.Or(in.Citations[i].Place.Doc, in.Citations[i].Doc), Title: titleOf(in, i), Before: check.text.before, After: check.text.after, Cut: check.text.cut,
			})
		}
		j.checks = append(j.checks, check)
	}
	r.Claims = append(r.Claims, j.claims...)
	j.parts = j.parts[:0]
	if !j.human && j.kept == nil { // who recorded a verdict on a part as that on its claim
		for k := range j.claims {
			j.addParts(k)
		}
	}
	j.sources(in)
	j.textless = !j.human && !j.toldOf(r.Row) && len(r.Evidence) == 0 && len(r.Sources) == 0 && len(r.Invalid) == 0 &&
		(len(in.Citations) > 0 || !j.documents || in.HasDocuments)
	if j.human {
		j.labels(in)
	}
	if j.passages {
		judge.AddPassages(r)
	}
}

// addParts adds to the request the parts of claim k that single citations back.
// Citations that back the same part share one.
func (j *judging) addParts(k int) {
	r := &j.request
	first := len(r.Claims)
	for _, i := range j.claims[k].Citations {
		if j.index[i] < 0 {
			continue
		}
		text, whole := j.cutter.Backed(k, int(i))
		if whole {
			continue
		}
		at := first
		for at < len(r.Claims) && r.Claims[at].Text != text {
			at++
		}
		if at == len(r.Claims) {
			r.Claims = append(r.Claims, ibid.Claim{ClaimID: j.claims[k].ClaimID, Text: text})
			j.parts = append(j.parts, claimPart{claim: k})
		}
		r.Claims[at].Citations = append(r.Claims[at].Citations, i)
		part := &j.parts[at-len(j.claims)]
		part.citations = append(part.citations, int(i))
	}
}

// checksIn calls yield with what a verdict says of each citation of claim k: for the
// part of the claim that it backs, where that is not all of it.
func (j *judging) checksIn(all []judge.ClaimVerdict, k int, yield func(*judge.Check)) {
	own := all[k].Checks
	for i := range own {
		inPart := slices.ContainsFunc(j.parts, func(p claimPart) bool { return p.claim == k && slices.Contains(p.citations, own[i].Citation) })
		if !inPart {
			yield(&own[i])
		}
	}
	for n := range j.parts {
		if j.parts[n].claim != k {
			continue
		}
		checks := all[len(j.claims)+n].Checks
		for i := range checks {
			yield(&checks[i])
		}
	}
}

// labels translates the row's labels. A label is left out if the row lacks the claim
// or the citation that it names.
func (j *judging) labels(in *ibid.Answer) {
	if j.ofInput {
		for i := range in.Citations {
			if value := recordedSupport(&in.Citations[i]); value.Known() {
				l := ibid.Label{Kind: ibid.SupportLabel, Value: value}
				j.request.Labels = append(j.request.Labels, judge.HumanLabel{Label: l, Claim: -1, Citation: i})
			}
		}
		return
	}
	for i := range in.Labels {
		l := &in.Labels[i]
		if !l.Value.Known() {
			continue
		}
		h := judge.HumanLabel{Label: *l, Claim: -1, Citation: -1}
		if l.ClaimID != "" {
			h.Claim = slices.IndexFunc(j.claims, func(c ibid.Claim) bool { return c.ClaimID == l.ClaimID })
			if h.Claim < 0 {
				continue
			}
		}
		if l.CitationID != "" {
			h.Citation = slices.IndexFunc(in.Citations, func(c ibid.Citation) bool { return c.CitationID == l.CitationID })
			if h.Citation < 0 {
				continue
			}
		}
		j.request.Labels = append(j.request.Labels, h)
	}
}

// recordedSupport is what another program said of a citation, which source_reference
// keeps as entailment_score; null if it says nothing.
func recordedSupport(c *ibid.Citation) ibid.Number {
	var said struct {
		Score *float64 `json:"entailment_score"`
	}
	if !strings.Contains(c.SourceReference, "entailment_score") || json.Unmarshal([]byte(c.SourceReference), &said) != nil || said.Score == nil {
		return ibid.Number{}
	}
	return ibid.Some(*said.Score)
}

// copyVerdict copies the verdict on each claim.
func (j *judging) copyVerdict(v *judge.Verdict) {
	for k := range j.claims {
		from, to := &v.Claims[k], &j.claims[k]
		to.Factual, to.NeedsCitation = from.Factual, from.NeedsCitation
		to.Contradicted = from.Contradicted
		to.Elsewhere = from.Elsewhere
		to.Joint = from.Joint
		if to.Joint.Known() && !j.human && !j.toldOf(j.request.Row) && !j.enough(k, to.Joint.Value) {
			// Evidence that nobody could read may hold what is missing.
			to.Joint = ibid.Support{}
		}
		if to.Contradicted != ibid.Yes && slices.ContainsFunc(to.Citations, func(i int32) bool { return j.checks[i].text.cut }) {
			to.Joint = j.ofCut(to.Joint)
		}
		j.checksIn(v.Claims, k, j.keepCheck)
	}
}

// ofCut is the support by a text that was cut out of a longer one. What was cut off may hold
// what is missing, so that only support and contradiction are certain. What people and other
// programs say stands.
func (j *judging) ofCut(s ibid.Support) ibid.Support {
	if !s.Known() || s.Value >= j.supported || s.Degree == ibid.Contradicts || j.human || j.toldOf(j.request.Row) {
		return s
	}
	return ibid.Undecidable()
}

// toldOf reports whether another program has verdicts on a row. It may know texts that this
// run does not.
func (j *judging) toldOf(row string) bool { return j.kept != nil && len(j.kept.told[row]) > 0 }

// enough reports whether the support of claim k is certain although some cited
// evidence may have no text. Full support is: more evidence cannot lower it.
func (j *judging) enough(k int, support float64) bool {
	if support == 1 {
		return true
	}
	for _, i := range j.claims[k].Citations {
		if c := &j.checks[i]; c.text.missing {
			return false
		}
	}
	return true
}

// keepCheck keeps the check with the best support of each citation.
func (j *judging) keepCheck(from *judge.Check) {
	c := &j.checks[from.Citation]
	if from.Relevant == ibid.Yes || c.Relevant == ibid.Unset {
		c.Relevant = from.Relevant
	}
	if c.judged && (!from.Support.Known() || c.Support.Known() && c.Support.Value >= from.Support.Value) {
		return
	}
	c.judged = true
	c.Support, c.Why, c.Quote, c.QuoteAt, c.Precheck = from.Support, from.Why, from.Quote, from.QuoteAt, from.Precheck
}

// supportBy is the support by one citation as it counts.
func (j *judging) supportBy(citation int, s ibid.Support) ibid.Support {
	if j.checks[citation].text.cut {
		return j.ofCut(s)
	}
	return s
}

// tabulate makes the verdicts on citations, in the order of the row.
func (j *judging) tabulate(in *ibid.Answer) {
	j.verdicts = j.verdicts[:0]
	for i := range in.Citations {
		c := &j.checks[i]
		v := metrics.CitationVerdict{Support: j.supportBy(i, c.Support), Relevant: c.Relevant, NoText: c.text.missing, Quoted: int64(c.QuoteAt.End - c.QuoteAt.Start)}
		if !j.human && !in.Citations[i].Place.Status.Valid() && !in.Citations[i].NoClaim {
			v = metrics.CitationVerdict{Support: ibid.Scored(0), Relevant: ibid.No}
		}
		j.verdicts = append(j.verdicts, v)
	}
	j.tabulatePairs(in)
}

// tabulatePairs makes the verdicts on claims with citations: of each claim one per
// citation of it.
func (j *judging) tabulatePairs(in *ibid.Answer) {
	j.pairs = slices.Grow(j.pairs[:0], len(j.claims))[:len(j.claims)]
	for k := range j.claims {
		cited := j.claims[k].Citations
		pairs := slices.Grow(j.pairs[k][:0], len(cited))[:len(cited)]
		clear(pairs)
		for n, i := range cited {
			if !j.human && !in.Citations[i].Place.Status.Valid() {
				pairs[n] = metrics.PairVerdict{Support: ibid.Scored(0), Relevant: ibid.No}
			}
		}
		if j.verdict != nil {
			j.checksIn(j.verdict.Claims, k, func(c *judge.Check) {
				if n := slices.Index(cited, int32(c.Citation)); n >= 0 {
					pairs[n].Support, pairs[n].Relevant = j.supportBy(c.Citation, c.Support), c.Relevant
				}
			})
			j.necessity(k, pairs)
		}
		j.pairs[k] = pairs
	}
}

// longestSearched is how many bytes a text may have to be searched for better support than
// what is cited. A judge that is not a model reads all words of what it searches.
const longestSearched = 4 << 20

// sources are the texts that the row's documents have, for what a claim could
// have cited. Texts over longestSearched are left out: only what is cited of them is read.
func (j *judging) sources(in *ibid.Answer) {
	r := &j.request
	add := func(doc string, page int32) *judge.Source {
		for i := range r.Sources {
			if r.Sources[i].Doc == doc && r.Sources[i].Page == page {
				return &r.Sources[i]
			}
		}
		text, ok := j.resolver.Text(doc, page)
		if !ok || len(text) > longestSearched {
			return nil
		}
		r.Sources = append(r.Sources, judge.Source{Doc: doc, Page: page, Text: text})
		return &r.Sources[len(r.Sources)-1]
	}
	for i := range in.Citations {
		p := &in.Citations[i].Place
		if p.Level == ibid.LevelNowhere {
			continue
		}
		s := add(p.Doc, p.Page)
		if at := j.checks[i].text; s != nil && at.placed {
			s.Cited = append(s.Cited, judge.Interval{Start: at.start, End: at.end, Citation: i})
		}
	}
	for i := range in.Documents {
		add(in.Documents[i].Doc, 0)
	}
}

// evidenceWindow is how many code points a window adds on either side at most.
const evidenceWindow = 300

// An excerpt is the text that a citation points to.
type excerpt struct {
	text       string
	before     string // what a window shows before it
	after      string // and behind it
	known      bool   // the judge can read something
	missing    bool   // there is a place, but its text is not at hand
	placed     bool   // start and end say where in the text of its key
	cut        bool   // it was cut out of a longer text
	doc        string
	page       int32
	start, end int32 // code points
}

// excerptOf is the text of citation i: what is at its place, repaired if it had
// to be; where no text is at hand, what the answer says it quotes.
func (j *judging) excerptOf(in *ibid.Answer, i int) excerpt {
	p := &in.Citations[i].Place
	if !p.Status.Valid() {
		return excerpt{}
	}
	if e, ok := j.excerptAt(in, i); ok {
		e.cut = e.cut || quote.Cut(e.text) || j.resolver.Partial(p.Doc)
		return e
	}
	// What the model wrote itself proves nothing.
	if cited := in.Citations[i].CitedText; cited != "" && !claims.IsForm(in.Citations[i].Method) {
		return excerpt{text: cited, known: true, cut: quote.Cut(cited)}
	}
	return excerpt{missing: true}
}

// titleOf is the title that citation i or its document has in the row, "" if none.
func titleOf(in *ibid.Answer, i int) string {
	c := &in.Citations[i]
	if c.Title != "" {
		return c.Title
	}
	for k := range in.Documents {
		if in.Documents[k].Doc == c.Place.Doc {
			return in.Documents[k].Title
		}
	}
	return ""
}

// excerptAt is the text that a citation points at; ok is false if it is not at hand.
func (j *judging) excerptAt(in *ibid.Answer, i int) (e excerpt, ok bool) {
	c, quoted := &in.Citations[i], false
	p := &c.Place
	if p.Level == ibid.LevelNowhere {
		return excerpt{}, false
	}
	text, ok := j.resolver.Text(p.Doc, p.Page)
	if !ok {
		return excerpt{}, false
	}
	length := int64(utf8.RuneCountInString(text))
	start, end := p.Start, p.End
	switch {
	case (p.Level != ibid.LevelCharacters || end-start == length) && j.windows && j.passages && length > longestShown:
		start, end, quoted = j.quotedIn(in, i, length)
	case p.Level != ibid.LevelCharacters || j.whole:
		start, end = 0, length
	case start >= length: // nothing of it is there, whatever stands before
		return excerpt{}, false
	default:
		reach := j.edges.tolerance
		if quote.Cut(c.CitedText) && p.Status != ibid.StatusQuoteAmbiguous { // the sentences that it was cut out of
			reach = max(reach, evidenceWindow)
		}
		start, end = j.edges.widen(p, start, end, length, reach)
	}
	start, end = min(max(start, 0), length), min(max(end, 0), length)
	if start >= end {
		return excerpt{}, false
	}
	piece, ok := j.resolver.Excerpt(p.Doc, p.Page, start, end)
	e = excerpt{text: piece, known: ok, placed: true, cut: quoted, doc: p.Doc, page: p.Page, start: int32(start), end: int32(end)}
	if j.windows && (p.Level == ibid.LevelCharacters || quoted) {
		from, to := j.edges.around(p, start, end, length, evidenceWindow)
		e.before, _ = j.resolver.Excerpt(p.Doc, p.Page, from, start)
		e.after, _ = j.resolver.Excerpt(p.Doc, p.Page, end, to)
	}
	return e, ok
}

// longestShown is the most code points of a document, cited without a place, that a model is shown
// whole. Of a longer one it is shown the sentences around what the answer quotes from it.
const longestShown = 20_000

// quotedIn returns the place of the quotations of citation i in its document: of the first that the
// document has, and of the others while the place stays within longestShown. If it has none, quoted
// is false and the place is the whole document.
func (j *judging) quotedIn(in *ibid.Answer, i int, length int64) (start, end int64, quoted bool) {
	p := &in.Citations[i].Place
	text, _ := j.resolver.Quotable(p.Doc)
	if text == nil || p.Page != 0 || !claims.MayQuote(in.Answer) {
		return 0, length, false
	}
	for _, q := range j.cutter.Quotations(in) {
		if q.Short || !slices.Contains(q.Citations, int32(i)) {
			continue
		}
		places, _ := text.Find(q.Text)
		switch {
		case len(places) == 0:
		case !quoted:
			start, end, quoted = places[0].Start(), places[0].End(), true
		case max(end, places[0].End())-min(start, places[0].Start()) <= longestShown:
			start, end = min(start, places[0].Start()), max(end, places[0].End())
		}
	}
	if !quoted {
		return 0, length, false
	}
	start, end = j.edges.widen(p, start, end, length, max(j.edges.tolerance, evidenceWindow))
	return start, end, true
}

// elsewhere is the place of the best support that a claim does not cite, nil if
// there is none or nobody knows where it is.
func (j *judging) elsewhere(v *judge.ClaimVerdict) *judge.Place {
	if !v.Elsewhere.Known() || v.Elsewhere.Value == 0 {
		return nil
	}
	if v.ElsewherePlace != nil || v.ElsewhereEvidence < 0 || v.ElsewhereAt.End <= v.ElsewhereAt.Start {
		return v.ElsewherePlace
	}
	e := &j.request.Evidence[v.ElsewhereEvidence]
	if e.Citation == judge.NoCitation {
		return &judge.Place{Doc: e.At.Doc, Page: e.At.Page, Start: e.At.Start + v.ElsewhereAt.Start, End: e.At.Start + v.ElsewhereAt.End}
	}
	at := &j.checks[e.Citation].text
	if !at.placed {
		return nil
	}
	return &judge.Place{
		Doc: at.doc, Page: at.page, Start: at.start + v.ElsewhereAt.Start, End: at.start + v.ElsewhereAt.End,
	}
}

// necessity fills in which citations of claim k are needed, if the judge says so,
// in pairs and in the verdicts on citations.
func (j *judging) necessity(k int, pairs []metrics.PairVerdict) {
	sets := j.verdict.Claims[k].Sufficient
	if sets == nil {
		return
	}
	cited := j.claims[k].Citations
	metrics.Necessity(pairs, cited, j.alternatives(k, sets))
	for n, c := range cited {
		if v := &j.verdicts[c]; v.Necessary != ibid.Yes {
			v.Necessary = pairs[n].Necessary
		}
	}
}

// alternatives turns sets of a request's evidence into sets of the row's
// citations. The judge sees the same text once, so that a set which holds one
// citation of it is as good with any other.
func (j *judging) alternatives(k int, sets [][]int) [][]int32 {
	evidence := j.request.Evidence
	var out [][]int32
	for _, set := range sets {
		base := make([]int32, len(set))
		for i, e := range set {
			base[i] = int32(evidence[e].Citation)
		}
		out = append(out, base)
		for i, e := range set {
			for _, other := range j.request.Cited(k, nil) {
				if other == e || evidence[other].Passage() != evidence[e].Passage() {
					continue
				}
				same := slices.Clone(base)
				same[i] = int32(evidence[other].Citation)
				out = append(out, same)
			}
		}
	}
	return out
}
