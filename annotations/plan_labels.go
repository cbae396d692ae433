package annotations

import (
	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// PlannedHalfWidth is the half width that labels are planned for.
const PlannedHalfWidth = 0.05

// PlanLabels says how many more labels bring the mean support of the claims of the
// finished run in dir that cite something, its judge's verdicts corrected by what people
// said, to ± [PlannedHalfWidth]; see [stats.LabelsNeeded]. said is what people say of
// claims, by question, such as [Filled.Support] gives it; the claims must be a random part
// of those of the run. Answers to one question are one cluster.
func PlanLabels(dir string, said map[VerdictKey]float64, level float64) (stats.LabelPlan, error) {
	var rows []stats.Predicted
	err := runs.Claims.Scan(dir, []string{"id", "system", "claim", "claim_id", "support", "citations"}, func(_ int64, c *runs.Claim) error {
		if c.Support == nil || len(c.Citations) == 0 {
			return nil
		}
		r := stats.Predicted{Cluster: c.ID, Judge: *c.Support}
		if v, ok := said[VerdictKey{ID: c.ID, System: c.System, Kind: ibid.SupportLabel, Claim: nameOf(c.ClaimID, c.Number)}]; ok {
			r.Human = ibid.Some(v)
		}
		rows = append(rows, r)
		return nil
	})
	return stats.LabelsNeeded(rows, level, 0, 1, PlannedHalfWidth), err
}

// Support is what people said of the support of claims: of several people the mean.
func (f *Filled) Support(k *Key) map[VerdictKey]float64 {
	items := k.byName()
	opinions := make(map[VerdictKey][]ibid.Opinion)
	for _, said := range f.Said {
		for i := range said {
			of := items[said[i].ID]
			for _, l := range said[i].Labels {
				if l.Value != nil && l.Kind == ibid.SupportLabel && l.CitationID == "" {
					q := VerdictKey{ID: of.ID, System: of.System, Kind: l.Kind, Claim: l.ClaimID}
					opinions[q] = append(opinions[q], ibid.Opinion{Annotator: said[i].Annotator, Value: *l.Value})
				}
			}
		}
	}
	support := make(map[VerdictKey]float64, len(opinions))
	for q, o := range opinions {
		support[q], _ = ibid.PolicyMean.Label(o)
	}
	return support
}
