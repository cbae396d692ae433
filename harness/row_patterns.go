package harness

import (
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
type rowPatterns struct {
	last    rowKind
	pattern *rowPattern // of last
	known   map[rowKind]*rowPattern
}

// append writes the reasons of a row.
func (p *rowPatterns) append(to *rowColumns, s *metrics.Scores, judged bool) {
	kind := rowKind{s.Reasons, s.Known}
	if p.pattern == nil || kind != p.last {
		p.last, p.pattern = kind, p.known[kind]
		if p.pattern == nil {
			p.pattern = makePattern(&kind, s)
			if p.known == nil {
				p.known = make(map[rowKind]*rowPattern)
			}
			if len(p.known) < maxPatterns {
				p.known[kind] = p.pattern
			}
		}
	}
	to.SpanNull.AppendKnownText(p.pattern.span)
	if judged {
		to.JudgeNull.AppendKnownText(p.pattern.judge)
	}
	to.Undefined.AppendMap(p.pattern.keys, p.pattern.values)
}

func makePattern(kind *rowKind, s *metrics.Scores) *rowPattern {
	of := s.RowReasons()
	p := &rowPattern{span: of.Span.String(), judge: of.Judge.String()}
	for m, d := range metrics.Definitions() {
		why := kind.reasons[m]
		needs, ok := metrics.Metric(m).Needs()
		known := ok && kind.known[needs]
		if why != ibid.Defined && why != metrics.Metric(m).UsualReason(of, known) {
			p.keys, p.values = append(p.keys, d.Name), append(p.values, why.String())
		}
	}
	return p
}
