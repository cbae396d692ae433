package dataset

// Select is the same source with fewer column groups to decode: want must be part
// of what the source was opened with.
func (s *Source) Select(want Want) *Source {
	other := *s
	other.files.options.Want = want
	return &other
}

// HasDocuments reports whether some file has a documents column, so that rows
// may bring their own sources.
func (s *Source) HasDocuments() bool { return s.files.lists[groupDocuments] }

// HasLabels reports whether some file has a labels column.
func (s *Source) HasLabels() bool { return s.files.lists[groupLabels] }

// HasTruth reports whether some file has a truth column.
func (s *Source) HasTruth() bool { return s.files.lists[groupTruth] }
