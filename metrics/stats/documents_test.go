package stats

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Documents keeps what each unit touches, in whatever memory: none, few, more than a count of one
// byte holds, numbers of more than two bytes.
func TestDocuments(t *testing.T) {
	for name, most := range map[string]int32{"few": 300, "many": 70_000} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var got Documents
			var want [][]int32
			for unit := range 200 {
				documents := []int32{}
				n := r.IntN(6)
				if unit%50 == 7 {
					n = 200 + r.IntN(200)
				}
				for range n {
					if d := r.Int32N(most) - 1; !slices.Contains(documents, d) {
						documents = append(documents, d)
					}
				}
				want = append(want, documents)
				if got.Add(append(documents, documents...)...); got.Units() != unit+1 {
					t.Fatalf("%d units after %d", got.Units(), unit+1)
				}
			}
			var into []int32
			for _, unit := range r.Perm(len(want)) {
				if into = got.At(unit, into); !slices.Equal(into, want[unit]) {
					t.Errorf("unit %d: %v, want %v", unit, into, want[unit])
				}
			}
			if highest := slices.Max(slices.Concat(want...)); got.Count() != int(highest)+1 {
				t.Errorf("%d documents, want %d", got.Count(), highest+1)
			}
			if none := fmt.Sprint(got.At(len(want), into), (*Documents)(nil).At(0, nil)); none != "[] []" {
				t.Errorf("behind the last unit: %s", none)
			}
		})
	}
}
