package harness

import (
	"slices"

	"ibid"
	"ibid/metrics"
)

// maxPatterns bounds the patterns that a rowPatterns keeps; a run has a handful,
// one per kind of row.
const maxPatterns = 256

// A rowKind is what decides which metrics of a row have which reason to have no value.
type rowKind struct {
	reasons [metrics.NumMetrics]ibid.Reason
	known   [metrics.NumCounts]bool
}

// A rowPattern is what the columns of reasons have in rows of one kind.
type rowPattern struct {
	span, judge  string
	keys, values []string // of undefined
}

// rowPatterns writes why metrics have no value. What rows of one kind have is worked out once.
type rowPatterns map[rowKind]*rowPattern

// append writes the reasons of a row, and those of its kinds of citations.
func (p rowPatterns) append(to *rowColumns, s *metrics.Scores, kinds *kindNumbers, judged bool) {
	kind := rowKind{s.Reasons, s.Known}
	pattern := p[kind]
	if pattern == nil {
		if pattern = makePattern(s); len(p) < maxPatterns {
			p[kind] = pattern
		}
	}
	to.SpanNull.AppendKnownText(pattern.span)
	if judged {
		to.JudgeNull.AppendKnownText(pattern.judge)
	}
	keys, values := pattern.keys, pattern.values
	if len(kinds.keys) > 0 {
		keys, values = slices.Concat(keys, kinds.keys), slices.Concat(values, kinds.reasons)
	}
	to.Undefined.AppendMap(keys, values)
}

func makePattern(s *metrics.Scores) *rowPattern {
	of := s.RowReasons()
	p := &rowPattern{span: of.Span.String(), judge: of.Judge.String()}
	for m, d := range metrics.Definitions() {
		if why := unusual(metrics.Metric(m), s, of); why != ibid.Defined {
			p.keys, p.values = append(p.keys, d.Name), append(p.values, why.String())
		}
	}
	return p
}

// unusual returns why a metric has no value, unless that is the usual reason in such a row.
func unusual(m metrics.Metric, s *metrics.Scores, of metrics.RowReasons) ibid.Reason {
	needs, ok := m.Needs()
	if why := s.Reasons[m]; why != m.UsualReason(of, ok && s.Known[needs]) {
		return why
	}
	return ibid.Defined
}
