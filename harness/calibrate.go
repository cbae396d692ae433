package harness

import (
	"context"
	"slices"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
)

// Judged is what a judge and people said of the same run.
type Judged struct {
	Verdicts map[string][]annotations.Verdict // by kind of question
	Rows     annotations.PeopleRows           // by position: judged metrics of rows that people judged wholly
	Open     map[string]int64                 // questions that people answered, but not alike enough for one answer, by kind

	Wording   bool                  // the judge compares words
	Abstains  bool                  // it says yes or nothing
	Undecided map[string]int64      // questions that people answered and it left undecided, by kind
	Worded    []annotations.Verdict // claims with their overlap as its score
}

// ReadJudged compares the verdicts of the finished run m in dir with the labels of
// its dataset, and scores the rows that have labels as if people had judged them.
func ReadJudged(ctx context.Context, dir string, m *runs.Manifest) (*Judged, error) {
	verdicts, err := annotations.ReadVerdicts(dir, func(*annotations.VerdictKey) bool { return true })
	if err != nil {
		return nil, err
	}
	if len(verdicts) == 0 {
		return nil, ibid.Usagef("%s has no verdicts of a judge", dir)
	}
	cited, err := verdicts.AddPairs(dir)
	if err != nil {
		return nil, err
	}
	overlaps := make(map[annotations.VerdictKey]annotations.Overlap)
	wording := m.Judge.Kind == lexicalJudge
	if wording {
		if overlaps, err = annotations.ReadOverlaps(dir); err != nil {
			return nil, err
		}
	}
	policy, err := judge.ParseLabelPolicy(m.Effective().LabelPolicy)
	if err != nil {
		return nil, &ibid.Error{Usage: true, Err: err}
	}
	p, scorer, closeDocs, err := rejudge(ctx, dir, m, judge.NewHuman(policy))
	if err != nil {
		return nil, err
	}
	defer closeDocs()
	out := &Judged{
		Verdicts: make(map[string][]annotations.Verdict), Rows: make(annotations.PeopleRows), Open: make(map[string]int64),
		Wording: wording, Abstains: wording && m.Judge.UnsupportedTo == nil, Undecided: make(map[string]int64),
	}
	err = eachRow(ctx, p.source, p.job.Limit, func(row *ibid.Answer) error {
		if !p.job.wants(row) || len(row.Labels) == 0 {
			return nil
		}
		j := judgedRow{p.judgedOf(row), verdicts, overlaps, cited}
		out.compare(&j, policy, row)
		failure, err := scorer.score(ctx, row)
		if err != nil || failure != nil {
			return err
		}
		out.keep(row.Pos, &scorer.scores)
		return nil
	})
	return out, err
}

// rejudge opens the data of a run, to have rows of it judged by another judge.
func rejudge(ctx context.Context, dir string, m *runs.Manifest, by judge.Judge) (p *Plan, s *scorer, closeDocs func(), err error) {
	if p, err = reopen(ctx, m, dir, by); err != nil {
		return nil, nil, nil, err
	}
	p.judge, p.options = by, optionsOf(&p.job.Config.Settings, by.Info().Kind)
	if err := p.join(ctx); err != nil {
		return nil, nil, nil, asUsage(err)
	}
	if err := p.findComponents(ctx); err != nil {
		return nil, nil, nil, asUsage(err)
	}
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return nil, nil, nil, asUsage(err)
	}
	closeDocs = func() { docs.Close() }
	if s, err = newScorer(p, docs); err != nil {
		closeDocs()
		return nil, nil, nil, err
	}
	return p, s, closeDocs, nil
}

// A judgedRow is what there is to compare people's answers with.
type judgedRow struct {
	items    []annotations.Judged
	verdicts annotations.Verdicts
	overlaps map[annotations.VerdictKey]annotations.Overlap
	cited    *annotations.Cited
}

// compare pairs the labels of a row with the judge's verdicts.
func (j *Judged) compare(r *judgedRow, policy ibid.Policy, row *ibid.Answer) {
	for _, it := range r.items {
		kind, about := it.Verdict.Question(), it.Verdict
		about.Kind = ""
		score, ok := r.verdicts[it.Verdict]
		overlap, worded := r.overlaps[it.Verdict]
		if found, uncited := r.cited.Elsewhere[about]; uncited && kind == annotations.ClaimSupport {
			// Its label says what other sources hold.
			if kind, ok = annotations.ElsewhereSupport, found != nil; ok {
				score = *found
			}
		}
		if !ok && j.Wording && it.Verdict.Kind == ibid.SupportLabel {
			j.Undecided[kind]++
		}
		if !ok && !worded || onPair(it.Verdict, r.items, r.verdicts) {
			continue
		}
		human, people := policy.Label(opinionsOn(row, it.Verdict))
		if people == 0 || it.Verdict.Kind != ibid.SupportLabel && human == undecided {
			j.Open[kind]++
			continue
		}
		v := annotations.Verdict{Item: it.ID, Cluster: it.Cluster, Document: r.cited.Documents[about], Human: human, Judge: score}
		if ok {
			j.Verdicts[kind] = append(j.Verdicts[kind], v)
		}
		if v.Judge, v.Stands = overlap.Share, overlap.Stands; worded {
			j.Worded = append(j.Worded, v)
		}
	}
}

// opinionsOn are what people answered to a question about a row.
func opinionsOn(row *ibid.Answer, key annotations.VerdictKey) []ibid.Opinion {
	var opinions []ibid.Opinion
	for k := range row.Labels {
		l := &row.Labels[k]
		if annotations.Answered(l) && l.Kind == key.Kind && l.ClaimID == key.Claim && l.CitationID == key.Citation {
			opinions = append(opinions, ibid.Opinion{Annotator: l.Annotator, Value: l.Value.Value})
		}
	}
	return opinions
}

// undecided is the answer to a yes-or-no question on which people do not agree, as
// the human judge has it.
const undecided = 0.5

// onPair reports whether a question about a citation was also answered for the pair
// of it and its claim, which counts in its place.
func onPair(key annotations.VerdictKey, items []annotations.Judged, verdicts annotations.Verdicts) bool {
	return key.Claim == "" && slices.ContainsFunc(items, func(o annotations.Judged) bool {
		_, judged := verdicts[o.Verdict]
		return judged && o.Verdict.Claim != "" && o.Verdict.Citation == key.Citation && o.Verdict.Kind == key.Kind
	})
}

// keep notes the metrics of a row in which labels leave nothing open.
func (j *Judged) keep(row int64, s *metrics.Scores) {
	for m, d := range metrics.Definitions() {
		if v, ok := s.Value(metrics.Metric(m)); ok && d.Corrigible() && !s.HasBounds[m] {
			if j.Rows[row] == nil {
				j.Rows[row] = make(map[metrics.Metric]float64)
			}
			j.Rows[row][metrics.Metric(m)] = v
		}
	}
}
