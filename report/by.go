package report

import (
	"fmt"
	"slices"
	"strings"
)

// byColumns is how many values of a field stand side by side.
const byColumns = 4

// Fields lists what the numbers can be grouped by: system, and the keys of the
// slices that the run made.
func (s *Summary) Fields() []string {
	fields := []string{"system"}
	for _, r := range s.rows {
		if key, _, ok := strings.Cut(r.Slice, "="); ok && !slices.Contains(fields, key) {
			fields = append(fields, key)
		}
	}
	return fields
}

// By narrows the summary to the numbers of a field, one of [Summary.Fields]; ok
// is false for any other.
func (s *Summary) By(field string) (by *Summary, ok bool) {
	has := func(system, slice string) bool { return strings.HasPrefix(slice, field+"=") }
	if field == "system" {
		has = func(system, slice string) bool { return system != "" && slice == "" }
	}
	by = &Summary{Run: s.Run, Title: s.Title + ", by " + CleanLine(field), by: field}
	for _, b := range s.Blocks {
		if has(b.System, b.Slice) {
			by.Blocks = append(by.Blocks, b)
		}
	}
	for _, r := range s.rows {
		if has(r.System, r.Slice) {
			by.rows = append(by.rows, r)
		}
	}
	return by, len(by.rows) > 0
}

// writeBy sets the values of the field side by side: all systems, then each.
func (s *Summary) writeBy(b *strings.Builder, notes *footnotes, style Style) {
	groups, name := s.sliceGroups(), func(block *Block) string {
		return CleanLine(strings.TrimPrefix(block.Slice, s.by+"="))
	}
	if s.by == "system" {
		groups, name = [][]Block{s.Blocks}, systemName
	}
	for _, group := range groups {
		if s.by != "system" {
			fmt.Fprintf(b, "\n%s\n", style.Bold(CleanLine(blockTitle(group[0].System, ""))))
		}
		for columns := range slices.Chunk(group, byColumns) {
			b.WriteString("\n")
			matrix(columns, name, notes).write(b, style)
		}
	}
}

// sliceGroups splits the blocks by system.
func (s *Summary) sliceGroups() [][]Block {
	var groups [][]Block
	for _, block := range s.Blocks {
		if n := len(groups); n > 0 && groups[n-1][0].System == block.System {
			groups[n-1] = append(groups[n-1], block)
			continue
		}
		groups = append(groups, []Block{block})
	}
	return groups
}
