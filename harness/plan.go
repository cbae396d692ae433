package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
)

// A Plan is a run before anything is written: its inputs are open, its settings
// have been checked against them, and its fingerprint is known.
type Plan struct {
	job         *Job
	source      *dataset.Source
	people      *dataset.Source         // the same, for what annotators said
	documents   *dataset.DocumentSource // nil if the run has none
	conventions dataset.Conventions
	options     metrics.Options
	inputs      []runs.Input
	sharing     *sharing
	annotators  severalAnnotators
	judge       judge.Judge // nil if the run has none
	live        judge.Live  // the judge, if it asks over a network; else nil
	inline      bool        // some row brings documents of its own
	anchors     *Plan       // of the run over the judge's anchors; nil if there are none
	openAnchors bool        // some anchors have no verdict, and another try may get it
	warnings    []string    // of planning, for the manifest

	// What a budget knows, in billionths of a US dollar: what earlier processes spent
	// on this run, and what is spent on the other rows that share its budget: the
	// anchors' of a run, the run's of anchors.
	spentBefore, elsewhere int64
	anchorsCost            int64 // part of elsewhere: of this process

	replayDigest string // of the file of a replay judge

	Ingredients map[string]string // what the fingerprint is made of
	Fingerprint string
	ID          string
	Dir         string // the run directory
	Rows        int64  // rows of the input that this run covers
}

// Plan opens the inputs and derives the fingerprint. It writes nothing. Wrong
// input is a [*UsageError].
func (j *Job) Plan(ctx context.Context) (*Plan, error) {
	p := &Plan{job: j, sharing: newSharing()}
	if err := p.open(ctx); err != nil {
		return nil, asUsage(err)
	}
	if err := p.settle(ctx); err != nil {
		return nil, err
	}
	if err := p.digest(ctx); err != nil {
		return nil, err
	}
	if err := p.checkData(); err != nil {
		return nil, err
	}
	if err := p.planAnchors(ctx); err != nil {
		return nil, err
	}
	p.Fingerprint = fingerprintOf(p.Ingredients)
	p.name()
	p.placeAnchors()
	if err := p.checkBaseline(); err != nil {
		return nil, err
	}
	return p, nil
}

// checkData compares the data with those of the run that this one must have.
func (p *Plan) checkData() error {
	m := p.job.SameDataAs
	if m == nil {
		return nil
	}
	for _, kind := range []string{"dataset", "documents"} {
		if m.Ingredients[kind] != p.Ingredients[kind] {
			u := usagef("the %s of run %s changed since it was made", kind, m.ID)
			u.Tip = "evaluate it again: ibid run"
			return u
		}
	}
	return nil
}

// want is what scoring needs of the dataset.
const want = dataset.WantKeys | dataset.WantAnswers | dataset.WantSpans | dataset.WantQuotes |
	dataset.WantDetails | dataset.WantDocuments | dataset.WantMessages | dataset.WantTags

// wantJudged is what a judge needs besides.
const wantJudged = dataset.WantClaims | dataset.WantLabels

func (p *Plan) want() dataset.Want {
	if p.job.judgeKind() == noJudge {
		return want
	}
	return want | wantJudged
}

func (p *Plan) open(ctx context.Context) (err error) {
	s := &p.job.Config.Settings
	if s.Dataset == "" {
		return &UsageError{Err: errors.New("no dataset"), Tip: "name one: ibid run DATASET, or dataset: PATH in the run file"}
	}
	all, err := dataset.Open(s.Dataset, dataset.ReadOptions{Columns: s.Columns, Want: p.want() | wantAnnotated})
	if err != nil {
		return err
	}
	p.source, p.people = all.Select(p.want()), all.Select(wantAnnotated)
	if s.Documents != "" {
		if p.documents, err = dataset.OpenDocuments(s.Documents, dataset.ReadOptions{Columns: s.Columns}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// settle brings settings and inputs together and checks what depends on both.
func (p *Plan) settle(ctx context.Context) error {
	conv, err := conventionsOf(p.job.Config, p.source)
	if err != nil {
		return err
	}
	p.conventions = conv
	if p.options, err = optionsOf(&p.job.Config.Settings, p.job.judgeKind()); err != nil {
		return &UsageError{Err: err}
	}
	if p.judge, err = p.openJudge(); err != nil {
		return err
	}
	p.live, _ = p.judge.(judge.Live)
	if err := p.survey(ctx); err != nil {
		return asUsage(err)
	}
	if conv.NeedDocuments() && p.documents == nil && !p.inline {
		u := usagef("offset_unit is %s, but there are no documents to convert by", conv.OffsetUnit)
		u.Tip = "give the documents: --documents PATH"
		return u
	}
	if err := p.options.Validate(); err != nil {
		return &UsageError{Err: err}
	}
	if err := checkGates(p.job.Config, p.job.Baseline != ""); err != nil {
		return err
	}
	p.Rows = rowsOf(p.source, p.job.Limit)
	return nil
}

// digest hashes the inputs and collects what the fingerprint is made of.
func (p *Plan) digest(ctx context.Context) error {
	j := p.job
	since := j.now()
	progress := func(done, of int64) {
		j.progress(Progress{Stage: "reading digests", Done: done, Of: of, Since: since, UnitsBytes: true})
	}
	p.Ingredients = map[string]string{"metrics": metricsVersion, "metrics.names": metricNames()}
	digests, err := p.source.Digest(ctx, progress)
	if err != nil {
		return asUsage(err)
	}
	p.addInputs("dataset", p.source.Files(), digests)
	if p.documents != nil {
		if digests, err = p.documents.Digest(ctx, progress); err != nil {
			return asUsage(err)
		}
		p.addInputs("documents", p.documents.Files(), digests)
	}
	for _, v := range j.Config.ScoreSettings() {
		p.Ingredients[v.Key] = v.Value
	}
	if p.judge != nil {
		info := p.judge.Info()
		p.Ingredients["judge"] = info.Kind + " " + info.Model + p.replayDigest
		if info.Prompt != "" {
			p.Ingredients["judge.prompt"] = info.Prompt
		}
	}
	if j.Limit > 0 {
		p.Ingredients["--limit"] = strconv.FormatInt(j.Limit, 10)
	}
	for _, tag := range j.Only {
		p.Ingredients["--only "+tag.Key] = tag.Value
	}
	return nil
}

// addInputs records the files of one kind; their content, in order, becomes an
// ingredient of the fingerprint.
func (p *Plan) addInputs(kind string, files []dataset.FileInfo, digests []dataset.FileDigest) {
	content := make(map[string]string, len(digests))
	for i, d := range digests {
		p.inputs = append(p.inputs, runs.Input{Kind: kind, Path: d.Name, Rows: files[i].Rows, Bytes: d.Size, SHA256: d.SHA256})
		content[fmt.Sprintf("%08d", i)] = d.SHA256
	}
	p.Ingredients[kind] = fingerprintOf(content)
}

// metricNames tells runs with different custom metrics apart.
func metricNames() string {
	var names []string
	for _, d := range metrics.Definitions()[metrics.NumBuiltin:] {
		names = append(names, d.Name)
	}
	return strings.Join(names, ",")
}

// name chooses id and directory.
func (p *Plan) name() {
	s := &p.job.Config.Settings
	p.ID = s.ID
	if p.ID == "" {
		p.ID = stem(s.Dataset) + "-" + p.Fingerprint[:8]
	}
	if p.job.Fresh {
		p.ID += "-" + p.job.now().UTC().Format("20060102T150405Z")
	}
	p.Dir = filepath.Join(s.Out, p.ID)
}

// stem names a dataset: its file without extension, or the folder of a glob.
func stem(path string) string {
	base := filepath.Base(path)
	if strings.ContainsAny(base, "*?[") {
		base = filepath.Base(filepath.Dir(path))
	}
	base = strings.TrimSuffix(base, ".parquet")
	if base == "." || base == string(filepath.Separator) {
		return "dataset"
	}
	return base
}

// asUsage turns what the inputs are blamed for into a [*UsageError]; trouble with
// reading them stays as it is.
func asUsage(err error) error {
	var u *UsageError
	var path *fs.PathError
	switch {
	case err == nil || errors.As(err, &u) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	out := &UsageError{Err: err}
	var bad *dataset.Error
	if errors.As(err, &bad) {
		out.Tip = bad.Hint
	}
	return out
}

// Errors of reading that end it early on purpose.
var errEnough = errors.New("enough")

func ignoreEnough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// resumeCommand is what a user types to take an interrupted run up again.
func (p *Plan) resumeCommand() string {
	return fmt.Sprintf("ibid run %s --out %s --id %s", p.job.Source, p.job.Config.Out, p.ID)
}
