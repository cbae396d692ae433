package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/openrouter"
	"ibid/metrics/claims"
)

// Kinds of judges, as in judge.kind.
const (
	noJudge      = "none"
	humanJudge   = "human"
	lexicalJudge = "lexical"

	recordedJudge = "recorded"
)

// openJudge makes the judge of the run, nil if it has none. What its verdicts
// depend on becomes part of the fingerprint.
func (p *Plan) openJudge(ctx context.Context) (judge.Judge, error) {
	s := &p.job.Config.Settings
	if p.job.Judge != nil {
		return p.job.Judge, nil
	}
	switch kind := s.Judge.Kind; {
	case kind == noJudge:
		return nil, nil
	case kind == humanJudge:
		policy, err := judge.ParseLabelPolicy(s.LabelPolicy)
		if err != nil {
			return nil, &ibid.Error{Usage: true, Err: err}
		}
		return judge.NewHuman(policy), nil
	case p.kept != "": // where the judge would not find what it found
		return p.openVerdicts()
	case kind == lexicalJudge:
		return judge.NewLexical(), nil
	case kind == recordedJudge:
		if s.Judge.File == "" {
			return judge.Recorded{}, nil
		}
		var err error
		if p.replayDigest, err = digestOf(ctx, s.Judge.File); err != nil {
			return nil, err
		}
		j, err := openRecorded(s.Judge.File)
		if err != nil {
			return nil, asUsage(err)
		}
		return j, nil
	}
	if p.job.SameDataAs != nil {
		return p.openVerdicts()
	}
	// What the plan has to know of a live judge. This one asks and keeps nothing.
	return p.job.askingJudge()
}

// askingJudge makes a judge that asks models, and has no store.
func (job *Job) askingJudge() (*openrouter.Judge, error) {
	c, err := job.liveConfig()
	if err != nil {
		return nil, asUsage(err)
	}
	j, err := openrouter.New(c)
	return j, badJudge(err)
}

// openVerdicts makes a judge of the verdicts of the run whose data this one has.
func (p *Plan) openVerdicts() (judge.Judge, error) {
	m := p.job.SameDataAs
	info := judge.Info{Kind: m.Judge.Kind, Model: m.Judge.Model, Prompt: m.Judge.Prompt, Baseline: m.Judge.Baseline}
	v, err := openKept(runs.Verdicts, p.job.SameDataIn, info)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &ibid.Error{
			Usage: true, Err: fmt.Errorf("run %s has no %s: an earlier version made it", m.ID, runs.VerdictsFile),
			Hint: "evaluate it again: ibid run; answers that the cache has cost nothing",
		}
	}
	if err != nil {
		return nil, asUsage(err)
	}
	v.excerpts = p.kept != ""
	return v, nil
}

// asksElsewhere reports whether the judge is asked if passages that a claim does not cite
// support it: people and small verifiers are not, a recorded file is if it says so.
func (p *Plan) asksElsewhere() bool {
	switch p.job.judgeKind() {
	case noJudge, humanJudge:
		return false
	case recordedJudge:
		v, ok := p.judge.(*keptVerdicts)
		return ok && v.elsewhere
	}
	return !p.job.Config.Judge.SmallVerifier()
}

// badJudge is the error of settings that no judge can be made of; nil if err is.
func badJudge(err error) error {
	if err == nil {
		return nil
	}
	return &ibid.Error{Usage: true, Err: err}
}

// judgeRecord says who judges.
func (p *Plan) judgeRecord() runs.JudgeRecord {
	if p.judge == nil {
		return runs.JudgeRecord{Kind: noJudge}
	}
	info := p.judge.Info()
	out := runs.JudgeRecord{Kind: info.Kind, Model: info.Model, Prompt: info.Prompt, Baseline: info.Baseline, AsksElsewhere: p.asksElsewhere()}
	if info.Kind == recordedJudge {
		out.Replay = p.job.Config.Judge.File
	}
	if t := p.thresholds; t != nil {
		out.SupportedFrom, out.UnsupportedTo = t.Supported, t.Unsupported
	}
	return out
}

// answersFile is the store of a run that keeps no answers for later ones: it
// lasts until every claim has its answer, so that what is paid for survives a kill.
const answersFile = "answers.sqlite"

const verifierHint = "judge.prompts names the file of the verifier: ibid help verifiers"

// liveConfig says whom a judge asks and how, as the settings have it.
func (job *Job) liveConfig() (openrouter.Config, error) {
	s := &job.Config.Settings
	j := &s.Judge
	c := openrouter.Config{
		Kind: j.Kind, BaseURL: j.BaseURL, Azure: j.Azure(), Key: job.APIKey, Models: j.Model, Request: j.RequestMembers(), Headers: job.Headers,
		Protocol: j.Protocol, Batch: j.Batch, Resubmit: job.Resubmit,
		Claims: s.Claims == string(claims.Model), Necessity: j.Necessity, Votes: int(j.Votes), MaxClaims: int(s.Performance.BatchSize),
		Retries: int(j.RetryAttempts), Timeout: j.Timeout, MaxOutage: j.MaxOutage, RPM: int(j.RPM), TPM: int(j.TPM),
		Concurrency: int(j.Concurrency), MaxCostNanoUSD: int64(math.Round(j.MaxCostUSD * 1e9)),
	}
	if !j.SmallVerifier() {
		c.PromptDir = j.Prompts
	} else if j.Prompts != "" {
		var err error
		if c.Verifier, err = configs.ReadMapping(j.Prompts, verifierHint); err != nil {
			return c, &ibid.Error{Usage: true, Err: err, Hint: verifierHint}
		}
	}
	if !s.Performance.ParallelEvaluation {
		c.Concurrency = 1
	}
	if s.Compat != "none" {
		c.FallbackScore = &s.QualityControl.ErrorHandling.FallbackScoring
	}
	if len(j.Prices) > 0 {
		p := openrouter.Price{Prompt: j.Prices["prompt"] / 1e6, Cached: j.Prices["prompt"] / 1e6, Completion: j.Prices["completion"] / 1e6}
		if cached, given := j.Prices["cached"]; given {
			p.Cached = cached / 1e6
		}
		c.Prices = make(map[string]openrouter.Price)
		for _, model := range j.Models() {
			c.Prices[model] = p
		}
	}
	return c, nil
}

// openLive makes the judge that the run asks, with the store of its answers.
// close ends both. The caller holds the lock of the run.
func (p *Plan) openLive(ctx context.Context, m *runs.Manifest) (close func() error, err error) {
	if p.live == nil || p.job.Judge != nil {
		return nothing, nil
	}
	path, err := p.answersPath()
	if err != nil {
		return nil, err
	}
	c, err := p.job.liveConfig()
	if err != nil {
		return nil, err
	}
	store, err := cache.Open(path)
	if err != nil {
		return nil, err
	}
	c.Store = store
	c.Run = auditName(m)
	// The directory is locked, so that nobody else goes by its name.
	host, err := os.Hostname()
	full, err2 := filepath.Abs(p.Dir)
	c.Owner = host + ":" + full
	if err = cmp.Or(err, err2); err == nil {
		p.spentBefore, err = store.Spent(ctx, c.Run, m.Timings.Started)
		c.SpentNanoUSD = p.spentBefore
	}
	var j *openrouter.Judge
	if err == nil {
		j, err = openrouter.New(c)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	p.judge, p.live = j, j
	if err := p.warnOfBatches(ctx, store, &c); err != nil {
		return nil, errors.Join(err, j.Close(), store.Close())
	}
	p.warnOfModels(ctx, m, j)
	return func() error { return errors.Join(j.Close(), store.Close()) }, nil
}

// openServices opens what the run asks: judge and embedder.
func (p *Plan) openServices(ctx context.Context, m *runs.Manifest) (close func() error, err error) {
	closeLive, err := p.openLive(ctx, m)
	if err != nil {
		return nil, err
	}
	closeEmbedder, err := p.openEmbedder(auditName(m))
	if err != nil {
		return nil, errors.Join(err, closeLive())
	}
	return func() error { return errors.Join(closeEmbedder(), closeLive()) }, nil
}

// checkLabels refuses a classifier of whose labels it is not known which one means
// support, as far as its server says what they are.
func (p *Plan) checkLabels(ctx context.Context) error {
	j, ok := p.live.(*openrouter.Judge)
	if !ok {
		return nil
	}
	return badJudge(j.Ready(ctx))
}

// auditName is what the store of answers calls the run.
func auditName(m *runs.Manifest) string {
	return m.ID + " " + m.Timings.Started.UTC().Format(time.RFC3339Nano)
}

// answersPath is the store of the run's answers: the one in the settings, the
// user's, or one in the run's own directory.
func (p *Plan) answersPath() (string, error) {
	j := &p.job.Config.Judge
	switch {
	case j.Cache == configs.CacheOff:
		return filepath.Join(p.Dir, partsDir, answersFile), nil
	case j.Cache != "":
		return j.Cache, nil
	}
	path, err := cache.DefaultPath()
	if err != nil {
		return "", &ibid.Error{Usage: true, Err: err, Hint: "name a file for the judge's answers: --cache FILE, or --cache off"}
	}
	return path, nil
}

// warnOfJudge says what makes the verdicts of a run less alike than its settings
// promise: more answerers than models were named, and parameters that no provider
// takes.
func (p *Plan) warnOfJudge(m *runs.Manifest) {
	if models := p.job.Config.Judge.Models(); p.job.Judge == nil && len(m.Judge.Answered) > len(models) {
		var who []string
		for _, a := range m.Judge.Answered {
			who = append(who, fmt.Sprintf("%s at %s (%d)", a.Model, cmp.Or(a.Provider, "unknown"), a.Calls))
		}
		p.warnOf(m, "the judge was not the same for all rows: %s; judge.request: {provider: ...} can pin one", strings.Join(who, ", "))
	}
	if j, ok := p.live.(*openrouter.Judge); ok {
		for _, what := range j.Notes() {
			p.warnOf(m, "%s", what)
		}
	}
}
