// Package harness runs an evaluation: it plans what is left to do, streams rows
// through a pool of workers, keeps what is done safe against interruption, and
// summarises the results.
//
// It knows no flags and prints nothing. Results depend on data and settings
// only: not on the number of workers, nor on how often a run was interrupted.
package harness

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
)

// A Job says what to evaluate and how.
type Job struct {
	Config  *configs.Config
	Source  string        // what the user named: a run file or a dataset
	Workers int           // 0 = one per processor
	Limit   int64         // evaluate only the first Limit rows; 0 = all
	Only    []dataset.Tag // evaluate only rows with all of these tags
	Fresh   bool          // run again under a new id that carries the date
	Version string        // of ibid, for the manifest

	// Judge is the caller's own, in place of the one that judge.kind names; nil for
	// that one. The caller closes it.
	Judge judge.Judge

	// APIKey is the key of a judge that asks models over a network; "" for none.
	// It goes to the judge's endpoint and is shown nowhere.
	APIKey string

	// Baseline is the directory of a finished run that gates with diff and p compare
	// with; "" for none.
	Baseline string

	// SameDataAs is a run whose data this one must have, to the byte; nil for any.
	SameDataAs *runs.Manifest
	SameDataIn string // directory of that run

	ofAnchors bool // of a run that is nested in another

	Now      func() time.Time // nil = time.Now
	Progress func(Progress)   // called from one goroutine at a time; may be nil
	Warn     func(string)     // something the user should know; may be nil
}

// A Progress tells how far a run is.
type Progress struct {
	Stage      string // digest, keys, documents, scoring, joining, summary
	Done, Of   int64  // rows of the run, or bytes while digesting
	Errors     int64  // error rows so far
	Skipped    int64  // rows of an earlier, interrupted run
	Since      time.Time
	UnitsBytes bool         // Done and Of count bytes
	Judge      *judge.Usage // of a live judge, by this process; else nil
}

// Rate is the number of units a second that this process did.
func (p Progress) Rate(now time.Time) float64 {
	if s := now.Sub(p.Since).Seconds(); s > 0 {
		return float64(p.Done-p.Skipped) / s
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

// A UsageError is input that no evaluation can start from: settings, schema,
// keys, fingerprint. Nothing has been written when it is returned.
type UsageError struct {
	Err  error
	Tip  string   // what to do about it, may be ""
	More []string // further lines, such as what changed
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Hint is what to do about the error, or "".
func (e *UsageError) Hint() string { return e.Tip }

// TagsOf turns the --only of a manifest back into tags, sorted by key.
func TagsOf(only map[string]string) []dataset.Tag {
	var tags []dataset.Tag
	for _, key := range slices.Sorted(maps.Keys(only)) {
		tags = append(tags, dataset.Tag{Key: key, Value: only[key]})
	}
	return tags
}

// tagMap is how a manifest keeps --only.
func tagMap(tags []dataset.Tag) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	m := make(map[string]string, len(tags))
	for _, t := range tags {
		m[t.Key] = t.Value
	}
	return m
}

func usagef(format string, args ...any) *UsageError {
	return &UsageError{Err: fmt.Errorf(format, args...)}
}

func (j *Job) now() time.Time {
	if j.Now != nil {
		return j.Now()
	}
	return time.Now()
}

// wants reports whether the row has all the tags of --only.
func (j *Job) wants(r *dataset.Row) bool {
	for _, tag := range j.Only {
		if tagValue(r, tag.Key) != tag.Value {
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
