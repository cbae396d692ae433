package harness

import (
	"ibid/configs"
	"ibid/dataset"
	"ibid/metrics"
	"ibid/metrics/presence"
	"ibid/metrics/token"
)

// optionsOf are the settings that scoring depends on.
func optionsOf(s *configs.Settings, judgeKind string) (metrics.Options, error) {
	mode, err := presence.ParseMode(s.Presence.Mode)
	if err != nil {
		return metrics.Options{}, err
	}
	detector, err := presence.New(presence.Options{Mode: mode, CustomPhrases: s.Presence.CustomResourcePhrases})
	return metrics.Options{
		Tolerance:       s.SpanMatching.ToleranceChars,
		MinOverlap:      s.SpanMatching.MinOverlapThreshold,
		GoodMatch:       s.Thresholds.GoodMatch,
		TruthPolicy:     s.TruthPolicy,
		Supported:       s.Thresholds.Supported,
		Consistent:      s.Thresholds.Consistent,
		JudgeComponents: judgeKind != noJudge,
		Necessity:       s.Judge.Necessity && tellsNecessity(judgeKind),
		Human:           judgeKind == humanJudge,
		Compat:          s.Compat != "none",
		Presence:        detector,
		Weights: metrics.Weights{
			Span: s.Weights.SpanAccuracy, Quality: s.Weights.CitationQuality,
			Consistency: s.Weights.AnswerConsistency, Hallucination: s.Weights.Hallucination,
		},
	}, err
}

// tellsNecessity reports whether judges of the kind can say which citations are
// needed: those that a model's replies come from.
func tellsNecessity(judgeKind string) bool {
	return judgeKind != noJudge && judgeKind != humanJudge && judgeKind != lexicalJudge
}

// conventionsOf joins what the run file and the dataset's own metadata say about
// offsets. Both may speak, but not differ.
func conventionsOf(c *configs.Config, src *dataset.Source) (dataset.Conventions, error) {
	s, told := &c.Settings, src.Conventions()
	agreed := func(key, setting, meta string) (string, error) {
		switch {
		case meta == "" || meta == setting:
			return setting, nil
		case !c.IsSet(key):
			return meta, nil
		}
		u := usagef("%s is %s in the settings, but %s in the metadata of the dataset", key, setting, meta)
		u.Tip = "remove the setting if the dataset is right about itself"
		return "", u
	}
	var out dataset.Conventions
	unit, err := agreed("offset_unit", s.OffsetUnit, told.OffsetUnit)
	if err != nil {
		return out, err
	}
	end, err := agreed("span_end", s.SpanEnd, told.SpanEnd)
	if err != nil {
		return out, err
	}
	base, err := agreed("offset_base", s.OffsetBase, told.OffsetBase)
	if err != nil {
		return out, err
	}
	if out.OffsetUnit, err = token.ParseUnit(unit); err != nil {
		return out, &UsageError{Err: err}
	}
	if out.AnswerOffsetUnit, err = token.ParseUnit(s.AnswerOffsetUnit); err != nil {
		return out, &UsageError{Err: err}
	}
	if out.SpanEnd, err = dataset.ParseSpanEnd(end); err != nil {
		return out, &UsageError{Err: err}
	}
	if out.OffsetBase, err = dataset.ParseOffsetBase(base); err != nil {
		return out, &UsageError{Err: err}
	}
	if out.Tokenizer, err = token.ParseKind(s.Tokenizer); err != nil {
		return out, &UsageError{Err: err}
	}
	out.MaxSpanLength = s.SpanMatching.MaxSpanLength
	checks := s.QualityControl.ValidationChecks
	out.Checks = dataset.Checks{
		Existence: checks.DocumentExistenceCheck,
		Bounds:    checks.SpanBoundsCheck,
		Text:      checks.TextExtractionValidation,
	}
	return out, nil
}
