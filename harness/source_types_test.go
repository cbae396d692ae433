package harness

import (
	"slices"
	"testing"

	"ibid"
	"ibid/dataset/runs"
)

// TestSourceTypes: a row has each kind of source once, in order, and is in the
// slice of each.
func TestSourceTypes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		kinds []string // of the citations
		want  []string
	}{
		{"no citation", nil, nil},
		{"no kind", []string{"", ""}, nil},
		{"one kind twice", []string{"web", "web"}, []string{"web"}},
		{"several", []string{"web", "", "file", "web"}, []string{"file", "web"}},
		{"kinds that look alike", []string{"a,b", "a"}, []string{"a", "a,b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var row ibid.Answer
			for _, kind := range tt.kinds {
				row.Citations = append(row.Citations, ibid.Citation{SourceType: kind})
			}
			if got := runs.AppendSlices(nil, &row, runs.SourceTypeSlice); !slices.Equal(got, tt.want) {
				t.Errorf("slices %q, want %q", got, tt.want)
			}
		})
	}
}
