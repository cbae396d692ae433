package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
)

// verdictColumns are the columns of verdicts.parquet, by the fields of [runs.Judgment].
type verdictColumns struct {
	ID, System, ClaimID, ClaimText, Evidence, Doc, Label, Quote, Aligned, Why, Tampering runs.TextColumn
	Judge, Model, Annotator, Template, Source, Settled, Unscored                         runs.TextColumn
	Row, Claim, Page, Start, End, QuoteStart, QuoteEnd, Vote, Votes                      runs.IntColumn
	Support                                                                              runs.DoubleColumn
	Contradicted, Relevant, Factual, NeedsCitation, Verbatim                             runs.BoolColumn
	Sufficient, Suspected                                                                runs.TextsColumn
}

// addVerdicts records what was said of one row: what counts, then the votes or labels
// that it is made of.
func (r *recorder) addVerdicts(in *ibid.Answer, j *judging) {
	switch {
	case j.verdict != nil:
		r.addOpinion(in, j, j.verdict.Claims, nil)
		for i := range j.verdict.Opinions {
			o := &j.verdict.Opinions[i]
			r.addOpinion(in, j, o.Claims, o)
		}
		for i := range j.request.Labels {
			r.addLabel(in, j, &j.request.Labels[i])
		}
	case j.failure != nil:
		for k := range j.claims {
			for _, evidence := range []string{runs.ClaimEvidence, runs.JointEvidence} {
				r.beginVerdict(in, j, k, evidence, nil)
				r.verdict.Unscored.Append(string(j.failure.Reason))
				if j.failure.Err != nil {
					r.verdict.Why.AppendAny(j.failure.Err.Error())
				}
				if evidence == runs.ClaimEvidence {
					r.addTampering(j)
				}
				r.endVerdict(j, "")
			}
		}
	}
}

// beginVerdict begins a verdict on claim k, -1 for none; o is nil for what counts.
func (r *recorder) beginVerdict(in *ibid.Answer, j *judging, k int, evidence string, o *judge.Opinion) {
	to := &r.verdict
	to.ID.Append(in.ID)
	to.System.Append(in.System)
	to.Row.Append(in.Pos)
	if k >= 0 {
		to.Claim.Append(int64(k))
		to.ClaimID.Optional(j.claims[k].ClaimID)
	}
	if evidence == runs.ClaimEvidence {
		to.ClaimText.Optional(j.claims[k].Text)
	}
	to.Evidence.Append(evidence)
	to.Judge.Append(j.info.Kind)
	to.Template.Optional(j.info.Prompt)
	switch {
	case o != nil:
		to.Model.Optional(o.Model)
		to.Vote.Append(int64(o.Vote))
	default:
		to.Model.Optional(j.info.Model)
	}
}

// sourceOf is where the verdicts of a kind of judge come from.
func sourceOf(kind string) string {
	switch kind {
	case humanJudge:
		return runs.FromHuman
	case lexicalJudge:
		return runs.FromRule
	case replayJudge, recordedJudge:
		return runs.FromFile
	}
	return runs.FromModel
}

// addOpinion records the verdicts on all claims by one vote, or those that count.
func (r *recorder) addOpinion(in *ibid.Answer, j *judging, all []judge.ClaimVerdict, o *judge.Opinion) {
	to := &r.verdict
	for k := range j.claims {
		v := &all[k]
		r.beginVerdict(in, j, k, runs.ClaimEvidence, o)
		addTri(to.Factual, v.Factual)
		addTri(to.NeedsCitation, v.NeedsCitation)
		if v.Sufficient != nil {
			to.Sufficient.Append(j.sufficient(v.Sufficient))
		}
		if o == nil {
			r.addTampering(j)
		}
		r.endVerdict(j, v.Precheck)

		r.beginVerdict(in, j, k, runs.JointEvidence, o)
		r.addSupport(j, v.Joint)
		addTri(to.Contradicted, v.Contradicted)
		to.Why.Optional(v.JointWhy)
		to.Votes.Append(int64(v.Votes))
		r.endVerdict(j, v.Precheck)

		j.checksIn(all, k, func(c *judge.Check) {
			r.beginVerdict(in, j, k, runs.CitationEvidence+strconv.Itoa(c.Citation), o)
			text := &j.checks[c.Citation].text
			if text.placed {
				r.addPlace(text.doc, text.page, int64(text.start), int64(text.end))
			}
			r.addSupport(j, c.Support)
			addTri(to.Relevant, c.Relevant)
			r.addQuote(c.Quote, c.Aligned, c.QuoteAt)
			to.Why.Optional(c.Why)
			to.Verbatim.Append(c.Verbatim)
			r.endVerdict(j, c.Precheck)
		})

		r.beginVerdict(in, j, k, runs.ElsewhereEvidence, o)
		if p := j.elsewhere(v); p != nil {
			r.addPlace(p.Doc, p.Page, int64(p.Start), int64(p.End))
		}
		r.addSupport(j, v.Elsewhere)
		to.Quote.Optional(v.ElsewhereQuote)
		to.Aligned.Optional(v.ElsewhereAligned)
		r.endVerdict(j, v.Precheck)
	}
}

// endVerdict ends a verdict that a rule may have settled.
func (r *recorder) endVerdict(j *judging, settled string) {
	source := sourceOf(j.info.Kind)
	if settled != "" {
		r.verdict.Settled.Append(settled)
		source = runs.FromRule
	}
	r.verdict.Source.Append(source)
	r.verdicts.EndRow()
}

// addSupport records a support and the judge's word for it, if it has any.
func (r *recorder) addSupport(j *judging, s ibid.Support) {
	if s.Known() {
		r.verdict.Support.Append(s.Value)
	}
	if !j.wordless {
		r.verdict.Label.Append(s.Degree.String())
	}
}

// addTampering records what is known of tampering with the judge of a row.
func (r *recorder) addTampering(j *judging) {
	r.verdict.Tampering.Optional(j.tampering())
	if len(j.suspicions) == 0 {
		return
	}
	var all []string
	for i := range j.suspicions {
		all = append(all, strings.ToValidUTF8(j.suspicions[i].String(), "\uFFFD"))
	}
	r.verdict.Suspected.Append(all)
}

// addPlace records what was judged.
func (r *recorder) addPlace(doc string, page int32, start, end int64) {
	r.verdict.Doc.AppendAny(doc)
	if page > 0 {
		r.verdict.Page.Append(int64(page))
	}
	r.verdict.Start.Append(start)
	r.verdict.End.Append(end)
}

// addQuote records a quote.
func (r *recorder) addQuote(quote, aligned string, at judge.Interval) {
	r.verdict.Quote.Optional(quote)
	r.verdict.Aligned.Optional(aligned)
	if at.End > at.Start {
		r.verdict.QuoteStart.Append(int64(at.Start))
		r.verdict.QuoteEnd.Append(int64(at.End))
	}
}

// addLabel records what one person said.
func (r *recorder) addLabel(in *ibid.Answer, j *judging, l *judge.HumanLabel) {
	to, evidence := &r.verdict, runs.JointEvidence
	switch {
	case l.Citation >= 0:
		evidence = runs.CitationEvidence + strconv.Itoa(l.Citation)
	case l.Kind != ibid.SupportLabel:
		evidence = runs.ClaimEvidence
	}
	r.beginVerdict(in, j, l.Claim, evidence, nil)
	to.Annotator.Append(l.Annotator) // "" is the one unnamed annotator
	yes := l.Value.Value > 0.5
	switch l.Kind {
	case ibid.SupportLabel:
		to.Support.Append(l.Value.Value)
	case ibid.RelevantLabel:
		to.Relevant.Append(yes)
	case ibid.FactualLabel:
		to.Factual.Append(yes)
	case ibid.NeedsCitationLabel:
		to.NeedsCitation.Append(yes)
	}
	r.endVerdict(j, "")
}

func addTri(to runs.BoolColumn, v ibid.Tri) {
	if v != ibid.Unset {
		to.Append(v == ibid.Yes)
	}
}

// sufficient are sets of evidence as sets of citations.
func (j *judging) sufficient(sets [][]int) []string {
	out := []string{}
	for _, set := range sets {
		var names []string
		for _, e := range set {
			names = append(names, strconv.Itoa(j.request.Evidence[e].Citation))
		}
		out = append(out, strings.Join(names, "+"))
	}
	slices.Sort(out)
	return out
}

// keptVerdicts are those of another run over the same data. It is the judge of a
// run that is made from that one: it asks nobody.
type keptVerdicts struct {
	info  judge.Info
	dir   string
	first map[string]int64 // of each row, as id/system: its first verdict
	ends  []int64          // of each row group of the file

	mu    sync.Mutex
	parts []keptPart // that were read last
}

// A keptPart is one row group.
type keptPart struct {
	begin int64
	rows  []runs.Judgment
}

// keptParts is how many row groups are kept: workers read them in order, side by
// side.
const keptParts = 16

// openKept opens the verdicts of the run in dir.
func openKept(dir string, info judge.Info) (*keptVerdicts, error) {
	v := &keptVerdicts{info: info, dir: dir, first: make(map[string]int64)}
	f, err := parquet.OpenResult(filepath.Join(dir, runs.VerdictsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	end := int64(0)
	for g := range f.RowGroups() {
		end += int64(f.GroupRows(g))
		v.ends = append(v.ends, end)
	}
	return v, runs.Verdicts.Scan(dir, []string{"id", "system"}, func(at int64, r *runs.Judgment) error {
		row := r.ID + "/" + r.System
		if _, known := v.first[row]; !known {
			v.first[row] = at
		}
		return nil
	})
}

// Info is that of the judge of the other run.
func (v *keptVerdicts) Info() judge.Info { return v.info }

// of returns the verdicts on a row: what counts, then the votes.
func (v *keptVerdicts) of(row string) ([]runs.Judgment, error) {
	at, known := v.first[row]
	if !known {
		return nil, nil
	}
	part, err := v.part(at)
	if err != nil {
		return nil, err
	}
	all := part.rows[at-part.begin:]
	var out []runs.Judgment
	for i := range all {
		r := &all[i]
		if r.ID+"/"+r.System != row {
			break
		}
		if r.Annotator == nil {
			out = append(out, *r)
		}
	}
	return out, nil
}

// part is the row group that holds a verdict.
func (v *keptVerdicts) part(at int64) (keptPart, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	g, _ := slices.BinarySearch(v.ends, at+1)
	p := keptPart{}
	if g > 0 {
		p.begin = v.ends[g-1]
	}
	if i := slices.IndexFunc(v.parts, func(o keptPart) bool { return o.begin == p.begin }); i >= 0 {
		return v.parts[i], nil
	}
	err := runs.Verdicts.ScanSome(v.dir, nil, func(at int64) bool { return p.begin <= at && at < v.ends[g] }, func(_ int64, r *runs.Judgment) error {
		p.rows = append(p.rows, *r)
		return nil
	})
	if len(v.parts) == keptParts {
		v.parts = v.parts[1:]
	}
	v.parts = append(v.parts, p)
	return p, err
}

// split returns the claims that a model made of the sentences of a row in the other run,
// nil if it made none.
func (v *keptVerdicts) split(row string, sentences int) ([][]string, error) {
	all, err := v.of(row)
	if err != nil {
		return nil, err
	}
	var out [][]string
	for i := range all {
		sentence, _, made := strings.Cut(all[i].ClaimID, ".")
		k, err := strconv.Atoi(sentence)
		if !made || err != nil || k < 0 || k >= sentences || all[i].Evidence != runs.ClaimEvidence || all[i].Vote != nil {
			continue
		}
		if out == nil {
			out = make([][]string, sentences)
		}
		out[k] = append(out[k], all[i].ClaimText)
	}
	return out, nil
}

// Judge returns the verdict that the other run has on the row.
func (v *keptVerdicts) Judge(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := v.of(r.Row)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &judge.RowFailure{Row: r.Row, Reason: judge.NoReply, Err: errors.New("the run has no verdict on it")}
	}
	out := &judge.Verdict{Claims: unjudged(len(r.Claims))}
	for i := range all {
		s := &all[i]
		if s.Unscored != "" {
			failure := &judge.RowFailure{Row: r.Row, Reason: judge.Reason(s.Unscored)}
			if s.Why != "" {
				failure.Err = errors.New(s.Why)
			}
			return nil, failure
		}
		if s.Claim == nil || int(*s.Claim) >= len(r.Claims) {
			return nil, fmt.Errorf("row %s: %s has a verdict on claim %v of %d", r.Row, runs.VerdictsFile, s.Claim, len(r.Claims))
		}
		to := out.Claims
		if s.Vote != nil {
			to = opinionIn(out, s.Model, int(*s.Vote))
		} else if s.Tampering != "" && s.Tampering != ibid.TamperingSuspected { // which is looked for anew
			out.Tampering = s.Tampering
		}
		if err := restore(s, r, to); err != nil {
			return nil, fmt.Errorf("row %s: %s: %w", r.Row, runs.VerdictsFile, err)
		}
	}
	return out, nil
}

// unjudged are verdicts that say nothing of n claims.
func unjudged(n int) []judge.ClaimVerdict {
	out := make([]judge.ClaimVerdict, n)
	for c := range out {
		out[c].ElsewhereEvidence = -1
	}
	return out
}

// opinionIn is the opinion of that vote of a model, added to those of v if it is new.
func opinionIn(v *judge.Verdict, model string, vote int) []judge.ClaimVerdict {
	for i := range v.Opinions {
		if o := &v.Opinions[i]; o.Model == model && o.Vote == vote {
			return o.Claims
		}
	}
	v.Opinions = append(v.Opinions, judge.Opinion{Model: model, Vote: vote, Claims: unjudged(len(v.Claims))})
	return v.Opinions[len(v.Opinions)-1].Claims
}

// restore puts one recorded verdict into those on the claims of its row.
func restore(s *runs.Judgment, r *judge.Request, all []judge.ClaimVerdict) error {
	v := &all[*s.Claim]
	if s.Evidence == runs.ClaimEvidence && s.ClaimText != r.Claims[*s.Claim].Text {
		return fmt.Errorf("claim %d is %q, in the data it is %q", *s.Claim, s.ClaimText, r.Claims[*s.Claim].Text)
	}
	support, err := supportOf(s)
	if err != nil {
		return err
	}
	switch s.Evidence {
	case runs.ClaimEvidence:
		v.Factual, v.NeedsCitation, v.Precheck = triOf(s.Factual), triOf(s.NeedsCitation), s.Settled
		if s.Sufficient != nil {
			v.Sufficient = make([][]int, 0, len(s.Sufficient))
		}
		for _, set := range s.Sufficient {
			var evidence []int
			for name := range strings.SplitSeq(set, "+") {
				e := slices.IndexFunc(r.Evidence, func(e judge.Evidence) bool { return strconv.Itoa(e.Citation) == name })
				if e < 0 {
					return fmt.Errorf("sufficient %q: there is no such evidence", set)
				}
				evidence = append(evidence, e)
			}
			v.Sufficient = append(v.Sufficient, evidence)
		}
	case runs.JointEvidence:
		v.Joint, v.JointWhy = support, s.Why
		v.Contradicted = triOf(s.Contradicted)
		if s.Votes != nil {
			v.Votes = int(*s.Votes)
		}
	case runs.ElsewhereEvidence:
		v.Elsewhere, v.ElsewhereQuote, v.ElsewhereAligned = support, s.Quote, s.Aligned
		if s.Start != nil && s.End != nil {
			v.ElsewherePlace = &judge.Place{Doc: s.Doc, Start: int32(*s.Start), End: int32(*s.End)}
			if s.Page != nil {
				v.ElsewherePlace.Page = *s.Page
			}
		}
	default:
		number, isCitation := strings.CutPrefix(s.Evidence, runs.CitationEvidence)
		citation, err := strconv.Atoi(number)
		if !isCitation || err != nil || !slices.Contains(r.Claims[*s.Claim].Citations, int32(citation)) {
			return fmt.Errorf("evidence %q of claim %d: there is none", s.Evidence, *s.Claim)
		}
		check := judge.Check{
			Evidence: slices.IndexFunc(r.Evidence, func(e judge.Evidence) bool { return e.Citation == citation }), Citation: citation,
			Support: support, Relevant: triOf(s.Relevant), Quote: s.Quote, Aligned: s.Aligned, Why: s.Why, Precheck: s.Settled, Verbatim: s.Verbatim != nil && *s.Verbatim,
		}
		if s.QuoteStart != nil && s.QuoteEnd != nil {
			check.QuoteAt = judge.Interval{Start: int32(*s.QuoteStart), End: int32(*s.QuoteEnd)}
		}
		v.Checks = append(v.Checks, check)
	}
	return nil
}

// supportOf is the support of a recorded verdict.
func supportOf(s *runs.Judgment) (ibid.Support, error) {
	var out ibid.Support
	if s.Support != nil {
		out = ibid.Scored(*s.Support)
	}
	if s.Label != "" {
		degree, err := ibid.ParseDegree(s.Label)
		if err != nil {
			return out, err
		}
		out.Degree = degree
	}
	return out, nil
}

func triOf(b *bool) ibid.Tri {
	if b == nil {
		return ibid.Unset
	}
	return ibid.TriOf(*b)
}
