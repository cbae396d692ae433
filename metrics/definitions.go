package metrics

import (
	"fmt"
	"maps"
	"slices"
)

// comparisons are the metrics that compare citations with truth.
var comparisons = slices.Sorted(maps.Keys(merged(charDefinitions, tokenDefinitions, pageDefinitions, docDefinitions, matchDefinitions)))

// merged puts tables of definitions together. No metric may be defined twice.
func merged(tables ...map[Metric]Definition) map[Metric]Definition {
	all := make(map[Metric]Definition)
	for _, table := range tables {
		for m, d := range table {
			if before, ok := all[m]; ok {
				panic(fmt.Sprintf("metric %d is defined twice, as %s and %s", int(m), before.Name, d.Name))
			}
			all[m] = d
		}
	}
	return all
}

// definitions are all metrics, in column order.
var definitions = inOrder(merged(
	charDefinitions, tokenDefinitions, pageDefinitions, docDefinitions, matchDefinitions,
	citationDefinitions, claimDefinitions, answerDefinitions, overallDefinitions, componentDefinitions, dialectDefinitions(), offsetDefinitions, quoteDefinitions,
))

func inOrder(all map[Metric]Definition) []Definition {
	list := make([]Definition, NumMetrics)
	for m, d := range all {
		list[m] = d
	}
	return list
}

// Definitions returns all metrics in column order: the element with index m defines
// [Metric] m. The elements are shared: they are not to be changed or moved.
func Definitions() []Definition { return slices.Clip(definitions) }

// CountDefinitions returns all counts in column order: the element with index
// c defines [Count] c. Counts have only a macro value.
func CountDefinitions() []Definition { return slices.Clone(countDefinitions[:]) }

// Lookup returns the definition of the metric or count with the given name or
// alias.
func Lookup(name string) (Definition, bool) {
	if i := named(definitions, name); i >= 0 {
		return definitions[i], true
	}
	if c, ok := CountByName(name); ok {
		return countDefinitions[c], true
	}
	return Definition{}, false
}

// named is the index of the definition with a name or alias, -1 if there is none.
func named(all []Definition, name string) int {
	for i := range all {
		if all[i].Name == name || slices.Contains(all[i].Aliases, name) {
			return i
		}
	}
	return -1
}

// CountByName returns the count with the given name.
func CountByName(name string) (Count, bool) {
	i := named(countDefinitions[:], name)
	return Count(i), i >= 0
}

// String returns the column name, such as "char_f1".
func (m Metric) String() string { return definitions[m].Name }
