package harness

import (
	"slices"
	"strings"

	"ibid/dataset"
)

// sourceTypeSlice is the slice key whose values are not of the row but of its
// citations: a row belongs to the slice of every kind of source that one of its
// citations has, and to none if no citation says its kind. Such slices overlap,
// and a metric of a row counts whole in each: it says how answers that cite this
// kind do, not how their citations of this kind do.
const sourceTypeSlice = "source_type"

// appendSourceTypes appends the distinct kinds of source of a row's citations to
// an empty list, sorted.
func appendSourceTypes(list []string, in *dataset.Row) []string {
	for i := range in.Citations {
		if kind := in.Citations[i].SourceType; kind != "" && !slices.Contains(list, kind) {
			list = append(list, kind)
		}
	}
	slices.Sort(list)
	return list
}

// sourceTypeMark stands between kinds of source in the value of a [sliced]. It is
// no valid UTF-8, so that no kind holds it.
const sourceTypeMark = "\xff"

// slicedTypes is the value of a row under sourceTypeSlice.
func slicedTypes(kinds []string) sliced {
	return sliced{strings.Join(kinds, sourceTypeMark), len(kinds) > 0}
}

// values are the slices of a key that a row with this value is in.
func (s sliced) values(key string) []string {
	switch {
	case !s.has:
		return nil
	case key == sourceTypeSlice:
		return strings.Split(s.value, sourceTypeMark)
	}
	return []string{s.value}
}
