package runs

import (
	"fmt"
	"strings"
)

// Text is the documentation of the columns for a terminal.
func (f *Form) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.File, f.Doc)
	for i := range f.Columns {
		c := &f.Columns[i]
		fmt.Fprintf(&b, "  %s (%s): %s\n", c.Name, strings.Join(c.traits(), ", "), c.Doc)
		if !c.Required && c.Null != "never" {
			fmt.Fprintf(&b, "      null: %s\n", c.Null)
		}
		if c.Needs != "" {
			fmt.Fprintf(&b, "      not there without %s\n", needs[c.Needs])
		}
		if len(c.Keys) > 0 {
			fmt.Fprintf(&b, "      keys: %s\n      SQL of KEY: %s\n", strings.Join(c.Keys, ", "), c.SQL)
		}
	}
	for i := range f.Derived {
		c := &f.Derived[i]
		fmt.Fprintf(&b, "  %s (derived, %s): %s\n      SQL: %s\n", c.Name, strings.Join(c.traits(), ", "), c.Doc, c.SQL)
	}
	return b.String()
}

// needs says what columns need, in words.
var needs = map[string]string{
	NeedsJudge: "a judge", NeedsTexts: "documents", NeedsAuto: "statistics.cluster: auto",
	SourceTypeSlice: "slices by source_type", SourceStatusSlice: "slices by source_status",
}

// traits are the type of a column, its unit and its range.
func (c *Column) traits() []string {
	list := []string{c.Kind.String()}
	if c.Unit != "" {
		list = append(list, c.Unit)
	}
	if c.Range != "" {
		list = append(list, c.Range)
	}
	return list
}
