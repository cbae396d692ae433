package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics/stats"
)

// opinionOf writes one of several opinions on a claim for claims.parquet.
func opinionOf(model string, vote int, label judge.Label) string {
	return fmt.Sprintf("%s#%d=%s", model, vote, label)
}

// firstOpinion reads the opinion of a model's first vote; ok is false for others.
func firstOpinion(text string) (model string, label judge.Label, ok bool) {
	model, name, _ := strings.Cut(text, "#0=")
	label, err := judge.ParseLabel(name)
	return model, label, err == nil
}

// A panelTable counts the labels of two models.
type panelTable struct {
	labels *stats.Contingency
	unsure int64
}

// panelOf says how the models of a panel agree, nil if only one judged.
func panelOf(path string) ([]runs.PanelPair, error) {
	f, err := dataset.OpenResult(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tables := make(map[[2]string]*panelTable)
	var opinions dataset.ColumnValues
	for g := range f.RowGroups() {
		if err := f.ReadColumn(g, "opinions", &opinions); err != nil {
			return nil, err
		}
		for i := range opinions.Rows {
			countOpinions(tables, opinions.Strings[opinions.Offsets[i]:opinions.Offsets[i+1]])
		}
	}
	var out []runs.PanelPair
	for _, models := range slices.SortedFunc(maps.Keys(tables), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, tables[models].pair(models))
	}
	return out, nil
}

// countOpinions counts the opinions on one claim, each pair of models once.
func countOpinions(tables map[[2]string]*panelTable, opinions []string) {
	labels := make(map[string]judge.Label, len(opinions))
	for _, o := range opinions {
		if model, label, ok := firstOpinion(o); ok {
			labels[model] = label
		}
	}
	models := slices.Sorted(maps.Keys(labels))
	for i, a := range models {
		for _, b := range models[i+1:] {
			t := tables[[2]string{a, b}]
			if t == nil {
				t = &panelTable{labels: stats.NewContingency(int(judge.Contradicts) + 1)}
				tables[[2]string{a, b}] = t
			}
			if labels[a] == judge.Unsure || labels[b] == judge.Unsure {
				t.unsure++
				continue
			}
			t.labels.Add(int(labels[a]), int(labels[b]))
		}
	}
}

func (t *panelTable) pair(models [2]string) runs.PanelPair {
	k := t.labels.Kappa(stats.Unweighted, 0.95)
	out := runs.PanelPair{Models: models, Claims: k.N, Unsure: t.unsure}
	if k.Observed.Defined {
		out.Agreement = &k.Observed.Value
	}
	if k.Value.Defined {
		out.Kappa = &k.Value.Value
	}
	return out
}
