package span

import (
	"testing"

	"ibid"
)

func TestPlaceAsSpan(t *testing.T) {
	tests := []struct {
		name       string
		start, end int64
		want       Span
	}{
		{"as given", 4, 9, Span{1, 4, 9}},
		{"largest", 0, ibid.MaxEnd, Span{1, 0, ibid.MaxEnd}},
		{"end beyond what a span holds", 4, 1 << 40, Span{1, 4, ibid.MaxEnd}},
	}
	for _, tt := range tests {
		p := ibid.Place{Level: ibid.LevelCharacters, Status: ibid.CheckSpan(tt.start, tt.end), Start: tt.start, End: tt.end}
		if got := Of(p.Part(0), 1); !p.InSets() || got != tt.want || got.Len() == 0 {
			t.Errorf("%s: %v in sets %v, want %v", tt.name, got, p.InSets(), tt.want)
		}
	}
}
