package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics/claims"
)

// wantAnnotated is what agreement needs of a dataset.
const wantAnnotated = dataset.WantKeys | dataset.WantSpans | dataset.WantQuotes | dataset.WantDetails | dataset.WantLabels | dataset.WantTags | dataset.WantDocuments

// annotatedBatch is how many rows are decoded at a time.
const annotatedBatch = 512

// An Annotated is what annotators said of a dataset.
type Annotated struct {
	Spans  *annotations.Spans
	Labels *annotations.Labels

	plan    *Plan
	unclear int64 // annotators of an item some of whose marks have no place
}

// Annotated reads what the annotators of the dataset said. The judge of the plan
// is not asked.
func (p *Plan) Annotated(ctx context.Context, worst int) (*Annotated, error) {
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return nil, asUsage(err)
	}
	defer docs.Close()
	return p.annotated(ctx, docs, worst)
}

func (p *Plan) annotated(ctx context.Context, docs *dataset.Documents, worst int) (*Annotated, error) {
	o := AgreementOptions(p.job.Config, worst)
	o.Once = p.questions != nil && !p.severalSystems
	a := &Annotated{Spans: annotations.NewSpans(o), Labels: annotations.NewLabels(o, []string{"0", "1"}), plan: p}
	return a, a.read(ctx, docs)
}

// AgreementOptions are the settings that agreement depends on; worst is how many
// disagreements to keep.
func AgreementOptions(c *configs.Config, worst int) annotations.Options {
	q := &c.QualityControl.Agreement
	return annotations.Options{
		Level: c.Statistics.Level, Worst: worst,
		Quality: annotations.Quality{Target: q.TargetAgreement, Recalibrate: q.RecalibrationThreshold, MinAnnotators: int(q.MinAnnotators)},
	}
}

// MinAnnotators is how many annotators an item needs to be counted.
func (a *Annotated) MinAnnotators() int {
	return int(a.plan.job.Config.QualityControl.Agreement.MinAnnotators)
}

// Warnings are what a reader must know of all of it.
func (a *Annotated) Warnings() []string {
	if a.unclear == 0 {
		return nil
	}
	return []string{fmt.Sprintf("annotators left out of %d items, since some mark of theirs has no place in a text", a.unclear)}
}

// read reads the dataset.
func (a *Annotated) read(ctx context.Context, docs *dataset.Documents) error {
	p := a.plan
	r, progress, rows := p.resolver(docs), p.stage("measuring agreement", p.Rows), int64(0)
	var row ibid.Answer
	err := p.people.Read(ctx, 0, annotatedBatch, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			if rows++; rows > p.Rows {
				return errEnough
			}
			b.Row(i, &row)
			if err := a.add(&row, r); err != nil {
				return err
			}
		}
		progress(rows)
		return nil
	})
	return ignoreEnough(err)
}

// add adds what the annotators of a row said.
func (a *Annotated) add(row *ibid.Answer, r *dataset.Resolver) error {
	p := a.plan
	if row.Err != nil || !p.job.wants(row) {
		return nil
	}
	if err := p.annotators.add(row, p.job.Config.Limits); err != nil {
		return err
	}
	if annotations.SeveralMarked(row) {
		bad := r.Resolve(row)
		if err := r.Err(); err != nil {
			return err
		}
		if bad == nil {
			item, unclear := annotations.ItemOf(r.Text, row, p.documentOf(row), p.slicesOf(row))
			a.Spans.Add(&item)
			a.unclear += unclear
		}
	}
	for _, j := range p.judgedOf(row) {
		a.Labels.Add(j)
	}
	return nil
}

// documentOf is what an item is clustered by: the documents that it touches, or the tag that
// statistics.cluster names; its question, if there are none.
func (p *Plan) documentOf(row *ibid.Answer) string {
	by := p.job.Config.Statistics.Cluster
	if by == runs.AutoCluster {
		if all := annotations.ClusterOf(runs.AppendDocuments(nil, row)); all != "" {
			return strings.Clone(all)
		}
	}
	if c := clusterOf(row, by); c != "" {
		return strings.Clone(c)
	}
	return strings.Clone(row.ID)
}

func (p *Plan) slicesOf(row *ibid.Answer) []string {
	var out, values []string
	for _, key := range sliceKeys(p.job.Config.Slices) {
		values = runs.AppendSlices(values[:0], row, key)
		for _, v := range values {
			out = append(out, key+"="+v)
		}
	}
	return out
}

// judgedOf lists the questions about a row that people answered.
func (p *Plan) judgedOf(row *ibid.Answer) []annotations.Judged {
	if len(row.Labels) == 0 {
		return nil
	}
	return annotations.JudgedOf(row, p.documentOf(row), p.slicesOf(row))
}

// writeAgreement leaves the agreement of annotators and their worst disagreements in the run
// directory if some item has two of them.
func (p *Plan) writeAgreement(ctx context.Context, docs *dataset.Documents) error {
	some, err := p.unreadLabels(ctx)
	if err != nil {
		return err
	}
	var a *Annotated
	if some || p.job.Scored != nil || p.several.Load() {
		if a, err = p.annotated(ctx, docs, keptDisagreements); err != nil {
			return err
		}
	}
	if a == nil || !a.Spans.Pairable() && !a.Labels.Pairable() {
		return errors.Join(removeIfThere(filepath.Join(p.Dir, runs.AgreementFile)), removeIfThere(filepath.Join(p.Dir, runs.DisagreementsFile)))
	}
	verdicts, err := p.verdictsOn(a.Labels)
	if err != nil {
		return err
	}
	result := annotations.Measure(a.Spans, a.Labels)
	if err := p.writeDisagreements(ctx, docs, result.Worst, verdicts); err != nil {
		return err
	}
	return runs.Agreement.Write(p.Dir, result.Statistics)
}

// noteAnnotators notes whether a row may have several annotators. Some values that scoring cannot
// read agreement need not.
func (p *Plan) noteAnnotators(row *ibid.Answer) {
	if annotations.SeveralMarked(row) || annotations.SeveralLabelled(row.Labels) || row.Err != nil && len(row.Labels) > 0 {
		p.several.Store(true)
	}
}

// unreadLabels reports whether rows have labels that the run, which has no judge, does
// not read. That there is a column for them says nothing: our own writer always has it.
func (p *Plan) unreadLabels(ctx context.Context) (bool, error) {
	if !p.source.HasLabels() || p.want()&dataset.WantLabels != 0 {
		return false, nil
	}
	if p.labels != nil {
		return true, nil
	}
	return someBatch(ctx, p.people.Select(dataset.WantLabels), keysBatch, (*dataset.Batch).HasLabels)
}

// verdictsOn are those of the judge on what people answered, too; none if the judge
// is what people answered.
func (p *Plan) verdictsOn(labels *annotations.Labels) (annotations.Verdicts, error) {
	asked := labels.Questions()
	if len(asked) == 0 || p.judge == nil || p.job.judgeKind() == humanJudge {
		return nil, nil
	}
	return annotations.ReadVerdicts(p.Dir, func(key *annotations.VerdictKey) bool { return asked[*key] })
}

// Explain fills in the texts of disagreements: what was marked, and which claim a
// label is about.
func (p *Plan) Explain(ctx context.Context, worst []annotations.Disagreement) error {
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return err
	}
	defer docs.Close()
	return p.explainIn(ctx, docs, worst)
}

// explainIn is Explain with documents that are at hand; nil are none.
func (p *Plan) explainIn(ctx context.Context, docs *dataset.Documents, worst []annotations.Disagreement) error {
	rows, of := make([]int64, len(worst)), make(map[int64][]int)
	for i := range worst {
		rows[i] = worst[i].Row
		of[rows[i]] = append(of[rows[i]], i)
	}
	options, err := claimOptions(&p.job.Config.Settings)
	if err != nil {
		return err
	}
	all, err := p.openDataset(dataset.WantAll)
	if err != nil {
		return err
	}
	answers, cutter := &Answers{p, docs, all}, claims.NewCutter(options)
	slices.Sort(rows)
	return answers.Rows(ctx, slices.Compact(rows), func(row *ibid.Answer, r *dataset.Resolver) error {
		for _, i := range of[row.Pos] {
			worst[i].Explain(row, r.Text, func(id string) string {
				list := cutter.Cut(row).List
				if k := slices.IndexFunc(list, func(c ibid.Claim) bool { return c.ClaimID == id }); k >= 0 {
					return list[k].Text
				}
				return ""
			})
		}
		return nil
	})
}

// keptDisagreements is how many disagreements a run keeps, on places and on labels
// each.
const keptDisagreements = 5

// writeDisagreements leaves the worst disagreements in the run directory, beside
// each label disagreement what the judge says. The places are kept, not their
// texts: whoever shows them reads the documents again.
func (p *Plan) writeDisagreements(ctx context.Context, docs *dataset.Documents, worst []annotations.Disagreement, verdicts annotations.Verdicts) error {
	if err := p.explainIn(ctx, docs, worst); err != nil {
		return err
	}
	for i := range worst {
		d := &worst[i]
		for k := range d.Passages {
			d.Passages[k].Text = ""
		}
		if v, ok := verdicts[d.Verdict]; ok {
			d.Judge = &v
		}
	}
	return annotations.WriteDisagreements(p.Dir, worst)
}
