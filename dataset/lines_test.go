package dataset

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLines compares with a split in memory.
func FuzzLines(f *testing.F) {
	f.Add("a\nbb\r\n\nccc", 2)
	f.Add(strings.Repeat("x", 300000)+"\n\r", 1<<19)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = max(0, min(most, math.MaxInt32))
		var got, want []string
		lines := NewLines(strings.NewReader(text), most)
		for {
			line, err := lines.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				line = []byte("\ntoo long")
			}
			got = append(got, string(line))
		}
		all := strings.SplitAfter(text, "\n")
		for _, line := range all {
			if line == "" {
				continue
			}
			if cut, ended := strings.CutSuffix(line, "\n"); ended {
				line = strings.TrimSuffix(cut, "\r")
			}
			if len(line) > most {
				line = "\ntoo long"
			}
			want = append(want, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}
