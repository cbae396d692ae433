package compare

import (
	"fmt"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// ppiMethod is how a correction by labelled pairs is named.
const ppiMethod = "ppi++"

// A rowName names a row of a run.
type rowName struct{ id, system string }

// people are what labels make of the run's rows, by metric; none if nobody
// labelled a row, or the judge was not measured by the labels.
func (r *Run) people() (map[rowName]map[string]float64, error) {
	if r.labelled != nil {
		return r.labelled, nil
	}
	rows, err := runs.ReadLabelled(r.Dir)
	if err != nil {
		return nil, err
	}
	r.labelled = make(map[rowName]map[string]float64, len(rows))
	for _, row := range rows {
		r.labelled[rowName{row.ID, row.System}] = row.Values
	}
	return r.labelled, nil
}

// human is what labels make of a metric of a row.
func (r *Run) human(labelled map[rowName]map[string]float64, row int, metric string) stats.Number {
	if v, ok := labelled[rowName{r.ids[row], r.systems[row]}][metric]; ok {
		return stats.Of(v)
	}
	return stats.Number{}
}

// correct adds the difference without the judge's errors, over the pairs of list.
func (t *tester) correct(d *Difference, p *pairing, base, other *series, list [][2]int) error {
	first, err := p.base.run.people()
	if err != nil {
		return err
	}
	second, err := p.other.run.people()
	if err != nil || len(first) == 0 || len(second) == 0 {
		return err
	}
	sides := [2][]stats.Predicted{}
	var differences []stats.Predicted
	labelled := int64(0)
	for _, pair := range list {
		b := stats.Predicted{Cluster: p.base.run.clusters[pair[0]], Judge: base.value[pair[0]], Human: p.base.run.human(first, pair[0], d.Metric)}
		n := stats.Predicted{Cluster: b.Cluster, Judge: other.value[pair[1]], Human: p.other.run.human(second, pair[1], d.Metric)}
		both := stats.Predicted{Cluster: b.Cluster, Judge: n.Judge - b.Judge}
		if b.Human.Defined && n.Human.Defined {
			both.Human = stats.Of(n.Human.Value - b.Human.Value)
			labelled++
		}
		sides[0], sides[1], differences = append(sides[0], b), append(sides[1], n), append(differences, both)
	}
	if labelled < stats.FewestLabels {
		return nil
	}
	e := stats.PPIClusters(differences, t.level)
	if !e.Bounds.Defined() {
		return nil
	}
	d.Corrected = &Corrected{
		Base: stats.PPIClusters(sides[0], t.level).Value.Pointer(), New: stats.PPIClusters(sides[1], t.level).Value.Pointer(),
		Diff: e.Value.Value, Low: e.Low.Value, High: e.High.Value, Labelled: labelled, Method: ppiMethod,
	}
	return nil
}

// doubt warns of a difference that the judge's errors may have made.
func (d *Difference) doubt() {
	c := d.Corrected
	decided := d.Outcome == Better || d.Outcome == Worse || d.Outcome == Different
	if c == nil || !decided || (c.Low > 0 && *d.Diff > 0) || (c.High < 0 && *d.Diff < 0) {
		return
	}
	d.Warnings = append(d.Warnings, fmt.Sprintf("corrected for the judge's errors it is %+.3f [%.3f, %.3f]: people's labels do not confirm it", c.Diff, c.Low, c.High))
}
