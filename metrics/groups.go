package metrics

import (
	"cmp"
	"slices"
)

// aboutGroups says what the metrics of each group are about.
var aboutGroups = map[string]string{
	"characters":    "how well the cited characters are those that people marked",
	"tokens":        "the same, counted in words",
	"pages":         "the same, counted in pages",
	"documents":     "the same, counted in documents",
	"best matches":  "each cited span beside the marked span that fits it best",
	"matched spans": "spans that are found as a whole, how far off their ends are, and how many touch no truth",
	"claims":        "whether what an answer claims is borne out by what it cites",
	"citations":     "whether each citation bears out its claim, and its offsets hold what it quotes",
	"quotations":    "whether what the answer quotes stands in the sources that it cites",
	"answer":        "how much of the answer carries a citation, and whether it should have any",
	"overall":       "the score that a run is judged by, and its components",
	"dialects":      "formulas of published benchmarks, under their own names",
	"presence":      "whether the text of the answer names a source",
	"counts":        "what was counted in each row",
}

// AboutGroup says in a line what the metrics of a group are about, "" of a group that
// ibid does not have.
func AboutGroup(group string) string { return aboutGroups[group] }

// ByGroup brings definitions into the order in which people read them: group by group, in
// the order in which groups first appear.
func ByGroup(all []Definition) []Definition {
	first := make(map[string]int)
	for i, d := range all {
		if _, ok := first[d.Group]; !ok {
			first[d.Group] = i
		}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(x, y Definition) int { return cmp.Compare(first[x.Group], first[y.Group]) })
	return all
}
