package harness

import "testing"

// TestSampleOfRows shows that a large dataset has about as many rows in the sample as a small one
// has rows, also where every system has each fourth row.
func TestSampleOfRows(t *testing.T) {
	for rows, want := range map[int64][2]int{0: {1, 1}, 4 * comparedRows / 5: {comparedRows / 5, comparedRows / 5}, 1 << 20: {1100, 1450}} {
		in := sampleOf(rows)
		for system := range int64(4) {
			n := 0
			for row := system; row < max(rows, 4); row += 4 {
				if in(row) {
					n++
				}
			}
			if n < want[0] || n > want[1] {
				t.Errorf("%d rows: %d rows of system %d are looked at, want %v", rows, n, system, want)
			}
		}
	}
}
