package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
)

// A Want is a set of column groups that a reader decodes; the others stay null
// in its rows and cost nothing.
type Want uint16

// The column groups.
const (
	WantKeys      Want = 1 << iota // id, system, provider, model
	WantSpans                      // doc, page, start, end, unit of citations and truth; annotator
	WantAnswers                    // query, answer; answer_start, answer_end of citations
	WantQuotes                     // cited_text of citations and truth
	WantDetails                    // what else citations and truth have; what answers took
	WantClaims                     // claims
	WantLabels                     // labels
	WantDocuments                  // documents
	WantMessages                   // messages
	WantTags                       // tags
	WantQueries                    // query
	WantSources                    // names of documents

	WantAll Want = 1<<iota - 1
)

// nouns say in messages what the values of a column are.
var nouns = map[parquet.ColumnKind]string{
	parquet.String: "string", parquet.ListString: "string", parquet.Int64: "integer", parquet.Int32: "page number", parquet.Double: "double", parquet.Bool: "bool",
}

// storedAs is what values of a kind are in a file.
func storedAs(k parquet.ColumnKind) parquet.ValueKind {
	switch k {
	case parquet.String, parquet.ListString:
		return parquet.Text
	case parquet.Double:
		return parquet.Float
	case parquet.Bool:
		return parquet.Flag
	}
	return parquet.Integer
}

// A columnSpec is one column that ibid knows. Its place in the list of columns
// is its number.
type columnSpec struct {
	member   string             // name within the group, the column's name if it has no group
	group    int                // number of the group, -1 for a plain column
	kind     parquet.ColumnKind // of a value; ListString if it is itself a list, within one
	want     Want
	required bool
	name     bool     // results repeat the text wherever they name a row or a document
	aliases  []string // other names that are known without being told
}

// short reports whether a batch may have fewer values of the column than entries: whoever
// reads one asks whether it is there. Lists of plain values are read whole.
func (c *columnSpec) short() bool { return !c.nested() && c.member != "" }

// nested reports whether the column is a list within a list.
func (c *columnSpec) nested() bool { return c.kind == parquet.ListString }

// A schemaSpec lists the columns of one kind of file.
type schemaSpec struct {
	rows    bool // of rows of answers, or of what is said of them
	whole   bool // all columns must be there: of results
	columns []columnSpec
	groups  []string // names of the list columns
}

// path is the dotted name of column c.
func (s *schemaSpec) path(c int) string {
	switch spec := &s.columns[c]; {
	case spec.group < 0:
		return spec.member
	case spec.member == "":
		return s.groups[spec.group]
	default:
		return s.groups[spec.group] + "." + spec.member
	}
}

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

// foreignNames turns the mapping of the run file (foreign name to ours) around.
// Names that belong to the other kind of file are left out; a column that is mapped to ""
// is none of ours. A member that is
// mapped as a.b to group.c says that a is the file's name for group.
func (s *schemaSpec) foreignNames(columns map[string]string) (foreignNames, error) {
	names := foreignNames{}
	for _, foreign := range slices.Sorted(maps.Keys(columns)) {
		ours := columns[foreign]
		if ours == "" {
			names["="+foreign] = foreign // no name of ours
			continue
		}
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

// named reports whether the column goes by that member name.
func (c *columnSpec) named(name string) bool {
	return c.member == name || slices.Contains(c.aliases, name)
}

// missingHint says how to map a missing column, if a name in the file is close.
func missingHint(column string, names []string) string {
	if name := ibid.Nearest(column, names); name != "" {
		return fmt.Sprintf("the file has %s; map it with columns: {%s: %s}", name, name, column)
	}
	const listed = 12
	if more := len(names) - listed; more > 0 {
		names = append(slices.Clone(names[:listed]), fmt.Sprintf("and %d more", more))
	}
	switch {
	case column == "id" && slices.Contains(names, "doc"):
		return "it holds documents, not answers: ibid run ANSWERS --documents this file"
	case column == "doc" && slices.Contains(names, "answer"):
		return "it holds answers, not documents"
	}
	return fmt.Sprintf("map another name with columns: {name: %s}; the file has %s", column, strings.Join(names, ", "))
}

// didYouMean suggests the name closest to the one given, "" if none is close.
func didYouMean(name string, names []string) string {
	if n := ibid.Nearest(name, names); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}
