package dataset

// Select is the same source with another set of column groups to decode.
func (s *Source) Select(want Want) *Source {
	other := *s
	other.files.options.Want = want
	return &other
}

// HasDocuments reports whether some file has a documents column, so that rows
// may bring their own sources.
func (s *Source) HasDocuments() bool { return s.files.lists[groupDocuments] }

// HasTruth reports whether some file has a truth column.
func (s *Source) HasTruth() bool { return s.files.lists[groupTruth] }
