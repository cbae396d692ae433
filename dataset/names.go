package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// foreignNames maps a dotted name of ours to the dotted name that the file has
// for it.
type foreignNames map[string]string

// owner reports whether the file's column name, found where ours is expected,
// can be ours: it is not mapped to something else.
func (f foreignNames) owner(ours, name string) bool {
	group, _, member := strings.Cut(ours, ".")
	for other, foreign := range f {
		if other == ours {
			continue
		}
		if member {
			if g, m, ok := strings.Cut(foreign, "."); ok && m == name && (g == group || g == f[group]) {
				return false
			}
		} else if foreign == name {
			return false
		}
	}
	return true
}

// of is the file's name for a plain column or a list of ours.
func (f foreignNames) of(ours string) string {
	if foreign, ok := f[ours]; ok {
		return foreign
	}
	return ours
}

// knows reports whether some column of group g (-1 for none), whose members are
// prefixed so, is called name in the file.
func (s *schemaSpec) knows(g int, prefix, name string, names foreignNames) bool {
	for c := range s.columns {
		if s.columns[c].group != g {
			continue
		}
		if foreign, ok := names[prefix+s.columns[c].member]; ok {
			if foreign[strings.LastIndexByte(foreign, '.')+1:] == name {
				return true
			}
		} else if s.named(c, name) {
			return true
		}
	}
	return false
}

// foreignNames turns the mapping of the run file (foreign name to ours) around.
// Names that belong to the other kind of file are left out. A member that is
// mapped as a.b to group.c says that a is the file's name for group.
func (s *schemaSpec) foreignNames(columns map[string]string) (foreignNames, error) {
	names := foreignNames{}
	for _, foreign := range slices.Sorted(maps.Keys(columns)) {
		ours := columns[foreign]
		if !s.has(ours) {
			if !rowSpec.has(ours) && !documentSpec.has(ours) {
				return nil, columnError(ours, didYouMean(ours, append(rowSpec.names(), documentSpec.names()...)),
					"%w: %s is mapped to it", errUnknownColumn, foreign)
			}
			continue
		}
		if err := names.add(ours, foreign); err != nil {
			return nil, err
		}
		group, _, member := strings.Cut(ours, ".")
		foreignGroup, _, foreignMember := strings.Cut(foreign, ".")
		if member != foreignMember {
			return nil, columnError(ours, fmt.Sprintf("write the full name in the file, such as %s.%s", group, foreign),
				"mapped from %s: a member of a list and a column of its own", foreign)
		}
		if member && foreignGroup != group {
			if err := names.add(group, foreignGroup); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

func (f foreignNames) add(ours, foreign string) error {
	if other, ok := f[ours]; ok && other != foreign {
		return columnError(ours, "", "mapped from both %s and %s", other, foreign)
	}
	f[ours] = foreign
	return nil
}

func (s *schemaSpec) has(name string) bool { return slices.Contains(s.names(), name) }

// names lists the dotted names of columns, groups and members.
func (s *schemaSpec) names() []string {
	names := slices.Clone(s.groups)
	for c := range s.columns {
		if s.columns[c].member != "" {
			names = append(names, s.path(c))
		}
	}
	return names
}

// members lists the columns of group g.
func (s *schemaSpec) members(g int) []int {
	var cols []int
	for c := range s.columns {
		if s.columns[c].group == g {
			cols = append(cols, c)
		}
	}
	return cols
}

// named reports whether column c goes by that member name.
func (s *schemaSpec) named(c int, name string) bool {
	return s.columns[c].member == name || slices.Contains(s.columns[c].aliases, name)
}

// missingHint says how to map a missing column, if a name in the file is close.
func missingHint(column string, names []string) string {
	if name := Nearest(column, names); name != "" {
		return fmt.Sprintf("the file has %s; map it with columns: {%s: %s}", name, name, column)
	}
	const listed = 12
	if more := len(names) - listed; more > 0 {
		names = append(slices.Clone(names[:listed]), fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("map another name with columns: {name: %s}; the file has %s", column, strings.Join(names, ", "))
}

// didYouMean suggests the name closest to the one given, "" if none is close.
func didYouMean(name string, names []string) string {
	if n := Nearest(name, names); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}

// maxSuggested is the length from which a name is not worth a suggestion: the
// comparison takes its length times those of all names.
const maxSuggested = 100

// Nearest is the name at the smallest edit distance from the one given, at most
// half of its length away; "" if none is that close. Case does not count.
func Nearest(name string, names []string) string {
	best, bestDistance := "", max(len(name)/2, 1)+1
	if len(name) > maxSuggested {
		return ""
	}
	for _, n := range names {
		if d := editDistance(strings.ToLower(name), strings.ToLower(n)); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return best
}

// editDistance is the number of bytes to insert, delete or replace.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
