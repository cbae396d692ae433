package span

import "testing"

func TestPlaceAsSpan(t *testing.T) {
	tests := []struct {
		name       string
		start, end int64
		want       Span
	}{
		{"as given", 4, 9, Span{1, 4, 9}},
		{"largest", 0, MaxEnd, Span{1, 0, MaxEnd}},
		{"end beyond what a span holds", 4, 1 << 40, Span{1, 4, MaxEnd}},
		{"start beyond it, too", 1 << 40, 1 << 41, Span{1, MaxEnd - 1, MaxEnd}},
	}
	for _, tt := range tests {
		p := Place{Level: Characters, Status: Check(tt.start, tt.end), Start: tt.start, End: tt.end}
		if got := p.Span(1); !p.InSets() || got != tt.want || got.Len() == 0 {
			t.Errorf("%s: %v in sets %v, want %v", tt.name, got, p.InSets(), tt.want)
		}
	}
}
