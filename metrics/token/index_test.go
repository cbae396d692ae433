package token

import "testing"

func TestRange(t *testing.T) {
	x := Words("Ab, cd-é 7") // Ab 0-2, cd 4-6, é 7-8, 7 9-10
	tests := []struct {
		name       string
		start, end int32
		lo, hi     int
	}{
		{"first", 0, 2, 0, 1},
		{"inside one", 1, 2, 0, 1},
		{"only a gap", 2, 4, 1, 1},
		{"ends where a token starts", 2, 7, 1, 2},
		{"starts where a token ends", 6, 8, 2, 3},
		{"all", 0, 10, 0, 4},
		{"past the end", 10, 20, 4, 4},
		{"over the end", 9, 1<<31 - 1, 3, 4},
		{"empty", 5, 5, 1, 1},
		{"inverted", 7, 0, 2, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if lo, hi := x.Range(tt.start, tt.end); lo != tt.lo || hi != tt.hi {
				t.Errorf("Range(%d, %d) = %d, %d, want %d, %d", tt.start, tt.end, lo, hi, tt.lo, tt.hi)
			}
		})
	}
	if lo, hi := new(Index).Range(0, 5); lo != 0 || hi != 0 {
		t.Errorf("zero Index: Range(0, 5) = %d, %d, want 0, 0", lo, hi)
	}
	if n := testing.AllocsPerRun(100, func() { x.Range(1, 8) }); n != 0 {
		t.Errorf("Range allocates %v times", n)
	}
}
