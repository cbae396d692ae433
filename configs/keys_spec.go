package configs

// specKeys are the settings that have only the specification's name.
var specKeys = []*setting{
	{
		name: "citation_accuracy.enabled", def: true, doc: "false stops the run with a notice",
		field: func(s *Settings) any { return &s.Enabled },
	},

	{
		name: "span_matching.tolerance_chars", def: int64(10), scores: true, check: within(0, 1<<31-1), doc: "code points by which a boundary may be off",
		field: func(s *Settings) any { return &s.SpanMatching.ToleranceChars },
	},
	{
		name: "span_matching.min_overlap_threshold", def: 0.5, scores: true, check: aboveUpTo(0, 1), doc: "Jaccard from which two spans can be matched",
		field: func(s *Settings) any { return &s.SpanMatching.MinOverlapThreshold },
	},
	{
		name: "span_matching.max_span_length", def: int64(10000), scores: true, check: within(1, 1<<31-1), doc: "code points from which a citation is span_too_long",
		field: func(s *Settings) any { return &s.SpanMatching.MaxSpanLength },
	},

	{
		name: "quality_thresholds.span_accuracy", check: within(0, 1), doc: "gate: span_accuracy_score at least this",
		field: func(s *Settings) any { return &s.QualityThresholds.SpanAccuracy },
	},
	{
		name: "quality_thresholds.citation_validity", check: within(0, 1), doc: "gate: citation_correctness at least this",
		field: func(s *Settings) any { return &s.QualityThresholds.CitationValidity },
	},
	{
		name: "quality_thresholds.answer_consistency", check: within(0, 1), doc: "gate: answer_consistency_score at least this",
		field: func(s *Settings) any { return &s.QualityThresholds.AnswerConsistency },
	},
	{
		name: "quality_thresholds.hallucination_tolerance", check: within(0, 1), doc: "gate: hallucination_rate at most this",
		field: func(s *Settings) any { return &s.QualityThresholds.HallucinationTolerance },
	},

	{
		name: "performance.batch_size", def: int64(10), scores: true, check: within(1, 1<<31-1), doc: "most claims in one judge call",
		field: func(s *Settings) any { return &s.Performance.BatchSize },
	},
	{
		name: "performance.parallel_evaluation", def: true, doc: "false = one worker, one call at a time",
		field: func(s *Settings) any { return &s.Performance.ParallelEvaluation },
	},

	{
		name: "reporting.detailed_span_analysis", def: true, scores: true, doc: "false leaves span details out of report and summary",
		field: func(s *Settings) any { return &s.Reporting.DetailedSpanAnalysis },
	},
	{
		name: "reporting.hallucination_details", def: true, scores: true, doc: "false leaves hallucination details out of report and summary",
		field: func(s *Settings) any { return &s.Reporting.HallucinationDetails },
	},
	{
		name: "reporting.confidence_intervals", def: true, scores: true, doc: "false leaves intervals out of report and summary",
		field: func(s *Settings) any { return &s.Reporting.ConfidenceIntervals },
	},

	{
		name: "quality_control.inter_annotator_agreement.target_agreement", def: 0.85, scores: true, check: within(0, 1), doc: "agreement that annotators should reach",
		field: func(s *Settings) any { return &s.QualityControl.Agreement.TargetAgreement },
	},
	{
		name: "quality_control.inter_annotator_agreement.min_annotators", def: int64(2), scores: true, check: within(2, 1<<31-1), doc: "fewest annotators an item needs to count in agreement",
		field: func(s *Settings) any { return &s.QualityControl.Agreement.MinAnnotators },
	},
	{
		name: "quality_control.inter_annotator_agreement.recalibration_threshold", def: 0.8, scores: true, check: within(0, 1), doc: "agreement below which annotators should meet",
		field: func(s *Settings) any { return &s.QualityControl.Agreement.RecalibrationThreshold },
	},
	{
		name: "quality_control.validation_checks.span_bounds_check", def: true, scores: true, doc: "false turns bounds statuses off",
		field: func(s *Settings) any { return &s.QualityControl.ValidationChecks.SpanBoundsCheck },
	},
	{
		name: "quality_control.validation_checks.document_existence_check", def: true, scores: true, doc: "false turns document_not_found off",
		field: func(s *Settings) any { return &s.QualityControl.ValidationChecks.DocumentExistenceCheck },
	},
	{
		name: "quality_control.validation_checks.text_extraction_validation", def: true, scores: true, doc: "false turns quote statuses off",
		field: func(s *Settings) any { return &s.QualityControl.ValidationChecks.TextExtractionValidation },
	},
	{
		name: "quality_control.error_handling.max_retries", check: within(0, 1000), doc: "judge.retry_attempts, which wins",
		field: func(s *Settings) any { return &s.QualityControl.ErrorHandling.MaxRetries },
	},
	{
		name: "quality_control.error_handling.fallback_scoring", def: 0.5, scores: true, check: within(0, 1), doc: "score of an unreadable verdict; only under compat: spec-1.0",
		field: func(s *Settings) any { return &s.QualityControl.ErrorHandling.FallbackScoring },
	},
	{
		name: "quality_control.error_handling.error_logging", def: true, doc: "write run.log",
		field: func(s *Settings) any { return &s.QualityControl.ErrorHandling.ErrorLogging },
	},
}
