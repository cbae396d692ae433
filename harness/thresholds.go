package harness

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
)

// openThresholds reads the thresholds that judge.file names, where the judge has any. Those of
// support take the place of thresholds.supported; their folds matter to ibid calibrate alone.
func (p *Plan) openThresholds(ctx context.Context) (err error) {
	path, kind := p.job.Config.Judge.File, p.job.judgeKind()
	if path == "" || kind == noJudge || kind == humanJudge || kind == recordedJudge {
		return nil
	}
	if p.thresholds, err = annotations.ReadThresholds(path); err != nil {
		return err
	}
	of := annotations.SupportScore
	if kind == lexicalJudge {
		of = annotations.OverlapScore
	}
	if p.thresholds.Of != of {
		return ibid.Usagef("%s has thresholds of %s, and judge %s needs some of %s", path, p.thresholds.Of, kind, of).With("make them of a run with this judge: ibid calibrate RUN --fit FILE")
	}
	if p.thresholdsDigest, err = digestOf(ctx, path); err != nil {
		return err
	}
	if of == annotations.SupportScore {
		p.options.Supported = *p.thresholds.Supported
		record := p.judgeRecord()
		if of, now := p.thresholds.Judge, record.Name(); of != now {
			p.warn("%s has thresholds of judge %q, and %q judges here: another judge needs its own, ibid calibrate RUN --fit FILE", path, of, now)
		}
	}
	return nil
}

// ThresholdsOf reads the thresholds of support by which a run was judged; nil if there are none.
func ThresholdsOf(ctx context.Context, m *runs.Manifest, path string) (*annotations.Thresholds, error) {
	digest := m.Ingredients["judge.thresholds"]
	if digest == "" || m.Judge.Kind == lexicalJudge {
		return nil, nil
	}
	now, err := digestOf(ctx, path)
	if err != nil {
		return nil, err
	}
	if now != digest {
		return nil, ibid.Usagef("%s changed since run %s was made", path, m.ID).With("put it back, or judge by it: ibid rescore RUN")
	}
	return annotations.ReadThresholds(path)
}

// digestOf is the SHA-256 of a file.
func digestOf(ctx context.Context, path string) (string, error) {
	digests, err := dataset.DigestFiles(ctx, []string{path})
	if err != nil {
		return "", asUsage(err)
	}
	return digests[0].SHA256, nil
}

// overlapThresholds are those of judge lexical.
func (p *Plan) overlapThresholds() *annotations.Thresholds {
	if p.thresholds == nil || p.thresholds.Of != annotations.OverlapScore {
		return nil
	}
	return p.thresholds
}

// decide says supported and unsupported of what wording left undecided, by its overlap. A claim
// that was labelled is judged by limits that its labels had no part in.
func (j *judging) decide(in *ibid.Answer, v *judge.Verdict) {
	for k := range v.Claims {
		c := &v.Claims[k]
		document := ""
		for _, i := range j.request.Claims[k].Citations {
			document = cmp.Or(document, in.Citations[i].Doc)
		}
		j.decideOne(document, c.Overlap, &c.Joint, &c.JointWhy)
		for i := range c.Checks {
			j.decideOne(document, c.Checks[i].Overlap, &c.Checks[i].Support, &c.Checks[i].Why)
		}
	}
}

func (j *judging) decideOne(document string, overlap ibid.Number, support *ibid.Support, why *string) {
	if wording, _, decided := strings.Cut(*why, annotations.ByOverlap); decided { // in the run that verdicts are taken from
		*support, *why = ibid.Undecidable(), wording
	}
	if j.thresholds == nil || !overlap.Known() || support.Known() {
		return
	}
	limits := j.thresholds.For(document)
	switch j.thresholds.Decide(document, overlap.Value) {
	case ibid.Yes:
		*support = ibid.Full.Support()
		*why += fmt.Sprintf(annotations.ByOverlap+"%.2f, supported from %.2f on", overlap.Value, *limits.Supported)
	case ibid.No:
		*support = ibid.None.Support()
		*why += fmt.Sprintf(annotations.ByOverlap+"%.2f, unsupported up to %.2f", overlap.Value, *limits.Unsupported)
	}
}
