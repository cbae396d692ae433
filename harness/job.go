// Package harness runs an evaluation: it plans what is left to do, streams rows
// through a pool of workers, keeps what is done safe against interruption, and
// summarises the results.
//
// It knows no flags and prints nothing. Results depend on data and settings
// only: not on the number of workers, nor on how often a run was interrupted.
package harness

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
	"ibid/metrics/token"
)

// A Job says what to evaluate and how.
type Job struct {
	Config  *configs.Config
	Source  string            // what the user named: a run file or a dataset
	Workers int               // 0 = one per processor
	Limit   int64             // evaluate only the first Limit rows; 0 = all
	Only    map[string]string // evaluate only rows with all of these tags
	ID      string            // name of the run: one plain folder below that of runs; "" for one from the dataset and the fingerprint
	Fresh   bool              // run again under a new id that carries the date
	Version string            // of ibid, for the manifest
	// Resubmit: questions of a batch whose fate nobody can tell are asked again.
	Resubmit bool

	// Rows are those to score: the run is then their results without a summary. Nil for
	// all of the dataset.
	Rows *runs.RowRange
	// Scored has the results that the run is made of, in place of scoring rows; nil for
	// none.
	Scored *Scored
	// Tables are rows that are scored already, of which the run is made without its data; nil
	// for none.
	Tables *Tables

	// Judge is the caller's own, in place of the one that judge.kind names; nil for
	// that one. The caller closes it.
	Judge judge.Judge

	// APIKey is the key of a judge that asks models over a network; "" for none.
	// It goes to the judge's endpoint and is shown nowhere.
	APIKey string
	// Headers are sent with every request to such a judge.
	Headers map[string]string

	// EmbeddingKey is the key of the endpoint of embeddings, as APIKey.
	EmbeddingKey string

	// Baseline is the directory of a finished run that the run is compared with; "" is the
	// base of its series, and [NoBaseline] none.
	Baseline string

	// SameDataAs is a run whose data this one must have, to the byte; nil for any.
	SameDataAs *runs.Manifest
	SameDataIn string // directory of that run

	// Import says what is done with inputs in other formats than Parquet.
	Import Importing

	// Stdin is what the dataset "-" reads; nil refuses it.
	Stdin io.Reader

	Progress func(Progress) // called from one goroutine at a time; may be nil
	Warn     func(string)   // something the user should know; may be nil
	Say      func(string)   // what a run will take, once it is known; may be nil
}

// A Progress tells how far a run is.
type Progress struct {
	Stage      string // digest, keys, documents, scoring, joining, summary
	Done, Of   int64  // rows of the run, or bytes while digesting
	Errors     int64  // error rows so far
	Since      time.Time
	UnitsBytes bool         // Done and Of count bytes
	Judge      *judge.Usage // of a live judge, by this process; else nil
}

// Rate is the number of units a second that this process did.
func (p Progress) Rate(now time.Time) float64 {
	if s := now.Sub(p.Since).Seconds(); s > 0 {
		return float64(p.Done) / s
	}
	return 0
}

// Left estimates the time that is left of this stage; ok is false while nothing
// is known.
func (p Progress) Left(now time.Time) (left time.Duration, ok bool) {
	rate := p.Rate(now)
	if rate <= 0 {
		return 0, false
	}
	return time.Duration(float64(p.Of-p.Done) / rate * float64(time.Second)), true
}

// wants reports whether the row has all the tags of --only.
func (j *Job) wants(r *ibid.Answer) bool {
	for key, want := range j.Only {
		if value, _ := r.Tag(key); value != want {
			return false
		}
	}
	return true
}

// judgeKind is the kind of the judge that the run has.
func (j *Job) judgeKind() string {
	if j.Judge != nil {
		return j.Judge.Info().Kind
	}
	return j.Config.Judge.Kind
}

func (j *Job) workers() int {
	if !j.Config.Performance.ParallelEvaluation {
		return 1
	}
	if j.Workers > 0 {
		return j.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (j *Job) warn(format string, args ...any) {
	if j.Warn != nil {
		j.Warn(fmt.Sprintf(format, args...))
	}
}

func (j *Job) progress(p Progress) {
	if j.Progress != nil {
		j.Progress(p)
	}
}

// optionsOf are the settings that scoring depends on, but for the detector of
// citations (see [Plan.openDetector]).
func optionsOf(s *configs.Settings, judgeKind string) metrics.Options {
	return metrics.Options{
		Tolerance:       s.SpanMatching.ToleranceChars,
		RowPairs:        mostRowPairs * s.Limits,
		MinOverlap:      s.SpanMatching.MinOverlapThreshold,
		TruthPolicy:     s.TruthPolicy,
		Supported:       s.Thresholds.Supported,
		Consistent:      s.Thresholds.Consistent,
		MinCoverage:     s.MinCoverage,
		JudgeComponents: judgeKind != noJudge,
		Necessity:       s.Judge.Necessity && (!fromFields(s, judgeKind) && judgeKind != noJudge && judgeKind != lexicalJudge), // a model's replies tell
		Human:           fromFields(s, judgeKind),
		Compat:          s.Compat != "none",
		Weights: metrics.Weights{
			Span: s.Weights.SpanAccuracy, Quality: s.Weights.CitationQuality,
			Consistency: s.Weights.AnswerConsistency, Hallucination: s.Weights.Hallucination,
		},
	}
}

// agreedConventions joins what the run file and the dataset's own metadata say about
// offsets. Both may speak, but not differ, nor may a table that is joined.
func (p *Plan) agreedConventions() (dataset.Conventions, error) {
	c := p.job.Config
	s, told := &c.Settings, p.source.Conventions()
	var out dataset.Conventions
	var agreed [3]string
	for i, of := range [3]struct{ key, setting, meta string }{
		{"offset_unit", s.OffsetUnit, told.OffsetUnit}, {"span_end", s.SpanEnd, told.SpanEnd}, {"offset_base", s.OffsetBase, told.OffsetBase},
	} {
		if agreed[i] = of.setting; of.meta == "" || of.meta == of.setting {
			continue
		}
		if c.IsSet(of.key) {
			return out, ibid.Usagef("%s is %s in the settings, but %s in the metadata of the dataset", of.key, of.setting, of.meta).
				With("remove the setting if the dataset is right about itself")
		}
		agreed[i] = of.meta
	}
	end, base := agreed[1], agreed[2]
	var errs [3]error
	out.OffsetUnit, errs[0] = token.ParseUnit(agreed[0])
	out.SpanEnd, errs[1] = dataset.ParseSpanEnd(end)
	out.OffsetBase, errs[2] = dataset.ParseOffsetBase(base)
	if err := cmp.Or(errs[:]...); err != nil {
		return out, &ibid.Error{Usage: true, Err: err}
	}
	for kind, g := range p.gold { // whose marks have units of their own
		its := g.Conventions()
		if its.SpanEnd != "" && its.SpanEnd != end || its.OffsetBase != "" && its.OffsetBase != base {
			return out, ibid.Usagef("%s of %s: ends are %s and count from the %s, but those of the dataset are %s and count from the %s",
				kind, g.Files()[0].Name, its.SpanEnd, its.OffsetBase, end, base)
		}
	}
	out.Complete, out.MaxSpanLength = s.DocumentsComplete, s.SpanMatching.MaxSpanLength
	checks := s.QualityControl.ValidationChecks
	out.Checks = dataset.Checks{
		Existence: checks.DocumentExistenceCheck,
		Bounds:    checks.SpanBoundsCheck,
		Text:      checks.TextExtractionValidation,
	}
	return out, nil
}
