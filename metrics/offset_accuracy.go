package metrics

import (
	"strings"

	"ibid"
)

func init() {
	addedMetrics = append(addedMetrics, addedMetric{Definition{
		Name: "offset_accuracy", Group: "citations", Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "share of quotes that stand where the citation says",
		Formula:       "citations with a quote whose given offsets hold it / citations with a quote and offsets; a place that does not exist holds nothing, and citations whose quote was not compared with a text are left out",
		UndefinedWhen: "no citation has a quote and offsets (no_citations), or no text is known to compare one with (no_documents)",
		Source:        "this project",
	}, offsetAccuracy})
}

// offsetAccuracy is the metric offset_accuracy.
func offsetAccuracy(r *Row, _ *Scores) Value {
	v := Value{Reason: ibid.NoCitations}
	for i := range r.Citations {
		c := &r.Citations[i]
		if !c.Start.Known() || !c.End.Known() || strings.TrimSpace(c.CitedText) == "" {
			continue
		}
		switch c.Place.Status {
		case ibid.StatusOK, ibid.StatusUnchecked, ibid.StatusTooLong:
			if !c.Held { // the quote was not compared
				v.Reason = ibid.NoDocuments
				continue
			}
			v.Num++
		}
		v.Den++
	}
	if v.Den > 0 {
		v.Reason = ibid.Defined
	}
	return v
}
