package harness

import (
	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// maxPatterns bounds the patterns that a rowPatterns keeps; a run has a handful,
// one per kind of row.
const maxPatterns = 256

type rowReasons = [metrics.NumMetrics]ibid.Reason

// rowPatterns writes the column undefined: rows that lack the same metrics for the same
// reasons share a map, which is made once.
type rowPatterns struct {
	undefined runs.MapColumn
	last      rowReasons
	ref       parquet.MapRef // of last
	known     map[rowReasons]parquet.MapRef
}

// append writes the reasons of a row.
func (p *rowPatterns) append(s *metrics.Scores) {
	if p.known != nil && s.Reasons == p.last {
		p.undefined.AppendRef(p.ref)
		return
	}
	ref, ok := p.known[s.Reasons]
	if !ok {
		var keys, values []string
		for m, why := range s.Reasons {
			if why != ibid.Defined {
				keys, values = append(keys, metrics.Metric(m).String()), append(values, why.String())
			}
		}
		if len(p.known) == maxPatterns {
			p.undefined.Append(keys, values)
			return
		}
		if p.known == nil {
			p.known = make(map[rowReasons]parquet.MapRef)
		}
		ref = p.undefined.Define(keys, values)
		p.known[s.Reasons] = ref
	}
	p.last, p.ref = s.Reasons, ref
	p.undefined.AppendRef(ref)
}
