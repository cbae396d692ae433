package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"ibid/dataset/runs"
	"ibid/judge"
)

// Kinds of judges, as in judge.kind.
const (
	noJudge      = "none"
	humanJudge   = "human"
	lexicalJudge = "lexical"
	replayJudge  = "replay"
)

// openJudge makes the judge of the run, nil if it has none. What its verdicts
// depend on becomes part of the fingerprint.
func (p *Plan) openJudge() (judge.Judge, error) {
	s := &p.job.Config.Settings
	if p.job.Judge != nil {
		return p.job.Judge, nil
	}
	switch s.Judge.Kind {
	case noJudge:
		return nil, nil
	case humanJudge:
		policy, err := judge.ParseLabelPolicy(s.LabelPolicy)
		if err != nil {
			return nil, &UsageError{Err: err}
		}
		return judge.NewHuman(policy), nil
	case lexicalJudge:
		return judge.NewLexical(), nil
	case replayJudge:
		digest, err := fileDigest(s.Judge.Replay)
		if err != nil {
			return nil, asUsage(err)
		}
		p.replayDigest = digest
		j, err := judge.OpenReplay(s.Judge.Replay)
		if err != nil {
			return nil, asUsage(err)
		}
		return j, nil
	}
	return p.planLive()
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// judgeRecord says who judges.
func (p *Plan) judgeRecord() runs.JudgeRecord {
	if p.judge == nil {
		return runs.JudgeRecord{Kind: noJudge}
	}
	info := p.judge.Info()
	return runs.JudgeRecord{Kind: info.Kind, Model: info.Model, Prompt: info.Prompt, Baseline: info.Baseline, Replay: p.job.Config.Judge.Replay}
}
