package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"ibid"
	"ibid/annotations"
	"ibid/configs"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// planAnchors plans the run over the anchors of the judge, if there are any, and
// compares them with the digest that they are frozen by. They are an ingredient of
// the fingerprint: a run with other anchors is another run. A run that takes over
// the verdicts of an earlier one takes over those on its anchors, see
// [Plan.keepAnchors].
func (p *Plan) planAnchors(ctx context.Context) error {
	c := p.job.Config
	if m := p.job.SameDataAs; m != nil {
		if m.Anchors != nil {
			p.Ingredients[anchorsIngredient] = m.Anchors.Digest
		}
		return nil
	}
	if c.Judge.Anchors.Dataset == "" {
		return nil
	}
	job := &Job{
		Config: c.ForAnchors(), Source: c.Judge.Anchors.Dataset, Workers: p.job.Workers, Version: p.job.Version,
		Judge: p.job.Judge, APIKey: p.job.APIKey, Headers: p.job.Headers, EmbeddingKey: p.job.EmbeddingKey, Now: p.job.Now, ofAnchors: true,
		Progress: func(at Progress) { at.Stage = "anchors: " + at.Stage; p.job.progress(at) },
		Warn:     func(text string) { p.job.warn("anchors: %s", text) },
	}
	plan, err := job.Plan(ctx)
	if err != nil {
		return anchorsError(c, err)
	}
	p.anchors = plan
	p.Ingredients[anchorsIngredient] = plan.contentDigest()
	return p.checkDigest()
}

// anchorsIngredient is the digest of the anchors in a fingerprint.
const anchorsIngredient = "anchors"

// anchorsError says that it is the anchors that cannot be used, and where they are
// named.
func anchorsError(c *configs.Config, err error) error {
	if !errors.Is(err, ibid.ErrUsage) {
		return err
	}
	hint, _ := ibid.Advice(err)
	return c.Refuse("judge.anchors.dataset", err.Error(), hint)
}

// contentDigest is a digest of the dataset of the run, and of its documents if it
// has any.
func (p *Plan) contentDigest() string {
	content := make(map[string]string)
	for _, kind := range []string{"dataset", "documents"} {
		if digest, ok := p.Ingredients[kind]; ok {
			content[kind] = digest
		}
	}
	if len(content) == 1 {
		return content["dataset"]
	}
	return fingerprintOf(content)
}

// checkDigest compares the anchors with the digest of the settings.
func (p *Plan) checkDigest() error {
	c, found := p.job.Config, p.Ingredients[anchorsIngredient]
	switch c.Judge.Anchors.Digest {
	case found:
	case "":
		p.warn("the anchors are not frozen; what freezes them is judge.anchors.digest: %s", found)
	default:
		return c.Refuse("judge.anchors.digest", "these are not the anchors that it froze",
			"their digest is "+found+"; runs with other anchors cannot show whether the judge moved")
	}
	return nil
}

// placeAnchors puts the run over the anchors into this run's directory.
func (p *Plan) placeAnchors() {
	if p.anchors != nil {
		p.anchors.job.Config.Place(p.Dir, runs.AnchorsDir)
		p.anchors.name()
	}
}

// judgeAnchors has the anchors judged before the rows of the run, which shares its
// budget with them, so that a finished run has all their verdicts. The caller holds
// the lock of the run; before is what it was.
func (p *Plan) judgeAnchors(ctx context.Context, m, before *runs.Manifest) error {
	if p.anchors == nil {
		return p.keepAnchors(ctx, m)
	}
	if before == nil {
		// From here on the directory is this run's, whatever happens.
		if err := m.Write(p.Dir); err != nil {
			return err
		}
	}
	var err error
	if p.anchors.elsewhere, err = p.spentOnRows(ctx, m); err != nil {
		return err
	}
	out, err := p.anchors.Run(ctx)
	if err != nil {
		return p.anchorsStopped(before, err)
	}
	if m.Anchors, err = p.anchorsRecord(ctx, out); err != nil {
		return err
	}
	p.openAnchors = p.live != nil && out.Manifest.Judge.Failed > 0
	if spent := m.Anchors.SpentUSD; spent != nil {
		p.elsewhere = int64(math.Round(*spent * 1e9))
	}
	if p.anchors.live != nil {
		p.anchorsCost = p.anchors.live.Usage().CostNanoUSD
	}
	return nil
}

// spentOnRows is what earlier processes spent on the rows of the run.
func (p *Plan) spentOnRows(ctx context.Context, m *runs.Manifest) (nanoUSD int64, err error) {
	if p.live == nil || p.job.Judge != nil {
		return 0, nil
	}
	store, err := p.existingAnswers()
	if err != nil || store == nil {
		return 0, err
	}
	nanoUSD, err = p.spent(ctx, m, store)
	return nanoUSD, errors.Join(err, store.Close())
}

// anchorsStopped turns what ended the run over the anchors into what ends this one.
// Anchors that cannot be used leave nothing of a run that they begin.
func (p *Plan) anchorsStopped(before *runs.Manifest, err error) error {
	var interrupted *InterruptedError
	var stopped *StoppedError
	switch {
	case errors.As(err, &interrupted):
		interrupted.Anchors = true
		return interrupted
	case errors.As(err, &stopped):
		stopped.Anchors = true
		return stopped
	case errors.Is(err, ibid.ErrUsage):
		if before == nil {
			err = errors.Join(anchorsError(p.job.Config, err), p.held.remove(p.Dir))
		}
		return err
	}
	return fmt.Errorf("anchors: %w", err)
}

// keepAnchors takes over the verdicts on the anchors of the run whose verdicts this
// one takes over.
func (p *Plan) keepAnchors(ctx context.Context, m *runs.Manifest) error {
	from := p.job.SameDataAs
	if from == nil || from.Anchors == nil {
		return nil
	}
	to := filepath.Join(p.Dir, runs.AnchorsDir)
	if err := disk.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(filepath.Join(p.job.SameDataIn, runs.AnchorsDir))); err != nil {
		return err
	}
	kept, err := runs.ReadManifest(to)
	if err != nil {
		return err
	}
	record := *from.Anchors
	record.Agreement, err = p.agreeOnAnchors(ctx, to, kept)
	m.Anchors = &record
	return err
}

// anchorsRecord says what became of the anchors.
func (p *Plan) anchorsRecord(ctx context.Context, out *Outcome) (*runs.AnchorsRecord, error) {
	m := out.Manifest
	agreement, err := p.agreeOnAnchors(ctx, out.Dir, m)
	return &runs.AnchorsRecord{
		Digest: p.Ingredients[anchorsIngredient], Rows: m.Rows, Claims: m.Claims,
		Unanswered: m.Judge.Unanswered, Calls: m.Judge.Calls, SpentUSD: m.Judge.SpentUSD, Agreement: agreement,
	}, err
}

// agreeOnAnchors compares the verdicts of the run over the anchors with what people
// said of them.
func (p *Plan) agreeOnAnchors(ctx context.Context, dir string, m *runs.Manifest) ([]runs.AnchorsAgreement, error) {
	if m.Claims == 0 {
		return nil, nil
	}
	judged, err := ReadJudged(ctx, dir, m, false)
	if err != nil {
		return nil, fmt.Errorf("anchors: %w", err)
	}
	from := p.job.Config.Thresholds.Supported
	var out []runs.AnchorsAgreement
	for _, kind := range []string{annotations.CitationSupport, annotations.ClaimSupport} {
		var c stats.Confusion
		for _, v := range judged.Verdicts[kind] {
			c.Add(v.Human >= from, v.Judge >= from)
		}
		if c.N() > 0 {
			out = append(out, runs.AnchorsAgreement{Kind: kind, BothYes: c.TP, BothNo: c.TN, HumanOnly: c.FN, JudgeOnly: c.FP})
		}
	}
	return out, nil
}
